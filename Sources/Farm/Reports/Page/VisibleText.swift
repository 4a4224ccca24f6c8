/// Text from outside as HTML: what has a meaning there is escaped, and what does not show is made visible.
///
/// A file's name may hold any code point: newlines, escape sequences, and marks that turn what follows right to left,
/// so that `gpj.exe` reads `exe.jpg`.
enum VisibleText {
    /// Hidden code points stand out: `<i>\u{202e}</i>`.
    static func html(_ text: String) -> String { escaped(text, before: "<i>", after: "</i>") }

    static func attribute(_ text: String) -> String { escaped(text, before: "", after: "") }

    private static func escaped(_ text: String, before: String, after: String) -> String {
        guard text.unicodeScalars.contains(where: { entity($0) != nil || isHidden($0) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if let entity = entity(scalar) {
                result += entity
            } else if isHidden(scalar) {
                result += "\(before)\\u{\(String(scalar.value, radix: 16))}\(after)"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func entity(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: nil
        }
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        // Most text; the table below is slower.
        if (0x20..<0x7f).contains(scalar.value) { return false }
        return switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .unassigned: true
        // Two that letters and emoji are joined with; the others turn directions, or are nothing at all.
        case .format: scalar != "\u{200c}" && scalar != "\u{200d}"
        default: false
        }
    }
}
