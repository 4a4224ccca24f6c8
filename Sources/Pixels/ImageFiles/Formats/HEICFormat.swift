package import Catalogs
import CVips

/// HEIC: a HEIF file of HEVC pictures, as phones write them. Decoders and encoders hold the whole picture; 16-bit
/// samples are kept to 12 bits. Metadata: the profile, XMP.
package struct HEICFormat: ImageFormat {
    package let title = "HEIC"
    package let cost = CodecCost(decode: 60, encode: 900)
    package let holdsGray = false
    package let isDecodedWhole = true
    package let module: String? = "vips-heif"
    package let loader = Loader("heifload_source", "VipsForeignLoadHeifSource", traits: [.turnsUpright, .hasPages])

    package let descriptor = FormatDescriptor(
        name: "heic", extensions: ["heic", "heif", "hif"], canRead: true, canWrite: true, streams: .no,
        sampleFormats: [.u8, .u16],
        holdsAlpha: true, isLossless: false, largestSide: 16384,
        options: [
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(60),
                summary: "how much detail is kept; 60 looks like JPEG's 85")
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        !HEIFBrands.heic.isDisjoint(with: HEIFBrands.of(head)) && !AVIFFormat().recognizes(head)
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        Saver(
            "heifsave_target",
            [
                "Q": .integer(try options.integer("quality")),
                "compression": .integer(Int(VIPS_FOREIGN_HEIF_COMPRESSION_HEVC.rawValue)),
                "bitdepth": .integer(shape.sampleFormat == .u8 ? 8 : 12),
            ],
            fields: [.icc, .xmp])
    }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }
}
