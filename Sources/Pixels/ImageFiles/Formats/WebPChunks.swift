/// The chunks around a WebP's pixels: <https://developers.google.com/speed/webp/docs/riff_container>.
enum WebPChunks {
    /// Bits of the first byte of the `VP8X` chunk, which says what else there is.
    private enum Flag {
        static let exif: UInt8 = 0x08
        static let xmp: UInt8 = 0x04
    }

    /// `RIFF`, the size of what follows, `WEBP`.
    private static let headerLength = 12
    private static let sizeOffset = 4
    private static let flagsOffset = 20

    /// Puts the metadata where libvips put an EXIF chunk of its own making, which comes last and cannot be helped.
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

    /// The chunks' names and where they start.
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

    /// A chunk of odd length is followed by one byte that its length does not count.
    private static func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        Array(name.utf8) + .number(payload.count, length: 4, littleEndian: true) + payload.paddedToEven
    }
}
