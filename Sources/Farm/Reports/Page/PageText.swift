import JobModel

/// Text from outside as HTML: what has a meaning there is escaped, and what does not show is made visible, as
/// ``VisibleText`` has it.
enum PageText {
    /// Hidden code points stand out: `<i>\u{202e}</i>`.
    static func html(_ text: String) -> String { escaped(text, before: "<i>", after: "</i>") }

    static func attribute(_ text: String) -> String { escaped(text, before: "", after: "") }

    private static func escaped(_ text: String, before: String, after: String) -> String {
        guard text.unicodeScalars.contains(where: { entity($0) != nil || VisibleText.isUnsafe($0) }) else {
            return text
        }
        var result = ""
        for scalar in text.unicodeScalars {
            if let entity = entity(scalar) {
                result += entity
            } else if VisibleText.isUnsafe(scalar) {
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
}
