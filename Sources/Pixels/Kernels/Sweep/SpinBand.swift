import Arithmetic
import Geometry

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
    private static func edge(_ distance: Double) -> Double {
        (distance * 2).rounded(.down) / 2 + 0.125
    }

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
            let place = (Double(64 * block) + 0.5) / window - 0.5
            let turn = DeterministicMath.sinCos(degrees: degrees * place)
            coarse[2 * index] = turn.cos
            coarse[2 * index + 1] = turn.sin
        }
        return Row(coarse.start)
    }
}
