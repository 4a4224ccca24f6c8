/// Text for terminals whose locale is not UTF-8. Such a terminal takes each byte for a character. It obeys some of these bytes as
/// commands.
package enum ASCIIText {
    /// Whether the locale of an environment uses UTF-8, as `locale charmap` reports it.
    package static func isNeeded(_ environment: [String: String]) -> Bool {
        // POSIX: the first of these that is set and not empty decides.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let codeset = locale.split(separator: ".", maxSplits: 1).dropFirst().first?.prefix { $0 != "@" } ?? ""
        return codeset.filter { $0 != "-" }.lowercased() != "utf8"
    }

    /// The signs that Penumbra's own texts contain.
    private static let signs: [Unicode.Scalar: String] = [
        "…": "...", "×": "x", "–": "-", "—": "-", "→": "->", "°": " degrees", "±": "+-", "≤": "<=", "≥": ">=",
        "“": "\"", "”": "\"",
        "‘": "'", "’": "'", "·": ".", "•": "*", "µ": "u", "μ": "u",
        "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": " ", "▎": " ", "▏": " ",
    ]

    /// The text in ASCII. Other characters, such as those of file names, are shown by their numbers, as `\u{e9}`.
    package static func of(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isASCII {
                result.unicodeScalars.append(scalar)
            } else {
                result += signs[scalar] ?? "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }
}
