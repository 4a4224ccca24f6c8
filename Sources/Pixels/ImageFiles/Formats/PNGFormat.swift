package import Catalogs

/// PNG. Metadata: EXIF, XMP, profile, resolution.
package struct PNGFormat: ImageFormat {
    package let title = "PNG"
    package let cost = CodecCost(decode: 14, encode: 90)
    package let holdsGray = true
    package let loader = Loader("pngload_source", "VipsForeignLoadPngSource")

    package let descriptor = FormatDescriptor(
        name: "png", extensions: ["png"], canRead: true, canWrite: true, streams: .unlessInterlaced,
        sampleFormats: [.u8, .u16],
        holdsAlpha: true, isLossless: true,
        largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: [
            ParameterDescriptor(
                "compression", .integer(minimum: 0, maximum: 9), fallback: .integer(6),
                summary: "0 is fastest, 9 is smallest")
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: PNGChunks.signature)
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        Saver(
            "pngsave_target", ["compression": .integer(try options.integer("compression"))], fields: [.icc, .xmp])
    }

    package func insertion(of metadata: ImageMetadata) -> Insertion? {
        metadata.exif.map { Insertion(bytes: PNGChunks.chunk("eXIf", $0.bytes), position: PNGChunks.headerLength) }
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libpng", "libspng", "libz"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { true }
}
