/// Makes foreign text safe to show.
///
/// File names, messages of workers and output of plugins may contain characters that move a terminal's cursor, set its
/// title, break lines, or change the direction of text, so that `gpj.exe` reads as `exe.jpg`. Every front shows such
/// characters by their numbers, as `\u{202e}`.
package enum VisibleText {
    /// Also escapes line breaks and tabs, for text on one line.
    package static func line(_ text: String) -> String { escaped(text) { isUnsafe($0) } }

    /// Also escapes joiners, for messages about text in which an invisible character may be the problem.
    package static func lineWithoutJoiners(_ text: String) -> String {
        escaped(text) { isUnsafe($0) || $0 == "\u{200c}" || $0 == "\u{200d}" }
    }

    /// Keeps line breaks and tabs, for whole messages.
    package static func lines(_ text: String) -> String {
        escaped(text) { isUnsafe($0) && $0 != "\n" && $0 != "\t" }
    }

    /// For a message of Penumbra that contains foreign names. Remedies keep their own lines, and names cannot break lines.
    package static func message(_ text: String) -> String {
        text.split(separator: remedy, omittingEmptySubsequences: false).map { line(String($0)) }.joined(
            separator: remedy)
    }

    private static let remedy = "\n   = "

    /// JSON with the same meaning. Such characters occur only in strings, and are written as `\u202e`.
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

    /// The same for bytes of UTF-8.
    package static func json(_ bytes: [UInt8]) -> [UInt8] {
        // Most texts end here. JSON escapes control characters below U+0020 itself.
        guard bytes.contains(where: { $0 >= 0x7F }) else { return bytes }
        return Array(json(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    /// Whether a character is invisible, or affects the text around it. Joiners and variation selectors are kept, because
    /// many scripts and emoji need them.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        // Most characters end here. The lookup below is slower.
        if (0x20..<0x7F).contains(scalar.value) { return false }
        return switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .unassigned: true
        case .format: scalar != "\u{200c}" && scalar != "\u{200d}"
        // Letters and marks that no font shows: fillers of hangul, inherent vowels of Khmer, the grapheme joiner.
        default: fillers.contains(scalar)
        }
    }

    private static let fillers: Set<Unicode.Scalar> = [
        "\u{34f}", "\u{115f}", "\u{1160}", "\u{17b4}", "\u{17b5}", "\u{3164}", "\u{ffa0}",
    ]

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

extension Unicode.Scalar {
    /// The columns of the scalar in a terminal: 0 for combining marks and joiners, 2 for East Asian wide characters and
    /// emoji.
    ///
    /// The ranges are the wide and full-width ones of UAX #11. Ideographs, kana and hangul are rounded to whole blocks.
    package var terminalColumns: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F200...0x1F265, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F7E0...0x1F7EB, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        case 0x231A...0x231B, 0x23E9...0x23EC, 0x2614...0x2615, 0x2648...0x2653, 0x26A1, 0x26BD...0x26BE, 0x2705,
            0x270A...0x270B, 0x2728, 0x274C, 0x274E, 0x2753...0x2755, 0x2757, 0x2795...0x2797, 0x2B1B...0x2B1C, 0x2B50,
            0x2B55:
            return 2
        // The vowels and final consonants of a hangul syllable share the columns of its first consonant.
        case 0x1160...0x11FF: return 0
        default: return 1
        }
    }
}

extension String {
    /// The columns of a text of one line in a terminal.
    package var terminalColumns: Int { unicodeScalars.reduce(0) { $0 + $1.terminalColumns } }

    /// The beginning of the text that fits into the columns. No character is cut.
    package func prefix(columns: Int) -> String {
        var left = columns
        return String(
            prefix { character in
                left -= String(character).terminalColumns
                return left >= 0
            })
    }
}
