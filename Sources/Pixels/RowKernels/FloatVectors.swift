import Builtin

// What the standard library's vectors of floats lack in fast form; see Vectors.swift.

/// Each value, or `least` where it is not larger (and for NaN).
@inline(__always)
func larger(_ x: SIMD16<Float>, than least: Float) -> SIMD16<Float> {
    let bound = SIMD16<Float>(repeating: least)
    let isLarger = Builtin.fcmp_ogt_Vec16xFPIEEE32(x._storage._value, bound._storage._value)
    var result = SIMD16<Float>()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xFPIEEE32(
        isLarger, x._storage._value, bound._storage._value)
    return result
}

/// Each value times 2ⁿ, n being the low bits of the other: an addition to the exponent.
@inline(__always)
func scaled(_ x: SIMD16<Float>, byPowerIn shifted: SIMD16<Float>) -> SIMD16<Float> {
    let power = Builtin.shl_Vec16xInt32(
        Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(shifted._storage._value),
        SIMD16<UInt32>(repeating: 23)._storage._value)
    let bits = Builtin.add_Vec16xInt32(Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(x._storage._value), power)
    var result = SIMD16<Float>()
    result._storage._value = Builtin.bitcast_Vec16xInt32_Vec16xFPIEEE32(bits)
    return result
}
