import CVips
package import Catalogs
import FileAccess
import Glibc
package import JobModel
import Kernels
import Raster
import Synchronization

/// A conversion of the colours in which filters worked into those of an output's file.
///
/// Spaces of curves and primaries are converted by their definitions, in floating point. For profiles of tables, littleCMS computes
/// the points of a grid, and integers of 16 bits are interpolated between them. Both work pixel by pixel.
package struct ColorConversion: Sendable {
    private enum Method: Sendable {
        /// The colours are in this space already.
        case none
        case light(LightConversion)
        case grid(ColorGrid)
    }

    /// The colours of the result, without alpha.
    package let layout: PixelLayout
    /// The profile of the result. Nil for sRGB, and for gray with its curve.
    let profile: [UInt8]?
    private let method: Method

    /// - Parameters:
    ///   - source: the profile of the filters' colours. Nil for sRGB. One that is not valid for the layout counts as none.
    ///   - layout: the layout of the filters' colours.
    ///   - target: the space of the output.
    /// - Throws: the reason why colours cannot be converted into it.
    package init(
        from source: [UInt8]?, of layout: PixelLayout, to target: OutputProfile, intent: RenderingIntent,
        blackPoint: Bool
    ) throws(OutputProfile.Problem) {
        let key = Known.Key(
            source: source, layout: layout.removingAlpha, target: target, intent: intent, blackPoint: blackPoint)
        // libvips finds a profile by its file's name for a moment after it was read, and files in memory get the same names again.
        // So one conversion is made at a time.
        self = try Self.known.withLock { (known) throws(OutputProfile.Problem) in try known.conversion(key) }
    }

    private init(_ key: Known.Key) throws(OutputProfile.Problem) {
        let profile = key.source.flatMap(ICCProfile.init).flatMap { $0.fits(key.layout) ? $0 : nil }
        let source = profile == nil ? nil : key.source
        let isGray = key.layout == .gray
        // Gray without a profile has the curve of sRGB, too.
        let target = isGray && key.target == .named(.srgb) ? OutputProfile.named(.gray) : key.target
        layout = target.layout
        self.profile = target.icc
        let light = profile.map(LightSpace.init) ?? (isGray ? .gray(.sRGB) : .sRGB)
        if source == target.icc, layout == key.layout {
            method = .none
        } else if let light, let conversion = target.light.flatMap(light.conversion) {
            method = .light(conversion)
        } else {
            let inputs = ColorGrid.inputs(key.layout)
            do throws(VipsError) {
                let points = try LittleCMS.converted(
                    inputs, of: key.layout, profile: source, to: target, intent: key.intent, blackPoint: key.blackPoint)
                method = .grid(ColorGrid(from: key.layout, to: layout, points: points))
            } catch {
                throw OutputProfile.Problem("cannot be used for outputs (\(error.line))")
            }
        }
    }

    /// Whether no pixel changes.
    var isIdentity: Bool { if case .none = method { true } else { false } }

    /// Whether the result has integers in any case, because the profile has tables.
    package var needsIntegers: Bool { if case .grid = method { true } else { false } }

    /// The raster in the colours of the result. If these need integers, it has 16 bits.
    ///
    /// - Precondition: it has no alpha if the result can have none.
    func convert(_ raster: AnyRaster) -> AnyRaster {
        switch method {
        case .none: return raster
        case .light(let conversion): return conversion.convert(raster)
        case .grid(let grid):
            guard case .u16(let raster) = raster.converted(to: .u16) else {
                preconditionFailure("the raster was converted to 16 bits")
            }
            return .u16(grid.convert(raster))
        }
    }

    /// The conversions of this process. A grid takes as long as some pictures.
    private struct Known {
        struct Key: Hashable {
            let source: [UInt8]?
            let layout: PixelLayout
            let target: OutputProfile
            let intent: RenderingIntent
            let blackPoint: Bool
        }

        /// Pictures of one job have few profiles.
        private static let most = 16
        private var conversions: [Key: ColorConversion] = [:]

        mutating func conversion(_ key: Key) throws(OutputProfile.Problem) -> ColorConversion {
            if let known = conversions[key] { return known }
            let new = try ColorConversion(key)
            if conversions.count >= Self.most { conversions = [:] }
            conversions[key] = new
            return new
        }
    }

    private static let known = Mutex(Known())
}

extension ImageMetadata {
    /// The metadata after the conversion of the pixels.
    package func converted(by color: ColorConversion?) -> ImageMetadata {
        guard let color else { return self }
        var metadata = self
        metadata.icc = color.profile.map(Blob.init)
        metadata.isConverted = isConverted || !color.isIdentity
        return metadata
    }
}

/// Conversions of colours by littleCMS, through libvips.
private enum LittleCMS {
    /// - Parameters:
    ///   - samples: RGB or gray of 16 bits.
    ///   - profile: the profile of the samples. Nil for sRGB.
    /// - Returns: the same colours in the space of `target`.
    static func converted(
        _ samples: [UInt16], of layout: PixelLayout, profile: [UInt8]?, to target: OutputProfile,
        intent: RenderingIntent,
        blackPoint: Bool
    ) throws(VipsError) -> [UInt16] {
        do throws(ImageFileError) {
            try VipsRuntime.startIfNeeded()
        } catch {
            throw VipsError(line: "\(error)")
        }
        let table = try VipsImageReference(table: samples, bands: layout.channels)
        let tag = try VipsCall("copy")
        tag.set("in", to: table)
        tag.set(
            "interpretation",
            to: .integer(Int((layout == .gray ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16).rawValue)))
        let image = try tag.image()
        image.setBlob(MetadataField.icc.rawValue, to: profile ?? ProfileWriter.sRGB(isGray: layout == .gray))
        let file = try ProfileFile(target.icc ?? ProfileWriter.sRGB(isGray: target.layout == .gray))
        let call = try VipsCall("icc_transform")
        call.set("in", to: image)
        call.set("embedded", to: .boolean(true))
        call.set("output_profile", to: file.name)
        call.set("intent", to: .integer(Int(intent.vips.rawValue)))
        call.set("black_point_compensation", to: .boolean(blackPoint))
        call.set("depth", to: .integer(16))
        return try call.image().samples()
    }
}

extension RenderingIntent {
    fileprivate var vips: VipsIntent {
        switch self {
        case .perceptual: VIPS_INTENT_PERCEPTUAL
        case .relative: VIPS_INTENT_RELATIVE
        case .saturation: VIPS_INTENT_SATURATION
        case .absolute: VIPS_INTENT_ABSOLUTE
        }
    }
}

/// A profile as a file in memory, because libvips reads profiles of outputs by their names.
private struct ProfileFile: ~Copyable {
    private let descriptor: Int32

    init(_ bytes: [UInt8]) throws(VipsError) {
        descriptor = MemoryFile.create()
        guard descriptor >= 0 else { throw VipsError(line: String(cString: strerror(errno))) }
        do {
            try FileOpener.write(bytes, to: descriptor, at: 0)
        } catch {
            close(descriptor)
            throw VipsError(line: String(cString: strerror(error.code)))
        }
    }

    deinit { close(descriptor) }

    var name: String { "/proc/self/fd/\(descriptor)" }
}
