import JobModel

/// A text of a PNG: a `tEXt`, `zTXt` or `iTXt` chunk, kept unchanged.
package struct PNGText: Hashable, Sendable, Codable {
    static let chunks: Set = ["tEXt", "zTXt", "iTXt"]

    /// The chunk's name.
    let chunk: String
    package let payload: Blob

    /// The keyword: up to 79 Latin-1 characters.
    package let keyword: String
    /// Whether the text is compressed.
    let isPacked: Bool

    /// Returns nil if the payload is malformed.
    init?(chunk: String, payload: [UInt8]) {
        guard let end = payload.prefix(80).firstIndex(of: 0), end > 0 else { return nil }
        keyword = String(String.UnicodeScalarView(payload[..<end].map { Unicode.Scalar($0) }))
        switch chunk {
        case "tEXt": isPacked = false
        case "zTXt": isPacked = true
        default:
            guard payload.count >= end + 5 else { return nil }
            isPacked = payload[end + 1] != 0
        }
        self.chunk = chunk
        self.payload = Blob(payload)
    }

    /// False for the packet of XMP, and for other blocks of metadata that some programs write as texts. These are handled
    /// separately.
    var isText: Bool { keyword != Self.xmpKeyword && blockKind == nil }

    private static let xmpKeyword = "XML:com.adobe.xmp"
    private static let blockKeyword = "Raw profile type "

    /// The packet of XMP, unless it is compressed.
    var xmp: [UInt8]? {
        guard chunk == "iTXt", keyword == Self.xmpKeyword, !isPacked else { return nil }
        // The keyword is followed by two bytes about compression, a language, and the translated keyword.
        let rest = payload.bytes.dropFirst(keyword.utf8.count + 3)
        guard let language = rest.firstIndex(of: 0), let start = rest[(language + 1)...].firstIndex(of: 0) else {
            return nil
        }
        return Array(rest[(start + 1)...])
    }

    /// The kind of metadata block in the text, as ImageMagick and exiftool write it: `exif`, `iptc`, `xmp`. Nil for other
    /// texts.
    var blockKind: Substring? {
        keyword.hasPrefix(Self.blockKeyword) ? keyword.dropFirst(Self.blockKeyword.count) : nil
    }

    /// The largest size of a block.
    private static let largestBlock = 8 << 20

    /// The metadata block in the text: its words are a kind, a length, then hexadecimal digits.
    ///
    /// - Parameter unpacked: returns the decompressed text; it is called only if the text is compressed.
    func block(unpacked: () -> String?) -> [UInt8]? {
        guard blockKind != nil else { return nil }
        if !isPacked { return Self.block(in: payload.bytes.dropFirst(keyword.utf8.count + 1)) }
        guard let words = unpacked(), words.utf8.count <= Self.largestBlock else { return nil }
        return Self.block(in: Array(words.utf8)[...])
    }

    private static func block(in words: ArraySlice<UInt8>) -> [UInt8]? {
        let parts = words.split(maxSplits: 2, whereSeparator: isBlank)
        guard parts.count == 3, let length = Int(String(decoding: parts[1].prefix(20), as: UTF8.self)), length > 0,
            length <= parts[2].count / 2
        else { return nil }
        var (result, high) = ([UInt8](), UInt8?.none)
        result.reserveCapacity(length)
        for byte in parts[2] where !isBlank(byte) {
            guard let digit = digit(byte), result.count < length else { return nil }
            if let first = high.take() { result.append(first << 4 | digit) } else { high = digit }
        }
        return result.count == length && high == nil ? result : nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Nil if the text is not requested.
    ///
    /// - Parameter kinds: the requested kinds; nil for all.
    func carried(by kinds: Set<MetadataKind>?) -> PNGText? {
        guard let kinds else { return self }
        guard let kind = Self.kinds[keyword], kinds.contains(kind) else { return nil }
        guard kind == .dates, !kinds.contains(.gps) else { return self }
        // No program writes a compressed date.
        guard !isPacked else { return nil }
        return PNGText(chunk: chunk, payload: TimeZones.removed(from: payload.bytes))
    }

    private static let kinds: [String: MetadataKind] = [
        "Copyright": .copyright, "Author": .creator, "Artist": .creator, "Title": .description,
        "Description": .description,
        "Creation Time": .dates, "Software": .camera, "Source": .camera, "Keywords": .keywords,
    ]
}
