/// A smooth curve over 0…1 that rises everywhere, through points at equal distances. A point that was moved beyond its
/// neighbour pushes it on: of those in each other's way, the one that was moved farther stays nearly where it was put. So a
/// lighter tone never becomes darker than a darker one. Beyond the points the curve is straight, and as steep as the way between the last two points at least: what another step has made darker than
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
        let heights = Self.rising(offsets.enumerated().map { (height: Double($0) / last + $1, weight: $1.magnitude) })
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

    /// How much each point lies above the one before it, at least.
    private static let leastRise = 0.02
    /// Of a point that was not moved.
    private static let leastWeight = 0.001

    /// The heights nearest to those wanted, by weighted least squares, that rise from each to the next: neighbours in the
    /// wrong order are pooled into their mean until none are left (Barlow et al., 1972). Rising heights stay as they are.
    private static func rising(_ wanted: [(height: Double, weight: Double)]) -> [Double] {
        var pools: [(mean: Double, weight: Double, count: Int)] = []
        for (index, point) in wanted.enumerated() {
            var pool = (mean: point.height - Double(index) * leastRise, weight: point.weight + leastWeight, count: 1)
            while let before = pools.last, before.mean > pool.mean {
                let weight = before.weight + pool.weight
                pool = (
                    mean: (before.mean * before.weight + pool.mean * pool.weight) / weight, weight: weight,
                    count: before.count + pool.count
                )
                pools.removeLast()
            }
            pools.append(pool)
        }
        let means = pools.flatMap { Array(repeating: $0.mean, count: $0.count) }
        return means.enumerated().map { $1 + Double($0) * leastRise }
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
        let position = x * Double(last)
        if position <= 0 { return heights[0] + position * slopes.before }
        guard position < Double(last) else { return heights[last] + (position - Double(last)) * slopes.behind }
        let piece = Int(position)
        let (t, s) = (position - Double(piece), Double(piece + 1) - position)
        return s * s * ((1 + 2 * t) * heights[piece] + t * tangents[piece])
            + t * t * ((1 + 2 * s) * heights[piece + 1] - s * tangents[piece + 1])
    }
}
