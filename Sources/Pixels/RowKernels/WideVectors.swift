import Builtin

// Vectors of 16 values of 32 bits, and the conversions between them: one register of AVX-512, two of AVX2. See
// Vectors.swift for why they are written with the compiler's own operations.

typealias WideVector = SIMD16<UInt32>
typealias FloatVector = SIMD16<Float>

/// 16 words (vpmovzxwd).
@inline(__always)
func loadWide(_ source: UnsafePointer<UInt16>) -> WideVector {
    let words = UnsafeRawPointer(source).loadUnaligned(as: SIMD16<UInt16>.self)
    var result = WideVector()
    result._storage._value = Builtin.zext_Vec16xInt16_Vec16xInt32(words._storage._value)
    return result
}

/// Whole numbers below 2³¹ in single precision (vcvtdq2ps).
@inline(__always)
func floats(_ x: WideVector) -> FloatVector {
    var result = FloatVector()
    result._storage._value = Builtin.sitofp_Vec16xInt32_Vec16xFPIEEE32(x._storage._value)
    return result
}

/// Cut to whole numbers (vcvttps2dq), which are in 0 ..< 2³¹.
@inline(__always)
func wholes(_ x: FloatVector) -> WideVector {
    var result = WideVector()
    result._storage._value = Builtin.fptosi_Vec16xFPIEEE32_Vec16xInt32(x._storage._value)
    return result
}

/// Stores the low 16 bits of every lane (vpmovdw).
@inline(__always)
func storeWords(_ x: WideVector, _ target: UnsafeMutablePointer<UInt16>) {
    var words = SIMD16<UInt16>()
    words._storage._value = Builtin.trunc_Vec16xInt32_Vec16xInt16(x._storage._value)
    UnsafeMutableRawPointer(target).storeBytes(of: words, as: SIMD16<UInt16>.self)
}

/// Stores the low 8 bits of every lane (vpmovdb).
@inline(__always)
func storeBytes(_ x: WideVector, _ target: UnsafeMutablePointer<UInt8>) {
    var bytes = SIMD16<UInt8>()
    bytes._storage._value = Builtin.trunc_Vec16xInt32_Vec16xInt8(x._storage._value)
    UnsafeMutableRawPointer(target).storeBytes(of: bytes, as: SIMD16<UInt8>.self)
}
