public import Catalogs

/// A sample that a raster can hold. Exactly three types conform, one for each ``SampleFormat``.
public protocol PixelSample: BitwiseCopyable, Hashable, Comparable, Sendable {
    static var format: SampleFormat { get }

    /// The value that stands for full intensity and full opacity.
    static var full: Double { get }

    /// The nearest sample, halves rounded up, clamped to the range of integer formats; floats are not clamped.
    /// NaN becomes 0 in integer formats.
    init(rounding value: Double)

    var double: Double { get }

    /// Wraps a raster of this type.
    static func erase(_ raster: Raster<Self>) -> AnyRaster
}

extension UInt8: PixelSample {
    public static var format: SampleFormat { .u8 }
    public static var full: Double { 255 }

    @inlinable public init(rounding value: Double) {
        let rounded = (value + 0.5).rounded(.down)
        self = rounded >= 255 ? 255 : rounded > 0 ? UInt8(rounded) : 0
    }

    @inlinable public var double: Double { Double(self) }
    public static func erase(_ raster: Raster<UInt8>) -> AnyRaster { .u8(raster) }
}

extension UInt16: PixelSample {
    public static var format: SampleFormat { .u16 }
    public static var full: Double { 65535 }

    @inlinable public init(rounding value: Double) {
        let rounded = (value + 0.5).rounded(.down)
        self = rounded >= 65535 ? 65535 : rounded > 0 ? UInt16(rounded) : 0
    }

    @inlinable public var double: Double { Double(self) }
    public static func erase(_ raster: Raster<UInt16>) -> AnyRaster { .u16(raster) }
}

extension Float: PixelSample {
    public static var format: SampleFormat { .f32 }
    public static var full: Double { 1 }

    @inlinable public init(rounding value: Double) { self = Float(value) }
    @inlinable public var double: Double { Double(self) }
    public static func erase(_ raster: Raster<Float>) -> AnyRaster { .f32(raster) }
}
