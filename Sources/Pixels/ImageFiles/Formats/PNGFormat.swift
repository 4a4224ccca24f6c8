import CVips
import CZlib
package import Catalogs

/// PNG. Metadata: EXIF, XMP, texts, profile, resolution.
package struct PNGFormat: ImageFormat {
    /// The row filter: rows are stored as differences from their neighbours, which compress better.
    private enum Filter: String, CaseIterable {
        /// For every row, the filter of the five with the smallest differences.
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

    /// Whether files have a palette.
    private let hasPalette: Bool
    /// Whether the palette has room for all grays. Then files of opaque gray have none: gray of 8 bits is smaller, and keeps every
    /// sample.
    private let hasRoomForGrays: Bool
    package let descriptor: FormatDescriptor

    package var title: String { hasPalette ? "PNG with a palette" : "PNG" }
    package var cost: CodecCost { CodecCost(decode: 14, encode: hasPalette ? 300 : 90) }
    package var holdsGray: Bool { !hasPalette }
    package var dropsOpaqueAlpha: Bool { hasPalette }
    package let loader = Loader("pngload_source", "VipsForeignLoadPngSource")

    private static let plain = FormatDescriptor(
        name: "png", extensions: ["png"], canRead: true, canWrite: true, streams: .unlessInterlaced,
        sampleFormats: [.u8, .u16],
        holdsAlpha: true, isLossless: true,
        largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: compressionOptions + [
            ParameterDescriptor(
                "palette", .boolean, fallback: .boolean(false),
                summary:
                    "Stores the number of a colour for each pixel, in 8 bits or fewer. Files are much smaller, and writing needs memory for the whole picture"
            ),
            ParameterDescriptor(
                "colors", .integer(minimum: 2, maximum: 256), fallback: .integer(256),
                summary: "Sets the number of colours of a 'palette', rounded up to 2, 4, 16 or 256"),
            ParameterDescriptor(
                "palette_dither", .number(minimum: 0, maximum: 1), fallback: .number(1),
                summary: "Sets how much of the errors of a palette's colours is spread over neighbours"),
            ParameterDescriptor(
                "effort", .integer(minimum: 1, maximum: 10), fallback: .integer(7),
                summary: "Sets the effort for a 'palette'. 1 is fastest, 10 finds the best colours"),
        ], sampleLimits: [SampleLimit("palette", .boolean(true), [.u8])],
        conditions: [OptionCondition(["colors", "palette_dither", "effort"], need: "palette", .boolean(true))])

    /// The options of files without a palette.
    static let compressionOptions = [
        ParameterDescriptor(
            "compression", .integer(minimum: 0, maximum: 9), fallback: .integer(6),
            summary: "Sets the effort of the compression. 0 is fastest, 9 makes the smallest files"),
        ParameterDescriptor(
            "filter", .choice(Filter.allCases.map(\.rawValue)), fallback: .word("adaptive"),
            summary:
                "Chooses which differences of neighbours are stored. 'adaptive' chooses for every row. 'none' suits pictures with few colours"
        ),
    ]

    package init() { self.init(hasPalette: false) }

    private init(hasPalette: Bool, hasRoomForGrays: Bool = true) {
        self.hasPalette = hasPalette
        self.hasRoomForGrays = hasRoomForGrays
        descriptor = hasPalette ? Self.plain.limited(by: ["palette": .boolean(true)]) : Self.plain
    }

    package func fitted(to values: [String: ParameterValue]) -> any ImageFormat {
        PNGFormat(
            hasPalette: values["palette"] == .boolean(true),
            hasRoomForGrays: Self.hasRoomForGrays(values["colors"]?.number.map { Int($0) } ?? 256))
    }

    /// Colours are rounded up to 16, or to 256.
    private static func hasRoomForGrays(_ colors: Int) -> Bool { colors > 16 }

    package func outputLayout(_ layout: PixelLayout) -> PixelLayout {
        holdsGray || layout == .gray && hasRoomForGrays ? layout : layout.inColor
    }

    /// Colours are chosen for RGBA samples of the whole picture, of which libimagequant has copies up to some size.
    package func encoderMemory(for shape: ImageShape, frames: Int) -> Int {
        let pixels = shape.width * shape.height
        return hasPalette ? 5 * pixels + min(20 * pixels, 80 << 20) : 0
    }

    package func recognizes(_ head: [UInt8]) -> Bool { head.starts(with: PNGChunks.signature) }

    package func variant(of file: InputFile) -> any ImageFormat {
        PNGContents(file).isAnimation ? APNGFormat() : self
    }

    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeatureError) -> StatedColor? {
        try PNGContents(file).color
    }

    package func complete(_ metadata: inout ImageMetadata, of file: InputFile, unpacked: (String) -> String?) {
        PNGContents(file, readsTexts: true).complete(&metadata, unpacked: unpacked)
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        let colors = try options.integer("colors")
        var arguments = try Self.compression(options)
        let (dither, effort) = (try options.number("palette_dither"), try options.integer("effort"))
        let isPlainGray = shape.layout == .gray && shape.sampleFormat == .u8 && Self.hasRoomForGrays(colors)
        if try options.boolean("palette"), !isPlainGray {
            guard shape.sampleFormat == .u8, shape.layout.channels >= 3 else {
                throw .unsuitable("'palette: true' takes colours of 8 bits")
            }
            arguments["palette"] = .boolean(true)
            arguments["bitdepth"] = .integer([1, 2, 4].first { 1 << $0 >= colors } ?? 8)
            arguments["dither"] = .number(dither)
            arguments["effort"] = .integer(effort)
        }
        return Saver("pngsave_target", arguments, fields: [.icc, .xmp])
    }

    /// The saver's arguments for the options of all files.
    static func compression(_ options: FormatOptions) throws(SaveError) -> [String: VipsArgument] {
        let filter: Filter = try options.word("filter")
        return [
            "compression": .integer(try options.integer("compression")),
            "filter": .integer(Int(filter.vips.rawValue)),
        ]
    }

    package func insertion(of metadata: ImageMetadata, in layout: PixelLayout) -> Insertion? {
        let exif = metadata.exif.map { PNGChunks.chunk("eXIf", $0.bytes) } ?? []
        let bytes = exif + metadata.texts.flatMap { PNGChunks.chunk($0.chunk, $0.payload.bytes) }
        return bytes.isEmpty ? nil : Insertion(bytes: bytes, position: PNGChunks.headerLength)
    }

    package func libraries(for options: FormatOptions) -> [String] {
        ["libpng", "libspng", "libz"] + (Self.hasPalette(options) ? ["libimagequant"] : [])
    }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { !Self.hasPalette(options) }

    private static func hasPalette(_ options: FormatOptions) -> Bool {
        (try? options.boolean("palette")) == true  // `saver` refuses wrong values
    }
}

