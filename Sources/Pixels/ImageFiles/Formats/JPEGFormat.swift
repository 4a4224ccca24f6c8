package import Catalogs
import CVips

/// Baseline and progressive JPEG. Metadata: EXIF, XMP, IPTC, profile.
package struct JPEGFormat: ImageFormat {
    /// When colour is stored at half its resolution.
    private enum Subsampling: String, CaseIterable {
        /// Below quality 90.
        case auto
        case on
        case off

        var vips: VipsForeignSubsample {
            switch self {
            case .auto: VIPS_FOREIGN_SUBSAMPLE_AUTO
            case .on: VIPS_FOREIGN_SUBSAMPLE_ON
            case .off: VIPS_FOREIGN_SUBSAMPLE_OFF
            }
        }
    }

    package let title = "JPEG"
    package let cost = CodecCost(decode: 8, encode: 9)
    package let holdsGray = true
    package let loader = Loader("jpegload_source", "VipsForeignLoadJpegSource")

    package let descriptor = FormatDescriptor(
        name: "jpeg", extensions: ["jpg", "jpeg", "jpe", "jfif"], canRead: true, canWrite: true,
        streams: .unlessInterlaced,
        sampleFormats: [.u8],
        holdsAlpha: false, isLossless: false,
        largestSide: 65500,  // libjpeg's JPEG_MAX_DIMENSION
        options: [
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(82),
                summary: "how much detail is kept"),
            ParameterDescriptor(
                "progressive", .boolean, fallback: .boolean(false),
                summary: "show a coarse picture first; smaller, and needs memory for the whole picture"),
            ParameterDescriptor(
                "subsampling", .choice(Subsampling.allCases.map(\.rawValue)), fallback: .word("auto"),
                summary: "store colour at half its resolution; auto does below quality 90"),
            ParameterDescriptor(
                "optimize", .boolean, fallback: .boolean(false),
                summary: "fit the code tables to the picture; smaller, and needs memory for the whole picture"),
        ])

    package let holdsIPTC = true

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: [0xFF, 0xD8, 0xFF])
    }

    package func holdsFurtherPictures(_ file: InputFile) -> Bool { MultiPictureIndex(file)?.holdsFurther ?? false }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        let subsampling: Subsampling = try options.word("subsampling")
        return Saver(
            "jpegsave_target",
            [
                "Q": .integer(try options.integer("quality")),
                "interlace": .boolean(try options.boolean("progressive")),
                "subsample_mode": .integer(Int(subsampling.vips.rawValue)),
                "optimize_coding": .boolean(try options.boolean("optimize")),
                "strip": .boolean(true),  // what it carries is inserted
            ])
    }

    package func insertion(of metadata: ImageMetadata) -> Insertion? {
        Insertion(bytes: JPEGSegments.bytes(for: metadata), position: 2)  // after the start-of-image marker
    }

    package func shrinking(by factor: Int) -> (name: String, value: VipsArgument)? {
        ("shrink", .integer(factor))
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libjpeg"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }
}
