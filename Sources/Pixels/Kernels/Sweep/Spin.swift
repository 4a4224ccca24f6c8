import Arithmetic
package import Geometry
package import Raster

/// A blur along arcs around a centre, like a rotating camera.
///
/// A pixel p becomes the mean of the bilinearly interpolated input over the arc around c from −a/2 to +a/2 of p.
///
/// - Arcs of up to 8 px are sampled at the middles of 3·(⌈length⌉ + 1) equal parts.
/// - Arcs along a row or a column are sampled at those of 2·(⌈length⌉ + 1) parts.
/// - All other arcs are averaged on rings; see ``SpinBand``.
package struct Spin: Sendable, LevelChoosing {
    package let center: SweepCenter
    /// The whole angle in degrees, 0–360.
    private let angle: Double
    private let half: (sin: Double, cos: Double)
    package var level = CPULevel.current

    /// The number of entries at the start of ``turns(in:)``, for arcs of up to 8 px and slightly more.
    private static let shortTurns = 16

    package init(degrees: Double, center: SweepCenter) {
        precondition(degrees >= 0 && degrees <= 360, "an arc is at most the circle")
        angle = degrees
        self.center = center
        half = DeterministicMath.sinCos(degrees: degrees / 2)
    }

    /// Blurs into every pixel of `destination`; see ``Motion/render(_:light:within:into:)``.
    package func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, within: mask) { needed(for: $0) }
        Sweep(self, RowOperations.of(level)).render(source, light: light, within: mask, into: &destination)
    }
}

extension Spin: SweepPath {
    /// The length of an arc in pixels for each pixel of distance.
    private var steepness: Double { angle * (Double.pi / 180) }

    var directRadius: Double { SpinBand.directRadius(steepness) }

    func isStraight(_ right: Double, _ down: Double) -> Bool {
        guard angle < 180 else { return false }
        let (x, y) = (right.magnitude, down.magnitude)
        let radius = (x * x + y * y).squareRoot()
        // The reach of an arc along an axis: from end to end, or from its crossing with the axis to its farther end.
        func reach(along: Double, across: Double) -> Double {
            across * half.cos >= along * half.sin
                ? 2 * across * half.sin : radius - (along * half.cos - across * half.sin)
        }
        return min(reach(along: y, across: x), reach(along: x, across: y)) < SweepCenter.leastDrift
    }

    /// The rotations from a pixel to the first of an arc's samples, and from each sample to the next: of 3n samples for n up
    /// to 16, then of 2n, as cosines and sines.
    func turns(in area: PixelRect) -> [Double] {
        // A longer arc curves away from rows and columns.
        let straight = angle < 180 ? steepness * SweepCenter.leastDrift / max(1 - half.cos, 1e-300) : 0
        let longest = min(straight, center.farthestDistance(to: area) * steepness)
        let counts = (1...Self.shortTurns).map { 3 * $0 } + (1...Int(longest) + Self.shortTurns).map { 2 * $0 }
        return counts.flatMap { count in
            let step = angle / Double(count)
            let first = DeterministicMath.sinCos(degrees: step / 2 - angle / 2)
            let next = DeterministicMath.sinCos(degrees: step)
            return [first.cos, first.sin, next.cos, next.sin]
        }
    }

    package func needed(for area: PixelRect) -> PixelRect { swept(area).expanded(by: SweepCenter.margin) }

    /// The pixels that the arcs of an area's pixels touch. This is the bounding box of the arcs of its four corners, because
    /// at every angle the rotated rectangle lies in the bounding box of its rotated corners.
    package func swept(_ area: PixelRect) -> PixelRect {
        guard !area.isEmpty else { return area }
        let (xs, ys) = ([area.x, area.right - 1], [area.y, area.bottom - 1])
        let boxes = xs.flatMap { x in ys.map { y in box(Double(x) - center.x, Double(y) - center.y) } }
        func range(_ low: [Double], _ high: [Double], _ center: Double) -> Range<Int> {
            let first = ((low.min() ?? 0) + center).rounded(.down)
            return Int(first)..<Int(max(first, ((high.max() ?? 0) + center).rounded(.up))) + 1
        }
        return area.union(
            PixelRect(
                columns: range(boxes.map(\.left), boxes.map(\.right), center.x),
                rows: range(boxes.map(\.top), boxes.map(\.bottom), center.y)))
    }

    private typealias Box = (left: Double, right: Double, top: Double, bottom: Double)

    /// The bounding box of a point's arc, relative to the centre. It reaches the arc's ends, or the circle where the arc
    /// crosses an axis.
    private func box(_ x: Double, _ y: Double) -> Box {
        let radius = (x * x + y * y).squareRoot()
        let (cos, sin) = (half.cos, half.sin)
        let (first, last) = ((x * cos + y * sin, y * cos - x * sin), (x * cos - y * sin, y * cos + x * sin))
        // The arc crosses an axis if the axis is at most half of the angle away.
        let nearest = angle >= 360 ? -radius : radius * cos
        return (
            left: -x >= nearest ? -radius : min(first.0, last.0), right: x >= nearest ? radius : max(first.0, last.0),
            top: -y >= nearest ? -radius : min(first.1, last.1), bottom: y >= nearest ? radius : max(first.1, last.1)
        )
    }