/// The chunks around a PNG file's pixels, which libvips does not report. Lengths may be wrong, so every access is checked, and
/// the number of chunks is limited.
struct PNGContents {
    /// The chunks by name; the first of each name.
    private var small: [String: [UInt8]] = [:]

    /// Whether frames of an animation have controls.
    private var hasControls = false

    /// The texts in the order of the file, with the position among all texts before the pixels; nil for texts after the
    /// pixels.
    private(set) var texts: [(text: PNGText, location: Int?)] = []

    /// The EXIF block, at any position; libvips finds it only before the pixels.
    private(set) var exif: [UInt8]?

    private static let wanted: Set = ["cICP", "sRGB", "gAMA", "cHRM", "acTL"]
    /// The largest number of chunks. No writer needs more.
    private static let mostChunks = 1_000_000
    private static let largest = 64

    /// The largest size of one text, and of all: a text is a description, not a picture.
    private static let (largestText, largestTexts) = (1 << 20, 4 << 20)

    /// - Parameter readsTexts: whether to read texts, also after the pixels.
    init(_ file: InputFile, readsTexts: Bool = false) {
        var (offset, location, room, isBefore) = (PNGChunks.signature.count, 0, Self.largestTexts, true)
        for _ in 0..<Self.mostChunks {
            guard offset <= file.size - 8, let head = file.bytes(in: offset..<offset + 8) else { return }
            let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: head[4...], as: UTF8.self)
            guard name != "IEND", length <= file.size - offset - 8 else { return }
            if name == "IDAT" { isBefore = false }
            if name == "fcTL" { hasControls = true }
            guard isBefore || readsTexts || small["acTL"] != nil && !hasControls else { return }
            let content = offset + 8..<offset + 8 + length
            if isBefore, Self.wanted.contains(name), length <= Self.largest, small[name] == nil {
                small[name] = file.bytes(in: content)
            } else if PNGText.chunks.contains(name) {
                if readsTexts, length <= min(room, Self.largestText), let bytes = file.bytes(in: content),
                    let text = PNGText(chunk: name, payload: bytes)
                {
                    texts.append((text, isBefore ? location : nil))
                    room -= length
                }
                location += 1
            } else if readsTexts, name == "eXIf", exif == nil, length <= Self.largestTexts {
                exif = file.bytes(in: content)
            }
            offset += 12 + length
        }
    }

    /// Adds what libvips does not report: texts that contain no picture, and blocks of metadata after the pixels or in texts.
    ///
    /// - Parameter unpacked: returns a text by libvips' name for it. libvips unpacks only texts before the pixels, and at most
    ///   some hundred.
    func complete(_ metadata: inout ImageMetadata, unpacked: (String) -> String?) {
        func words(_ text: PNGText, _ location: Int?) -> String? {
            location.flatMap { unpacked("png-comment-\($0)-\(text.keyword)") }
        }
        metadata.texts = texts.compactMap { text, location in
            guard text.isText else { return nil }
            guard text.isPacked else { return XMPRules.holdsBinary(text.payload.bytes) ? nil : text }
            guard let words = words(text, location) else {
                return text.payload.bytes.count <= Self.harmless ? text : nil
            }
            return XMPRules.holdsBinary(Array(words.utf8)) ? nil : text
        }
        if metadata.exif == nil { metadata.exif = exif.flatMap(ImageMetadata.exifStructure) }
        if metadata.xmp == nil { metadata.xmp = texts.lazy.compactMap(\.text.xmp).first.map(Blob.init) }
        // The first block of a kind is used, and it is read only if no other source has the same metadata.
        func block(_ kinds: Substring...) -> [UInt8]? {
            let first = texts.first { text, _ in text.blockKind.map(kinds.contains) ?? false }
            return first.flatMap { text, location in text.block { words(text, location) } }
        }
        if metadata.exif == nil { metadata.exif = block("exif", "APP1").flatMap(ImageMetadata.exifStructure) }
        if metadata.xmp == nil { metadata.xmp = block("xmp").map(Blob.init) }
        if metadata.iptc == nil { metadata.iptc = block("iptc").flatMap(PhotoshopResources.iptc) }
    }

    /// The size in bytes up to which a compressed text may contain anything: less than what ``XMPRules/holdsBinary(_:)`` takes
    /// for a picture.
    private static let harmless = 700

    private func numbers(_ name: String, count: Int) -> [Int]? {
        guard let bytes = small[name], bytes.count == 4 * count else { return nil }
        return (0..<count).map { bytes[4 * $0..<4 * $0 + 4].reduce(0) { $0 << 8 | Int($1) } }
    }

    /// Whether the file is animated, or says so. The frame count may be wrong.
    var isAnimation: Bool {
        guard let declared = numbers("acTL", count: 2)?[0] else { return false }
        return declared > 1 || hasControls
    }

    /// The colours that the chunks state, by the precedence of the third edition: `cICP`, the profile, `sRGB`, `gAMA` with
    /// `cHRM`.
    var color: StatedColor? {
        get throws(UnsupportedFeatureError) {
            // The bytes are primaries, curve, matrix and range.
            if let code = small["cICP"], code.count == 4 {
                guard code[3] == 1 else { throw UnsupportedFeatureError("samples of video range (cICP)") }
                let color = try StatedColor.coded(
                    primaries: Int(code[0]), transfer: Int(code[1]), outranksProfile: true)
                if let color { return color }
            }
            if small["sRGB"] != nil { return .sRGB }
            let primaries = self.primaries
            if primaries == nil, gamma == nil { return nil }
            return StatedColor(primaries ?? .sRGB, curve(primaries ?? .sRGB))
        }
    }

    /// The exponent with which light was stored, in hundred-thousandths. 0 has no meaning.
    private var gamma: Int? { numbers("gAMA", count: 1).flatMap { $0[0] > 0 ? $0[0] : nil } }

    /// 45455 counts as the curve of sRGB: writers of sRGB must add it to `sRGB`, and writers that omit `sRGB` mean the same.
    private func curve(_ primaries: StatedColor.Primaries) -> StatedColor.Curve {
        guard let gamma else { return .sRGB }
        let isSRGB = abs(gamma - 45455) <= 100 && primaries.isClose(to: .sRGB)
        return isSRGB ? .sRGB : .power(max(0.1, min(10, 100_000 / Double(gamma))))
    }

    private var primaries: StatedColor.Primaries? {
        guard let values = numbers("cHRM", count: 8) else { return nil }
        let spots = stride(from: 0, to: 8, by: 2).map {
            (x: Double(values[$0]) / 100_000, y: Double(values[$0 + 1]) / 100_000)
        }
        let primaries = StatedColor.Primaries(white: spots[0], red: spots[1], green: spots[2], blue: spots[3])
        return primaries.underD50 == nil ? nil : primaries
    }
}

/// The PNG chunks that Penumbra writes instead of libvips.
enum PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The length of the signature and the header chunk. Other chunks may follow them.
    static let headerLength = 33

    static func chunk(_ name: String, _ payload: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        append(name, payload, to: &bytes)
        return bytes
    }

    /// Adds a chunk to bytes. A large payload is copied once.
    ///
    /// - Parameter head: the beginning of the payload.
    static func append(
        _ name: String, beginning head: [UInt8] = [], _ payload: some Collection<UInt8>, to bytes: inout [UInt8]
    ) {
        bytes += .number(head.count + payload.count, length: 4, littleEndian: false)
        let start = bytes.count
        bytes += name.utf8
        bytes += head
        bytes += payload
        bytes += .number(Int(crc(bytes[start...])), length: 4, littleEndian: false)
    }

    /// The CRC of ISO 3309.
    static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: crc32_z(0, $0.baseAddress, $0.count)) }
    }
}
