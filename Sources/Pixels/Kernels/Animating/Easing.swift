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
