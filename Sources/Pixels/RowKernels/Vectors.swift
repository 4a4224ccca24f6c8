import Builtin

// Vector operations that are slow or missing in the standard library's SIMD types, by name.
//
// Additions, subtractions and multiplications of SIMD types compile to one instruction at every width. Their shifts and
// conversions at 32 lanes become loops over the lanes (measured: 50–500 instructions, 10–40 times slower), and no operation
// gives the high half of a product. The compiler's own vector operations do. LLVM compiles each pattern below to the one
// instruction named beside it (two at 256 bits, four at 128).

/// 32 values in 8.7 fixed point (see docs/explanation/gaussian.md), or sums of samples: one AVX-512 register.
typealias WordVector = SIMD32<UInt16>
/// 32 samples.
typealias ByteVector = SIMD32<UInt8>

@inline(__always) func load(_ source: UnsafePointer<UInt16>) -> WordVector {
    UnsafeRawPointer(source).loadUnaligned(as: WordVector.self)
}

/// Loads 64 samples, two in a word.
@inline(__always) func loadPairs(_ source: UnsafePointer<UInt8>) -> WordVector {
    UnsafeRawPointer(source).loadUnaligned(as: WordVector.self)
}

@inline(__always) func load(_ source: UnsafePointer<UInt8>) -> ByteVector {
    UnsafeRawPointer(source).loadUnaligned(as: ByteVector.self)
}

@inline(__always) func store(_ words: WordVector, _ target: UnsafeMutablePointer<UInt16>) {
    UnsafeMutableRawPointer(target).storeBytes(of: words, as: WordVector.self)
}

@inline(__always) func store(_ bytes: ByteVector, _ target: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(target).storeBytes(of: bytes, as: ByteVector.self)
}

/// Stores 64 samples, two in a word.
@inline(__always) func storePairs(_ words: WordVector, _ target: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(target).storeBytes(of: words, as: WordVector.self)
}

/// ⌊x·w / 65536⌋ (vpmulhuw).
@inline(__always) func highProduct(_ x: WordVector, _ w: WordVector) -> WordVector {
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

/// ⌊(x + y + 1) / 2⌋ without overflow (vpavgw): the common bits x & y, plus half of the bits that differ.
@inline(__always) func average(_ x: WordVector, _ y: WordVector) -> WordVector {
    let either = Builtin.or_Vec32xInt16(x._storage._value, y._storage._value)
    let differing = Builtin.xor_Vec32xInt16(x._storage._value, y._storage._value)
    let half = Builtin.lshr_Vec32xInt16(differing, WordVector(repeating: 1)._storage._value)
    var result = WordVector()
    result._storage._value = Builtin.sub_Vec32xInt16(either, half)
    return result
}

/// Shifts every lane to the right (vpsrlw).
@inline(__always) func shiftedRight(_ x: WordVector, by count: UInt16) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.lshr_Vec32xInt16(x._storage._value, WordVector(repeating: count)._storage._value)
    return result
}

/// Shifts every lane to the left (vpsllw).
@inline(__always) func shiftedLeft(_ x: WordVector, by count: UInt16) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.shl_Vec32xInt16(x._storage._value, WordVector(repeating: count)._storage._value)
    return result
}

/// The high byte of every lane, without a shift (vpand).
@inline(__always) func highBytes(_ x: WordVector) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.and_Vec32xInt16(x._storage._value, WordVector(repeating: 0xFF00)._storage._value)
    return result
}

/// The bitwise or (vpor).
@inline(__always) func either(_ x: WordVector, _ y: WordVector) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.or_Vec32xInt16(x._storage._value, y._storage._value)
    return result
}

/// Every sample in a lane of 16 bits (vpmovzxbw).
@inline(__always) func widened(_ x: ByteVector) -> WordVector {
    var result = WordVector()
    result._storage._value = Builtin.zext_Vec32xInt8_Vec32xInt16(x._storage._value)
    return result
}

/// The low 8 bits of every lane (vpmovwb).
@inline(__always) func narrowed(_ x: WordVector) -> ByteVector {
    var result = ByteVector()
    result._storage._value = Builtin.trunc_Vec32xInt16_Vec32xInt8(x._storage._value)
    return result
}

