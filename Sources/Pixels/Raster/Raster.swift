public import Catalogs
public import Geometry

/// The pixels of a rectangle: row-major, interleaved, rows without padding.
///
/// A value type over one array: copying costs nothing until one of the copies is written.
public struct Raster<Sample: PixelSample>: Hashable, Sendable {
    public let rect: PixelRect
    public let layout: PixelLayout
    /// The samples; there are `rect.area * layout.channels`.
    public var samples: [Sample]

    /// - Precondition: `samples` has exactly the rectangle's samples.
    public init(rect: PixelRect, layout: PixelLayout, samples: [Sample]) {
        precondition(samples.count == rect.area * layout.channels, "a raster has every sample of its rectangle")
        self.rect = rect
        self.layout = layout
        self.samples = samples
    }

    /// A raster whose samples are all equal.
    public init(rect: PixelRect, layout: PixelLayout, repeating sample: Sample) {
        self.init(rect: rect, layout: layout, samples: Array(repeating: sample, count: rect.area * layout.channels))
    }

    /// The number of samples from one row to the next.
    @inlinable public var stride: Int { rect.width * layout.channels }

    /// The index of the first sample of the pixel at `x`, `y`, which must lie in `rect`.
    @inlinable public func index(x: Int, y: Int) -> Int { (y - rect.y) * stride + (x - rect.x) * layout.channels }
}

extension Raster {
    /// The pixels of `part`, which must lie in `rect`.
    public func cropped(to part: PixelRect) -> Raster {
        precondition(rect.contains(part), "a crop lies inside its raster")
        if part == rect { return self }
        var result: [Sample] = []
        let count = part.width * layout.channels
        result.reserveCapacity(part.height * count)
        for y in part.rows where count > 0 {
            let start = index(x: part.x, y: y)
            result.append(contentsOf: samples[start..<start + count])
        }
        return Raster(rect: part, layout: layout, samples: result)
    }

    /// Overwrites the part that `other` covers, which must lie in `rect` and have the same layout.
    public mutating func paste(_ other: Raster) {
        precondition(rect.contains(other.rect) && layout == other.layout, "what is pasted fits")
        if other.rect.width == rect.width { return copy(other, from: 0, count: other.samples.count, to: other.rect.y) }
        let count = other.stride
        for y in other.rect.rows {
            copy(other, from: other.index(x: other.rect.x, y: y), count: count, x: other.rect.x, to: y)
        }
    }

    /// Overwrites the rows from `target` on (coordinates) with rows of a raster that is as wide.
    package mutating func copyRows(_ rows: Range<Int>, of other: Raster, to target: Int) {
        precondition(
            other.rect.width == rect.width && other.layout == layout && rows.clamped(to: other.rect.rows) == rows
                && target >= rect.y && target + rows.count <= rect.bottom, "rows are copied inside rasters")
        copy(other, from: (rows.lowerBound - other.rect.y) * stride, count: rows.count * stride, to: target)
    }

    /// Copies neighbouring samples to the pixel at the left side, or at `x`, of row `y`.
    private mutating func copy(_ other: Raster, from: Int, count: Int, x: Int? = nil, to y: Int) {
        guard count > 0 else { return }
        let to = index(x: x ?? rect.x, y: y)
        samples.withUnsafeMutableBufferPointer { own in
            other.samples.withUnsafeBufferPointer { other in
                _ = UnsafeMutableBufferPointer(rebasing: own[to..<to + count]).update(
                    fromContentsOf: UnsafeBufferPointer(rebasing: other[from..<from + count]))
            }
        }
    }

    /// The same pixels at other coordinates.
    public func translated(x dx: Int, y dy: Int) -> Raster {
        Raster(rect: rect.translated(x: dx, y: dy), layout: layout, samples: samples)
    }
}

/// A sample type of rasters. Exactly three types conform, one for each ``SampleFormat``.
public protocol PixelSample: BitwiseCopyable, Hashable, Comparable, Sendable {
    static var format: SampleFormat { get }

    /// The value of full intensity and full opacity.
    static var full: Double { get }

    /// The nearest sample, halves rounded up, clamped to the range of integer formats. Floats are not clamped. NaN becomes 0
    /// in integer formats. In floats it becomes the one NaN on which all CPUs and compilers agree, because the bits of a NaN
    /// after an addition depend on the compiler's order of operands.
    init(rounding value: Double)

    var double: Double { get }

    /// Wraps a raster of this type.
    static func erase(_ raster: Raster<Self>) -> AnyRaster
}

extension UInt8: PixelSample {
    public static var format: SampleFormat { .u8 }
    public static var full: Double { 255 }

    @inlinable public init(rounding value: Double) {
        let raised = value + 0.5  // the conversion truncates it, and NaN fails both comparisons
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
    /// The value of full intensity and full opacity.
    public var full: Double {
        switch self {
        case .u8: UInt8.full
        case .u16: UInt16.full
        case .f32: Float.full
        }
    }
}

/// The brightness of a picture, which filters read in addition to their input.
///
/// It is computed from stored values, not from light: 0.2126 of red, 0.7152 of green, 0.0722 of blue, times alpha.
package struct GrayPicture: Hashable, Sendable {
    package let width: Int
    package let height: Int
    /// The values from 0 for black to 65535 for white, row by row.
    package private(set) var samples: [UInt16]

    /// A black picture.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
        samples = [UInt16](repeating: 0, count: width * height)
    }

    /// Writes pixels at their position in the picture.
    package mutating func paste(_ pixels: AnyRaster) {
        switch pixels {
        case .u8(let raster): paste(raster) { UInt32($0) * 257 }
        case .u16(let raster): paste(raster) { UInt32($0) }
        case .f32(let raster):
            // NaN becomes black, because comparisons with it fail.
            paste(raster) { $0 > 0 ? UInt32(min($0, 1) * 65535 + 0.5) : 0 }
        }
    }

    private mutating func paste<Sample: PixelSample>(_ raster: Raster<Sample>, _ level: (Sample) -> UInt32) {
        precondition(PixelRect(x: 0, y: 0, width: width, height: height).contains(raster.rect), "a part of the picture")
        let (rect, layout) = (raster.rect, raster.layout)
        let stored = raster.samples.span
        var source = 0
        for y in rect.rows {
            var target = y * width + rect.x
            for _ in rect.columns {
                var gray = level(stored[source])
                if layout.channels >= 3 {
                    let (green, blue) = (level(stored[source + 1]), level(stored[source + 2]))
                    gray = (2126 * gray + 7152 * green + 722 * blue + 5000) / 10_000
                }
                if layout.hasAlpha { gray = (gray * level(stored[source + layout.channels - 1]) + 32767) / 65535 }
                samples[target] = UInt16(gray)
                source += layout.channels
                target += 1
            }
        }
    }
}
