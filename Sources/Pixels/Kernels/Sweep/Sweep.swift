import Catalogs
import Geometry
import Raster

/// Averages along the paths of a zoom or a spin, for every sample format and light.
///
/// Short paths, and those that run along a row or a column, are sampled one by one; others share the sliding means of lines, between which pixels are
/// interpolated. Pixels that lie near the same lines are rendered together, in whatever order that gives.
struct Sweep<Path: SweepPath>: WorkingKernel {
    private let path: Path
    private let operations: RowOperations

    /// Pixels that are rendered together: for each there are up to 16 bytes of results and notes.
    private static var mostPixels: Int { 1 << 24 }

    init(_ path: Path, _ operations: RowOperations) {
        self.path = path
        self.operations = operations
    }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let rows = max(1, Self.mostPixels / area.width)
        for first in stride(from: area.y, to: area.bottom, by: rows) {
            let band = PixelRect(columns: area.columns, rows: first..<min(first + rows, area.bottom))
            SweptPicture.lend(reader, area: band) { picture in
                render(picture, reader, band, to: &sink)
            }
        }
    }

    private func render(
        _ picture: SweptPicture, _ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink
    ) {
        let channels = reader.layout.channels
        let long = averageOnLines(picture, reader, area)
        let direct = RowBuffer<Float>(count: 4 * area.width)
        let planes = PlaneBuffer(area.columns, channels: channels)
        let turns = path.turns(in: area)
        for y in area.rows {
            let short = path.directColumns(y: y).clamped(to: area.columns)
            if !short.isEmpty {
                path.averageDirectly(
                    picture, operations, turns: turns, x: short.lowerBound, y: y, count: short.count, into: direct.start
                )
            }
            for channel in 0..<channels {
                let plane = planes.plane(channel)
                long?.read(row: y - area.y, channel: channel, into: plane)
                for (index, x) in short.enumerated() {
                    plane[unchecked: x - area.x] = direct[unchecked: 4 * index + channel]
                }
            }
            sink.write(planes.row(y, operations))
        }
    }

    /// The pixels with long paths; nil where there are none.
    private func averageOnLines(_ picture: SweptPicture, _ reader: PixelReader, _ area: PixelRect) -> SweptPixels? {
        guard path.center.distances(to: area).upperBound >= path.directRadius else { return nil }
        let result = SweptPixels(area, channels: reader.layout.channels, format: reader.source.raster.format)
        path.averageOnLines(picture, operations, area, into: result)
        return result
    }
}
