public import Catalogs
public import Geometry

/// A raster whose sample format is known at run time.
public enum AnyRaster: Hashable, Sendable {
    case u8(Raster<UInt8>)
    case u16(Raster<UInt16>)
    case f32(Raster<Float>)

    public var rect: PixelRect {
        switch self {
        case .u8(let raster): raster.rect
        case .u16(let raster): raster.rect
        case .f32(let raster): raster.rect
        }
    }

    public var layout: PixelLayout {
        switch self {
        case .u8(let raster): raster.layout
        case .u16(let raster): raster.layout
        case .f32(let raster): raster.layout
        }
    }

    public var format: SampleFormat {
        switch self {
        case .u8: .u8
        case .u16: .u16
        case .f32: .f32
        }
    }

    public func cropped(to part: PixelRect) -> AnyRaster {
        switch self {
        case .u8(let raster): .u8(raster.cropped(to: part))
        case .u16(let raster): .u16(raster.cropped(to: part))
        case .f32(let raster): .f32(raster.cropped(to: part))
        }
    }

    public func translated(x dx: Int, y dy: Int) -> AnyRaster {
        switch self {
        case .u8(let raster): .u8(raster.translated(x: dx, y: dy))
        case .u16(let raster): .u16(raster.translated(x: dx, y: dy))
        case .f32(let raster): .f32(raster.translated(x: dx, y: dy))
        }
    }
}

extension AnyRaster {
    /// All samples zero: black, and transparent where there is alpha.
    public init(zeroed rect: PixelRect, layout: PixelLayout, format: SampleFormat) {
        switch format {
        case .u8: self = .u8(Raster(rect: rect, layout: layout, repeating: 0))
        case .u16: self = .u16(Raster(rect: rect, layout: layout, repeating: 0))
        case .f32: self = .f32(Raster(rect: rect, layout: layout, repeating: 0))
        }
    }

    /// A raster for a writer that writes every sample. Until then, samples have any values.
    package init(unwritten rect: PixelRect, layout: PixelLayout, format: SampleFormat) {
        self.init(rect: rect, layout: layout, format: format) { _ in }
    }

    /// Overwrites the part that `other` covers; it must lie in `rect` and have the same layout and sample format.
    public mutating func paste(_ other: AnyRaster) {
        // Each branch holds only one reference to the written samples. A switch over both rasters at once would hold a second
        // one, and every write would copy the whole raster.
        switch other {
        case .u8(let other): modifyU8 { $0.paste(other) }
        case .u16(let other): modifyU16 { $0.paste(other) }
        case .f32(let other): modifyF32 { $0.paste(other) }
        }
    }

    /// Overwrites the rows from `target` on with rows of a raster that is as wide, and of the same layout and format.
    package mutating func copyRows(_ rows: Range<Int>, of other: AnyRaster, to target: Int) {
        switch other {
        case .u8(let other): modifyU8 { $0.copyRows(rows, of: other, to: target) }
        case .u16(let other): modifyU16 { $0.copyRows(rows, of: other, to: target) }
        case .f32(let other): modifyF32 { $0.copyRows(rows, of: other, to: target) }
        }
    }

    /// Lends the raster of bytes for changes in place.
    package mutating func modifyU8(_ body: (inout Raster<UInt8>) -> Void) {
        guard case .u8(var own) = self else { preconditionFailure("a raster has the sample format that is asked for") }
        self = .empty
        body(&own)
        self = .u8(own)
    }

    /// Lends the raster of 16-bit samples for changes in place.
    package mutating func modifyU16(_ body: (inout Raster<UInt16>) -> Void) {
        guard case .u16(var own) = self else { preconditionFailure("a raster has the sample format that is asked for") }
        self = .empty
        body(&own)
        self = .u16(own)
    }

    /// Lends the raster of floats for changes in place.
    package mutating func modifyF32(_ body: (inout Raster<Float>) -> Void) {
        guard case .f32(var own) = self else { preconditionFailure("a raster has the sample format that is asked for") }
        self = .empty
        body(&own)
        self = .f32(own)
    }

    /// A placeholder while the samples are moved out and written, so that they are not copied.
    package static let empty = AnyRaster.u8(Raster(rect: .empty, layout: .gray, samples: []))

    /// Moves the raster out, so that its new owner can write it without a copy; leaves an empty one.
    package mutating func take() -> AnyRaster {
        let taken = self
        self = .empty
        return taken
    }

