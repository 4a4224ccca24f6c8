/// Text of others, made safe to show.
///
/// File names, messages of workers and output of plugins may hold characters that move a terminal's cursor, set its title,
/// break lines, or turn the direction of the text around them, so that `gpj.exe` reads as `exe.jpg`. Every front shows
/// such characters by their numbers, as `\u{202e}`.
package enum VisibleText {
    /// Without line breaks and tabs either: for what belongs on one line.
    package static func line(_ text: String) -> String { escaped(text) { isUnsafe($0) } }

    /// With its line breaks and tabs: for whole messages.
    package static func lines(_ text: String) -> String {
        escaped(text) { isUnsafe($0) && $0 != "\n" && $0 != "\t" }
    }

    /// A message of which Penumbra wrote the frame: what to do may stand on a line of its own. A name in it breaks no line.
    package static func message(_ text: String) -> String {
        text.split(separator: remedy, omittingEmptySubsequences: false).map { line(String($0)) }.joined(
            separator: remedy)
    }

    private static let remedy = "\n   = "

    /// JSON with the same meaning: such characters are in its strings alone, and stand there as `\u202e`.
    package static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            guard isUnsafe(scalar), scalar != "\n" else { return result.unicodeScalars.append(scalar) }
            for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }

    /// What does not show, or does something to the text around it. Joiners stay, which many scripts and emoji need.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        // Most text; the table below is slower.
        if (0x20..<0x7F).contains(scalar.value) { return false }
        return switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .unassigned: true
        case .format: scalar != "\u{200c}" && scalar != "\u{200d}"
        default: false
        }
    }

    private static func escaped(_ text: String, where isOdd: (Unicode.Scalar) -> Bool) -> String {
        guard text.unicodeScalars.contains(where: isOdd) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if isOdd(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }
}
