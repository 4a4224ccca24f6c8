import Kernels
import Testing

struct MotionTapsTests {
    private static let angles: [Double] = [0, 17.3, 30, 45, 90, 123, 180, 211, 270, 300, -45, 3333]
    private static let radii: [Double] = [1e-9, 0.3, 1, 2.5, 40, 333.3, 1000]
    private static let samplings: [MotionTaps.Sampling] = [.samples(1), .samples(5), .samples(1000), .continuous]

    @Test(arguments: radii, angles)
    func `weights are positive, sum to 1 and are the same on both sides`(radius: Double, angle: Double) {
        for sampling in Self.samplings {
            let taps = MotionTaps.taps(.init(radius: radius, degrees: angle), sampling).taps
            #expect(abs(taps.map(\.weight).reduce(0, +) - 1) < 1e-12)
            #expect(taps.allSatisfy { $0.weight > 0 })
            for (tap, opposite) in zip(taps, taps.reversed()) {
                #expect(tap.dx == -opposite.dx && tap.dy == -opposite.dy)
                #expect(abs(tap.weight - opposite.weight) < 1e-13)
            }
        }
    }

    @Test(arguments: radii, angles)
    func `nothing is read farther than the velocity, rounded up`(radius: Double, angle: Double) {
        let velocity = MotionTaps.Velocity(radius: radius, degrees: angle)
        for sampling in Self.samplings {
            let taps = MotionTaps.taps(velocity, sampling)
            #expect(taps.reachX <= Int(velocity.x.magnitude.rounded(.up)))
            #expect(taps.reachY <= Int(velocity.y.magnitude.rounded(.up)))
        }
    }

    @Test func `the default is eleven samples straight up and down`() {
        let taps = MotionTaps.taps(.init(radius: 40, degrees: 90), .samples(5)).taps
        #expect(taps.map(\.dx) == Array(repeating: 0, count: 11))
        #expect(taps.map(\.dy) == [-40, -32, -24, -16, -8, 0, 8, 16, 24, 32, 40])
        #expect(taps.allSatisfy { $0.weight == 1.0 / 11 })
    }

    @Test func `angles turn counter-clockwise as seen`() {
        let taps = MotionTaps.taps(.init(radius: 2.5.squareRoot() * 4, degrees: 45), .continuous).taps
        #expect(taps.allSatisfy { $0.dx * $0.dy <= 1 }, "from lower left to upper right, but for the bilinear corners")
        #expect(taps.first.map { $0.dx > 0 && $0.dy < 0 } == true)
    }

    @Test func `a sample between pixels is shared by the four around it`() {
        // v = (0.5, −0.25): samples at v, 0 and −v.
        let taps = MotionTaps.taps(.init(x: 0.5, y: -0.25), .samples(1)).taps
        let center = taps.first { $0.dx == 0 && $0.dy == 0 }?.weight ?? 0
        #expect(abs(center - (1 + 2 * 0.5 * 0.75) / 3) < 1e-15)
        let corner = taps.first { $0.dx == 1 && $0.dy == -1 }?.weight ?? 0
        #expect(abs(corner - 0.5 * 0.25 / 3) < 1e-15)
    }

    @Test func `along an axis, the continuous blur is a box with half weights at its ends`() {
        let taps = MotionTaps.taps(.init(radius: 4, degrees: 0), .continuous).taps
        #expect(taps.map(\.dx) == Array(-4...4))
        for tap in taps {
            #expect(abs(tap.weight - (abs(tap.dx) == 4 ? 1.0 / 16 : 1.0 / 8)) < 1e-15)
        }
    }

    @Test(arguments: angles)
    func `many samples approach the continuous blur`(angle: Double) {
        let velocity = MotionTaps.Velocity(radius: 7.3, degrees: angle)
        let limit = MotionTaps.taps(velocity, .continuous).taps
        let many = MotionTaps.taps(velocity, .samples(200_000)).taps
        for tap in many {
            let same = limit.first { $0.dx == tap.dx && $0.dy == tap.dy }
            #expect(abs(tap.weight - (same?.weight ?? 0)) < 1e-5)
        }
    }
}
