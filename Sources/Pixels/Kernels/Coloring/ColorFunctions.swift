import Arithmetic

/// Levels: what is as dark as `black` becomes the darkest value, what is as bright as `white` the brightest, and the middle moves
/// by `gamma`.
///
/// out = darkest + (brightest − darkest)·t^(1/gamma), where t = (in − black)/(white − black), cut off at 0 and 1. In pictures of
/// floats it is not cut off: below 0 the power of the magnitude counts, with its sign.
package struct Levels: ChannelFunction {
    private let black: Double
    private let white: Double
    private let gamma: Double
    private let darkest: Double
    private let brightest: Double
    private let channels: Set<Int>?

    /// - Parameters:
    ///   - black, white: shares of full intensity; black is smaller.
    ///   - gamma: larger than 0. Above 1 the middle becomes brighter.
    ///   - channels: 0 to 2, those that change; nil for all. Gray always changes.
    package init(
        black: Double, white: Double, gamma: Double, darkest: Double, brightest: Double, channels: Set<Int>? = nil
    ) {
        precondition(black < white && gamma > 0, "black is darker than white, and gamma is positive")
        (self.black, self.white, self.gamma) = (black, white, gamma)
        (self.darkest, self.brightest, self.channels) = (darkest, brightest, channels)
    }

    package func value(_ value: Double, channel: Int?, isFloat: Bool) -> Double {
        if let channel, let channels, !channels.contains(channel) { return value }
        let position = (value - black) / (white - black)
        let kept = isFloat ? position : min(max(position, 0), 1)
        let bent = gamma == 1 || kept == 0 ? kept : DeterministicMath.power(kept.magnitude, 1 / gamma)
        return darkest + (brightest - darkest) * (kept < 0 && gamma != 1 ? -bent : bent)
    }
}

/// White balance in sRGB: the light of each channel is multiplied, so that a colour that should be neutral becomes neutral, as
/// bright as before. (A von Kries adaptation of the channels.) Gray pictures do not change.
package struct NeutralBalance: ChannelFunction {
    /// For red, green and blue.
    private let factors: [Double]

    /// - Parameters:
    ///   - neutral: red, green and blue of the colour in sRGB, shares of full intensity, all larger than 0.
    package init(neutral: [Double]) {
        let light = neutral.map(SRGBCurve.decode)
        precondition(light.count == 3 && light.allSatisfy { $0 > 0 }, "a neutral colour has some of each channel")
        factors = Self.factors(light)
    }

    /// Nil for a colour that no useful factor makes gray: a channel has less than a hundred thousandth of full intensity.
    ///
    /// - Parameter light: of red, green and blue of the colour; 1 is full intensity.
    package init?(light: [Double]) {
        guard light.count == 3, light.allSatisfy({ $0 >= 1e-5 && $0.isFinite }) else { return nil }
        factors = Self.factors(light)
    }

    private static func factors(_ light: [Double]) -> [Double] {
        let luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
        return light.map { luminance / $0 }
    }

    package var isIdentity: Bool { factors.allSatisfy { abs($0 - 1) < 1e-12 } }

    package func value(_ value: Double, channel: Int?, isFloat: Bool) -> Double {
        channel.map { SRGBCurve.encode(SRGBCurve.decode(value) * factors[$0]) } ?? value
    }
}

/// A rotation of hues that keeps the luma: the matrix `hueRotate` of SVG and CSS, see
/// <https://www.w3.org/TR/filter-effects-1/#feColorMatrixElement>. Grays do not change.
package struct HueRotation: ColorFunction {
    private let red: SIMD3<Float>
    private let green: SIMD3<Float>
    private let blue: SIMD3<Float>

    /// - Parameter degrees: from red to green to blue.
    package init(degrees: Double) {
        let (sine, cosine) = DeterministicMath.sinCos(degrees: degrees)
        func row(_ mean: [Double], _ cosines: [Double], _ sines: [Double]) -> SIMD3<Float> {
            let values = (0..<3).map { Float(mean[$0] + cosine * cosines[$0] + sine * sines[$0]) }
            return SIMD3(values[0], values[1], values[2])
        }
        let mean = [0.213, 0.715, 0.072]
        red = row(mean, [0.787, -0.715, -0.072], [-0.213, -0.715, 0.928])
        green = row(mean, [-0.213, 0.285, -0.072], [0.143, 0.140, -0.283])
        blue = row(mean, [-0.213, -0.715, 0.928], [-0.787, 0.715, 0.072])
    }

    /// The rows of the matrix have sums of 1 but for rounding. The differences from green leave grays exactly as they are.
    package func color(_ color: SIMD3<Float>) -> SIMD3<Float> {
        let (reds, blues) = (color.x - color.y, color.z - color.y)
        return SIMD3(
            color.y + (red.x * reds + red.z * blues), color.y + (green.x * reds + green.z * blues),
            color.y + (blue.x * reds + blue.z * blues))
    }

    package func recolor(_ pixels: ColorPixels) {
        pixels.operations.turnHues(pixels, matrix: [red.x, red.z, green.x, green.z, blue.x, blue.z])
    }
}
