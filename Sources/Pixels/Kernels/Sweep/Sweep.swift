import Catalogs
import Geometry
import Raster

/// Averages along the paths of a zoom or a spin, for every sample format and light.
///
/// Short paths are sampled one by one; longer ones share the sliding means of lines, between which pixels are
/// interpolated. Pixels that lie near the same lines are rendered together, in whatever order that gives.
struct Sweep<Path: SweepPath>: WorkingKernel {
    private let path: Path
    private let operations: RowOperations

    /// The longest path that is sampled directly, in pixels. What two samples a pixel cost grows with it; the error of
    /// lines, which is largest on noise, falls.
    static var longestDirect: Double { 32 }
    /// Pixels that are rendered together: for each there are some ten bytes of notes.
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
        let long = renderLong(picture, reader, area)
        let direct = WorkBuffer<Float>(count: 4 * area.width)
        let stride = (area.width + 63) & ~31
        let planes = WorkBuffer<Float>(count: stride * channels)
        let places = PixelPlaces(path.center, capacity: area.width, operations)
        for y in area.rows {
            let short = shortPaths(places, area, y)
            if !short.isEmpty {
                path.averageDirectly(
                    picture, operations, x: area.x + short.lowerBound, y: y, count: short.count, into: direct.base)
            }
            for channel in 0..<channels {
                let plane = planes.base + channel * stride
                long?.read(row: y - area.y, channel: channel, into: plane)
                for index in short { plane[index] = direct.base[4 * (index - short.lowerBound) + channel] }
            }
            sink.write(
                PlaneRow(
                    planes.base, stride: stride, count: area.width, channels: channels, x: area.x, y: y, operations))
        }
    }

    /// Which pixels of a row have short paths, from its first one.
    private func shortPaths(_ places: PixelPlaces, _ area: PixelRect, _ y: Int) -> Range<Int> {
        guard (Double(y) - path.center.y).magnitude * path.steepness <= Self.longestDirect else { return 0..<0 }
        places.place(columns: area.columns, y: y)
        return places.run { $0 * path.steepness <= Self.longestDirect }
    }

    /// The pixels with long paths; nil where there are none.
    private func renderLong(_ picture: SweptPicture, _ reader: PixelReader, _ area: PixelRect) -> SweptPixels? {
        let farthest = path.center.distance(toCornersOf: area)
        guard farthest * path.steepness > Self.longestDirect else { return nil }
        let lines = path.makeLines(upTo: farthest)
        let groups = PixelGroups(lines, path, area, operations)
        let result = SweptPixels(area, channels: reader.layout.channels, format: reader.source.raster.format)
        let renderer = GroupRenderer(picture, lines, path.center, area, operations)
        for group in 0..<lines.groupCount where !groups[group].isEmpty {
            let pixels = groups[group]
            renderer.render(group, pixels)
            result.store(renderer.values, at: pixels, operations)
        }
        return result
    }
}
