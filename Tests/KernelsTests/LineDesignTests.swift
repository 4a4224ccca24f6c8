import Kernels
import Testing

/// The design of running sums along lines, without pixels.
struct LineDesignTests {
    private static let angles: [Double] = [
        3, 7, 11, 15, 18.5, 22, 26.6, 30, 33, 37, 40, 41.1, 43, 44.9, 45.1, 47, 50, 55, 58, 60, 63, 67, 70, 74, 78, 81,
        84,
    ]

    /// What all steps together make of a single white pixel, as weights of pixels around the output at column 0 of row `y`.
    private func weights(_ design: LineDesign, y: Int) -> [[Int]: Double] {
        var result: [[Int]: Double] = [:]
        for sum in design.sums(y: y) {
            for row in y - design.side...y + design.side {
                let (pixel, step) = design.place(y: row, phase: sum.phase)
                let crossing = design.crossing(step: step)
                for (index, weight) in crossing.weights.enumerated() {
                    let column = sum.line + pixel + crossing.first + index
                    result[[column, row - y], default: 0] += Double(weight) / 65536 * sum.weight * design.rowWeight
                }
            }
        }
        for (pair, weight) in zip(design.ends, design.endWeights) {
            for sign in [-1, 1] {
                result[[sign * pair.dx, sign * pair.dy], default: 0] += Double(weight) / 65536
            }
        }
        return result
    }

    @Test(arguments: angles, [12.0, 40, 300])
    func `no picture can show a difference of half a level to the taps`(degrees: Double, radius: Double) throws {
        for sign in [-1.0, 1] {
            let velocity = MotionTaps.Velocity(radius: radius, degrees: sign * degrees)
            let taps = MotionTaps.taps(velocity, .continuous)
            guard let design = LineDesign(velocity, SymmetricPairs(taps)) else { continue }
            for y in [-1_000_003, -5, 0, 1, 2, 3, 18, 77, 400_001] {
                var difference = weights(design, y: y)
                for tap in taps.taps { difference[[tap.dx, tap.dy], default: 0] -= tap.weight }
                // The worst picture is white where differences are positive, and black elsewhere, or the other way round.
                let worst = max(
                    difference.values.filter { $0 > 0 }.reduce(0, +), -difference.values.filter { $0 < 0 }.reduce(0, +))
                #expect(255 * worst < 0.45, "row \(y), density \(design.density)")
            }
        }
    }

    @Test func `which lines have running sums`() {
        func design(_ radius: Double, _ degrees: Double) -> LineDesign? {
            let velocity = MotionTaps.Velocity(radius: radius, degrees: degrees)
            return LineDesign(velocity, SymmetricPairs(MotionTaps.taps(velocity, .continuous)))
        }
        #expect(design(40, 0) == nil)
        #expect(design(40, 90) == nil)
        #expect(design(3, 30) == nil, "few taps are summed directly")
        #expect(design(40, 45)?.density == 1, "the line meets pixels alone")
        #expect(design(40, 225)?.slope == design(40, 45)?.slope)
        #expect(design(40, 30)?.density == 3)
        #expect(design(40, 60)?.density == 6)
        #expect(design(400, 1) == nil, "rows would have too many taps")
        #expect(design(400, 89.99) == nil, "sums would lie too close to one another")
        #expect(design(400, 85)?.side == 397)
    }
}
