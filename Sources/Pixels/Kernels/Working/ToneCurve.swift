import Arithmetic

/// How much linear light the stored values of a colour channel stand for: a curve that rises, on a scale where 1 is full intensity.
///
/// Negative values take the curve of their magnitude, and values above 1 continue it, as ``SRGBCurve`` does. The same bits on every
/// CPU.
package enum ToneCurve: Hashable, Sendable {
    case sRGB
    /// Light at equal distances of stored values from 0 to 1, at least two of them; straight lines between.
    case table([Double])
    /// `(a·x + b)^g + e` from `d` on, `c·x + f` below.
    case power(g: Double, a: Double = 1, b: Double = 0, c: Double = 0, d: Double = 0, e: Double = 0, f: Double = 0)

    /// Linear light of a stored value.
    package func decode(_ value: Double) -> Double {
        if case .sRGB = self { return SRGBCurve.decode(value) }
        guard value.isFinite else { return value }
        let light = lightOfPositive(value.magnitude)
        return value < 0 ? -light : light
    }

    /// The stored value of linear light; the least one where several have that light.
    package func encode(_ light: Double) -> Double {
        if case .sRGB = self { return SRGBCurve.encode(light) }
        guard light.isFinite else { return light }
        let value = positiveValue(of: light.magnitude)
        return light < 0 ? -value : value
    }

    private func lightOfPositive(_ value: Double) -> Double {
        switch self {
        case .sRGB: return SRGBCurve.decode(value)
        case .table(let lights):
            let place = value * Double(lights.count - 1)
            let index = place < Double(lights.count - 2) ? Int(place) : lights.count - 2
            return lights[index] + (lights[index + 1] - lights[index]) * (place - Double(index))
        case .power(let g, let a, let b, let c, let d, let e, let f):
            return value >= d ? DeterministicMath.power(max(0, a * value + b), g) + e : c * value + f
        }
    }

    private func positiveValue(of light: Double) -> Double {
        switch self {
        case .sRGB: return SRGBCurve.encode(light)
        case .table(let lights):
            let index = Self.lastBelow(light, lights)
            let step = lights[index + 1] - lights[index]
            guard step > 0 else { return index == 0 ? 0 : 1 }
            return max(0, (Double(index) + (light - lights[index]) / step) / Double(lights.count - 1))
        case .power(let g, let a, let b, let c, let d, let e, let f):
            if light >= lightOfPositive(max(0, d)) {
                return max(0, (DeterministicMath.power(max(0, light - e), 1 / g) - b) / a)
            }
            return c > 0 ? max(0, min(d, (light - f) / c)) : 0
        }
    }

    /// The last of the straight pieces that begin below `light`; the first one where none does.
    private static func lastBelow(_ light: Double, _ lights: [Double]) -> Int {
        var (low, high) = (0, lights.count - 2)
        while low < high {
            let middle = (low + high + 1) / 2
            if lights[middle] < light { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// True when light never falls and is not the same everywhere, so that it can be turned back into stored values.
    package var rises: Bool {
        if case .power(let g, let a, _, let c, _, _, _) = self, !(g > 0 && a > 0 && c >= 0) { return false }
        let lights = (0...1024).map { decode(Double($0) / 1024) }
        return zip(lights, lights.dropFirst()).allSatisfy { $0 <= $1 } && lights[1024] - lights[0] > 0.1
            && lights.allSatisfy(\.isFinite)
    }

    var isSRGB: Bool { if case .sRGB = self { true } else { false } }

    /// True when the curve is sRGB's, up to the digits that profiles have.
    package var isCloseToSRGB: Bool {
        (0...255).allSatisfy { abs(decode(Double($0) / 255) - SRGBCurve.decode(Double($0) / 255)) <= 1e-4 }
    }
}
