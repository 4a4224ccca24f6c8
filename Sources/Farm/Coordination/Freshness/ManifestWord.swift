/// Texts as a manifest has them.
enum ManifestWord {
    /// Manifests have keys without quotes, and read each of them as a text.
    static func key(_ name: String) -> String { isPlain(name) ? name : quoted(name) }

    /// Plain if every reader of YAML takes it for this text. Otherwise in double quotes.
    static func text(_ text: String) -> String {
        isPlain(text) && !words.contains(text.lowercased()) ? text : quoted(text)
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.first.map(beginnings.contains) ?? false && text.utf8.allSatisfy(others.contains)
    }

    private static let beginnings = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_".utf8)
    private static let others = beginnings.union("0123456789.-+".utf8)
    /// Words that YAML does not read as texts.
    private static let words: Set = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"]

    static func quoted(_ text: String) -> String {
        "\"" + text.unicodeScalars.map(escaped).joined() + "\""
    }

    /// Whether a manifest can have this text at all. Its reader refuses the byte order mark, also as an escape.
    static func canHold(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0 == "\u{FEFF}" || $0 == "\0" }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        // Manifests have the escapes of JSON, but no pairs of them. A character that would need a pair stands as it is.
        if isUnseen(scalar), scalar.value <= 0xFFFF {
            let digits = String(scalar.value, radix: 16)
            return #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : String(Character(scalar))
    }

    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: true
        default: false
        }
    }
}
