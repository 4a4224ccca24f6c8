package import Catalogs

/// GIF, still or animated: 256 colours a frame, each of them opaque or fully transparent. It has no metadata. Profiles are
/// converted to sRGB.
package struct GIFFormat: ImageFormat {
    package let title = "GIF"
    package let cost = CodecCost(decode: 10, encode: 300)
    package let holdsGray = false
    package let keepsLayout = false
    package let loader = Loader("gifload_source", "VipsForeignLoadNsgifSource", traits: [.hasPages])

    package let descriptor = FormatDescriptor(
        name: "gif", extensions: ["gif"], canRead: true, canWrite: true, sampleFormats: [.u8],
        holdsAlpha: true, holdsProfile: false, holdsTexts: false, frameTime: 10, isLossless: false, largestSide: 65535,
        options: [
            ParameterDescriptor(
                "colors", .integer(minimum: 2, maximum: 256), fallback: .integer(256),
                summary: "Sets the number of colours of each frame, rounded up to a power of two"),
            ParameterDescriptor(
                "palette_dither", .number(minimum: 0, maximum: 1), fallback: .number(1),
                summary: "Sets how much of the colours' errors is spread over neighbours"),
            ParameterDescriptor(
                "effort", .integer(minimum: 1, maximum: 10), fallback: .integer(7),
                summary: "Sets the effort. 1 is fastest, 10 finds the best colours"),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8))
    }

    package func damage(in file: InputFile) -> String? {
        var blocks = GIFBlocks(file)
        return blocks.damage()
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        let colors = try options.integer("colors")
        return Saver(
            "gifsave_target",
            [
                "bitdepth": .integer((1...8).first { 1 << $0 >= colors } ?? 8),
                "dither": .number(try options.number("palette_dither")),
                "effort": .integer(try options.integer("effort")),
            ])
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libcgif", "libimagequant"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }
}

/// The blocks of a GIF file: <https://www.w3.org/Graphics/GIF/spec-gif89a.txt>. Lengths may be wrong, but each one moves
/// forward, up to the file's end.
///
/// If a file is truncated, libvips returns the frames up to there, and the available part of the last one, without a warning.
struct GIFBlocks {
    private enum Kind {
        static let `extension`: UInt8 = 0x21
        static let image: UInt8 = 0x2C
    }

    /// The block that describes how the next image is shown.
    private static let graphicControl: UInt8 = 0xF9
    /// The length of the header: the signature, and the screen's size, flags and other bytes.
    private static let (flagsOffset, headerLength) = (10, 13)
    /// The length of an image descriptor without its colours: the kind, the position, the size, and the flags at the end.
    private static let descriptorLength = 10
    private static let windowLength = 64 << 10

    private let file: InputFile
    /// The latest bytes, and their position.
    private var (window, start): ([UInt8], Int) = ([], 0)

    init(_ file: InputFile) { self.file = file }

    /// The position where the file is truncated. Nil if it ends between two blocks, because many writers omit the trailer.
    mutating func damage() -> String? {
        guard let flags = byte(at: Self.flagsOffset) else { return nil }
        var (offset, frames, isAnnounced) = (Self.headerLength + Self.colorsLength(flags), 0, false)
        func cut() -> String { frames == 0 ? "cut off in its first frame" : "cut off behind frame \(frames)" }
        while let kind = byte(at: offset) {
            switch kind {
            case Kind.extension:
                let label = byte(at: offset + 1)
                guard let end = end(ofDataAt: offset + 2) else { return cut() }
                isAnnounced = label == Self.graphicControl
                offset = end
            case Kind.image:
                guard let flags = byte(at: offset + Self.descriptorLength - 1),
                    // After the colours, one byte defines the packing of the data.
                    let end = end(ofDataAt: offset + Self.descriptorLength + Self.colorsLength(flags) + 1)
                else { return cut() }
                frames += 1
                isAnnounced = false
                offset = end
            default: return nil  // the trailer, or a block that libvips refuses
            }
        }
        return isAnnounced ? cut() : nil
    }

    /// The number of bytes of a colour table with these flags.
    private static func colorsLength(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    /// The offset after sub-blocks of data, the last of which is empty. Nil if the file ends before.
    private mutating func end(ofDataAt start: Int) -> Int? {
        var offset = start
        while let length = byte(at: offset) {
            offset += 1 + Int(length)
            if length == 0 { return offset }
        }
        return nil
    }

    private mutating func byte(at offset: Int) -> UInt8? {
        if !(start..<start + window.count).contains(offset) {
            guard offset < file.size,
                let bytes = file.bytes(in: offset..<min(file.size, offset + Self.windowLength))
            else { return nil }
            (window, start) = (bytes, offset)
        }
        return window[offset - start]
    }
}
