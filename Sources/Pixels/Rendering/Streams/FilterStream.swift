import Catalogs
import Filters
import Geometry
import Kernels
import Raster

/// One filter's output in bands from the top down, from its input in the same order.
final class FilterStream {
    private let filter: any Filter
    private let stage: ChainPlan.Stage
    private let format: SampleFormat
    /// See `FilterSource.frame`.
    private let frame: Int
    private let bandHeight: Int
    private let input: () throws -> AnyRaster?
    private var window: RowWindow
    private let bands: [Range<Int>]
    /// For each band: no row above is read for it, nor for a later one.
    private let firstRows: [Int]
    /// Of the next band.
    private var index = 0

    init(
        _ filter: any Filter, _ stage: ChainPlan.Stage, format: SampleFormat, curve: TransferCurve, frame: Int,
        bandHeight: Int, input: @escaping () throws -> AnyRaster?
    ) {
        self.filter = filter
        self.stage = stage
        self.format = format
        self.frame = frame
        self.bandHeight = bandHeight
        self.input = input
        window = RowWindow(of: stage.input, layout: stage.inputLayout, format: format, curve: curve)
        let bands = stride(from: stage.output.y, to: stage.output.bottom, by: bandHeight).map {
            $0..<min($0 + bandHeight, stage.output.bottom)
        }
        self.bands = bands
        firstRows = Self.firstRows(bands, filter, stage)
    }

    /// They may lie further up for a later band: a filter that applies to a region reads little outside it.
    private static func firstRows(_ bands: [Range<Int>], _ filter: any Filter, _ stage: ChainPlan.Stage) -> [Int] {
        var lowest = stage.input.bottom
        var result: [Int] = []
        for rows in bands.reversed() {
            let band = PixelRect(columns: stage.output.columns, rows: rows)
            let needed = filter.needed(for: band, in: stage.input).rows
            let read = AxisMap(needed: needed, input: stage.input.rows, edge: filter.edge).intervals
            lowest = min(lowest, read.map(\.lowerBound).min() ?? lowest)
            result.append(lowest)
        }
        return result.reversed()
    }

    /// The next band; nil behind the last row, after the input was read to its end too.
    func nextBand() throws -> AnyRaster? {
        guard index < bands.count else {
            while try input() != nil {}
            return nil
        }
        let rect = PixelRect(columns: stage.output.columns, rows: bands[index])
        let map = filter.sourceMap(for: rect, in: stage.input)
        window.drop(before: firstRows[index])
        try fill(through: map.rows.intervals.map(\.upperBound).max() ?? stage.input.y)
        var band = AnyRaster(zeroed: rect, layout: stage.outputLayout, format: format)
        try filter.render(FilterSource(pixels: window.source(map), extent: stage.input, frame: frame), into: &band)
        index += 1
        return band
    }

    private func fill(through end: Int) throws {
        while window.held.upperBound < end {
            guard let band = try input() else { preconditionFailure("an input has all of its rows") }
            window.append(band)
            window.drop(before: firstRows[index])
        }
    }
}
