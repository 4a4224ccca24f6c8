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

/// The first `count` lanes, and 0 in the others. There may be fewer than 0 or more than 32.
@inline(__always) func leading(_ x: WordVector, count: Int) -> WordVector {
    let places = WordVector(
        lowHalf: SIMD16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        highHalf: SIMD16(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31))
    let end = WordVector(repeating: UInt16(truncatingIfNeeded: count < 0 ? 0 : count))
    let isLeading = Builtin.cmp_ult_Vec32xInt16(places._storage._value, end._storage._value)
    var result = WordVector()
    result._storage._value = Builtin.select_Vec32xInt1_Vec32xInt16(
        isLeading, x._storage._value, WordVector(repeating: 0)._storage._value)
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
protocol FixedSample: BitwiseCopyable {}

extension UInt8: FixedSample {}
extension UInt16: FixedSample {}

// 8 and 16 words, for outputs that are made of few values.

typealias EightWords = SIMD8<UInt16>
typealias SixteenWords = SIMD16<UInt16>

@inline(__always) func loadEight(_ source: UnsafePointer<UInt16>) -> EightWords {
    UnsafeRawPointer(source).loadUnaligned(as: EightWords.self)
}

@inline(__always) func store(_ words: SixteenWords, _ target: UnsafeMutablePointer<UInt16>) {
    UnsafeMutableRawPointer(target).storeBytes(of: words, as: SixteenWords.self)
}

/// ⌊(x + y + 1) / 2⌋ (vpavgw), as for 32 values.
@inline(__always) func average(_ x: SixteenWords, _ y: SixteenWords) -> SixteenWords {
    let either = Builtin.or_Vec16xInt16(x._storage._value, y._storage._value)
    let differing = Builtin.xor_Vec16xInt16(x._storage._value, y._storage._value)
    let half = Builtin.lshr_Vec16xInt16(differing, SixteenWords(repeating: 1)._storage._value)
    var result = SixteenWords()
    result._storage._value = Builtin.sub_Vec16xInt16(either, half)
    return result
}

/// `y` where a constant vector has a value, and `x` elsewhere (vpblendvb).
@inline(__always) func chosen(
    _ x: SixteenWords, _ y: SixteenWords, where places: SixteenWords, is place: UInt16
) -> SixteenWords {
    let isThere = Builtin.cmp_eq_Vec16xInt16(places._storage._value, SixteenWords(repeating: place)._storage._value)
    var result = SixteenWords()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xInt16(
        isThere, y._storage._value, x._storage._value)
    return result
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
    widened(UnsafeRawPointer(source).loadUnaligned(as: SIMD16<UInt16>.self))
}

@inline(__always) func loadWide(_ source: UnsafePointer<UInt32>) -> WideVector {
    UnsafeRawPointer(source).loadUnaligned(as: WideVector.self)
}

/// 32 words in two's complement (vpmovsxwd).
@inline(__always) func signExtended(_ x: WordVector) -> SIMD32<UInt32> {
    var result = SIMD32<UInt32>()
    result._storage._value = Builtin.sext_Vec32xInt16_Vec32xInt32(x._storage._value)
    return result
}

@inline(__always) func loadFloats(_ source: UnsafePointer<Float>) -> FloatVector {
    UnsafeRawPointer(source).loadUnaligned(as: FloatVector.self)
}

@inline(__always) func storeFloats(_ values: FloatVector, _ target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: values, as: FloatVector.self)
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
    UnsafeMutableRawPointer(target).storeBytes(of: lowWords(x), as: SIMD16<UInt16>.self)
}

/// Stores the low 8 bits of every lane (vpmovdb).
@inline(__always) func storeBytes(_ x: WideVector, _ target: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(target).storeBytes(of: lowBytes(x), as: SIMD16<UInt8>.self)
}

// MARK: Conversions of 16 values, and operations on them, by the instructions that are named.

/// (vpmovzxbd)
@inline(__always) func widened(_ x: SIMD16<UInt8>) -> WideVector {
    var result = WideVector()
    result._storage._value = Builtin.zext_Vec16xInt8_Vec16xInt32(x._storage._value)
    return result
}

