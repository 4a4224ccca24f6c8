package import Catalogs
package import JobModel
package import Raster

/// Turns what a chain gives into what a file holds, sample by sample: the same everywhere, and exactly what decoding a
/// lossless file gives back.
///
/// - A format without alpha: the picture is flattened onto `save.background`, in stored values. Where that is neither black nor
///   white the picture is in sRGB, as the colour is: ``ImageFormat/colorPolicy(for:asked:save:output:)``.
/// - A format without gray: gray becomes RGB.
/// - Under `save.dither` samples become 8-bit integers by a threshold that depends on the pixel's place alone, the same for
///   all colours: a value between two steps is rounded up at that part of the pixels, and whole steps stay what they are.
/// - Samples that the format does not hold become the widest integers that it does. Floats are clamped to 0–1.
///
/// All roundings are to the nearest, halves upwards.
package struct OutputConversion: Hashable, Sendable {
    package let layout: PixelLayout
    package let sampleFormat: SampleFormat
    package let outputLayout: PixelLayout
    package let outputFormat: SampleFormat
    private let background: Background
    private let dithers: Bool

    package init(
        from layout: PixelLayout, _ sampleFormat: SampleFormat, to format: any ImageFormat, save: SaveOptions
    ) {
        let descriptor = format.descriptor
        self.layout = layout
        self.sampleFormat = sampleFormat
        let withoutAlpha = descriptor.holdsAlpha ? layout : layout.removingAlpha
        outputLayout = format.holdsGray ? withoutAlpha : withoutAlpha.inColor
        outputFormat = save.dither ? .u8 : Self.held(sampleFormat, by: descriptor)
        dithers = save.dither && sampleFormat != .u8
        background = Background(save.background)
    }

    /// True when pixels are written as they are.
    package var isIdentity: Bool {
        layout == outputLayout && sampleFormat == outputFormat
    }

    private static func held(_ format: SampleFormat, by descriptor: FormatDescriptor) -> SampleFormat {
        if descriptor.sampleFormats.contains(format) { return format }
        return descriptor.sampleFormats.contains(.u16) ? .u16 : .u8
    }

    package func convert(_ raster: AnyRaster) -> AnyRaster {
        precondition(raster.layout == layout && raster.format == sampleFormat, "a raster is what was announced")
        if isIdentity { return raster }
        return switch raster {
        case .u8(let raster): convert(raster)
        case .u16(let raster): convert(raster)
        case .f32(let raster): convert(raster)
        }
    }

    private func convert<Sample: OutputSample>(_ raster: Raster<Sample>) -> AnyRaster {
        var raster = raster
        if layout.hasAlpha, !outputLayout.hasAlpha { raster = raster.flattened(onto: background) }
        if raster.layout.channels < outputLayout.channels { raster = raster.inColor() }
        return switch outputFormat {
        case .u8: .u8(dithers ? raster.dithered() : raster.map(Sample.toU8))
        case .u16: .u16(raster.map(Sample.toU16))
        case .f32: Sample.erase(raster)
        }
    }
}

extension PixelLayout {
    fileprivate var inColor: PixelLayout { hasAlpha ? .rgba : .rgb }
}
