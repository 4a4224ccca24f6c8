import Builtin

// Vectors of eight words, and sums of four samples, for rings; see Vectors.swift.

/// Four samples of 16 bits, or their sums.
typealias PixelSums = SIMD4<UInt32>

/// Eight samples in 8.8 fixed point.
@inline(__always) func words(_ source: UnsafePointer<UInt8>) -> SIMD8<UInt16> {
    let bytes = UnsafeRawPointer(source).loadUnaligned(as: SIMD8<UInt8>.self)
    var result = SIMD8<UInt16>()
    result._storage._value = Builtin.shl_Vec8xInt16(
        Builtin.zext_Vec8xInt8_Vec8xInt16(bytes._storage._value), SIMD8<UInt16>(repeating: 8)._storage._value)
    return result
}

/// ⌊x·w / 65536⌋ (vpmulhuw).
@inline(__always) func highProduct(_ x: SIMD8<UInt16>, _ w: SIMD8<UInt16>) -> SIMD8<UInt16> {
    let product = Builtin.mul_Vec8xInt32(
        Builtin.zext_Vec8xInt16_Vec8xInt32(x._storage._value), Builtin.zext_Vec8xInt16_Vec8xInt32(w._storage._value))
    let high = Builtin.lshr_Vec8xInt32(product, SIMD8<UInt32>(repeating: 16)._storage._value)
    var result = SIMD8<UInt16>()
    result._storage._value = Builtin.trunc_Vec8xInt32_Vec8xInt16(high)
    return result
}

@inline(__always) func exclusiveOr(_ x: SIMD8<UInt16>, _ y: SIMD8<UInt16>) -> SIMD8<UInt16> {
    var result = SIMD8<UInt16>()
    result._storage._value = Builtin.xor_Vec8xInt16(x._storage._value, y._storage._value)
    return result
}

/// 65535 − x.
@inline(__always) func inverted(_ x: SIMD8<UInt16>) -> SIMD8<UInt16> { exclusiveOr(x, SIMD8(repeating: 65535)) }

@inline(__always) func widened(_ x: SIMD4<UInt16>) -> PixelSums {
    var result = PixelSums()
    result._storage._value = Builtin.zext_Vec4xInt16_Vec4xInt32(x._storage._value)
    return result
}

/// Truncates to integers; values are in 0 ..< 2³¹.
@inline(__always) func wholes(_ x: Pixel) -> PixelSums {
    var result = PixelSums()
    result._storage._value = Builtin.fptosi_Vec4xFPIEEE32_Vec4xInt32(x._storage._value)
    return result
}

@inline(__always) func loadPixelSums(_ source: UnsafeMutablePointer<UInt32>) -> PixelSums {
    UnsafeRawPointer(source).loadUnaligned(as: PixelSums.self)
}

@inline(__always) func storePixelSums(_ sums: PixelSums, _ target: UnsafeMutablePointer<UInt32>) {
    UnsafeMutableRawPointer(target).storeBytes(of: sums, as: PixelSums.self)
}

/// The sums of two samples.
@inline(__always) func loadPair(_ source: UnsafePointer<UInt32>) -> SIMD8<UInt32> {
    UnsafeRawPointer(source).loadUnaligned(as: SIMD8<UInt32>.self)
}

/// ⌊x / 2⌋.
@inline(__always) func halfFloats(_ x: SIMD8<UInt32>) -> SIMD8<Float> {
    let half = Builtin.lshr_Vec8xInt32(x._storage._value, SIMD8<UInt32>(repeating: 1)._storage._value)
    var result = SIMD8<Float>()
    result._storage._value = Builtin.sitofp_Vec8xInt32_Vec8xFPIEEE32(half)
    return result
}
