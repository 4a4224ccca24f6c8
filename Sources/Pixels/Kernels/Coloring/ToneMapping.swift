import Arithmetic

/// Maps light that is brighter than a display to the display's range, by a named curve.
///
/// The curve applies to the brightest channel of a pixel. All channels are multiplied by the same factor, so that the
/// proportions of the light stay, and with them its hue and saturation. No channel can exceed full intensity then. A curve
/// of the luminance keeps hues, too, but leaves bright blues beyond full intensity, and depends on the picture's primaries.
///
/// Light above the peak counts as the peak: it becomes full intensity. NaN and minus infinity count as 0. Negative channels,
/// which stand for colours outside of the picture's space, get the same factor as the others.
package struct ToneMapping: LightFunction {
    package enum Curve: String, Hashable, Sendable, CaseIterable {
        /// J. Hable, "Uncharted 2: HDR Lighting", Game Developers Conference 2010.
        case hable
        /// E. Reinhard et al., "Photographic Tone Reproduction for Digital Images", SIGGRAPH 2002, equation 4.
        case reinhard
        /// The EETF of Report ITU-R BT.2390-10, section 5.4.1, for a display whose black has no light.
        case bt2390
    }

    /// The light of the stored value 1 in cd/m²: the reference white of Report ITU-R BT.2408.
    package static let white = 203.0

    private let curve: Curve
    /// From the input's light to multiples of the display's.
    private let scale: Double
    /// The light that becomes full intensity, in multiples of the display's.
    private let peak: Double
    /// What the curve of Hable is divided by.
    private let hableWhite: Double
    private let knee: Knee

    /// - Parameters:
    ///   - exposure: in stops. It comes before the curve.
    ///   - peak: the light that becomes full intensity, in cd/m²; larger than `target`, at most 10000.
    ///   - target: the light of the display's full intensity, in cd/m².
    package init(_ curve: Curve, exposure: Double, peak: Double, target: Double) {
        precondition(target > 0 && target < peak && peak <= PQCurve.nits, "there is light to bring back")
        self.curve = curve
        scale = Self.white / target * DeterministicMath.exp2(exposure)
        self.peak = peak / target
        hableWhite = Self.hable(self.peak) * self.peak
        knee = Knee(peak: peak, target: target)
    }

    package func light(_ light: SIMD3<Double>) -> SIMD3<Double> {
        let light = SIMD3(Self.known(light.x), Self.known(light.y), Self.known(light.z))
        return light * (scale * gain(max(light.x, light.y, light.z) * scale))
    }

    package func recolorSRGB(_ pixels: ColorPixels) {
        let tones: MappedTones =
            switch curve {
            case .hable: .hable(white: hableWhite)
            case .reinhard: .reinhard(share: 1 / (peak * peak))
            case .bt2390: knee.tones
            }
        pixels.operations.mapTones(pixels, tones, scale: scale, peak: peak)
    }

    /// Far brighter light than any curve tells apart, so that no product is infinite.
    private static let brightest = 1e30

    private static func known(_ light: Double) -> Double {
        light > -.infinity ? max(-brightest, min(light, brightest)) : 0
    }

    /// The factor of a light in multiples of the display's.
    private func gain(_ light: Double) -> Double {
        guard light < peak else { return 1 / light }
        let light = max(light, 0)
        return switch curve {
        case .hable: Self.hable(light) / hableWhite
        case .reinhard: (1 + light / (peak * peak)) / (1 + light)
        case .bt2390: light > knee.light ? knee.light(light) / light : 1
        }
    }

    /// Hable's curve over the light: ((x(Ax + CB) + DE)/(x(Ax + B) + DF) − E/F)/x, without the difference of nearly equal numbers.
    private static func hable(_ x: Double) -> Double {
        let (a, b, c, d, e, f) = (0.15, 0.50, 0.10, 0.20, 0.02, 0.30)
        return (a * (f - e) * x + b * (c * f - e)) / (f * (x * (a * x + b) + d * f))
    }
}

/// The part of BT.2390's curve that bends: a Hermite spline of PQ values from the knee to the peak.
private struct Knee {
    /// Up to this light, in multiples of the display's, nothing changes.
    let light: Double
    /// The display's light as a share of PQ's.
    private let target: Double
    /// PQ values. Those of the spline are shares of the peak's.
    private let peak: Double
    private let start: Double
    private let end: Double

    init(peak: Double, target: Double) {
        self.target = target / PQCurve.nits
        self.peak = PQCurve.encode(peak / PQCurve.nits)
        end = PQCurve.encode(self.target) / self.peak
        start = 1.5 * end - 0.5
        light = PQCurve.decode(start * self.peak) / self.target
    }

    /// What the loops over pixels need.
    var tones: MappedTones { .bt2390(knee: light, target: target, peak: peak, start: start, end: end) }

    /// The mapped light for one from the knee to the peak, both in multiples of the display's.
    func light(_ light: Double) -> Double {
        let t = (PQCurve.encode(light * target) / peak - start) / (1 - start)
        let (square, cube) = (t * t, t * t * t)
        let value =
            (2 * cube - 3 * square + 1) * start + (cube - 2 * square + t) * (1 - start) + (3 * square - 2 * cube) * end
        return PQCurve.decode(value * peak) / target
    }
}
