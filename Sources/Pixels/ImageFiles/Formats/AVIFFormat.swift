package import Catalogs
import CVips

/// AVIF: a HEIF file of AV1 pictures. Decoders and encoders hold the whole picture; 16-bit samples are kept to 12 bits. Metadata: the profile, XMP.
package struct AVIFFormat: ImageFormat {
    package let title = "AVIF"
    package let cost = CodecCost(decode: 60, encode: 1200)
    package let holdsGray = false
    package let isDecodedWhole = true
    package let module: String? = "vips-heif"
    package let loader = Loader("heifload_source", "VipsForeignLoadHeifSource", traits: [.turnsUpright, .hasPages])

    package let descriptor = FormatDescriptor(
        name: "avif", extensions: ["avif"], canRead: true, canWrite: true, streams: .no, sampleFormats: [.u8, .u16],
        holdsAlpha: true, isLossless: false, largestSide: 16384,
        options: [
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(60),
                summary: "how much detail is kept; 60 looks like JPEG's 85"),
            ParameterDescriptor(
                "effort", .integer(minimum: 0, maximum: 9), fallback: .integer(3),
                summary: "0 is fastest, 9 is smallest"),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        !HEIFBrands.avif.isDisjoint(with: HEIFBrands.of(head))
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        Saver(
            "heifsave_target",
            [
                "Q": .integer(try options.integer("quality")),
                "effort": .integer(try options.integer("effort")),
                "compression": .integer(Int(VIPS_FOREIGN_HEIF_COMPRESSION_AV1.rawValue)),
                "bitdepth": .integer(shape.sampleFormat == .u8 ? 8 : 12),
            ],
            fields: [.icc, .xmp])
    }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }
}
