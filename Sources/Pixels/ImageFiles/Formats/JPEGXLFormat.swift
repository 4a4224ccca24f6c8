package import Catalogs

/// JPEG XL. Decoders and encoders hold the whole picture. (libvips 8.14 writes gray floats wrongly, so they become 16 bits.)
/// Metadata: the profile.
package struct JPEGXLFormat: ImageFormat {
    package let title = "JPEG XL"
    package let cost = CodecCost(decode: 60, encode: 300)
    package let holdsGray = true
    package let isDecodedWhole = true
    package let module: String? = "vips-jxl"
    package let loader = Loader("jxlload_source", "VipsForeignLoadJxlSource", traits: [.turnsUpright])
    package let saverClasses = ["VipsForeignSaveJxlTarget"]

    package let descriptor = FormatDescriptor(
        name: "jxl", extensions: ["jxl"], canRead: true, canWrite: true, streams: .no,
        sampleFormats: [.u8, .u16],
        holdsAlpha: true, holdsTexts: false, isLossless: false, largestSide: 1 << 30,
        options: [
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(82),
                summary: "Sets how much detail is kept"),
            ParameterDescriptor("lossless", .boolean, fallback: .boolean(false), summary: "Keeps every sample"),
            ParameterDescriptor(
                "effort", .integer(minimum: 3, maximum: 9), fallback: .integer(5),
                summary: "Sets the effort. 3 is fastest, 9 makes the smallest files"),
        ])

    package init() {}

    /// Recognises a bare codestream, or a file of boxes: ISO/IEC 18181-2.
    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: [0xFF, 0x0A])
            || head.starts(with: [0, 0, 0, 0x0C] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A])
    }

    /// libvips returns the profile that libjxl creates, which does not state HDR. The samples are those of the stated curve.
    /// Of an animation libvips returns only the first frame.
    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeatureError) -> StatedColor? {
        guard let header = JPEGXLHeader(file) else { return nil }
        guard !header.isAnimation else { throw .animation("an animation") }
        guard let curve = header.transfer.flatMap(StatedColor.hdr) else { return nil }
        return try StatedColor.codedHDR(header.primaries, curve)
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        Saver(
            "jxlsave_target",
            [
                "Q": .integer(try options.integer("quality")),
                "lossless": .boolean(try options.boolean("lossless")),
                "effort": .integer(try options.integer("effort")),
            ],
            fields: [.icc])
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libjxl"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool {
        (try? options.boolean("lossless")) == true  // `saver` refuses wrong values
    }
}

/// The header of a JPEG XL file, as far as libvips does not report it: ISO/IEC 18181-1, annexes A, D and E.
struct JPEGXLHeader {
    private(set) var isAnimation = false
    /// The transfer function as a code point of ITU-T H.273. Nil for a gamma or a profile.
    private(set) var transfer: Int?
    /// The primaries as a code point of ITU-T H.273. Nil for those without a code, and beside a profile.
    private(set) var primaries: Int?

    /// The number of bytes that are read. Real headers are shorter.
    private static let enough = 4096

    /// Returns nil if the header cannot be read.
    init?(_ file: InputFile) {
        guard let start = Self.codestream(of: file) else { return nil }
        var bits = BitReader(start[...], .lowestFirst)
        bits.skip(16)
        bits.skipSize()
        let isDefault = bits.flag()
        guard !isDefault else { return }
        if bits.flag() {
            bits.skip(3)
            if bits.flag() { bits.skipSize() }
            if bits.flag() { bits.skipPreviewSize() }
            isAnimation = bits.flag()
            if isAnimation { bits.skipAnimation() }
        }
        bits.skipDepth()
        bits.skip(1)
        for _ in 0..<bits.choice((0, 0), (1, 0), (2, 4), (1, 12)) where !bits.isOver { bits.skipChannel() }
        bits.skip(1)
        (primaries, transfer) = bits.colors()
        if bits.isOver { return nil }
    }