    /// Lends the samples' bytes in memory order during the call.
    public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        switch self {
        case .u8(let raster): try body(raster.samples.span.bytes)
        case .u16(let raster): try body(raster.samples.span.bytes)
        case .f32(let raster): try body(raster.samples.span.bytes)
        }
    }

    /// A raster from bytes in memory order, the inverse of ``withBytes(_:)``.
    ///
    /// - Precondition: `bytes` has exactly the rectangle's samples.
    public init(bytes: RawSpan, rect: PixelRect, layout: PixelLayout, format: SampleFormat) {
        precondition(
            bytes.byteCount == rect.area * layout.channels * format.bytes, "a raster has every byte of its rectangle")
        switch format {
        case .u8: self = .u8(Raster(rect: rect, layout: layout, samples: Self.samples(bytes)))
        case .u16: self = .u16(Raster(rect: rect, layout: layout, samples: Self.samples(bytes)))
        case .f32: self = .f32(Raster(rect: rect, layout: layout, samples: Self.samples(bytes)))
        }
    }

    /// A raster whose bytes `fill` writes in memory order: all of them, unless it throws.
    package init(
        rect: PixelRect, layout: PixelLayout, format: SampleFormat,
        filling fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) rethrows {
        let count = rect.area * layout.channels
        switch format {
        case .u8: self = .u8(Raster(rect: rect, layout: layout, samples: try Self.filled(count, fill)))
        case .u16: self = .u16(Raster(rect: rect, layout: layout, samples: try Self.filled(count, fill)))
        case .f32: self = .f32(Raster(rect: rect, layout: layout, samples: try Self.filled(count, fill)))
        }
    }

    private static func filled<Sample: PixelSample>(
        _ count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) rethrows -> [Sample] {
        try [Sample](unsafeUninitializedCapacity: count) { buffer, initialized in
            try fill(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<count])))
            initialized = count
        }
    }

    private static func samples<Sample: PixelSample>(_ bytes: RawSpan) -> [Sample] {
        bytes.withUnsafeBytes { source in
            [Sample](unsafeUninitializedCapacity: source.count / MemoryLayout<Sample>.stride) { buffer, count in
                UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source)
                count = source.count / MemoryLayout<Sample>.stride
            }
        }
    }
}

extension AnyRaster {
    /// The same picture in another sample format: full intensity stays full intensity, halves round up, integer
    /// formats clamp. Alpha and colours are treated alike.
    public func converted(to format: SampleFormat) -> AnyRaster {
        switch (self, format) {
        case (.u8, .u8), (.u16, .u16), (.f32, .f32): self
        // These are exact: 65535 is 257 times 255.
        case (.u8(let raster), .u16): .u16(raster.mapping { UInt16($0) &* 257 })
        case (.u16(let raster), .u8): .u8(raster.mapping { UInt8(truncatingIfNeeded: (UInt32($0) &+ 128) / 257) })
        case (.u8(let raster), .f32): .f32(raster.mapping { Float($0) / 255 })
        case (.u16(let raster), .f32): .f32(raster.mapping { Float($0) / 65535 })
        case (.f32(let raster), .u8): .u8(raster.mapping { UInt8(rounding: $0.double * 255) })
        case (.f32(let raster), .u16): .u16(raster.mapping { UInt16(rounding: $0.double * 65535) })
        }
    }
}

extension AnyRaster {
    /// The same picture with colour 0 wherever the stored alpha is 0.
    package func clearingTransparent() -> AnyRaster {
        switch self {
        case .u8(let raster): .u8(raster.clearingTransparent())
        case .u16(let raster): .u16(raster.clearingTransparent())
        case .f32(let raster): .f32(raster.clearingTransparent())
        }
    }
}

extension Raster {
    fileprivate func clearingTransparent() -> Raster {
        guard layout.hasAlpha else { return self }
        let channels = layout.channels
        var result = self
        var samples = result.samples.mutableSpan
        for pixel in 0..<rect.area where samples[(pixel + 1) * channels - 1].double == 0 {
            for color in 0..<channels - 1 { samples[pixel * channels + color] = Sample(rounding: 0) }
        }
        return result
    }

    fileprivate func mapping<Other: PixelSample>(_ transform: (Sample) -> Other) -> Raster<Other> {
        Raster<Other>(rect: rect, layout: layout, samples: samples.map(transform))
    }
}
