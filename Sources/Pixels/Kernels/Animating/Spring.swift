import Arithmetic

/// A damped oscillation about the place where it ends, with the parameters that UIKit's spring animations have.
///
/// x″ + 2ζω·x′ + ω²·x = 0 for what is left of the way, from 1 with the speed −v. Its frequency ω follows from the duration:
/// at its end no more than a thousandth of the way may be left.
package struct Spring: Hashable, Sendable {
    /// ζ: 1 comes to rest without swinging, less swings.
    private let damping: Double
    /// In whole ways per duration.
    private let velocity: Double
    /// ω, in radians per duration.
    private let frequency: Double

    private static let rest = 0.001

    /// - Parameters:
    ///   - damping: above 0, at most 1.
    ///   - velocity: at the beginning, in whole ways per second; negative ones lead away first.
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

    /// The lowest power of two (times a constant) whose envelope is low enough at the end, then halved down to where it
    /// just is.
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

    /// How much of the way is left at the end, at most.
    private static func envelope(_ frequency: Double, _ damping: Double, _ velocity: Double) -> Double {
        let decay = damping * frequency
        let fading = DeterministicMath.exp(-decay)
        guard damping < 1 else { return fading * (1 + (frequency - velocity).magnitude) }
        let swing = frequency * (1 - damping * damping).squareRoot()
        let slope = (decay - velocity) / swing
        return fading * (1 + slope * slope).squareRoot()
    }
}
