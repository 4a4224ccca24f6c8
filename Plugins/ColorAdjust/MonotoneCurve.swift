/// A smooth curve through points at equal distances over 0…1, which rises and falls only where the points do; beyond them
/// it is straight.
///
/// Cubic pieces with the tangents of Fritsch and Butland (SIAM J. Sci. Stat. Comput. 5, 1984), known as PCHIP.
struct MonotoneCurve: Sendable {
    private let heights: [Double]
    /// Rise over the distance of two points, at each point.
    private let tangents: [Double]

    /// Nil when all offsets are 0: the curve would change nothing.
    ///
    /// - Parameter offsets: how far each point lies above the line from 0 to 1; at least three.
    init?(offsets: [Double]) {
        guard offsets.contains(where: { $0 != 0 }) else { return nil }
        let last = Double(offsets.count - 1)
        let heights = offsets.enumerated().map { Double($0) / last + $1 }
        let rises = zip(heights.dropFirst(), heights).map { $0 - $1 }
        let inner = zip(rises, rises.dropFirst()).map { before, after in
            before * after > 0 ? 2 * before * after / (before + after) : 0
        }
        self.heights = heights
        tangents =
            [Self.endTangent(rises[0], rises[1])] + inner
            + [Self.endTangent(rises[rises.count - 1], rises[rises.count - 2])]
    }

    /// Of the parabola through the last three points, as far as that keeps the curve monotone.
    private static func endTangent(_ rise: Double, _ next: Double) -> Double {
        let tangent = (3 * rise - next) / 2
        if tangent * rise <= 0 { return 0 }
        return next * rise < 0 && tangent.magnitude > 3 * rise.magnitude ? 3 * rise : tangent
    }

    func value(at x: Double) -> Double {
        let last = heights.count - 1
        let place = x * Double(last)
        if place <= 0 { return heights[0] + place * tangents[0] }
        guard place < Double(last) else { return heights[last] + (place - Double(last)) * tangents[last] }
        let piece = Int(place)
        let (t, s) = (place - Double(piece), Double(piece + 1) - place)
        return s * s * ((1 + 2 * t) * heights[piece] + t * tangents[piece])
            + t * t * ((1 + 2 * s) * heights[piece + 1] - s * tangents[piece + 1])
    }
}
