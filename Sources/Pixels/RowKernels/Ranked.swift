import Builtin
import CStreaming

/// A vector of values that can be ordered. (The vectors of the standard library cannot conform themselves, because
/// conformances of generic types would be defined weakly in every module.)
protocol Ranked {
    associatedtype Value: BitwiseCopyable
    static var count: Int { get }
    static func load(_ source: UnsafePointer<Value>) -> Self
    func store(_ target: UnsafeMutablePointer<Value>)
    static func lesser(_ a: Self, _ b: Self) -> Self
    static func greater(_ a: Self, _ b: Self) -> Self
}

/// 32 samples.
struct RankedBytes: Ranked {
    private var values: SIMD32<UInt8>

    static var count: Int { @inline(__always) get { 32 } }

    @inline(__always) static func load(_ source: UnsafePointer<UInt8>) -> RankedBytes {
        RankedBytes(values: UnsafeRawPointer(source).loadUnaligned(as: SIMD32<UInt8>.self))
    }

    @inline(__always) func store(_ target: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(target).storeBytes(of: values, as: SIMD32<UInt8>.self)
    }

    /// vpminub
    @inline(__always) static func lesser(_ a: Self, _ b: Self) -> Self { a.choose(a, b, ifLessThan: b) }

    /// vpmaxub
    @inline(__always) static func greater(_ a: Self, _ b: Self) -> Self { a.choose(b, a, ifLessThan: b) }

    @inline(__always) private func choose(_ a: Self, _ b: Self, ifLessThan other: Self) -> Self {
        let isLess = Builtin.cmp_ult_Vec32xInt8(values._storage._value, other.values._storage._value)
        var result = SIMD32<UInt8>()
        result._storage._value = Builtin.select_Vec32xInt1_Vec32xInt8(
            isLess, a.values._storage._value, b.values._storage._value)
        return RankedBytes(values: result)
    }
}

/// 64 samples.
struct RankedLine: Ranked {
    private var values: SIMD64<UInt8>

    static var count: Int { @inline(__always) get { 64 } }

    @inline(__always) static func load(_ source: UnsafePointer<UInt8>) -> RankedLine {
        RankedLine(values: UnsafeRawPointer(source).loadUnaligned(as: SIMD64<UInt8>.self))
    }

    @inline(__always) func store(_ target: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(target).storeBytes(of: values, as: SIMD64<UInt8>.self)
    }

    /// vpminub
    @inline(__always) static func lesser(_ a: Self, _ b: Self) -> Self { a.choose(a, b, ifLessThan: b) }

    /// vpmaxub
    @inline(__always) static func greater(_ a: Self, _ b: Self) -> Self { a.choose(b, a, ifLessThan: b) }

    @inline(__always) private func choose(_ a: Self, _ b: Self, ifLessThan other: Self) -> Self {
        let isLess = Builtin.cmp_ult_Vec64xInt8(values._storage._value, other.values._storage._value)
        var result = SIMD64<UInt8>()
        result._storage._value = Builtin.select_Vec64xInt1_Vec64xInt8(
            isLess, a.values._storage._value, b.values._storage._value)
        return RankedLine(values: result)
    }
}

/// 32 samples of 16 bits.
struct RankedWords: Ranked {
    private var values: SIMD32<UInt16>

    static var count: Int { @inline(__always) get { 32 } }

    @inline(__always) static func load(_ source: UnsafePointer<UInt16>) -> RankedWords {
        RankedWords(values: UnsafeRawPointer(source).loadUnaligned(as: SIMD32<UInt16>.self))
    }

    @inline(__always) func store(_ target: UnsafeMutablePointer<UInt16>) {
        UnsafeMutableRawPointer(target).storeBytes(of: values, as: SIMD32<UInt16>.self)
    }

    /// vpminuw
    @inline(__always) static func lesser(_ a: Self, _ b: Self) -> Self { a.choose(a, b, ifLessThan: b) }

    /// vpmaxuw
    @inline(__always) static func greater(_ a: Self, _ b: Self) -> Self { a.choose(b, a, ifLessThan: b) }

