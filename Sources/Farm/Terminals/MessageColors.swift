/// Colours of messages in a terminal.
///
/// Only the parts that one looks for are coloured: the words `error:`, `warning:` and `hint:`, carets, the `=` of remedies, and the
/// marks of `penumbra doctor`. Each of them is a word or a sign as well, so that nothing is said by colour alone.
package enum MessageColors {
    private enum Style: String {
        case error = "1;31"
        case warning = "1;35"
        case hint = "1;36"
        case well = "32"

        func callAsFunction(_ text: Substring) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }
    }

    private static let words: [(word: String, style: Style)] = [
        ("error:", .error), ("Error:", .error), ("warning:", .warning), ("hint:", .hint),
    ]

    private static let marks: [(mark: String, style: Style)] = [
        ("FAIL  ", .error), ("ok    ", .well), ("note  ", .hint),
    ]

    /// The text with colours. It has to be free of control characters.
    package static func colored(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(line).joined(separator: "\n")
    }

    private static func line(_ line: Substring) -> String {
        remedy(line) ?? caret(line) ?? mark(line) ?? severity(line) ?? String(line)
    }

    /// `   = did you mean 'radius'?`
    private static func remedy(_ line: Substring) -> String? {
        let rest = line.drop { $0 == " " }
        guard rest.startIndex > line.startIndex, rest.hasPrefix("= ") else { return nil }
        return line[..<rest.startIndex] + Style.hint(rest.prefix(1)) + rest.dropFirst()
    }

    /// `  |     ^^^^^^`
    private static func caret(_ line: Substring) -> String? {
        let rest = line.drop { $0 == " " }
        guard rest.first == "|" else { return nil }
        let carets = rest.dropFirst().drop { $0 == " " }
        guard !carets.isEmpty, carets.allSatisfy({ $0 == "^" }) else { return nil }
        return line[..<carets.startIndex] + Style.error(carets)
    }

    private static func mark(_ line: Substring) -> String? {
        guard let (mark, style) = marks.first(where: { line.hasPrefix($0.mark) }) else { return nil }
        let word = line.prefix { $0 != " " }
        return style(word) + String(repeating: " ", count: mark.count - word.count) + line.dropFirst(mark.count)
    }

    /// The first of the words, where it begins the line or follows a colon and a space.
    private static func severity(_ line: Substring) -> String? {
        var start = line.startIndex
        while true {
            let rest = line[start...]
            if let (word, style) = words.first(where: { rest.hasPrefix($0.word) }) {
                let end = line.index(start, offsetBy: word.count)
                return line[..<start] + style(line[start..<end]) + line[end...]
            }
            guard let colon = rest.firstRange(of: ": ") else { return nil }
            start = colon.upperBound
        }
    }
}