/// Rounds 8.7 fixed point to samples, halves up. Values must be below 255.5.
@inline(__always)
func roundedToBytes(_ x: WordVector) -> ByteVector { narrowed(shiftedRight(x &+ WordVector(repeating: 64), by: 7)) }

/// The values of a row of an 8-bit image: samples, or words in 8.7 fixed point.
protocol FixedSample: BitwiseCopyable {
    /// Loads 32 values as words. Samples are not scaled.
    static func words(_ source: UnsafePointer<Self>) -> WordVector
}

extension UInt8: FixedSample {
    @inline(__always) static func words(_ source: UnsafePointer<UInt8>) -> WordVector { widened(load(source)) }
}

extension UInt16: FixedSample {
    @inline(__always) static func words(_ source: UnsafePointer<UInt16>) -> WordVector { load(source) }
}

// Vector operations on floats that are slow or missing in the standard library; see above.

/// The larger of each value and `least`; `least` for NaN.
@inline(__always) func larger(_ x: SIMD16<Float>, than least: Float) -> SIMD16<Float> {
    let bound = SIMD16<Float>(repeating: least)
    let isLarger = Builtin.fcmp_ogt_Vec16xFPIEEE32(x._storage._value, bound._storage._value)
    var result = SIMD16<Float>()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xFPIEEE32(
        isLarger, x._storage._value, bound._storage._value)
    return result
}

/// Each value times 2ⁿ, where n is in the low bits of the other vector: an addition to the exponent.
@inline(__always) func scaled(_ x: SIMD16<Float>, byPowerIn shifted: SIMD16<Float>) -> SIMD16<Float> {
    let power = Builtin.shl_Vec16xInt32(
        Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(shifted._storage._value),
        SIMD16<UInt32>(repeating: 23)._storage._value)
    let bits = Builtin.add_Vec16xInt32(Builtin.bitcast_Vec16xFPIEEE32_Vec16xInt32(x._storage._value), power)
    var result = SIMD16<Float>()
    result._storage._value = Builtin.bitcast_Vec16xInt32_Vec16xFPIEEE32(bits)
    return result
}

// Vectors of 16 values of 32 bits, and the conversions between them: one register of AVX-512, two of AVX2. They are written
// with the compiler's own operations for the reasons above.

typealias WideVector = SIMD16<UInt32>
typealias FloatVector = SIMD16<Float>

/// 16 words (vpmovzxwd).
@inline(__always) func loadWide(_ source: UnsafePointer<UInt16>) -> WideVector {
    let words = UnsafeRawPointer(source).loadUnaligned(as: SIMD16<UInt16>.self)
    var result = WideVector()
    result._storage._value = Builtin.zext_Vec16xInt16_Vec16xInt32(words._storage._value)
    return result
}

/// Converts integers below 2³¹ to single precision (vcvtdq2ps).
@inline(__always) func floats(_ x: WideVector) -> FloatVector {
    var result = FloatVector()
    result._storage._value = Builtin.sitofp_Vec16xInt32_Vec16xFPIEEE32(x._storage._value)
    return result
}

/// Truncates to integers (vcvttps2dq); values are in 0 ..< 2³¹.
@inline(__always) func wholes(_ x: FloatVector) -> WideVector {
    var result = WideVector()
    result._storage._value = Builtin.fptosi_Vec16xFPIEEE32_Vec16xInt32(x._storage._value)
    return result
}

/// Stores the low 16 bits of every lane (vpmovdw).
@inline(__always) func storeWords(_ x: WideVector, _ target: UnsafeMutablePointer<UInt16>) {
    var words = SIMD16<UInt16>()
    words._storage._value = Builtin.trunc_Vec16xInt32_Vec16xInt16(x._storage._value)
    UnsafeMutableRawPointer(target).storeBytes(of: words, as: SIMD16<UInt16>.self)
}

/// Stores the low 8 bits of every lane (vpmovdb).
@inline(__always) func storeBytes(_ x: WideVector, _ target: UnsafeMutablePointer<UInt8>) {
    var bytes = SIMD16<UInt8>()
    bytes._storage._value = Builtin.trunc_Vec16xInt32_Vec16xInt8(x._storage._value)
    UnsafeMutableRawPointer(target).storeBytes(of: bytes, as: SIMD16<UInt8>.self)
}
