import Arithmetic

/// The progress of an animation as a function of time.
package enum Easing: Hashable, Sendable {
    case linear
    /// The cubic Bézier curve from (0, 0) to (1, 1) with these two control points, as in CSS (Easing Functions, section 2.2)
    /// and UIKit. Both x are in 0…1.
    case bezier(x1: Double, y1: Double, x2: Double, y2: Double)
    case spring(Spring)

    package static let easeIn = Easing.bezier(x1: 0.42, y1: 0, x2: 1, y2: 1)
    package static let easeOut = Easing.bezier(x1: 0, y1: 0, x2: 0.58, y2: 1)
    package static let easeInOut = Easing.bezier(x1: 0.42, y1: 0, x2: 0.58, y2: 1)

    /// The progress: exactly 0 at the beginning and exactly 1 at the end. A spring exceeds 1 in between.
    ///
    /// - Parameter moment: the share of the duration that has passed. Values below 0 count as 0, values above 1 as 1.
    package func progress(at moment: Double) -> Double {
        guard moment > 0 else { return 0 }
        guard moment < 1 else { return 1 }
        switch self {
        case .linear: return moment
        case .bezier(let x1, let y1, let x2, let y2):
            return Self.coordinate(y1, y2, Self.parameter(x1, x2, where: moment))
        case .spring(let spring): return spring.progress(at: moment)
        }
    }

    /// A coordinate of the curve at its parameter `t`.
    private static func coordinate(_ a: Double, _ b: Double, _ t: Double) -> Double {
        let rest = 1 - t
        return 3 * rest * rest * t * a + 3 * rest * t * t * b + t * t * t
    }

    /// The parameter at which the monotonic x coordinate has a value, found by bisection to double precision.
    private static func parameter(_ x1: Double, _ x2: Double, where x: Double) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if coordinate(x1, x2, middle) < x { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}

/// A damped oscillation about its final position, with the parameters of UIKit's spring animations.
///
/// The remaining distance x satisfies x″ + 2ζω·x′ + ω²·x = 0, with x = 1 and speed −v at the beginning. The frequency ω
/// follows from the duration: at the end at most a thousandth of the distance remains.
package struct Spring: Hashable, Sendable {
    /// The damping ratio ζ: 1 does not oscillate, smaller values do.
    private let damping: Double
    /// The initial velocity, in distances per duration.
    private let velocity: Double
    /// ω, in radians per duration.
    private let frequency: Double

    private static let rest = 0.001

    /// - Parameters:
    ///   - damping: the damping ratio, above 0, at most 1.
    ///   - velocity: the initial velocity, in distances per second; a negative one moves away first.
    ///   - duration: in seconds.
    package init(damping: Double, velocity: Double, duration: Double) {
        precondition(damping > 0 && damping <= 1, "what is not damped never rests")
        self.damping = damping
        self.velocity = velocity * duration
        frequency = Self.frequency(damping, velocity * duration)
    }

    /// See ``Easing/progress(at:)``, for 0 < `moment` < 1.
    package func progress(at moment: Double) -> Double {
        let decay = damping * frequency
        let fading = DeterministicMath.exp(-decay * moment)
        guard damping < 1 else { return 1 - fading * (1 + (frequency - velocity) * moment) }
        let swing = frequency * (1 - damping * damping).squareRoot()
        let (sin, cos) = DeterministicMath.sinCos(degrees: swing * moment * 180 / .pi)
        return 1 - fading * (cos + (decay - velocity) / swing * sin)
    }

    /// The smallest frequency whose envelope is low enough at the end: found by doubling a constant, then by bisection.
    private static func frequency(_ damping: Double, _ velocity: Double) -> Double {
        var high = 1.0
        while envelope(high, damping, velocity) > rest { high *= 2 }
        var low = high / 2
        for _ in 0..<50 {
            let middle = (low + high) / 2
            if envelope(middle, damping, velocity) > rest { low = middle } else { high = middle }
        }
        return high
    }

    /// The largest possible remaining distance at the end.
    private static func envelope(_ frequency: Double, _ damping: Double, _ velocity: Double) -> Double {
        let decay = damping * frequency
        let fading = DeterministicMath.exp(-decay)
        guard damping < 1 else { return fading * (1 + (frequency - velocity).magnitude) }
        let swing = frequency * (1 - damping * damping).squareRoot()
        let slope = (decay - velocity) / swing
        return fading * (1 + slope * slope).squareRoot()
    }
}
