/// The chunks around a WebP's pixels: <https://developers.google.com/speed/webp/docs/riff_container>.
enum WebPChunks {
    /// Bits of the `VP8X` chunk's first byte.
    private enum Flag {
        static let profile: UInt8 = 0x20
        static let alpha: UInt8 = 0x10
        static let exif: UInt8 = 0x08
        static let xmp: UInt8 = 0x04
    }

    /// `RIFF`, size and `WEBP`, then the first chunk's name, size and first ten bytes.
    private static let headLength = 30

    /// Puts the profile before the pixels and the rest behind them, and announces them in front.
    static func splice(_ metadata: ImageMetadata) -> Splice {
        let profile = metadata.icc.map { chunk("ICCP", $0.bytes) } ?? []
        let exif = metadata.exif.map { chunk("EXIF", $0.bytes) } ?? []
        let xmp = metadata.xmp.map { chunk("XMP ", $0.bytes) } ?? []
        guard !(profile + exif + xmp).isEmpty else { return .none }
        let flags =
            (profile.isEmpty ? 0 : Flag.profile) | (exif.isEmpty ? 0 : Flag.exif) | (xmp.isEmpty ? 0 : Flag.xmp)
        return Splice(headLength: headLength, tail: exif + xmp) { head in
            rewrite(head, flags: flags, profile: profile, tailLength: exif.count + xmp.count)
        }
    }

    private static func rewrite(_ head: [UInt8], flags: UInt8, profile: [UInt8], tailLength: Int) -> [UInt8] {
        guard head.count == headLength, let extended = extendedHeader(head) else { return head }
        let hasExtended = head[12..<16].elementsEqual("VP8X".utf8)
        var front = chunk("VP8X", [extended[0] | flags] + extended[1...])
        front += profile
        let size = little32(head, 4) + front.count + tailLength - (hasExtended ? 18 : 0)
        var result = Array("RIFF".utf8)
        result.appendLittleEndian(UInt32(size))
        return result + Array("WEBP".utf8) + front + (hasExtended ? [] : head[12...])
    }

    /// The ten bytes of a `VP8X` chunk: the file's own, or made from the size that the first chunk states.
    private static func extendedHeader(_ head: [UInt8]) -> [UInt8]? {
        let payload = Array(head[20...])
        switch String(decoding: head[12..<16], as: UTF8.self) {
        case "VP8X": return payload
        case "VP8 ":
            // A key frame: three bytes of tag, three of start code, then 14 bits of width and of height.
            return extendedHeader(
                width: little16(payload, 6) & 0x3FFF, height: little16(payload, 8) & 0x3FFF, hasAlpha: false)
        case "VP8L":
            // A signature byte, then 14 bits of width − 1 and of height − 1, and one for alpha.
            let bits = little32(payload, 1)
            return extendedHeader(
                width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1, hasAlpha: bits >> 28 & 1 == 1)
        default: return nil
        }
    }

    private static func extendedHeader(width: Int, height: Int, hasAlpha: Bool) -> [UInt8] {
        var result: [UInt8] = [hasAlpha ? Flag.alpha : 0, 0, 0, 0]
        for side in [width - 1, height - 1] {
            result += [UInt8(side & 0xFF), UInt8(side >> 8 & 0xFF), UInt8(side >> 16 & 0xFF)]
        }
        return result
    }

    /// A chunk of odd length is followed by one byte that its length does not count.
    private static func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        var result = Array(name.utf8)
        result.appendLittleEndian(UInt32(payload.count))
        return result + payload + (payload.count.isMultiple(of: 2) ? [] : [0])
    }

    private static func little16(_ bytes: [UInt8], _ index: Int) -> Int {
        Int(bytes[index]) | Int(bytes[index + 1]) << 8
    }

    private static func little32(_ bytes: [UInt8], _ index: Int) -> Int {
        little16(bytes, index) | little16(bytes, index + 2) << 16
    }
}
