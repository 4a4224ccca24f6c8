import CVips
package import Catalogs

/// Baseline and progressive JPEG. Metadata: EXIF, XMP, IPTC, profile.
package struct JPEGFormat: ImageFormat {
    /// The resolution of colour in the file.
    private enum Subsampling: String, CaseIterable {
        /// Half the resolution below quality 90.
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
    package let holdsCMYK = true
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
                summary: "Sets how much detail is kept"),
            ParameterDescriptor(
                "progressive", .boolean, fallback: .boolean(false),
                summary:
                    "Lets browsers show a coarse picture first. Files are smaller, and writing needs memory for the whole picture"
            ),
            ParameterDescriptor(
                "subsampling", .choice(Subsampling.allCases.map(\.rawValue)), fallback: .word("auto"),
                summary: "Stores colour at half its resolution. 'auto' does so below quality 90"),
            ParameterDescriptor(
                "optimize", .boolean, fallback: .boolean(false),
                summary:
                    "Fits the code tables to the picture. Files are smaller, and writing needs memory for the whole picture"
            ),
        ])

    package let holdsIPTC = true

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { head.starts(with: [0xFF, 0xD8, 0xFF]) }

    package func holdsFurtherPictures(_ file: InputFile) -> Bool { MultiPictureIndex(file)?.holdsFurther ?? false }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        let subsampling: Subsampling = try options.word("subsampling")
        return Saver(
            "jpegsave_target",
            [
                "Q": .integer(try options.integer("quality")),
                "interlace": .boolean(try options.boolean("progressive")),
                "subsample_mode": .integer(Int(subsampling.vips.rawValue)),
                "optimize_coding": .boolean(try options.boolean("optimize")),
                "strip": .boolean(true),  // the metadata are inserted separately
            ])
    }

    package func insertion(of metadata: ImageMetadata, in layout: PixelLayout) -> Insertion? {
        Insertion(bytes: JPEGSegments.bytes(for: metadata, in: layout), position: 2)  // after the start-of-image marker
    }

    package func shrinking(by factor: Int) -> (name: String, value: VipsArgument)? { ("shrink", .integer(factor)) }

    package func libraries(for options: FormatOptions) -> [String] { ["libjpeg"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }
}

/// The segments that carry a JPEG's metadata, from the start-of-image marker to the first table.
enum JPEGSegments {
    /// A segment's length counts its own two bytes.
    static let largestPayload = 65533

    /// The segments of the metadata. EXIF, XMP and IPTC have one segment each, and are omitted if they do not fit.
    static func bytes(for metadata: ImageMetadata, in layout: PixelLayout) -> [UInt8] {
        func exif(_ blob: Blob?) -> [UInt8] { segment(0xE1, Array("Exif\0\0".utf8), blob) }
        var result = exif(metadata.exif)
        // Some readers accept only one of them.
        if result.isEmpty {
            // JFIF does not know CMYK, which a segment of the encoder declares.
            result =
                layout == .cmyk
                ? exif(metadata.resolution.map { Blob(ExifRules.block(stating: $0)) }) : jfif(metadata.resolution)
        }
        result += segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8), metadata.xmp)
        result += segment(0xED, Array("Photoshop 3.0\0".utf8), metadata.iptc.map(PhotoshopResources.wrapping))
        if let icc = metadata.icc { result += profile(icc.bytes) }
        return result
    }

    private static func segment(_ marker: UInt8, _ name: [UInt8], _ blob: Blob?) -> [UInt8] {
        guard let blob, name.count + blob.bytes.count <= largestPayload else { return [] }
        return segment(marker, name + blob.bytes)
    }

    private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0xFF, marker] + .number(payload.count + 2, length: 2, littleEndian: false) + payload
    }

    /// A segment that declares the colours YCbCr, and the resolution. Without a resolution, it declares square pixels.
    private static func jfif(_ resolution: ImageMetadata.Resolution?) -> [UInt8] {
        var payload = Array("JFIF\0".utf8) + [1, 1]
        let (unit, scale): (UInt8, Double) =
            switch resolution?.unit {
            case nil: (0, 0)
            case .inch: (1, 25.4)
            case .centimetre: (2, 10)
            }
        payload += [unit] + density(resolution?.x, scale) + density(resolution?.y, scale)
        return segment(0xE0, payload + [0, 0])
    }

    private static func density(_ value: Double?, _ scale: Double) -> [UInt8] {
        .number(Int(max(1, min(65535, ((value ?? 0) * scale).rounded()))), length: 2, littleEndian: false)
    }

    /// The profile in numbered parts, at most 255.
    private static func profile(_ icc: [UInt8]) -> [UInt8] {
        let name = Array("ICC_PROFILE\0".utf8)
        let capacity = largestPayload - name.count - 2
        let parts = (icc.count + capacity - 1) / capacity
        guard parts <= 255 else { return [] }
        var result: [UInt8] = []
        for part in 0..<parts {
            let bytes = icc[part * capacity..<min(icc.count, (part + 1) * capacity)]
            result += segment(0xE2, name + [UInt8(part + 1), UInt8(parts)] + bytes)
        }
        return result
    }
}

/// The index of a JPEG with several pictures, one after the other: files of phones with a gain map or a depth map, and of
/// cameras with two lenses. <https://www.cipa.jp/std/documents/e/DC-X007-KEY_E.pdf>
struct MultiPictureIndex {
    /// The kind of each picture, as the first picture's segments declare it.
    private let kinds: [Int]

    /// Whether there are pictures other than the first one and smaller copies of it.
    var holdsFurther: Bool { kinds.dropFirst().contains { $0 >> 16 != Self.largeThumbnail } }

    private static let name = Array("MPF\0".utf8)
    private static let entries: UInt16 = 0xB002
    private static let entryLength = 16
    private static let largeThumbnail = 1
    /// The largest number of segments before the pixels. No real file has more.
    private static let mostSegments = 1000

    /// Returns nil for a file without an index.
    init?(_ file: InputFile) {
        guard let payload = Self.payload(of: file), let index = TIFFDirectories(block: payload),
            let entry = index.main.first(where: { $0.tag == Self.entries })
        else { return nil }
        let count = entry.range.count / Self.entryLength
        kinds = (0..<count).map { offset in
            let start = entry.range.lowerBound + offset * Self.entryLength
            let digits = payload[start..<start + 4]
            // The highest byte contains flags and the format.
            return (index.isLittleEndian ? Array(digits.reversed()) : Array(digits)).dropFirst().reduce(0) {
                $0 << 8 | Int($1)
            }
        }
    }

    /// The content after the name of the segment.
    private static func payload(of file: InputFile) -> [UInt8]? {
        var offset = 2
        for _ in 0..<mostSegments {
            guard offset + 4 + name.count <= file.size, let head = file.bytes(in: offset..<offset + 4 + name.count),
                head[0] == 0xFF
            else { return nil }
            // A marker may be preceded by any number of these bytes.
            guard head[1] != 0xFF else {
                offset += 1
                continue
            }
            let length = Int(head[2]) << 8 | Int(head[3])
            // The pixels begin, or the bytes are no segment.
            guard head[1] != 0xDA, length >= 2 else { return nil }
            let end = offset + 2 + length
            if head[1] == 0xE2, head[4...].elementsEqual(name), end <= file.size {
                return file.bytes(in: offset + head.count..<max(offset + head.count, end))
            }
            offset = end
        }
        return nil
    }
}
