import Foundation
import Kernels
import Testing

struct EasingTests {
    /// Goes along the curve in a million steps.
    private func slow(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, at moment: Double) -> Double {
        func coordinate(_ a: Double, _ b: Double, _ t: Double) -> Double {
            3 * pow(1 - t, 2) * t * a + 3 * (1 - t) * pow(t, 2) * b + pow(t, 3)
        }
        let steps = 1_000_000
        let step = (0...steps).first { coordinate(x1, x2, Double($0) / Double(steps)) >= moment } ?? steps
        return coordinate(y1, y2, Double(step) / Double(steps))
    }

    @Test func `curves are those of CSS`() {
        for moment in [0.03, 0.1, 0.5, 0.77, 0.999] {
            #expect(abs(Easing.easeIn.progress(at: moment) - slow(0.42, 0, 1, 1, at: moment)) < 3e-6)
            #expect(abs(Easing.easeOut.progress(at: moment) - slow(0, 0, 0.58, 1, at: moment)) < 3e-6)
            #expect(abs(Easing.easeInOut.progress(at: moment) - slow(0.42, 0, 0.58, 1, at: moment)) < 3e-6)
            #expect(Easing.linear.progress(at: moment) == moment)
        }
        #expect(abs(Easing.easeInOut.progress(at: 0.5) - 0.5) < 1e-12)
    }

    @Test(arguments: [
        Easing.linear, .easeIn, .easeOut, .easeInOut, .spring(Spring(damping: 0.4, velocity: 3, duration: 0.7)),
    ])
    func `every way begins at 0 and ends at 1, exactly`(easing: Easing) {
        #expect([-1, 0, 1, 1.5].map(easing.progress) == [0, 0, 1, 1])
    }
}

struct SpringTests {
    private func samples(_ spring: Spring) -> [Double] { (1..<20_000).map { spring.progress(at: Double($0) / 20_000) } }

    @Test(arguments: [0.1, 0.3, 0.5, 0.8])
    func `it swings over by what theory says of its damping`(damping: Double) {
        let highest = samples(Spring(damping: damping, velocity: 0, duration: 2)).max() ?? 0
        #expect(abs(highest - 1 - exp(-.pi * damping / sqrt(1 - damping * damping))) < 1e-5)
    }

    @Test func `critically damped, it never goes beyond its end, nor back`() {
        let values = samples(Spring(damping: 1, velocity: 0, duration: 0.5))
        #expect(zip(values, values.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(values.allSatisfy { $0 < 1 })
    }

    @Test(arguments: [(0.2, 0.0), (0.2, 8), (0.7, -3), (1, 0), (1, 5), (0.01, 0)], [0.25, 4])
    func `it begins at its speed and rests at the end`(spring: (damping: Double, velocity: Double), duration: Double) {
        let values = Spring(damping: spring.damping, velocity: spring.velocity, duration: duration)
        let step = 1e-9
        #expect(abs(values.progress(at: step) / (step * duration) - spring.velocity) < 0.02)
        #expect(abs(values.progress(at: 1 - 1e-9) - 1) <= 0.001 + 1e-9)
    }

    /// x″ + 2ζω·x′ + ω²·(x − 1) = 0 has the same ω all along.
    @Test(arguments: [0.3, 0.9, 1])
    func `it is the solution of a spring's equation`(damping: Double) {
        let spring = Spring(damping: damping, velocity: 1.5, duration: 1)
        let step = 1e-4
        let frequencies = [0.05, 0.1, 0.2, 0.3].map { moment in
            let (before, here, after) = (
                spring.progress(at: moment - step), spring.progress(at: moment), spring.progress(at: moment + step)
            )
            let (speed, acceleration) = ((after - before) / (2 * step), (after - 2 * here + before) / (step * step))
            let (a, b, c) = (here - 1, 2 * damping * speed, acceleration)
            let root = (b * b - 4 * a * c).squareRoot()
            return [(-b + root) / (2 * a), (-b - root) / (2 * a)]
        }
        let known = frequencies[0].first { candidate in
            frequencies.allSatisfy { $0.contains { abs($0 - candidate) < 0.01 * candidate } }
        }
        #expect(known != nil, "\(frequencies)")
    }
}

struct RouteTests {
    private let route = Route([
        Route.Point(x: 1, y: 2), Route.Point(x: 1, y: 2), Route.Point(x: 5, y: 2), Route.Point(x: 5, y: 14),
    ])

    @Test func `the speed is the same on all of its lines`() {
        #expect(route.length == 16)
        #expect(route.position(at: 0) == Route.Point(x: 1, y: 2))
        #expect(route.position(at: 0.125) == Route.Point(x: 3, y: 2))
        #expect(route.position(at: 0.625) == Route.Point(x: 5, y: 8))
        #expect(route.position(at: 1) == Route.Point(x: 5, y: 14))
    }

    @Test func `beyond its ends the lines go on`() {
        #expect(route.position(at: 1.25) == Route.Point(x: 5, y: 18))
        #expect(route.position(at: -0.25) == Route.Point(x: -3, y: 2))
        #expect(route.line(at: 1.25)?.direction == Route.Point(x: 0, y: 1))
        #expect(route.line(at: -1)?.direction == Route.Point(x: 1, y: 0))
    }

    @Test func `a way that leads nowhere stays there`() {
        let route = Route([Route.Point(x: 3, y: 4), Route.Point(x: 3, y: 4)])
        #expect(route.position(at: 0.5) == Route.Point(x: 3, y: 4))
        #expect(route.line(at: 0.5) == nil)
        #expect(route.length == 0)
    }
}
