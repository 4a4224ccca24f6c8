public import Catalogs

/// A sample that a raster can hold. Exactly three types conform, one for each ``SampleFormat``.
public protocol PixelSample: BitwiseCopyable, Hashable, Comparable, Sendable {
    static var format: SampleFormat { get }

    /// The value that stands for full intensity and full opacity.
    static var full: Double { get }

    /// The nearest sample, halves rounded up, clamped to the range of integer formats; floats are not clamped.
    /// NaN becomes 0 in integer formats, and in floats the one NaN that all CPUs and compilers agree on: which bits
    /// an addition passes on depends on the order that the compiler gave its operands.
    init(rounding value: Double)

    var double: Double { get }

    /// Wraps a raster of this type.
    static func erase(_ raster: Raster<Self>) -> AnyRaster
}

extension UInt8: PixelSample {
    public static var format: SampleFormat { .u8 }
    public static var full: Double { 255 }

    @inlinable public init(rounding value: Double) {
        let raised = value + 0.5  // the conversion cuts it down, and NaN fails both comparisons
        self = raised >= 255 ? 255 : raised >= 1 ? UInt8(raised) : 0
    }

    @inlinable public var double: Double { Double(self) }
    public static func erase(_ raster: Raster<UInt8>) -> AnyRaster { .u8(raster) }
}

extension UInt16: PixelSample {
    public static var format: SampleFormat { .u16 }
    public static var full: Double { 65535 }

    @inlinable public init(rounding value: Double) {
        let raised = value + 0.5
        self = raised >= 65535 ? 65535 : raised >= 1 ? UInt16(raised) : 0
    }

    @inlinable public var double: Double { Double(self) }
    public static func erase(_ raster: Raster<UInt16>) -> AnyRaster { .u16(raster) }
}

extension Float: PixelSample {
    public static var format: SampleFormat { .f32 }
    public static var full: Double { 1 }

    @inlinable public init(rounding value: Double) { self = value.isNaN ? .nan : Float(value) }
    @inlinable public var double: Double { Double(self) }
    public static func erase(_ raster: Raster<Float>) -> AnyRaster { .f32(raster) }
}

extension SampleFormat {
    /// The value that stands for full intensity and full opacity.
    public var full: Double {
        switch self {
        case .u8: UInt8.full
        case .u16: UInt16.full
        case .f32: Float.full
        }
    }
}
