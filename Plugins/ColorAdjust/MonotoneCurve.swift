/// A smooth curve through points at equal distances over 0…1, which rises and falls only where the points do. Beyond them
/// it is straight, and as steep as the way between the last two points at least: what another step has made darker than
/// black or lighter than white keeps its differences, also where the curve itself ends level.
///
/// Cubic pieces with the tangents of Fritsch and Butland (SIAM J. Sci. Stat. Comput. 5, 1984), known as PCHIP.
struct MonotoneCurve: Sendable {
    private let heights: [Double]
    /// Rise over the distance of two points, at each point.
    private let tangents: [Double]
    /// Rise over the distance of two points before the first one, and behind the last one.
    private let slopes: (before: Double, behind: Double)

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
        let ends = (
            Self.endTangent(rises[0], rises[1]), Self.endTangent(rises[rises.count - 1], rises[rises.count - 2])
        )
        self.heights = heights
        tangents = [ends.0] + inner + [ends.1]
        slopes = (Self.steeper(ends.0, rises[0]), Self.steeper(ends.1, rises[rises.count - 1]))
    }

    private static func steeper(_ a: Double, _ b: Double) -> Double { a.magnitude > b.magnitude ? a : b }

    /// Of the parabola through the last three points, as far as that keeps the curve monotone.
    private static func endTangent(_ rise: Double, _ next: Double) -> Double {
        let tangent = (3 * rise - next) / 2
        if tangent * rise <= 0 { return 0 }
        return next * rise < 0 && tangent.magnitude > 3 * rise.magnitude ? 3 * rise : tangent
    }

    func value(at x: Double) -> Double {
        let last = heights.count - 1
        let place = x * Double(last)
        if place <= 0 { return heights[0] + place * slopes.before }
        guard place < Double(last) else { return heights[last] + (place - Double(last)) * slopes.behind }
        let piece = Int(place)
        let (t, s) = (place - Double(piece), Double(piece + 1) - place)
        return s * s * ((1 + 2 * t) * heights[piece] + t * tangents[piece])
            + t * t * ((1 + 2 * s) * heights[piece + 1] - s * tangents[piece + 1])
    }
}