/// (vpmovzxwd)
@inline(__always) func widened(_ x: SIMD16<UInt16>) -> WideVector {
    var result = WideVector()
    result._storage._value = Builtin.zext_Vec16xInt16_Vec16xInt32(x._storage._value)
    return result
}

/// The low 8 bits of every lane (vpmovdb).
@inline(__always) func lowBytes(_ x: WideVector) -> SIMD16<UInt8> {
    var result = SIMD16<UInt8>()
    result._storage._value = Builtin.trunc_Vec16xInt32_Vec16xInt8(x._storage._value)
    return result
}

/// The low 16 bits of every lane (vpmovdw).
@inline(__always) func lowWords(_ x: WideVector) -> SIMD16<UInt16> {
    var result = SIMD16<UInt16>()
    result._storage._value = Builtin.trunc_Vec16xInt32_Vec16xInt16(x._storage._value)
    return result
}

/// The smaller of each value and `most` (vminps); `most` for NaN.
@inline(__always) func smaller(_ x: FloatVector, than most: Float) -> FloatVector {
    smaller(x, FloatVector(repeating: most))
}

/// The smaller value of each pair (vminps); the second one for NaN.
@inline(__always) func smaller(_ x: FloatVector, _ y: FloatVector) -> FloatVector {
    let isSmaller = Builtin.fcmp_olt_Vec16xFPIEEE32(x._storage._value, y._storage._value)
    var result = FloatVector()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xFPIEEE32(
        isSmaller, x._storage._value, y._storage._value)
    return result
}

/// The larger value of each pair (vmaxps); the second one for NaN.
@inline(__always) func larger(_ x: FloatVector, _ y: FloatVector) -> FloatVector {
    let isLarger = Builtin.fcmp_ogt_Vec16xFPIEEE32(x._storage._value, y._storage._value)
    var result = FloatVector()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xFPIEEE32(
        isLarger, x._storage._value, y._storage._value)
    return result
}

/// 1 where a value is at least `bound`, and 0 elsewhere.
@inline(__always) func ones(where x: FloatVector, isAtLeast bound: Float) -> WideVector {
    let isAtLeast = Builtin.fcmp_oge_Vec16xFPIEEE32(x._storage._value, FloatVector(repeating: bound)._storage._value)
    var result = WideVector()
    result._storage._value = Builtin.zext_Vec16xInt1_Vec16xInt32(isAtLeast)
    return result
}

/// Replaces values of `x` by 0 where `other` is at most `bound`, or NaN.
@inline(__always)
func cleared(_ x: FloatVector, where other: FloatVector, isAtMost bound: Float) -> FloatVector {
    let isLarger = Builtin.fcmp_ogt_Vec16xFPIEEE32(other._storage._value, FloatVector(repeating: bound)._storage._value)
    var result = FloatVector()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xFPIEEE32(
        isLarger, x._storage._value, FloatVector.zero._storage._value)
    return result
}

/// `x` where two other values are equal, and `rest` elsewhere.
@inline(__always)
func chosen(_ x: FloatVector, where a: FloatVector, equals b: FloatVector, else rest: FloatVector) -> FloatVector {
    let isEqual = Builtin.fcmp_oeq_Vec16xFPIEEE32(a._storage._value, b._storage._value)
    var result = FloatVector()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xFPIEEE32(
        isEqual, x._storage._value, rest._storage._value)
    return result
}

/// `x` where a value is at most another one, and `rest` elsewhere and beside NaN.
@inline(__always)
func chosen(_ x: FloatVector, where a: FloatVector, isAtMost b: FloatVector, else rest: FloatVector) -> FloatVector {
    let isAtMost = Builtin.fcmp_ole_Vec16xFPIEEE32(a._storage._value, b._storage._value)
    var result = FloatVector()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xFPIEEE32(
        isAtMost, x._storage._value, rest._storage._value)
    return result
}

/// Replaces values of `x` by 0 where the other is 0.
@inline(__always) func cleared(_ x: FloatVector, whereZero other: FloatVector) -> FloatVector {
    chosen(.zero, where: other, equals: .zero, else: x)
}

