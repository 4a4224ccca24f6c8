package import Catalogs
import Geometry
package import JobModel
package import Raster

/// Converts the samples of a chain's output to those of a file. The result is the same on every machine, and decoding a
/// lossless file returns exactly these samples.
///
/// - A format without alpha: the picture is flattened onto `save.background`, in stored values. If the background is neither
///   black nor white, the picture must be in sRGB, like the background; see
///   ``ImageFormat/colorPolicy(for:asked:save:output:)``.
/// - With `save.color`, colours are converted after that: see ``ColorConversion``. CMYK has no alpha in any format.
/// - A format without gray: gray becomes RGB.
/// - With `save.dither`, samples become 8-bit integers by a threshold that depends only on the pixel's position, and is the
///   same for all colours. A value between two steps is rounded up at the corresponding share of pixels. Whole steps do not
///   change.
/// - The output has the samples of the input's file, or those that `save.depth` names. Those of the filters do not count. Samples
///   that the format does not support become its widest integers. Floats that become integers are clamped to 0–1.
///
/// All values are rounded to the nearest, halves up.
package struct OutputConversion: Sendable {
    package let layout: PixelLayout
    package let sampleFormat: SampleFormat
    package let outputLayout: PixelLayout
    package let outputFormat: SampleFormat
    /// Nil if the output has the colours of the filters.
    package let color: ColorConversion?
    /// The samples whose colours are converted: the finer ones of the chain's and the file's.
    private let convertedFormat: SampleFormat
    private let background: Background
    private let dithers: Bool

    /// - Parameter input: the samples of the input's file, which a file has if `save.depth` names no others; nil for the chain's.
    package init(
        from layout: PixelLayout, _ sampleFormat: SampleFormat, of input: SampleFormat? = nil,
        to format: any ImageFormat, save: SaveOptions, color: ColorConversion? = nil
    ) {
        let format = format.fitted(to: save.values)
        let descriptor = format.descriptor
        self.layout = layout
        self.sampleFormat = sampleFormat
        self.color = color
        let colors = color?.layout ?? layout.removingAlpha
        let keepsAlpha = layout.hasAlpha && descriptor.holdsAlpha
        let held = keepsAlpha ? colors.addingAlpha : colors
        outputLayout = format.outputLayout(held)
        let wanted = save.depth.samples ?? input ?? sampleFormat
        let isTooWide = wanted == .f32 && color?.needsIntegers ?? false
        outputFormat = save.dither ? .u8 : Self.held(isTooWide ? .u16 : wanted, by: descriptor)
        convertedFormat =
            color == nil
            ? sampleFormat
            : [sampleFormat, save.dither ? .u16 : outputFormat].max { $0.bytes < $1.bytes } ?? sampleFormat
        dithers = save.dither && convertedFormat != .u8
        background = Background(save.background)
    }

    /// Whether pixels are written unchanged.
    package var isIdentity: Bool {
        layout == outputLayout && sampleFormat == outputFormat && color?.isIdentity ?? true
    }

    private static func held(_ format: SampleFormat, by descriptor: FormatDescriptor) -> SampleFormat {
        if descriptor.sampleFormats.contains(format) { return format }
        return descriptor.sampleFormats.contains(.u16) ? .u16 : .u8
    }

    package func convert(_ raster: AnyRaster) -> AnyRaster {
        precondition(raster.layout == layout && raster.format == sampleFormat, "a raster is what was announced")
        if isIdentity { return raster }
        let fine = raster.converted(to: convertedFormat)
        let opaque = layout.hasAlpha && !outputLayout.hasAlpha ? fine.flattened(onto: background) : fine
        let colored = color?.convert(opaque) ?? opaque
        let complete = colored.layout.inColor == outputLayout ? colored.inColor() : colored
        return dithers ? complete.dithered() : complete.converted(to: outputFormat)
    }
}

extension PixelLayout {
    /// The same with red, green and blue instead of gray.
    var inColor: PixelLayout {
        switch self {
        case .gray, .rgb: .rgb
        case .grayAlpha, .rgba: .rgba
        case .cmyk: .cmyk
        }
    }
}

extension AnyRaster {
    fileprivate func flattened(onto background: Background) -> AnyRaster {
        switch self {
        case .u8(let raster): .u8(raster.flattened(onto: background))
        case .u16(let raster): .u16(raster.flattened(onto: background))
        case .f32(let raster): .f32(raster.flattened(onto: background))
        }
    }

    fileprivate func inColor() -> AnyRaster {
        guard layout.removingAlpha == .gray else { return self }
        return switch self {
        case .u8(let raster): .u8(raster.inColor())
        case .u16(let raster): .u16(raster.inColor())
        case .f32(let raster): .f32(raster.inColor())
        }
    }

    fileprivate func dithered() -> AnyRaster {
        switch self {
        case .u8(let raster): .u8(raster)
        case .u16(let raster): .u8(raster.dithered())
        case .f32(let raster): .u8(raster.dithered())
        }
    }
}

/// The colour behind transparent pixels for formats without alpha: red, green and blue, 0–255.
struct Background: Hashable, Sendable {
    let channels: [Int]

    /// White for missing channels.
    init(_ channels: [Int]) {
        self.channels = (0..<3).map { $0 < channels.count ? max(0, min(255, channels[$0])) : 255 }
    }

