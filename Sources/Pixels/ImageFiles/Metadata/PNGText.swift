import JobModel

/// A text of a PNG: a `tEXt`, `zTXt` or `iTXt` chunk, carried as it is.
package struct PNGText: Hashable, Sendable, Codable {
    static let chunks: Set = ["tEXt", "zTXt", "iTXt"]

    /// The chunk's name.
    let chunk: String
    let payload: Blob

    /// What the text is about: up to 79 Latin-1 characters.
    let keyword: String
    /// True when the text can only be read unpacked.
    let isPacked: Bool

    /// Nil for what is not as it must be, for the packet of XMP, which goes its own way, and for other formats' blocks of metadata, as
    /// some programs write them in hexadecimal digits.
    init?(chunk: String, payload: [UInt8]) {
        guard let end = payload.prefix(80).firstIndex(of: 0), end > 0 else { return nil }
        keyword = String(String.UnicodeScalarView(payload[..<end].map { Unicode.Scalar($0) }))
        guard keyword != "XML:com.adobe.xmp", !keyword.hasPrefix("Raw profile type") else { return nil }
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

    func isCarried(by kinds: Set<MetadataKind>?) -> Bool {
        guard let kinds else { return true }
        return Self.kinds[keyword].map(kinds.contains) ?? false
    }

    private static let kinds: [String: MetadataKind] = [
        "Copyright": .copyright, "Author": .creator, "Artist": .creator, "Title": .description,
        "Description": .description,
        "Creation Time": .dates, "Software": .camera, "Source": .camera, "Keywords": .keywords,
    ]
}
