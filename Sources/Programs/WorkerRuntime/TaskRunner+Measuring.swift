import Catalogs
import Filters
import Geometry
import ImageFiles
import JobModel
import Raster
import WorkerProtocol

extension TaskRunner {
    /// The measurements of an input for filters that need some. The input is decoded for them, unless its probe has measured
    /// it already.
    ///
    /// It is decoded in the colours that the task asks for, in full size and with its own samples, whatever its outputs
    /// need. So the measurements are the same for all outputs and in all tasks of a frame.
    ///
    /// - Parameters:
    ///   - filters: the first filters of the chains, as ``ProbeTask/measuredFilters`` has them.
    ///   - hdr: what becomes of a picture in HDR.
    func measured(
        _ input: InputSpec, for filters: [[FilterInvocation]], hdr: HDRPolicy
    ) throws -> [MeasuredFilters] {
        guard !filters.isEmpty else { return [] }
        if let known = input.measured, known.chains.map(\.filters) == filters { return known.chains }
        let decoder = try decoder(input, input.color, hdr: hdr)
        let header = decoder.header
        var measures: [FilterInvocation: any PictureMeasure] = [:]
        for filter in filters.joined() where measures[filter] == nil {
            measures[filter] = try toolbox.registry.makeMeasure(
                filter, of: header.rect, header.layout, header.sampleFormat)
        }
        func add(_ rows: AnyRaster) { for measure in measures.values { measure.add(rows) } }
        if header.frames > 1 {
            try decoder.readFrames(add)
        } else {
            try decoder.readRows(bandHeight: 64, add)
        }
        return filters.map { filters in
            var part = header.rect
            let measurements = filters.compactMap { filter in
                let measurement = measures[filter]?.measurement(of: part)
                if case .part(let kept?) = measurement { part = kept }
                return measurement
            }
            return MeasuredFilters(filters: filters, measurements: measurements)
        }
    }
}