    /// Black and white are the same in every profile.
    var isInEverySpace: Bool { channels == [0, 0, 0] || channels == [255, 255, 255] }

    /// The background sample for each colour channel of a picture. For gray it is the colour's luma (Rec. 709 weights).
    func samples<Sample: OutputSample>(for layout: PixelLayout) -> [Sample] {
        switch layout {
        case .rgb, .rgba, .cmyk: channels.map(Sample.from255)
        case .gray, .grayAlpha:
            [Sample.from255((channels[0] * 2126 + channels[1] * 7152 + channels[2] * 722 + 5000) / 10000)]
        }
    }
}

extension Raster where Sample: OutputSample {
    /// The raster without its alpha channel, in front of a background.
    func flattened(onto background: Background) -> Raster {
        let behind: [Sample] = background.samples(for: layout)
        let channels = layout.channels
        var result: [Sample] = []
        result.reserveCapacity(samples.count / channels * (channels - 1))
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            let alpha = samples[pixel + channels - 1]
            for channel in behind.indices {
                result.append(Sample.blend(samples[pixel + channel], alpha, over: behind[channel]))
            }
        }
        return Raster(rect: rect, layout: layout.removingAlpha, samples: result)
    }

    /// A gray raster as RGB with three equal channels.
    func inColor() -> Raster {
        let channels = layout.channels
        var result: [Sample] = []
        result.reserveCapacity(samples.count / channels * (channels + 2))
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            result.append(contentsOf: repeatElement(samples[pixel], count: 3))
            if layout.hasAlpha { result.append(samples[pixel + 1]) }
        }
        return Raster(rect: rect, layout: layout.hasAlpha ? .rgba : .rgb, samples: result)
    }
}

/// The arithmetic that output conversion needs for each sample type.
protocol OutputSample: PixelSample {
    /// The sample for `value` on the scale of 255.
    static func from255(_ value: Int) -> Self
    /// The blend of `color` with opacity `alpha` over `background`.
    static func blend(_ color: Self, _ alpha: Self, over background: Self) -> Self
    static func toU8(_ sample: Self) -> UInt8
}

extension UInt8: OutputSample {
    static func from255(_ value: Int) -> UInt8 { UInt8(clamping: value) }

    static func blend(_ color: UInt8, _ alpha: UInt8, over background: UInt8) -> UInt8 {
        let sum = UInt32(color) * UInt32(alpha) + UInt32(background) * UInt32(255 - alpha)
        return UInt8((2 * sum + 255) / 510)
    }

    static func toU8(_ sample: UInt8) -> UInt8 { sample }
}

extension UInt16: OutputSample {
    static func from255(_ value: Int) -> UInt16 { UInt16(UInt8(clamping: value)) * 257 }

    static func blend(_ color: UInt16, _ alpha: UInt16, over background: UInt16) -> UInt16 {
        let sum = UInt64(color) * UInt64(alpha) + UInt64(background) * UInt64(65535 - alpha)
        return UInt16((2 * sum + 65535) / 131070)
    }

    static func toU8(_ sample: UInt16) -> UInt8 { UInt8((UInt32(sample) * 510 + 65535) / 131070) }
}

extension Float: OutputSample {
    static func from255(_ value: Int) -> Float { Float(UInt8(clamping: value)) / 255 }

    /// Blends in double precision, with the opacity clamped to 0–1.
    static func blend(_ color: Float, _ alpha: Float, over background: Float) -> Float {
        let opacity = max(0, min(1, alpha.double))
        return Float(color.double * opacity + background.double * (1 - opacity))
    }

    static func toU8(_ sample: Float) -> UInt8 { UInt8(rounding: sample.double * 255) }
}

extension Raster where Sample: OutputSample {
    /// The raster as 8-bit samples, with each colour rounded up or down according to its position. Alpha is rounded to the
    /// nearest.
    func dithered() -> Raster<UInt8> {
        let channels = layout.channels
        let colors = layout.removingAlpha.channels
        var result: [UInt8] = []
        result.reserveCapacity(samples.count)
        var pixel = 0
        for y in rect.rows {
            for x in rect.columns {
                let threshold = Dither.threshold(x: x, y: y)
                for channel in 0..<colors {
                    let level = samples[pixel + channel].double / Sample.full * 255 + threshold
                    result.append(level >= 255 ? 255 : level >= 1 ? UInt8(level) : 0)
                }
                if layout.hasAlpha { result.append(Sample.toU8(samples[pixel + channels - 1])) }
                pixel += channels
            }
        }
        return Raster<UInt8>(rect: rect, layout: layout, samples: result)
    }
}

/// The pattern of thresholds: the R2 sequence. Its neighbours differ much, and every window is nearly uniform. M. Roberts,
/// "The unreasonable effectiveness of quasirandom sequences", 2018.
enum Dither {
    /// 2³²/ρ and 2³²/ρ², where ρ³ = ρ + 1.
    private static let (stepX, stepY): (UInt32, UInt32) = (3_242_174_889, 2_447_445_414)

    /// A threshold between 0 and 1, in steps of 1/65536. It is never so near to 0 or 1 that rounding could change a whole
    /// step.
    static func threshold(x: Int, y: Int) -> Double {
        let sum = UInt32(truncatingIfNeeded: x) &* stepX &+ UInt32(truncatingIfNeeded: y) &* stepY
        return (Double(sum >> 16) + 0.5) / 65536
    }
}
