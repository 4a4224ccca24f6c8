import Foundation

/// The primaries of an RGB space as X, Y and Z under D50, as ICC profiles have them.
package struct TruePrimaries: Sendable {
    package let red: [Double]
    package let green: [Double]
    package let blue: [Double]

    package static let sRGB = TruePrimaries(
        red: [0.43607, 0.22249, 0.01392], green: [0.38515, 0.71687, 0.09708], blue: [0.14307, 0.06061, 0.71410])
    package static let displayP3 = TruePrimaries(
        red: [0.5151, 0.2412, -0.0011], green: [0.2920, 0.6922, 0.0419], blue: [0.1571, 0.0666, 0.7841])
    package static let adobeRGB = TruePrimaries(
        red: [0.6097, 0.3111, 0.0195], green: [0.2053, 0.6257, 0.0609], blue: [0.1492, 0.0632, 0.7446])

    /// A colour of a space with these primaries and a curve that is a power, 0–1 each, in sRGB: by the definition of both
    /// spaces, cut off where sRGB ends.
    package func inSRGB(_ color: [Double], gamma: Double) -> [Double] {
        inSRGB(light: color.map { pow($0, gamma) })
    }

    /// The same of a colour's light.
    package func inSRGB(light: [Double]) -> [Double] {
        lightInSRGB(light).map { trueEncoded(min(1, max(0, $0))) }
    }

    /// The light in sRGB, which is not cut off.
    package func lightInSRGB(_ light: [Double]) -> [Double] {
        func held(_ value: Double) -> Double { (value * 65536).rounded() / 65536 }  // as profiles hold primaries
        let xyz = (0..<3).map {
            held(red[$0]) * light[0] + held(green[$0]) * light[1] + held(blue[$0]) * light[2]
        }
        return Self.sRGB.light(of: xyz)
    }

    /// How much of each primary makes a colour: Cramer's rule.
    private func light(of xyz: [Double]) -> [Double] {
        let whole = Self.volume(red, green, blue)
        return [
            Self.volume(xyz, green, blue) / whole, Self.volume(red, xyz, blue) / whole,
            Self.volume(red, green, xyz) / whole,
        ]
    }

    private static func volume(_ a: [Double], _ b: [Double], _ c: [Double]) -> Double {
        a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) + c[0] * (a[1] * b[2] - a[2] * b[1])
    }
}
