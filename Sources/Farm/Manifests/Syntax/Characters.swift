/// The limits of the format. Messages name them.
package enum SyntaxLimits {
    package static let bytes = 1 << 20
    /// Limits nested collections, and with them the parser's recursion.
    package static let depth = 16
    package static let flowDepth = 4
    /// Limits the memory of a tree that needs only a few bytes for each node.
    package static let nodes = 100_000
    /// YAML looks for a key's colon within 1024 characters. Keys of manifests are much shorter.
    package static let keyLength = 128
}

extension Unicode.Scalar {
    /// YAML 1.2's `c-printable`, without the byte order mark.
    var isPrintableInYAML: Bool {
        switch value {
        case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD,
            0x10000...0x10FFFF:
            true
        default: false
        }
    }

    /// Whether it looks like a space or like nothing, but is an ordinary character to a parser.
    var isDeceptiveBlank: Bool {
        switch value {
        case 0xA0, 0x1680, 0x180E, 0x2000...0x200B, 0x202F, 0x205F, 0x2060, 0x3000: true
        default: false
        }
    }

    /// Whether it ends a plain scalar inside brackets.
    var isFlowIndicator: Bool {
        switch self {
        case ",", "[", "]", "{", "}": true
        default: false
        }
    }

    var isWordStart: Bool {
        switch self {
        case "A"..."Z", "a"..."z", "_": true
        default: false
        }
    }

    var isDigit: Bool { ("0"..."9").contains(self) }

    /// Whether it may follow a key's first character.
    var isWordPart: Bool { isWordStart || isDigit || self == "-" }
}

extension String {
    /// True for a valid key: `[A-Za-z_][A-Za-z0-9_-]*`.
    var isWord: Bool {
        guard let first = unicodeScalars.first, first.isWordStart else { return false }
        return unicodeScalars.dropFirst().allSatisfy(\.isWordPart)
    }

    /// The text in single quotes, in the syntax of manifests.
    var singleQuoted: String {
        "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
