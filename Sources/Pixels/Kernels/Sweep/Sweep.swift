import Catalogs
package import Geometry
import Raster

/// Averages along the paths of a zoom or a spin, for every sample format and light.
///
/// Short paths, and paths along a row or a column, are sampled one by one. Other paths use the moving averages of shared
/// lines, and pixels are interpolated between lines. Pixels near the same lines are rendered together, in any order.
struct Sweep<Path: SweepPath>: WorkingKernel {
    private let path: Path
    private let operations: RowOperations

    /// The number of pixels that are rendered together. Each needs up to 16 bytes of results and positions.
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

    /// Averages the pixels with long paths. Returns nil if there are none.
    private func averageOnLines(_ picture: SweptPicture, _ reader: PixelReader, _ area: PixelRect) -> SweptPixels? {
        guard path.center.distances(to: area).upperBound >= path.directRadius else { return nil }
        let result = SweptPixels(area, channels: reader.layout.channels, format: reader.source.raster.format)
        path.averageOnLines(picture, operations, area, into: result)
        return result
    }
}

/// The paths along which a filter averages, one for each pixel, around one centre. ``Sweep`` needs these properties.
protocol SweepPath: Sendable {
    var center: SweepCenter { get }
    /// The distance from the centre up to which paths are short and averaged directly.
    var directRadius: Double { get }

    /// Whether the path of a pixel, at a position relative to the centre, stays within ``SweepCenter/leastDrift`` px of a row
    /// or a column. Such a path is averaged directly, however long it is, because interpolation between lines is too
    /// inaccurate there. If the answer is false at a position in a row, it is false at all positions farther to that side.
    func isStraight(_ right: Double, _ down: Double) -> Bool

    /// The pixels that are read for `area`.
    func needed(for area: PixelRect) -> PixelRect

    /// The table that ``averageDirectly`` reads for the area's paths; it may be empty.
    func turns(in area: PixelRect) -> [Double]

    /// Averages along each path itself; see `zoomDirectly` and `spinDirectly`.
    func averageDirectly(
        _ picture: SweptPicture, _ operations: RowOperations, turns: [Double], x: Int, y: Int, count: Int,
        into target: MutableRow<Float>)

    /// Averages all other pixels of `area` on shared lines: rings around the centre, or rays from it. The lines depend only on
    /// the centre and the picture, so that they are the same for all tiles.
    func averageOnLines(
        _ picture: SweptPicture, _ operations: RowOperations, _ area: PixelRect, into result: SweptPixels)
}

extension SweepPath {
    /// The pixels of a row whose paths are averaged directly. It is one range around the centre, because the pixels nearer to
    /// the centre are averaged directly, too. The range may reach beyond any picture.
    func directColumns(y: Int) -> Range<Int> {
        let near = center.columns(within: directRadius, y: y)
        let down = Double(y) - center.y
        let straight = center.columns { isStraight($0, down) }
        if near.isEmpty { return straight }
        if straight.isEmpty { return near }
        return near.joined(straight)
    }
}

/// The fixed point of a zoom or a spin, in coordinates of pixel centres.
package struct SweepCenter: Hashable, Sendable {
    /// How far a long path moves away from rows and columns, in pixels. A bilinear picture has kinks there. A path that
    /// crosses several kinks blurs them, so that the means of nearby lines approximate its mean within a level of 255. A path
    /// along a kink does not.
    static let leastDrift = 2.0
    /// The pixels that sampling reads beyond a path: the pixel to the right and below, and those that lines read around a
    /// path.
    package static let margin = Halo(horizontal: 3, vertical: 3)

    package let x: Double
    package let y: Double

    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The distances to the nearest and the farthest pixel of an area; the range may be larger.
    func distances(to area: PixelRect) -> ClosedRange<Double> {
        func range(_ first: Int, _ last: Int, _ center: Double) -> (near: Double, far: Double) {
            let (low, high) = (Double(first) - center, Double(last) - center)
            return (max(0, low, -high), max(low.magnitude, high.magnitude))
        }
        let (dx, dy) = (range(area.x, area.right - 1, x), range(area.y, area.bottom - 1, y))
        let near = (dx.near * dx.near + dy.near * dy.near).squareRoot()
        return near...max(near, (dx.far * dx.far + dy.far * dy.far).squareRoot())
    }

    /// The distance to the farthest pixel of an area that is not empty.
    package func farthestDistance(to area: PixelRect) -> Double { distances(to: area).upperBound }

    /// The pixels around the centre's column that satisfy a condition: on both sides up to the first that does not.
    ///
    /// - Parameter holds: receives the distance to the right. Once it is false, it must stay false to that side.
    func columns(where holds: (Double) -> Bool) -> Range<Int> {
        let first = Int(x.rounded(.up))
        // A bisection of a range that does not depend on the tile, so that every tile finds the same position.
        func count(_ holds: (Int) -> Bool) -> Int {
            var (known, end) = (0, 1 << 22)  // beyond every picture
            while known < end {
                let middle = (known + end) / 2
                if holds(middle) { known = middle + 1 } else { end = middle }
            }
            return known
        }
        let right = count { holds(Double(first + $0) - x) }
        let left = count { holds(Double(first - 1 - $0) - x) }
        return first - left..<first + right
    }

    /// The pixels of a row within `radius`, which may be infinite.
    func columns(within radius: Double, y row: Int) -> Range<Int> {
        let radius = min(radius, 1e9)  // beyond every picture
        let dy = Double(row) - y
        let square = radius * radius - dy * dy
        guard square > 0 else { return 0..<0 }
        let side = square.squareRoot()
        let first = Int((x - side).rounded(.down)) + 1
        return first..<max(first, Int((x + side).rounded(.up)))
    }
}

/// A buffer for the samples of one line, and for their sums.
final class LineRoom {
    private(set) var samples = RowBuffer<Float>(count: 0)
    private(set) var heads = RowBuffer<Float>(count: 0)
    private(set) var tails = RowBuffer<Float>(count: 0)

    /// - Parameter count: the number of samples.
    func reserve(_ count: Int) {
        guard samples.count < 4 * count else { return }
        samples = RowBuffer(count: 6 * count)
        heads = RowBuffer(count: 6 * count)
        tails = RowBuffer(count: 6 * count)
    }
}
