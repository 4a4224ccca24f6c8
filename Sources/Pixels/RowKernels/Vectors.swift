import Builtin

// The vector operations that the standard library's SIMD types lack in fast form, by name.
//
// Additions, subtractions and multiplications of SIMD types compile to one instruction at every width; their shifts
// and conversions at 32 lanes become loops over the lanes (measured: 50–500 instructions, 10–40 times slower), and no
// operation gives the high half of a product. The compiler's own vector operations do, and LLVM recognises each shape
// below as the one instruction named beside it (two at 256 bits, four at 128).

/// 32 values in 8.7 fixed point (see docs/arithmetic.md), or sums of samples: one AVX-512 register.
typealias WordVector = SIMD32<UInt16>
/// 32 samples.
typealias ByteVector = SIMD32<UInt8>

@inline(__always)
func load(_ source: UnsafePointer<UInt16>) -> WordVector {
    UnsafeRawPointer(source).loadUnaligned(as: WordVector.self)
}

/// 64 samples, two in a word.
@inline(__always)
func loadPairs(_ source: UnsafePointer<UInt8>) -> WordVector {
    UnsafeRawPointer(source).loadUnaligned(as: WordVector.self)
}

@inline(__always)
func load(_ source: UnsafePointer<UInt8>) -> ByteVector {
    UnsafeRawPointer(source).loadUnaligned(as: ByteVector.self)
}

@inline(__always)
func store(_ words: WordVector, _ target: UnsafeMutablePointer<UInt16>) {
    UnsafeMutableRawPointer(target).storeBytes(of: words, as: WordVector.self)
}

@inline(__always)
func store(_ bytes: ByteVector, _ target: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(target).storeBytes(of: bytes, as: ByteVector.self)
}

/// Stores 64 samples, two in a word.
@inline(__always)
func storePairs(_ words: WordVector, _ target: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(target).storeBytes(of: words, as: WordVector.self)
}

/// ⌊x·w / 65536⌋ (vpmulhuw).
@inline(__always)
func highProduct(_ x: WordVector, _ w: WordVector) -> WordVector {
    let product = Builtin.mul_Vec32xInt32(
        Builtin.zext_Vec32xInt16_Vec32xInt32(x._storage._value),
        Builtin.zext_Vec32xInt16_Vec32xInt32(w._storage._value))
    let high = Builtin.lshr_Vec32xInt32(product, SIMD32<UInt32>(repeating: 16)._storage._value)
    var result = WordVector()
    result._storage._value = Builtin.trunc_Vec32xInt32_Vec32xInt16(high)
    return result
}

/// ⌊x·w / 65536⌋ for the same weight in every lane.
@inline(__always)
func highProduct(_ x: WordVector, _ w: UInt16) -> WordVector { highProduct(x, WordVector(repeating: w)) }

/// ⌊(x + y + 1) / 2⌋ without overflow (vpavgw): both have the bits of x & y; of those that differ, half.
@inline(__always)
func average(_ x: WordVector, _ y: WordVector) -> WordVector {
    let either = Builtin.or_Vec32xInt16(x._storage._value, y._storage._value)
    let differing = Builtin.xor_Vec32xInt16(x._storage._value, y._storage._value)
    let half = Builtin.lshr_Vec32xInt16(differing, WordVector(repeating: 1)._storage._value)
    var result = WordVector()
    result._storage._value = Builtin.sub_Vec32xInt16(either, half)
    return result
}

/// Shifts every lane to the right (vpsrlw).
@inline(__always)
func shiftedRight(_ x: WordVector, by count: UInt16) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.lshr_Vec32xInt16(x._storage._value, WordVector(repeating: count)._storage._value)
    return result
}

/// Shifts every lane to the left (vpsllw).
@inline(__always)
func shiftedLeft(_ x: WordVector, by count: UInt16) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.shl_Vec32xInt16(x._storage._value, WordVector(repeating: count)._storage._value)
    return result
}

/// The high byte of every lane, where it is (vpand).
@inline(__always)
func highBytes(_ x: WordVector) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.and_Vec32xInt16(
        x._storage._value, WordVector(repeating: 0xFF00)._storage._value)
    return result
}

/// The bits of either (vpor).
@inline(__always)
func either(_ x: WordVector, _ y: WordVector) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.or_Vec32xInt16(x._storage._value, y._storage._value)
    return result
}

/// Every sample in a lane of 16 bits (vpmovzxbw).
@inline(__always)
func widened(_ x: ByteVector) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.zext_Vec32xInt8_Vec32xInt16(x._storage._value)
    return result
}

/// The low 8 bits of every lane (vpmovwb).
@inline(__always)
func narrowed(_ x: WordVector) -> ByteVector {
    var result = ByteVector()
    result._storage._value = Builtin.trunc_Vec32xInt16_Vec32xInt8(x._storage._value)
    return result
}

/// 8.7 fixed point rounded to samples, halves up. Values stay below 255.5.
@inline(__always)
func roundedToBytes(_ x: WordVector) -> ByteVector { narrowed(shiftedRight(x &+ WordVector(repeating: 64), by: 7)) }

/// What a row of an image in 8 bits is made of: samples, or words in 8.7 fixed point.
protocol FixedSample: BitwiseCopyable {
    /// 32 of them as words; samples are not scaled.
    static func words(_ source: UnsafePointer<Self>) -> WordVector
}

extension UInt8: FixedSample {
    @inline(__always) static func words(_ source: UnsafePointer<UInt8>) -> WordVector { widened(load(source)) }
}

extension UInt16: FixedSample {
    @inline(__always) static func words(_ source: UnsafePointer<UInt16>) -> WordVector { load(source) }
}
