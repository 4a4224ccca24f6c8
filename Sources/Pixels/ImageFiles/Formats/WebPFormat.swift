package import Catalogs

/// WebP. Metadata: EXIF, XMP, profile. Encoders and decoders hold the whole picture in memory.
package struct WebPFormat: ImageFormat {
    package let title = "WebP"
    package let cost = CodecCost(decode: 16, encode: 150)
    package let holdsGray = false
    package let isDecodedWhole = true
    package let dropsOpaqueAlpha = true
    package let loader = Loader("webpload_source", "VipsForeignLoadWebpSource", traits: [.hasPages])

    package let descriptor = FormatDescriptor(
        name: "webp", extensions: ["webp"], canRead: true, canWrite: true, streams: .no, sampleFormats: [.u8],
        holdsAlpha: true, frameTime: 1, isLossless: false, largestSide: 16383,
        options: [
            ParameterDescriptor(
                "quality", .integer(minimum: 0, maximum: 100), fallback: .integer(82),
                summary: "Sets how much detail is kept. With 'lossless', it sets the effort for a small file"),
            ParameterDescriptor(
                "lossless", .boolean, fallback: .boolean(false),
                summary: "Keeps every sample of 8 bits, except for colours that are fully transparent"),
            ParameterDescriptor(
                "effort", .integer(minimum: 0, maximum: 6), fallback: .integer(4),
                summary: "Sets the effort. 0 is fastest, 6 makes the smallest files"),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.count >= 12 && head.starts(with: Array("RIFF".utf8)) && head[8..<12].elementsEqual("WEBP".utf8)
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        let isLossless = try options.boolean("lossless")
        var arguments: [String: VipsArgument] = [
            "Q": .integer(try options.integer("quality")), "lossless": .boolean(isLossless),
            "effort": .integer(try options.integer("effort")),
        ]
        // Every frame of an animation is a key frame. Otherwise the encoder does not update pixels that it regards as
        // unchanged, and slow fades never reach their end.
        if !isLossless { arguments["kmax"] = .integer(1) }
        return Saver("webpsave_target", arguments, fields: [.icc])
    }

    package func revise(_ file: OutputFile, adding metadata: ImageMetadata) {
        WebPChunks.replaceMetadata(in: file, by: metadata)
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libwebp"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool {
        // `saver` refuses wrong values. The encoder changes the colour of fully transparent pixels for better compression.
        !layout.hasAlpha && (try? options.boolean("lossless")) == true
    }
}

/// The chunks around a WebP's pixels: <https://developers.google.com/speed/webp/docs/riff_container>.
enum WebPChunks {
    /// The bits of the first byte of the `VP8X` chunk, which declares the other chunks.
    private enum Flag {
        static let exif: UInt8 = 0x08
        static let xmp: UInt8 = 0x04
    }

    /// The length of the header: `RIFF`, the size of the rest, `WEBP`.
    private static let headerLength = 12
    private static let sizeOffset = 4
    private static let flagsOffset = 20

    /// Replaces the EXIF chunk that libvips always creates at the end by the metadata.
    static func replaceMetadata(in file: OutputFile, by metadata: ImageMetadata) {
        let names = names(in: file)
        guard names.first?.name == "VP8X", var flags = file.bytes(in: flagsOffset..<flagsOffset + 1) else { return }
        if let exif = names.first(where: { $0.name == "EXIF" }) { file.truncate(to: exif.offset) }
        flags[0] &= ~(Flag.exif | Flag.xmp)
        if let exif = metadata.exif {
            file.put(chunk("EXIF", exif.bytes), at: file.size)
            flags[0] |= Flag.exif
        }
        if let xmp = metadata.xmp {
            file.put(chunk("XMP ", xmp.bytes), at: file.size)
            flags[0] |= Flag.xmp
        }
        file.put(flags, at: flagsOffset)
        file.put(.number(file.size - 8, length: 4, littleEndian: true), at: sizeOffset)
    }

    /// The chunks' names and offsets.
    private static func names(in file: OutputFile) -> [(name: String, offset: Int)] {
        var result: [(name: String, offset: Int)] = []
        var offset = headerLength
        while offset + 8 <= file.size, let head = file.bytes(in: offset..<offset + 8) {
            result.append((String(decoding: head[..<4], as: UTF8.self), offset))
            let size = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
            offset += 8 + (size + 1) & ~1
        }
        return result
    }

    /// A chunk. If its length is odd, a byte follows that the length does not count.
    private static func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        Array(name.utf8) + .number(payload.count, length: 4, littleEndian: true) + payload.paddedToEven
    }
}
