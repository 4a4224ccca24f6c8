package import Catalogs
import CVips

/// PNG. Metadata: EXIF, XMP, texts, profile, resolution.
package struct PNGFormat: ImageFormat {
    /// What is stored in place of a row: its differences from its neighbours, which compress better.
    private enum Filter: String, CaseIterable {
        /// Of the five, for every row the one whose differences are the smallest.
        case adaptive
        case none
        case sub
        case up
        case average
        case paeth

        var vips: VipsForeignPngFilter {
            switch self {
            case .adaptive: VIPS_FOREIGN_PNG_FILTER_ALL
            case .none: VIPS_FOREIGN_PNG_FILTER_NONE
            case .sub: VIPS_FOREIGN_PNG_FILTER_SUB
            case .up: VIPS_FOREIGN_PNG_FILTER_UP
            case .average: VIPS_FOREIGN_PNG_FILTER_AVG
            case .paeth: VIPS_FOREIGN_PNG_FILTER_PAETH
            }
        }
    }

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
                summary: "0 is fastest, 9 is smallest"),
            ParameterDescriptor(
                "filter", .choice(Filter.allCases.map(\.rawValue)), fallback: .word("adaptive"),
                summary:
                    "which differences of neighbours are stored; adaptive chooses for every row, none suits few colours"
            ),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: PNGChunks.signature)
    }

    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeature) -> StatedColor? {
        let contents = PNGContents(file)
        if let animation = contents.animation { throw .animation(animation) }
        return try contents.color
    }

    package func complete(_ metadata: inout ImageMetadata, of file: InputFile, unpacked: (String) -> String?) {
        PNGContents(file, readsTexts: true).complete(&metadata, unpacked: unpacked)
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        let filter: Filter = try options.word("filter")
        return Saver(
            "pngsave_target",
            [
                "compression": .integer(try options.integer("compression")),
                "filter": .integer(Int(filter.vips.rawValue)),
            ], fields: [.icc, .xmp])
    }

    package func insertion(of metadata: ImageMetadata) -> Insertion? {
        let exif = metadata.exif.map { PNGChunks.chunk("eXIf", $0.bytes) } ?? []
        let bytes = exif + metadata.texts.flatMap { PNGChunks.chunk($0.chunk, $0.payload.bytes) }
        return bytes.isEmpty ? nil : Insertion(bytes: bytes, position: PNGChunks.headerLength)
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libpng", "libspng", "libz"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { true }
}