/// Replaces every NaN by `Float.nan`.
@inline(__always) func withOneNaN(_ x: FloatVector) -> FloatVector {
    let isNumber = Builtin.fcmp_ord_Vec16xFPIEEE32(x._storage._value, x._storage._value)
    var result = FloatVector()
    result._storage._value = Builtin.select_Vec16xInt1_Vec16xFPIEEE32(
        isNumber, x._storage._value, FloatVector(repeating: .nan)._storage._value)
    return result
}

typealias DoubleVector = SIMD8<Double>

/// (vcvtps2pd)
@inline(__always) func doubles(_ x: SIMD8<Float>) -> DoubleVector {
    var result = DoubleVector()
    result._storage._value = Builtin.fpext_Vec8xFPIEEE32_Vec8xFPIEEE64(x._storage._value)
    return result
}

/// (vcvtpd2ps)
@inline(__always) func singles(_ x: DoubleVector) -> SIMD8<Float> {
    var result = SIMD8<Float>()
    result._storage._value = Builtin.fptrunc_Vec8xFPIEEE64_Vec8xFPIEEE32(x._storage._value)
    return result
}

/// Truncates to integers (vcvttpd2dq); values are in 0 ..< 2³¹.
@inline(__always) func wholes(_ x: DoubleVector) -> SIMD8<UInt32> {
    var result = SIMD8<UInt32>()
    result._storage._value = Builtin.fptosi_Vec8xFPIEEE64_Vec8xInt32(x._storage._value)
    return result
}

/// The smaller of each value and `most` (vminpd); `most` for NaN.
@inline(__always) func smaller(_ x: DoubleVector, than most: Double) -> DoubleVector {
    smaller(x, DoubleVector(repeating: most))
}

/// The smaller value of each pair (vminpd); the second one for NaN.
@inline(__always) func smaller(_ x: DoubleVector, _ y: DoubleVector) -> DoubleVector {
    let isSmaller = Builtin.fcmp_olt_Vec8xFPIEEE64(x._storage._value, y._storage._value)
    var result = DoubleVector()
    result._storage._value = Builtin.select_Vec8xInt1_Vec8xFPIEEE64(isSmaller, x._storage._value, y._storage._value)
    return result
}

/// The larger value of each pair (vmaxpd); the second one for NaN.
@inline(__always) func larger(_ x: DoubleVector, _ y: DoubleVector) -> DoubleVector {
    let isLarger = Builtin.fcmp_ogt_Vec8xFPIEEE64(x._storage._value, y._storage._value)
    var result = DoubleVector()
    result._storage._value = Builtin.select_Vec8xInt1_Vec8xFPIEEE64(isLarger, x._storage._value, y._storage._value)
    return result
}

/// `x` where a value is at most another one, and `rest` elsewhere and beside NaN.
@inline(__always)
func chosen(_ x: DoubleVector, where a: DoubleVector, isAtMost b: DoubleVector, else rest: DoubleVector) -> DoubleVector
{
    let isAtMost = Builtin.fcmp_ole_Vec8xFPIEEE64(a._storage._value, b._storage._value)
    var result = DoubleVector()
    result._storage._value = Builtin.select_Vec8xInt1_Vec8xFPIEEE64(isAtMost, x._storage._value, rest._storage._value)
    return result
}

/// `x` where a value is less than another one, and `rest` elsewhere and beside NaN.
@inline(__always)
func chosen(_ x: DoubleVector, where a: DoubleVector, isLess b: DoubleVector, else rest: DoubleVector) -> DoubleVector {
    let isLess = Builtin.fcmp_olt_Vec8xFPIEEE64(a._storage._value, b._storage._value)
    var result = DoubleVector()
    result._storage._value = Builtin.select_Vec8xInt1_Vec8xFPIEEE64(isLess, x._storage._value, rest._storage._value)
    return result
}

