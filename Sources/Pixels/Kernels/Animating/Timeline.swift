import Arithmetic

/// The frames of an animation: one at its beginning, one at its end, and those between at a steady rate.
package struct Timeline: Hashable, Sendable {
    /// In seconds, above 0.
    package let duration: Double
    /// Frames a second, above 0.
    package let fps: Double
    /// How many times it is played; 0 for without end.
    package let repetitions: Int

    package init(duration: Double, fps: Double, repetitions: Int = 0) {
        self.duration = duration
        self.fps = fps
        self.repetitions = repetitions
    }

    /// At least 2: `duration` times `fps`, rounded, and one more, since both ends are shown.
    package var count: Int { max(1, Int((duration * fps).rounded())) + 1 }

    /// In seconds since the beginning; the last frame shows the end.
    ///
    /// - Parameter frame: from 0.
    package func time(of frame: Int) -> Double { frame >= count - 1 ? duration : min(Double(frame) / fps, duration) }

    /// How long each frame is shown, in milliseconds, where a file can state only multiples of `unit`. Roundings do
    /// not add up.
    package func delays(unit: Int) -> [Int] {
        let ends = (0...count).map { Int((Double($0) / fps * 1000 / Double(unit)).rounded()) * unit }
        return zip(ends, ends.dropFirst()).map { $1 - $0 }
    }
}

/// How far something has come at each moment of an animation.
package enum Easing: Hashable, Sendable {
    case linear
    /// The cubic Bézier curve from (0, 0) to (1, 1) with these two points between, as CSS (Easing Functions, section 2.2)
    /// and UIKit have it. The x are in 0…1.
    case bezier(x1: Double, y1: Double, x2: Double, y2: Double)
    case spring(Spring)

    package static let easeIn = Easing.bezier(x1: 0.42, y1: 0, x2: 1, y2: 1)
    package static let easeOut = Easing.bezier(x1: 0, y1: 0, x2: 0.58, y2: 1)
    package static let easeInOut = Easing.bezier(x1: 0.42, y1: 0, x2: 0.58, y2: 1)

    /// 0 at the beginning and 1 at the end, exactly. A spring leads beyond 1 on its way.
    ///
    /// - Parameter moment: share of the duration that has passed; what lies outside of 0…1 is still there, or there
    ///   already.
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

    /// The parameter where the x coordinate, which only grows, has a value: halved down to a double's precision.
    private static func parameter(_ x1: Double, _ x2: Double, where x: Double) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if coordinate(x1, x2, middle) < x { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}

/// A damped oscillation about the position where it ends, with the parameters that UIKit's spring animations have.
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
