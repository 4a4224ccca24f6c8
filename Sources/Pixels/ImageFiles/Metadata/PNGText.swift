import JobModel

/// A text of a PNG: a `tEXt`, `zTXt` or `iTXt` chunk, carried as it is.
package struct PNGText: Hashable, Sendable, Codable {
    static let chunks: Set = ["tEXt", "zTXt", "iTXt"]

    /// The chunk's name.
    let chunk: String
    package let payload: Blob

    /// What the text is about: up to 79 Latin-1 characters.
    package let keyword: String
    /// True when the text can only be read unpacked.
    let isPacked: Bool

    /// Nil for what is not as it must be.
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

    /// False for the packet of XMP, and for other blocks of metadata that some programs write as texts: these go their own ways.
    var isText: Bool { keyword != Self.xmpKeyword && !keyword.hasPrefix(Self.blockKeyword) }

    private static let xmpKeyword = "XML:com.adobe.xmp"
    private static let blockKeyword = "Raw profile type "

    /// The packet of XMP, unless it is packed.
    var xmp: [UInt8]? {
        guard chunk == "iTXt", keyword == Self.xmpKeyword, !isPacked else { return nil }
        // Behind the keyword: two bytes about packing, then a language and the keyword in it.
        let rest = payload.bytes.dropFirst(keyword.utf8.count + 3)
        guard let language = rest.firstIndex(of: 0), let start = rest[(language + 1)...].firstIndex(of: 0) else {
            return nil
        }
        return Array(rest[(start + 1)...])
    }

    /// A block of metadata as ImageMagick and exiftool write it: its kind (`exif`, `iptc`, `xmp`), its length, then hexadecimal digits.
    ///
    /// - Parameter unpacked: the text's words, where it is packed.
    func block(unpacked: String?) -> (kind: String, bytes: [UInt8])? {
        guard keyword.hasPrefix(Self.blockKeyword) else { return nil }
        let plain = isPacked ? unpacked.map { Array($0.utf8) } : Array(payload.bytes.dropFirst(keyword.utf8.count + 1))
        let words = plain?.split { [0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? []
        guard words.count > 2, let length = Int(String(decoding: words[1], as: UTF8.self)) else { return nil }
        let digits = words[2...].joined().map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard length > 0, digits.count.isMultiple(of: 2), digits.count / 2 == length else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index -> UInt8? in
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            return UInt8(high << 4 | low)
        }
        guard bytes.count == length else { return nil }
        return (String(keyword.dropFirst(Self.blockKeyword.count)), bytes)
    }

    /// Nil where it is not asked for.
    ///
    /// - Parameter kinds: nil for everything.
    func carried(by kinds: Set<MetadataKind>?) -> PNGText? {
        guard let kinds else { return self }
        guard let kind = Self.kinds[keyword], kinds.contains(kind) else { return nil }
        guard kind == .dates, !kinds.contains(.gps) else { return self }
        // A packed date is one that nobody writes so.
        guard !isPacked else { return nil }
        return PNGText(chunk: chunk, payload: TimeZones.removed(from: payload.bytes))
    }

    private static let kinds: [String: MetadataKind] = [
        "Copyright": .copyright, "Author": .creator, "Artist": .creator, "Title": .description,
        "Description": .description,
        "Creation Time": .dates, "Software": .camera, "Source": .camera, "Keywords": .keywords,
    ]
}
