/// A value that is written as YAML, in blocks, with its keys in the given order.
package indirect enum YAMLNode: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        let key: String
        let value: YAMLNode
    }

    case text(String)
    case number(Int)
    case list([YAMLNode])
    case map([Entry])

    /// Entries whose value is `nil` are left out.
    package static func map(_ entries: KeyValuePairs<String, YAMLNode?>) -> YAMLNode {
        .map(entries.compactMap { key, value in value.map { Entry(key: key, value: $0) } })
    }

    package static func texts(_ texts: [String]) -> YAMLNode { .list(texts.map(YAMLNode.text)) }

    /// Ends with a line break.
    package var written: String { lines.map { $0 + "\n" }.joined() }

    private var lines: [String] {
        switch self {
        case .text(let text): [Self.scalar(text)]
        case .number(let number): [String(number)]
        case .list([]): ["[]"]
        case .map([]): ["{}"]
        case .list(let items):
            items.flatMap { item in
                zip(0..., item.lines).map { $0 == 0 ? "- " + $1 : "  " + $1 }
            }
        case .map(let entries):
            entries.flatMap { entry in
                let lines = entry.value.lines
                return entry.value.isBlock
                    ? [Self.scalar(entry.key) + ":"] + lines.map { "  " + $0 }
                    : [Self.scalar(entry.key) + ": " + lines[0]]
            }
        }
    }

    private var isBlock: Bool {
        switch self {
        case .text, .number, .list([]), .map([]): false
        case .list, .map: true
        }
    }
}

extension YAMLNode {
    /// Plain if every YAML parser reads it as this text. Otherwise in double quotes.
    static func scalar(_ text: String) -> String {
        let isBare =
            text.utf8.first.map(beginnings.contains) ?? false && text.utf8.allSatisfy(others.contains)
            && text.utf8.last != UInt8(ascii: " ") && !words.contains(text.lowercased())
        return isBare ? text : "\"" + text.unicodeScalars.map(escaped).joined() + "\""
    }

    private static let beginnings = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_".utf8)
    private static let others = beginnings.union("0123456789.-,;+()' ".utf8)
    /// Words that YAML 1.1 does not read as texts.
    private static let words: Set = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"]

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x22: #"\""#
        case 0x5C: #"\\"#
        case 0x0A: #"\n"#
        case 0x0D: #"\r"#
        case 0x09: #"\t"#
        // Control characters, other line breaks, byte order marks and noncharacters.
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: #"\u"# + hexadecimal(scalar.value, 4)
        // Parsers differ on the last two code points of each plane.
        case 0x10000... where scalar.value & 0xFFFE == 0xFFFE: #"\U"# + hexadecimal(scalar.value, 8)
        default: String(Character(scalar))
        }
    }

    private static func hexadecimal(_ value: UInt32, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