    @inline(__always) private func choose(_ a: Self, _ b: Self, ifLessThan other: Self) -> Self {
        let isLess = Builtin.cmp_ult_Vec32xInt16(values._storage._value, other.values._storage._value)
        var result = SIMD32<UInt16>()
        result._storage._value = Builtin.select_Vec32xInt1_Vec32xInt16(
            isLess, a.values._storage._value, b.values._storage._value)
        return RankedWords(values: result)
    }
}

/// 16 floats as integers.
struct RankedNumbers: Ranked {
    private var values: SIMD16<Int32>

    static var count: Int { @inline(__always) get { 16 } }

    @inline(__always) static func load(_ source: UnsafePointer<Int32>) -> RankedNumbers {
        RankedNumbers(values: UnsafeRawPointer(source).loadUnaligned(as: SIMD16<Int32>.self))
    }

    @inline(__always) func store(_ target: UnsafeMutablePointer<Int32>) {
        UnsafeMutableRawPointer(target).storeBytes(of: values, as: SIMD16<Int32>.self)
    }

    /// vpminsd
    @inline(__always) static func lesser(_ a: Self, _ b: Self) -> Self { a.choose(a, b, ifLessThan: b) }

    /// vpmaxsd
    @inline(__always) static func greater(_ a: Self, _ b: Self) -> Self { a.choose(b, a, ifLessThan: b) }

    @inline(__always) private func choose(_ a: Self, _ b: Self, ifLessThan other: Self) -> Self {
        let isLess = Builtin.cmp_slt_Vec16xInt32(values._storage._value, other.values._storage._value)
        var result = SIMD16<Int32>()
        result._storage._value = Builtin.select_Vec16xInt1_Vec16xInt32(
            isLess, a.values._storage._value, b.values._storage._value)
        return RankedNumbers(values: result)
    }
}

extension Ranked {
    /// Sorts each lane of two vectors, the smaller value first.
    @inline(__always) static func sort(_ a: inout Self, _ b: inout Self) { (a, b) = (lesser(a, b), greater(a, b)) }

    @inline(__always) static func middle(_ a: Self, _ b: Self, _ c: Self) -> Self {
        greater(lesser(a, b), lesser(greater(a, b), c))
    }

    @inline(__always) static func middle(_ a: Self, _ b: Self, _ c: Self, _ d: Self, _ e: Self) -> Self {
        middle(e, greater(lesser(a, b), lesser(c, d)), lesser(greater(a, b), greater(c, d)))
    }

    /// Stores a vector of 64 bytes past the caches, at a boundary of 64 bytes.
    @inline(__always) func stream(_ target: UnsafeMutablePointer<Value>) {
        withUnsafePointer(to: self) { penumbra_stream_line($0, target) }
    }

    /// Stores the first `left` values, or all if there are more.
    @inline(__always) func store(_ target: UnsafeMutablePointer<Value>, left: Int, spare: UnsafeMutablePointer<Value>) {
        guard left < Self.count else { return store(target) }
        store(spare)
        var index = 0
        while index < left {
            target[index] = spare[index]
            index &+= 1
        }
    }
}

// Floats as integers in the same order, so that they can be compared and sorted as integers. Negative floats have all bits
// except the sign inverted. There is only one zero, and NaN is one number, larger than infinity.

/// Converts floats into their ranks, in place.
@inline(never) public func rankFloats(_ values: UnsafeMutablePointer<Float>, count: Int) {
    var index = 0
    while index < count {
        let value = values[index] + 0  // −0 + 0 is 0
        let bits = Int32(bitPattern: value.bitPattern)
        let rank = value == value ? bits ^ ((bits &>> 31) & 0x7FFF_FFFF) : 0x7FC0_0000
        values[index] = Float(bitPattern: UInt32(bitPattern: rank))
        index &+= 1
    }
}

/// Converts ranks into their floats, in place.
@inline(never) public func unrankFloats(_ ranks: UnsafeMutablePointer<Int32>, count: Int) {
    var index = 0
    while index < count {
        ranks[index] = ranks[index] ^ ((ranks[index] &>> 31) & 0x7FFF_FFFF)
        index &+= 1
    }
}
