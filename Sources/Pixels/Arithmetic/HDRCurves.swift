/// The curve of SMPTE ST 2084 (PQ, also in ITU-R BT.2100-2, table 4): stored values for light up to 10000 cd/m².
///
/// Values and light are on a scale where 1 is the end of the curve. Both directions cut off below 0. The results have the
/// same bits on every CPU.
package enum PQCurve {
    /// The light of the value 1, in cd/m² (nits).
    package static let nits = 10_000.0

    private static let m1 = 1305.0 / 8192
    private static let m2 = 2523.0 / 32
    private static let c1 = 107.0 / 128
    private static let c2 = 2413.0 / 128
    private static let c3 = 2392.0 / 128

    /// The light of a stored value: the EOTF. Values above 1 count as 1, and NaN as 0.
    package static func decode(_ value: Double) -> Double {
        guard value > 0 else { return 0 }
        guard value < 1 else { return 1 }
        let root = DeterministicMath.power(value, 1 / m2)
        return root > c1 ? DeterministicMath.power((root - c1) / (c2 - c3 * root), 1 / m1) : 0
    }

    /// The stored value of light: the inverse EOTF. Light above 1 counts as 1, and NaN as 0.
    package static func encode(_ light: Double) -> Double {
        guard light < 1 else { return light.isNaN ? 0 : 1 }
        let root = light > 0 ? DeterministicMath.power(light, m1) : 0
        return DeterministicMath.power((c1 + c2 * root) / (1 + c3 * root), m2)
    }
}

/// The curve of ITU-R BT.2100-2, table 5 (HLG): stored values for the light of a scene.
package enum HLGCurve {
    private static let a = 0.17883277
    private static let b = 0.28466892
    private static let c = 0.55991073

    /// The light of the scene for a stored value, both from 0 to 1: the inverse OETF. Values beyond count as the ends, and NaN
    /// as 0.
    package static func decode(_ value: Double) -> Double {
        guard value > 0 else { return 0 }
        guard value < 1 else { return 1 }
        if value <= 0.5 { return value * value / 3 }
        // e to the power of (value − c)/a
        return (DeterministicMath.exp2((value - c) / a * 1.4426950408889634) + b) / 12
    }
}
