/// Elementary functions that use only + − × ÷, in a fixed order.
///
/// The results of the C library differ between its versions and between CPUs (it has variants with and without FMA), so none
/// of them may affect a pixel. These functions give the same bits on every machine and lie within 1e-15 (relative) of the true
/// value.
public enum DeterministicMath {
    /// e to the power of `x`, for `x` ≤ 0. Results below 1e-307 are 0.
    ///
    /// x = n·ln 2 + r with |r| ≤ ½·ln 2, then the Taylor series of e^r up to r¹³ (the remainder is below 1e-17).
    public static func exp(_ x: Double) -> Double {
        precondition(x <= 0, "only decay is needed, and it cannot overflow")
        guard x > -708 else { return 0 }
        let n = Int(x * 1.4426950408889634 - 0.5)  // x/ln 2, rounded to the nearest integer
        // ln 2 in two parts; the first has 32 bits, so its product with n is exact (Cody and Waite).
        let r = (x - Double(n) * 0.6931471803691238) - Double(n) * 1.9082149292705877e-10
        let series = stride(from: 13.0, through: 1, by: -1).reduce(1) { sum, k in 1 + r * sum / k }
        return series * Double(bitPattern: UInt64(1023 + n) << 52)  // times 2ⁿ, exactly
    }

    /// 2 to the power of `x`. Results beyond the range of `Double` are 0 or infinite; NaN gives NaN.
    public static func exp2(_ x: Double) -> Double {
        guard x < 1024 else { return x.isNaN ? x : .infinity }
        guard x > -1022 else { return 0 }
        let n = x.rounded(.toNearestOrEven)
        let r = (x - n) * 0.6931471805599453
        let series = stride(from: 15.0, through: 1, by: -1).reduce(1) { sum, k in 1 + r * sum / k }
        return n == 1024 ? .infinity : series * Double(bitPattern: UInt64(Int64(1023) + Int64(n)) << 52)
    }

    /// `base` to the power of `exponent`, for a base that is not negative; 0 to any power but 0 is 0. Relative error
    /// below 1e-13.
    public static func power(_ base: Double, _ exponent: Double) -> Double {
        if exponent == 0 || base == 1 { return 1 }
        guard base.isFinite, base >= 0 else { return base < 0 ? .nan : base }
        guard base.isNormal else { return exponent > 0 ? 0 : .infinity }
        return exp2(exponent * log2(base))
    }

    /// The logarithm to the base of 2 of a positive, normal number.
    ///
    /// x = 2ⁿ·m with √½ ≤ m < √2, then ln m = 2·artanh((m − 1)/(m + 1)) as a series up to the 23rd power (the remainder is
    /// below 1e-18).
    public static func log2(_ x: Double) -> Double {
        precondition(x.isNormal && x > 0, "only positive numbers have a logarithm")
        var (n, m) = (Double(x.exponent), x.significand)
        if m > 1.4142135623730951 {
            n += 1
            m /= 2
        }
        let t = (m - 1) / (m + 1)
        let series = stride(from: 23.0, through: 1, by: -2).reduce(0) { sum, k in sum * t * t + 1 / k }
        return n + 2 * t * series * 1.4426950408889634
    }

    /// Sine and cosine of an angle in degrees.
    ///
    /// Exact where the result is rational, that is at the multiples of 30° that give 0, ±½ and ±1 (Niven's theorem has
    /// no others); at 45° both are √½. Symmetric: sin(−a) = −sin a, sin(180° − a) = sin a, sin(90° − a) = cos a, bit
    /// for bit. An infinite angle or NaN gives NaN.
    public static func sinCos(degrees: Double) -> (sin: Double, cos: Double) {
        // IEEE 754 defines the remainder exactly. The subtractions below are exact, too, because all operands are multiples of
        // the angle's last bit.
        let turn = degrees.magnitude.truncatingRemainder(dividingBy: 360)
        guard turn.isFinite else { return (.nan, .nan) }
        let quadrant = Int(turn / 90)
        let (s, c) = firstQuadrant(turn - Double(quadrant) * 90)
        let (sin, cos) = [(s, c), (c, -s), (-s, -c), (-c, s)][quadrant]
        return (degrees < 0 ? 0 - sin : sin + 0, cos + 0)  // adding 0 turns −0 into 0
    }