/// Replaces values below `bound`, and NaN, by 0.
@inline(__always) func cleared(_ x: DoubleVector, below bound: Double) -> DoubleVector {
    let stays = Builtin.fcmp_oge_Vec8xFPIEEE64(x._storage._value, DoubleVector(repeating: bound)._storage._value)
    var result = DoubleVector()
    result._storage._value = Builtin.select_Vec8xInt1_Vec8xFPIEEE64(
        stays, x._storage._value, DoubleVector.zero._storage._value)
    return result
}

/// Replaces values of `x` by 0 where the divisor is 0.
@inline(__always) func cleared(_ x: DoubleVector, whereZero divisor: DoubleVector) -> DoubleVector {
    let isZero = Builtin.fcmp_oeq_Vec8xFPIEEE64(divisor._storage._value, DoubleVector.zero._storage._value)
    var result = DoubleVector()
    result._storage._value = Builtin.select_Vec8xInt1_Vec8xFPIEEE64(
        isZero, DoubleVector.zero._storage._value, x._storage._value)
    return result
}

/// The exponent and the mantissa of positive, normal numbers, with a mantissa from √½ to √2.
@inline(__always) func binaryParts(_ x: FloatVector) -> (exponent: FloatVector, mantissa: FloatVector) {
    let bits = unsafeBitCast(x, to: WideVector.self)
    let above = bits &- WideVector(repeating: 0x3F35_04F3)  // the bits of √½
    let places = WideVector(repeating: 23)
    let exponent = Builtin.ashr_Vec16xInt32(above._storage._value, places._storage._value)
    var (power, whole) = (WideVector(), WideVector())
    power._storage._value = Builtin.shl_Vec16xInt32(exponent, places._storage._value)
    whole._storage._value = exponent
    return (floats(whole), unsafeBitCast(bits &- power, to: FloatVector.self))
}

// MARK: Even and odd values. Shuffles that are written lane by lane made the compiler compute single lanes.

/// Two neighbouring values in each lane.
private typealias PairVector = SIMD8<UInt64>

@inline(__always) private func pairs(_ x: FloatVector) -> PairVector { unsafeBitCast(x, to: PairVector.self) }

/// The low halves of 16 pairs (vshufps, vpermpd).
@inline(__always) private func lowHalves(_ a: PairVector, _ b: PairVector) -> FloatVector {
    var (low, high) = (SIMD8<UInt32>(), SIMD8<UInt32>())
    low._storage._value = Builtin.trunc_Vec8xInt64_Vec8xInt32(a._storage._value)
    high._storage._value = Builtin.trunc_Vec8xInt64_Vec8xInt32(b._storage._value)
    return unsafeBitCast(SIMD16(lowHalf: low, highHalf: high), to: FloatVector.self)
}

/// Moves the high half of each lane to the low half (vpsrlq).
@inline(__always) private func highHalves(_ x: PairVector) -> PairVector {
    var result = PairVector()
    result._storage._value = Builtin.lshr_Vec8xInt64(x._storage._value, PairVector(repeating: 32)._storage._value)
    return result
}

/// The even values of 32.
@inline(__always) func evenValues(_ a: FloatVector, _ b: FloatVector) -> FloatVector { lowHalves(pairs(a), pairs(b)) }

/// The odd values of 32.
@inline(__always) func oddValues(_ a: FloatVector, _ b: FloatVector) -> FloatVector {
    lowHalves(highHalves(pairs(a)), highHalves(pairs(b)))
}

/// Interleaves eight even values with eight odd ones.
@inline(__always) func zipped(_ even: SIMD8<Float>, _ odd: SIMD8<Float>) -> FloatVector {
    let (low, high) = (unsafeBitCast(even, to: SIMD8<UInt32>.self), unsafeBitCast(odd, to: SIMD8<UInt32>.self))
    let shifted = Builtin.shl_Vec8xInt64(
        Builtin.zext_Vec8xInt32_Vec8xInt64(high._storage._value), PairVector(repeating: 32)._storage._value)
    var result = PairVector()
    result._storage._value = Builtin.or_Vec8xInt64(
        Builtin.zext_Vec8xInt32_Vec8xInt64(low._storage._value), shifted)
    return unsafeBitCast(result, to: FloatVector.self)
}
