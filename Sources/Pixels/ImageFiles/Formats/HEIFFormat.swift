package import Catalogs
import CVips

/// What AVIF and HEIC have in common: a HEIF file whose pictures are coded by one of two codecs.
///
/// Decoders and encoders hold the whole picture; 16-bit samples are kept to 12 bits. Metadata: the profile, XMP.
package protocol HEIFFormat: ImageFormat {}

extension HEIFFormat {
    package var holdsGray: Bool { false }
    package var isDecodedWhole: Bool { true }
    package var module: String? { "vips-heif" }
    package var loader: Loader {
        Loader("heifload_source", "VipsForeignLoadHeifSource", traits: [.turnsUpright, .hasPages])
    }
    /// A profile says all that `nclx` could.
    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeature) -> StatedColor? {
        let contents = HEIFContents(file)
        // libheif gives the one picture that stands for it.
        guard !contents.isSequence else { throw .animation("an animation (image sequence)") }
        return picture.hasProfile ? nil : try HEIFColor.stated(in: contents, of: picture, file)
    }
    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }

    fileprivate static func writing(
        _ name: String, _ extensions: [String], options: [ParameterDescriptor] = []
    ) -> FormatDescriptor {
        let quality = ParameterDescriptor(
            "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(60), summary: "how much detail is kept")
        return FormatDescriptor(
            name: name, extensions: extensions, canRead: true, canWrite: true, streams: .no,
            sampleFormats: [.u8, .u16], holdsAlpha: true, isLossless: false, largestSide: 16384,
            options: [quality] + options)
    }

    fileprivate func saver(
        _ codec: VipsForeignHeifCompression, _ shape: ImageShape, _ options: FormatOptions,
        _ more: [String: VipsArgument] = [:]
    ) throws(SaveProblem) -> Saver {
        let common: [String: VipsArgument] = [
            "Q": .integer(try options.integer("quality")), "compression": .integer(Int(codec.rawValue)),
            "bitdepth": .integer(shape.sampleFormat == .u8 ? 8 : 12),
        ]
        return Saver("heifsave_target", common.merging(more) { $1 }, fields: [.icc, .xmp])
    }
}

/// AVIF: AV1 pictures.
package struct AVIFFormat: HEIFFormat {
    package let title = "AVIF"
    package let cost = CodecCost(decode: 60, encode: 1200)
    package let descriptor: FormatDescriptor = Self.writing(
        "avif", ["avif"],
        options: [
            ParameterDescriptor(
                "effort", .integer(minimum: 0, maximum: 9), fallback: .integer(3),
                summary: "0 is fastest, 9 is smallest")
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { !HEIFBrands.avif.isDisjoint(with: HEIFBrands.of(head)) }

    package func libraries(for options: FormatOptions) -> [String] { ["libheif", "libaom"] }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        try saver(
            VIPS_FOREIGN_HEIF_COMPRESSION_AV1, shape, options, ["effort": .integer(try options.integer("effort"))])
    }
}

/// HEIC: HEVC pictures, as phones write them.
package struct HEICFormat: HEIFFormat {
    package let title = "HEIC"
    package let cost = CodecCost(decode: 60, encode: 900)
    package let descriptor: FormatDescriptor = Self.writing("heic", ["heic", "heif", "hif"])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        !HEIFBrands.heic.isDisjoint(with: HEIFBrands.of(head)) && !AVIFFormat().recognizes(head)
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libheif", "libx265"] }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        try saver(VIPS_FOREIGN_HEIF_COMPRESSION_HEVC, shape, options)
    }
}