    /// Sine and cosine for 0 ≤ `degrees` < 90.
    private static func firstQuadrant(_ degrees: Double) -> (sin: Double, cos: Double) {
        switch degrees {
        case 0: (0, 1)
        case 30: (0.5, 0.75.squareRoot())
        case 45: (0.5.squareRoot(), 0.5.squareRoot())
        case 60: (0.75.squareRoot(), 0.5)
        case ..<45: (sinSeries(degrees), cosSeries(degrees))
        default: (cosSeries(90 - degrees), sinSeries(90 - degrees))
        }
    }

    /// The Taylor series up to x¹⁹, for up to 45°. The remainder is below 1e-21.
    private static func sinSeries(_ degrees: Double) -> Double {
        let x = degrees * (Double.pi / 180)
        return x * stride(from: 18.0, through: 2, by: -2).reduce(1) { sum, k in 1 - x * x * sum / (k * (k + 1)) }
    }

    /// The Taylor series up to x²⁰, for up to 45°.
    private static func cosSeries(_ degrees: Double) -> Double {
        let x = degrees * (Double.pi / 180)
        return stride(from: 19.0, through: 1, by: -2).reduce(1) { sum, k in 1 - x * x * sum / (k * (k + 1)) }
    }
}

extension DeterministicMath {
    /// The angle, in radians, whose sine is `x`, for 0 ≤ `x` ≤ 1.
    ///
    /// Halving the angle three times, by sin(a/2) = sin a / √(2 + 2·cos a), leaves at most 0.196. The remainder of the Taylor
    /// series up to the 21st power is below 1e-17 of that.
    package static func arcSine(_ x: Double) -> Double {
        precondition((0...1).contains(x), "a sine of the first quadrant")
        var sine = x
        for _ in 0..<3 { sine /= (2 + 2 * (1 - sine * sine).squareRoot()).squareRoot() }
        // x·(1 + 1/6·x²·(1 + 9/20·x²·(1 + 25/42·x²·(…)))), by Horner from the last term.
        let series = stride(from: 19.0, through: 1, by: -2).reduce(1) { sum, k in
            1 + sine * sine * k * k / ((k + 1) * (k + 2)) * sum
        }
        return 8 * sine * series
    }
}

extension DeterministicMath {
    /// The cube root of a positive, normal, finite number.
    ///
    /// Newton's iteration from an estimate with an error of at most 7 % (a third of the exponent, by integer arithmetic on the
    /// bits). Each of the five steps doubles the number of correct digits.
    static func cubeRoot(_ x: Double) -> Double {
        let bias = (UInt64(1023) << 52) / 3 * 2
        var y = Double(bitPattern: x.bitPattern / 3 + bias)
        for _ in 0..<5 { y = (y + y + x / (y * y)) / 3 }
        return y
    }

    /// The fifth root of a positive, normal, finite number, computed in the same way.
    static func fifthRoot(_ x: Double) -> Double {
        let bias = (UInt64(1023) << 52) / 5 * 4
        var y = Double(bitPattern: x.bitPattern / 5 + bias)
        for _ in 0..<6 {
            let square = y * y
            y = (4 * y + x / (square * square)) / 5
        }
        return y
    }
}

/// The transfer curve of sRGB (IEC 61966-2-1), in both directions, on a scale where 1 is full intensity.
///
/// Negative values use the curve of their magnitude (the odd extension, as in scRGB), and values above 1 extend the power
/// function. Infinities and NaN do not change. The results have the same bits on every CPU; the relative error is below 1e-15.
public enum SRGBCurve {
    /// The linear light of a stored value.
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
