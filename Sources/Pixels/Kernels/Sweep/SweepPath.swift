package import Geometry

/// The paths along which a filter averages, one for each pixel, all around one centre: what ``Sweep`` needs of them.
protocol SweepPath: Sendable {
    var center: SweepCenter { get }
    /// Pixels nearer to the centre have paths that are averaged directly; those of others are long.
    var directRadius: Double { get }

    /// The pixels that are read for `area`.
    func needed(for area: PixelRect) -> PixelRect

    /// Averages on the paths themselves; see `zoomDirectly` and `spinDirectly`.
    func averageDirectly(
        _ picture: SweptPicture, _ operations: RowOperations, x: Int, y: Int, count: Int,
        into target: UnsafeMutablePointer<Float>)

    /// Averages all pixels of `area` whose paths are long, on lines that they share: rings around the centre, or rays from
    /// it. Which lines there are depends on the distance from the centre alone, so that all tiles see the same.
    func averageOnLines(
        _ picture: SweptPicture, _ operations: RowOperations, _ area: PixelRect, into result: SweptPixels)
}

/// The point that a zoom or a spin leaves where it is, in coordinates of pixel centres.
package struct SweepCenter: Hashable, Sendable {
    package let x: Double
    package let y: Double

    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// To the nearest and the farthest pixel of an area, or beyond.
    func distances(to area: PixelRect) -> ClosedRange<Double> {
        func range(_ first: Int, _ last: Int, _ center: Double) -> (near: Double, far: Double) {
            let (low, high) = (Double(first) - center, Double(last) - center)
            return (max(0, low, -high), max(low.magnitude, high.magnitude))
        }
        let (dx, dy) = (range(area.x, area.right - 1, x), range(area.y, area.bottom - 1, y))
        let near = (dx.near * dx.near + dy.near * dy.near).squareRoot()
        return near...max(near, (dx.far * dx.far + dy.far * dy.far).squareRoot())
    }

    /// Of an area that has pixels.
    package func farthestDistance(to area: PixelRect) -> Double { distances(to: area).upperBound }

    /// The pixels of a row that are nearer than `radius`, which may be infinite.
    func columns(within radius: Double, y row: Int) -> Range<Int> {
        let radius = min(radius, 1e9)  // farther than any picture reaches
        let dy = Double(row) - y
        let square = radius * radius - dy * dy
        guard square > 0 else { return 0..<0 }
        let side = square.squareRoot()
        let first = Int((x - side).rounded(.down)) + 1
        return first..<max(first, Int((x + side).rounded(.up)))
    }
}

/// Memory for the samples of one line, and for their sums.
final class LineRoom {
    private(set) var samples = WorkBuffer<Float>(count: 0)
    private(set) var heads = WorkBuffer<Float>(count: 0)
    private(set) var tails = WorkBuffer<Float>(count: 0)

    /// - Parameter count: of samples.
    func reserve(_ count: Int) {
        guard samples.count < 4 * count else { return }
        samples = WorkBuffer(count: 6 * count)
        heads = WorkBuffer(count: 6 * count)
        tails = WorkBuffer(count: 6 * count)
    }
}
