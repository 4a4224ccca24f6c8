import Builtin

// Elementary functions of eight doubles, by + − × ÷ in a fixed order as in `DeterministicMath`, so that every CPU gives the same bits.

/// `base` to the power of `exponent`, for positive, normal bases and results. The relative error is below 1e-12 where the power of 2
/// is below 100. Other bases give any number.
@inline(__always) func power(_ base: DoubleVector, _ exponent: Double) -> DoubleVector {
    exponential(logarithm(base) * exponent)
}

/// The logarithm to the base of 2 of positive, normal numbers. x = 2ⁿ·m with √½ ≤ m < √2, then ln m = 2·artanh((m − 1)/(m + 1)); the
/// rest of the series is below 4e-14.
@inline(__always) private func logarithm(_ x: DoubleVector) -> DoubleVector {
    let bits = unsafeBitCast(x, to: LongVector.self)
    let half = LongVector(repeating: 0x3FE6_A09E_667F_3BCD)  // the bits of √½
    let above = bits &- half
    // Shifts of 64 bits that keep the sign are slow before AVX-512. So the exponent is made positive first.
    let raised = shiftedRight(above &+ LongVector(repeating: 1024 << 52), by: 52)
    let mantissa = unsafeBitCast(
        bits &- shiftedLeft(raised &- LongVector(repeating: 1024), by: 52), to: DoubleVector.self)
    // A number below 2⁵² in the low bits of 2⁵² is that number after a subtraction.
    let magic = LongVector(repeating: 0x4330_0000_0000_0000)
    let exponent = unsafeBitCast(raised &+ magic, to: DoubleVector.self) - (4_503_599_627_370_496 + 1024)
    let t = (mantissa - 1) / (mantissa + 1)
    let square = t * t
    var series = square * (1 / 15.0) + 1 / 13.0
    series = series * square + 1 / 11.0
    series = series * square + 1 / 9.0
    series = series * square + 1 / 7.0
    series = series * square + 1 / 5.0
    series = series * square + 1 / 3.0
    series = series * square + 1
    return exponent + t * series * 2.8853900817779268
}

/// 2 to the power of `x`, from −1022 to 1023. The rest of the series is below 1e-14.
@inline(__always) private func exponential(_ x: DoubleVector) -> DoubleVector {
    // 1.5·2⁵²: adding it rounds to an integer, which is then in the low bits of the sum.
    let magic = 6_755_399_441_055_744.0
    let shifted = x + magic
    let r = (x - (shifted - magic)) * 0.6931471805599453
    var series = r * (1 / 39_916_800.0) + 1 / 3_628_800.0
    series = series * r + 1 / 362_880.0
    series = series * r + 1 / 40_320.0
    series = series * r + 1 / 5_040.0
    series = series * r + 1 / 720.0
    series = series * r + 1 / 120.0
    series = series * r + 1 / 24.0
    series = series * r + 1 / 6.0
    series = series * r + 0.5
    series = series * r + 1
    series = series * r + 1
    let power = shiftedLeft(unsafeBitCast(shifted, to: LongVector.self), by: 52)
    return unsafeBitCast(unsafeBitCast(series, to: LongVector.self) &+ power, to: DoubleVector.self)
}

/// The value without its sign (vandpd).
@inline(__always) func magnitude(_ x: DoubleVector) -> DoubleVector {
    unsafeBitCast(unsafeBitCast(x, to: LongVector.self) & LongVector(repeating: .max >> 1), to: DoubleVector.self)
}

/// A value that is not negative, with the sign of the other one (vandpd, vorpd).
@inline(__always) func withSign(of x: DoubleVector, _ magnitude: DoubleVector) -> DoubleVector {
    let sign = unsafeBitCast(x, to: LongVector.self) & LongVector(repeating: 1 << 63)
    return unsafeBitCast(unsafeBitCast(magnitude, to: LongVector.self) | sign, to: DoubleVector.self)
}

private typealias LongVector = SIMD8<UInt64>

@inline(__always) private func shiftedRight(_ x: LongVector, by count: UInt64) -> LongVector {
    var result = LongVector()
    result._storage._value = Builtin.lshr_Vec8xInt64(x._storage._value, LongVector(repeating: count)._storage._value)
    return result
}

@inline(__always) private func shiftedLeft(_ x: LongVector, by count: UInt64) -> LongVector {
    var result = LongVector()
    result._storage._value = Builtin.shl_Vec8xInt64(x._storage._value, LongVector(repeating: count)._storage._value)
    return result
}