    func averageDirectly(
        _ picture: SweptPicture, _ operations: RowOperations, turns: [Double], x: Int, y: Int, count: Int,
        into target: MutableRow<Float>
    ) {
        let last = Double(turns.count / 4 - 1)
        operations.spinDirectly(
            picture, center: [center.x, center.y, steepness, directRadius, last], turns: turns, x: x, y: y,
            count: count,
            out: target)
    }

    func averageOnLines(
        _ picture: SweptPicture, _ operations: RowOperations, _ area: PixelRect, into result: SweptPixels
    ) {
        let context = RingContext(picture: picture, operations: operations, center: center, degrees: angle)
        let direct = area.rows.map { directColumns(y: $0) }
        RingRenderer(context, steepness: steepness, direct: direct, area, into: result).render()
    }
}

/// Pixels at similar distances from a centre. Their arcs are averaged over the same number of samples, on rings around the
/// centre.
struct SpinBand {
    /// The distances of its pixels; the outer bound is excluded.
    let inner: Double
    let outer: Double
    /// The number of rings for each pixel of distance.
    let density: Double
    /// The number of samples on an arc, at the middles of as many equal parts.
    let window: Int

    /// The bands of all distances with long paths, from the nearest.
    ///
    /// - Parameter steepness: the length of an arc in pixels for each pixel of distance.
    static func bands(_ distances: ClosedRange<Double>, steepness: Double) -> [SpinBand] {
        let (start, middle) = (directRadius(steepness), edge(shortArc / steepness))
        let fine = cut(start..<max(start, middle), in: distances) { inner, outer in
            SpinBand(inner: inner, outer: outer, density: 4, window: Int((2.25 * outer * steepness).rounded(.up)))
        }
        let coarse = cut(middle..<max(middle, distances.upperBound + thickness), in: distances) { inner, outer in
            SpinBand(inner: inner, outer: outer, density: 3, window: Int((1.75 * outer * steepness).rounded(.up)))
        }
        return fine + coarse
    }

    /// The largest distance at which arcs are short enough to be averaged directly: 8 px.
    static func directRadius(_ steepness: Double) -> Double { edge(8 / steepness) }

    /// The length in pixels up to which arcs have denser samples and rings, because their means vary more. With 1.5 samples a
    /// pixel instead of 1.75, alternating rows would be wrong by 11 of 255 where an arc crosses them.
    private static let shortArc = 32.0
    /// The thickness of a band in pixels.
    private static let thickness = 16.0

    /// A distance that never lies on a ring, so that rounding moves no pixel beyond its band's rings.
    private static func edge(_ distance: Double) -> Double { (distance * 2).rounded(.down) / 2 + 0.125 }

    private static func cut(
        _ all: Range<Double>, in wanted: ClosedRange<Double>, _ make: (Double, Double) -> SpinBand
    ) -> [SpinBand] {
        let count = Int(((all.upperBound - all.lowerBound) / thickness).rounded(.up))
        let first = max(0, Int(((wanted.lowerBound - all.lowerBound) / thickness).rounded(.down)))
        let end = min(count, Int(((wanted.upperBound - all.lowerBound) / thickness).rounded(.down)) + 1)
        guard first < end else { return [] }
        return (first..<end).map { index in
            let inner = all.lowerBound + thickness * Double(index)
            return make(inner, min(inner + thickness, all.upperBound))
        }
    }

    /// The rings between which pixels at some distances are interpolated: one before, two after.
    func rings(_ distances: ClosedRange<Double>) -> Range<Int> {
        let first = Int(max(inner, distances.lowerBound) * density) - 1
        return first..<max(first, Int(min(outer, distances.upperBound) * density) + 3)
    }
}

/// The directions of a band's samples, counted from the first sample of the window around direction 0. They are products of
/// two short tables.
final class RingDirections {
    /// The cosines, then the sines.
    let fine = RowBuffer<Double>(count: 128)
    private var coarse = RowBuffer<Double>(count: 0)
    private let degrees: Double
    private let window: Double

    /// - Parameter degrees: the angle of an arc.
    init(degrees: Double, window: Int) {
        self.degrees = degrees
        self.window = Double(window)
        for index in 0..<64 {
            let turn = DeterministicMath.sinCos(degrees: degrees * Double(index) / self.window)
            fine[index] = turn.cos
            fine[index + 64] = turn.sin
        }
    }

    /// The blocks of 64 that contain some directions: the cosine and the sine of each block's first direction. Valid until the
    /// next call.
    func blocks(of directions: Range<Int>) -> Row<Double> {
        let blocks = directions.lowerBound >> 6..<(directions.upperBound - 1) >> 6 + 1
        if coarse.count < 2 * blocks.count { coarse = RowBuffer(count: 4 * blocks.count) }
        for (index, block) in blocks.enumerated() {
            let position = (Double(64 * block) + 0.5) / window - 0.5
            let turn = DeterministicMath.sinCos(degrees: degrees * position)
            coarse[2 * index] = turn.cos
            coarse[2 * index + 1] = turn.sin
        }
        return Row(coarse.start)
    }
}
