/// A value of JSON that becomes one of a manifest.
indirect enum JSONValue: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        let key: String
        let value: JSONValue
    }

    case null
    case truth(Bool)
    /// As it was written.
    case number(String)
    case text(String)
    case list([JSONValue])
    /// In the order of the text; a key may be there twice.
    case object([Member])

    /// In the flow syntax of manifests: `[1, "a", {radius: 3}]`.
    var manifestText: String {
        switch self {
        case .null: "null"
        case .truth(let truth): truth ? "true" : "false"
        case .number(let number): number
        case .text(let text): "\"\(text.unicodeScalars.map(Self.escaped).joined())\""
        case .list(let items): "[\(items.map(\.manifestText).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\($0.key): \($0.value.manifestText)" }.joined(separator: ", "))}"
        }
    }

    /// Control characters and the like may not stand in a manifest as they are.
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return unicodeEscape(scalar)
        default: return String(scalar)
        }
    }

    /// `\u200b`; what four digits cannot say stays as it is.
    private static func unicodeEscape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return digits.utf8.count > 4
            ? String(scalar) : "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }

    /// Whether there is a null in it.
    var hasNull: Bool {
        switch self {
        case .null: true
        case .truth, .number, .text: false
        case .list(let items): items.contains(where: \.hasNull)
        case .object(let members): members.contains(where: \.value.hasNull)
        }
    }

    /// The first key in it that manifests have no way to write.
    var firstOddKey: String? {
        switch self {
        case .null, .truth, .number, .text: nil
        case .list(let items): items.lazy.compactMap(\.firstOddKey).first
        case .object(let members):
            members.lazy.compactMap { Self.isWord($0.key) ? $0.value.firstOddKey : $0.key }.first
        }
    }

    private static func isWord(_ key: String) -> Bool {
        guard let first = key.utf8.first, isWordPart(first) else { return false }
        return !"0123456789-".utf8.contains(first) && key.utf8.allSatisfy(isWordPart)
    }

    /// What keys of manifests are made of.
    static func isWordPart(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "0123456789_-".utf8.contains(byte)
    }
}
