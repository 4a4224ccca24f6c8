import Foundation

/// Curves of bright light by their publications, in float64 and with the C library's powers.
package enum TrueTones {
    /// A colour's stored values in sRGB, or that of gray, after `tone-map`.
    ///
    /// - Parameters:
    ///   - color: the stored values, 1 for white.
    ///   - exposure: in stops.
    ///   - peak, target: in cd/m².
    package static func mapped(
        _ color: [Double], _ curve: String, exposure: Double, peak: Double, target: Double
    ) -> [Double] {
        let light = color.map { trueLinear($0) * 203 / target * pow(2, exposure) }
        let brightest = light.max() ?? 0
        // A curve through black has a slope there, which very dark light shows.
        let probe = max(brightest, 1e-9)
        let result = min(curve == "bt2390" ? eetf(probe, peak, target) : ratio(probe, curve, peak / target), 1)
        return light.map { trueEncoded($0 / probe * result) }
    }

    private static func ratio(_ light: Double, _ curve: String, _ peak: Double) -> Double {
        guard light < peak else { return 1 }
        if curve == "reinhard" { return light * (1 + light / (peak * peak)) / (1 + light) }
        // For tiny numbers the published form is the difference of nearly equal ones.
        return light < 1e-6 ? light * (hable(1e-6) / 1e-6) / hable(peak) : hable(light) / hable(peak)
    }

    /// Uncharted 2, slide 53.
    private static func hable(_ x: Double) -> Double {
        let (a, b, c, d, e, f) = (0.15, 0.50, 0.10, 0.20, 0.02, 0.30)
        return ((x * (a * x + c * b) + d * e) / (x * (a * x + b) + d * f)) - e / f
    }

    /// Steps 1, 2 and 4 of BT.2390-10, section 5.4.1. Black has no light on both sides, so that step 3 changes nothing.
    private static func eetf(_ light: Double, _ peak: Double, _ target: Double) -> Double {
        guard light * target < peak else { return 1 }
        let e1 = pq(light * target) / pq(peak)
        let maxLum = pq(target) / pq(peak)
        let ks = 1.5 * maxLum - 0.5
        guard e1 >= ks else { return light }
        let t = (e1 - ks) / (1 - ks)
        let e2 =
            (2 * pow(t, 3) - 3 * pow(t, 2) + 1) * ks + (pow(t, 3) - 2 * pow(t, 2) + t) * (1 - ks)
            + (-2 * pow(t, 3) + 3 * pow(t, 2)) * maxLum
        return nits(ofPQ: e2 * pq(peak)) / target
    }

    /// The stored value of light in cd/m²: BT.2100-2, table 4.
    package static func pq(_ nits: Double) -> Double {
        let y = pow(max(nits, 0) / 10000, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y), 78.84375)
    }

    /// The light in cd/m² of a stored value.
    package static func nits(ofPQ value: Double) -> Double {
        let root = pow(value, 1 / 78.84375)
        return 10000 * pow(max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125)
    }

    /// The light of the scene, 0–1, for a stored value of HLG: BT.2100-2, table 5.
    package static func scene(ofHLG value: Double) -> Double {
        value <= 0.5 ? value * value / 3 : (exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }
}
