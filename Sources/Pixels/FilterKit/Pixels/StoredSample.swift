/// How samples lie in memory; for FilterKit's own loops, which handle the four of a pixel together.
public protocol StoredSample: BitwiseCopyable, Sendable {
    /// As a number on the sample's own scale.
    var number: Float { get }

    /// The number of full intensity.
    static var full: Float { get }

    /// From numbers to a scale where 1 is full intensity.
    static func scaled(_ numbers: SIMD4<Float>) -> SIMD4<Float>

    /// From that scale to samples, each in the low bits of its lane. Whole numbers are clamped and rounded half up, and
    /// what is no number becomes 0; floats stay as they are, and what is no number has the same bits always.
    static func stored(_ samples: SIMD4<Float>) -> SIMD4<UInt32>

    init(low bits: UInt32)
}

extension UInt8: StoredSample {
    @inlinable public var number: Float { Float(self) }
    @inlinable public static var full: Float { 255 }
    @inlinable @inline(__always) public static func scaled(_ numbers: SIMD4<Float>) -> SIMD4<Float> { numbers / 255 }
    @inlinable @inline(__always) public static func stored(_ samples: SIMD4<Float>) -> SIMD4<UInt32> {
        whole(samples, 255)
    }
    @inlinable public init(low bits: UInt32) { self.init(truncatingIfNeeded: bits) }
}

extension UInt16: StoredSample {
    @inlinable public var number: Float { Float(self) }
    @inlinable public static var full: Float { 65535 }
    @inlinable @inline(__always) public static func scaled(_ numbers: SIMD4<Float>) -> SIMD4<Float> { numbers / 65535 }
    @inlinable @inline(__always) public static func stored(_ samples: SIMD4<Float>) -> SIMD4<UInt32> {
        whole(samples, 65535)
    }
    @inlinable public init(low bits: UInt32) { self.init(truncatingIfNeeded: bits) }
}

extension Float: StoredSample {
    @inlinable public var number: Float { self }
    @inlinable public static var full: Float { 1 }
    @inlinable @inline(__always) public static func scaled(_ numbers: SIMD4<Float>) -> SIMD4<Float> { numbers }
    @inlinable @inline(__always) public static func stored(_ samples: SIMD4<Float>) -> SIMD4<UInt32> {
        unsafeBitCast(samples.replacing(with: .nan, where: samples .!= samples), to: SIMD4<UInt32>.self)
    }
    @inlinable public init(low bits: UInt32) { self.init(bitPattern: bits) }
}

/// Rounds without a branch and without a conversion: from 2²³ on the bits of a float count whole numbers.
@inlinable @inline(__always) func whole(_ samples: SIMD4<Float>, _ full: Float) -> SIMD4<UInt32> {
    let scaled = samples * full
    let positive = scaled.replacing(with: 0, where: .!(scaled .> 0))  // NaN is not above 0
    let raised = positive.replacing(with: full, where: positive .> full) + 0.5
    let nearest = raised + 8_388_608
    // The bits of a mask that is true are those of −1: it takes back what was rounded up.
    let isAbove = unsafeBitCast(nearest - 8_388_608 .> raised, to: SIMD4<UInt32>.self)
    return unsafeBitCast(nearest, to: SIMD4<UInt32>.self) &+ isAbove
}
