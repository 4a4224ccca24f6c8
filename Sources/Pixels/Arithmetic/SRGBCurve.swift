/// The transfer curve of sRGB (IEC 61966-2-1), both ways, on a scale where 1 is full intensity.
///
/// Negative values take the curve of their magnitude (the odd extension, as scRGB does), values above 1 go on along
/// the power function; infinities and NaN pass. The same bits on every CPU; relative error below 1e-15.
public enum SRGBCurve {
    /// Linear light of a stored value.
    public static func decode(_ value: Double) -> Double {
        let x = value.magnitude
        guard x > 0.04045 else { return value / 12.92 }
        guard x.isFinite else { return value }
        let base = (x + 0.055) / 1.055
        let square = base * base
        let linear = square * DeterministicMath.fifthRoot(square)  // base^2.4 = base² · (base²)^(1/5)
        return value < 0 ? -linear : linear
    }

    /// The stored value of linear light.
    public static func encode(_ linear: Double) -> Double {
        let x = linear.magnitude
        guard x > 0.0031308 else { return linear * 12.92 }
        guard x.isFinite else { return linear }
        let root = x.squareRoot()
        let power = root.squareRoot() * DeterministicMath.cubeRoot(root)  // x^(1/2.4) = x^(1/4) · x^(1/6)
        let value = 1.055 * power - 0.055
        return linear < 0 ? -value : value
    }
}
