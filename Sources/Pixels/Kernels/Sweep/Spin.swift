import Arithmetic
package import Geometry
package import Raster

/// A blur along arcs around a centre, as a camera that turns makes it.
///
/// A pixel p becomes the mean of the bilinearly interpolated input over the arc around c from −a/2 to +a/2 of p. Arcs of
/// up to 8 px are sampled at the middles of 3·(⌈length⌉ + 1) equal parts, those that run along a row or a column of
/// 2·(⌈length⌉ + 1), all others on rings; see ``SpinBand``.
package struct Spin: Sendable, LevelChoosing {
    package let center: SweepCenter
    /// In degrees, the whole of it; 0–360.
    private let angle: Double
    private let half: (sin: Double, cos: Double)
    package var level = CPULevel.current

    /// What ``turns(in:)`` begins with, for arcs of up to 8 px and a little more.
    private static let shortTurns = 16

    package init(degrees: Double, center: SweepCenter) {
        precondition(degrees >= 0 && degrees <= 360, "an arc is at most the circle")
        angle = degrees
        self.center = center
        half = DeterministicMath.sinCos(degrees: degrees / 2)
    }

    /// Blurs into every pixel of `destination`; see ``Motion/render(_:light:within:into:)``.
    package func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, within: mask) { needed(for: $0) }
        Sweep(self, RowOperations.of(level)).render(source, light: light, within: mask, into: &destination)
    }
}

extension Spin: SweepPath {
    /// Pixels of arc for each pixel of distance.
    private var steepness: Double { angle * (Double.pi / 180) }

    var directRadius: Double { SpinBand.directRadius(steepness) }

    func isStraight(_ right: Double, _ down: Double) -> Bool {
        guard angle < 180 else { return false }
        let (x, y) = (right.magnitude, down.magnitude)
        let radius = (x * x + y * y).squareRoot()
        // How far an arc reaches along an axis: from end to end, or from where it crosses the axis to its farther end.
        func reach(along: Double, across: Double) -> Double {
            across * half.cos >= along * half.sin
                ? 2 * across * half.sin : radius - (along * half.cos - across * half.sin)
        }
        return min(reach(along: y, across: x), reach(along: x, across: y)) < SweepCenter.leastDrift
    }

    /// The turns from a pixel to the first of an arc's samples and from each to the next: of 3n samples for n to 16, then of
    /// 2n, as cosines and sines.
    func turns(in area: PixelRect) -> [Double] {
        // An arc that is longer curves away from rows and columns.
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

    /// The pixels that the arcs of an area's pixels touch: the box around the arcs of its four corners, since at every
    /// angle the turned rectangle lies in the box of its turned corners.
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

    /// Around the arc of a point, from the centre: between its ends, or out to the circle where it crosses an axis.
    private func box(_ x: Double, _ y: Double) -> Box {
        let radius = (x * x + y * y).squareRoot()
        let (cos, sin) = (half.cos, half.sin)
        let (first, last) = ((x * cos + y * sin, y * cos - x * sin), (x * cos - y * sin, y * cos + x * sin))
        // An axis is crossed when it is no farther away than half of the angle.
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

/// Pixels at similar distances from a centre, whose arcs are averaged over the same number of samples, on rings around it.
struct SpinBand {
    /// Distances of its pixels, the outer one excluded.
    let inner: Double
    let outer: Double
    /// Rings to a pixel of distance.
    let density: Double
    /// Samples on an arc, at the middles of as many equal parts.
    let window: Int

    /// The bands of all distances that have long paths, from the nearest.
    ///
    /// - Parameter steepness: pixels of arc for each pixel of distance.
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

    /// Up to which distance arcs are short enough to be averaged one by one: 8 px.
    static func directRadius(_ steepness: Double) -> Double { edge(8 / steepness) }

    /// Arcs up to that length, in pixels, have samples and rings nearer each other, since their means vary more. With
    /// 1.5 samples a pixel, in place of 1.75, alternating rows would be 11 of 255 off where an arc runs across them.
    private static let shortArc = 32.0
    /// Of a band, in pixels.
    private static let thickness = 16.0

    /// Never on a ring, so that rounding takes no pixel beyond its band's rings.
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

    /// The rings that the pixels at some distances are interpolated between: one before, two behind.
    func rings(_ distances: ClosedRange<Double>) -> Range<Int> {
        let first = Int(max(inner, distances.lowerBound) * density) - 1
        return first..<max(first, Int(min(outer, distances.upperBound) * density) + 3)
    }
}

/// The directions of a band's samples, counted from the first one of the window around direction 0; as products of two
/// short tables.
final class RingDirections {
    /// Cosines, then sines.
    let fine = RowBuffer<Double>(count: 128)
    private var coarse = RowBuffer<Double>(count: 0)
    private let degrees: Double
    private let window: Double

    /// - Parameter degrees: of an arc.
    init(degrees: Double, window: Int) {
        self.degrees = degrees
        self.window = Double(window)
        for index in 0..<64 {
            let turn = DeterministicMath.sinCos(degrees: degrees * Double(index) / self.window)
            fine[index] = turn.cos
            fine[index + 64] = turn.sin
        }
    }

    /// The blocks of 64 that some directions lie in: cosine and sine of each block's first one. Lent until the next call.
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
