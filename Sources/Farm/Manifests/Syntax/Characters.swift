/// The limits of the format, each named in the error that it causes.
package enum SyntaxLimits {
    package static let bytes = 1 << 20
    /// Nested collections, and with them the parser's recursion.
    package static let depth = 16
    package static let flowDepth = 4
    /// Bounds the memory of a tree that is made of a few bytes per node.
    package static let nodes = 100_000
    /// YAML stops looking for a key's colon after 1024 characters; no key comes near either.
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

    /// Looks like a space, or like nothing, but is a character like any other to a parser.
    var isDeceptiveBlank: Bool {
        switch value {
        case 0xA0, 0x1680, 0x180E, 0x2000...0x200B, 0x202F, 0x205F, 0x2060, 0x3000: true
        default: false
        }
    }

    /// What a plain scalar inside brackets ends at.
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

    /// May follow a key's first character.
    var isWordPart: Bool { isWordStart || isDigit || self == "-" }
}

extension String {
    /// True for what may be written as a key: `[A-Za-z_][A-Za-z0-9_-]*`.
    var isWord: Bool {
        guard let first = unicodeScalars.first, first.isWordStart else { return false }
        return unicodeScalars.dropFirst().allSatisfy(\.isWordPart)
    }

    /// The text in single quotes, as a manifest takes it.
    var singleQuoted: String {
        "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