    /// The first bytes of the codestream, which may be in boxes, or in parts of boxes.
    private static func codestream(of file: InputFile) -> [UInt8]? {
        guard let head = file.bytes(in: 0..<min(file.size, enough)) else { return nil }
        if head.starts(with: [0xFF, 0x0A]) { return head }
        var result: [UInt8] = []
        for box in MediaBoxes.all(of: file) where ["jxlc", "jxlp"].contains(box.name) && result.count < enough {
            // A partial box begins with its number.
            let content = box.content.dropFirst(box.name == "jxlp" ? 4 : 0)
            guard let bytes = file.bytes(in: content.prefix(enough)) else { return nil }
            result += bytes
        }
        return result
    }
}

/// The parts of the header. Each is a bundle in the standard.
extension BitReader {
    /// Reads one of four choices: a base value, and a number of bits that are added to it.
    fileprivate mutating func choice(_ a: (Int, Int), _ b: (Int, Int), _ c: (Int, Int), _ d: (Int, Int)) -> Int {
        let (offset, bits) = [a, b, c, d][number(2)]
        return offset + number(bits)
    }

    private mutating func code() -> Int { choice((0, 0), (1, 0), (2, 4), (18, 6)) }

    fileprivate mutating func skipSize() {
        let isSmall = flag()
        for side in 0..<2 {
            if isSmall { skip(5) } else { _ = choice((1, 9), (1, 13), (1, 18), (1, 30)) }
            // Most widths are stored as a ratio of the height.
            if side == 0, number(3) != 0 { return }
        }
    }

    fileprivate mutating func skipPreviewSize() {
        let isSmall = flag()
        for side in 0..<2 {
            _ =
                isSmall
                ? choice((16, 0), (32, 0), (1, 5), (33, 9)) : choice((1, 6), (65, 8), (321, 10), (1345, 12))
            if side == 0, number(3) != 0 { return }
        }
    }

    fileprivate mutating func skipAnimation() {
        _ = choice((100, 0), (1000, 0), (1, 10), (1, 30))
        _ = choice((1, 0), (1001, 0), (1, 8), (1, 10))
        _ = choice((0, 0), (0, 3), (0, 16), (0, 32))
        skip(1)
    }

    fileprivate mutating func skipDepth() {
        let isFloat = flag()
        _ = isFloat ? choice((32, 0), (16, 0), (24, 0), (1, 6)) : choice((8, 0), (10, 0), (12, 0), (1, 6))
        if isFloat { skip(4) }
    }

    /// Skips a channel other than the colours.
    fileprivate mutating func skipChannel() {
        let isDefault = flag()
        guard !isDefault else { return }
        let (alpha, spotColor, filterArray) = (0, 2, 5)
        let kind = code()
        skipDepth()
        _ = choice((0, 0), (3, 0), (4, 0), (1, 3))
        skip(8 * choice((0, 0), (0, 4), (16, 5), (48, 10)))
        if kind == alpha { skip(1) }
        if kind == spotColor { skip(4 * 16) }
        if kind == filterArray { _ = choice((1, 0), (0, 2), (3, 4), (19, 8)) }
    }

    /// Reads the primaries and the transfer function, as far as codes state them.
    fileprivate mutating func colors() -> (primaries: Int?, transfer: Int?) {
        let (gray, xyb, custom) = (1, 2, 2)
        let isDefault = flag()
        guard !isDefault else { return (nil, nil) }
        let hasProfile = flag()
        let space = code()
        guard !hasProfile, space != xyb else { return (nil, nil) }
        let white = code()
        if white == custom { skipSpots(1) }
        // A gray file states only its white point.
        var spots = 1
        if space != gray {
            spots = code()
            if spots == custom { skipSpots(3) }
        }
        let isGamma = flag()
        return (Self.primaries(spots, white: white), isGamma ? nil : code())
    }

    /// The code point of H.273 with these primaries and this white. Only P3 has one for each of two whites.
    private static func primaries(_ spots: Int, white: Int) -> Int? {
        let (d65, dci) = (1, 11)
        return switch (spots, white) {
        case (1, d65), (9, d65): spots
        case (11, d65): 12
        case (11, dci): 11
        default: nil
        }
    }

    private mutating func skipSpots(_ count: Int) {
        for _ in 0..<2 * count { _ = choice((0, 19), (524_288, 19), (1_048_576, 20), (2_097_152, 21)) }
    }
}
