import JobModel

// Parts of sentences that several messages use.

extension String {
    /// The text in quotes for a message. A long text is cut.
    package var quoted: String { "'\(cut(to: 60))'" }

    /// At most `length` Unicode scalars. An ellipsis replaces the rest.
    func cut(to length: Int) -> String {
        guard unicodeScalars.dropFirst(length).first != nil else { return self }
        return String(unicodeScalars.prefix(length - 1)) + "…"
    }

    /// The text with all characters escaped that a terminal would obey or hide.
    var visible: String { VisibleText.lineWithoutJoiners(self) }
}

extension Unicode.Scalar {
    /// Whether it is a control character, a line break, a direction mark or similar.
    var isObeyedOrHidden: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

/// The advice to quote a value. A short value is shown as it should be written.
func quoteIt(_ value: String) -> String {
    value.unicodeScalars.count <= 60 ? "quote it: \(value.singleQuoted)" : "put it in single quotes"
}

extension [String] {
    /// `a`, `a or b`, `a, b or c`.
    var alternatives: String { list(lastJoint: " or ") }

    /// `a`, `a and b`, `a, b and c`.
    var enumeration: String { list(lastJoint: " and ") }

    private func list(lastJoint: String) -> String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + lastJoint + last
    }
}

/// `1 item`, `3 items`.
func counted(_ count: Int, _ noun: String) -> String {
    count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
}

/// `U+00A0`.
func codePoint(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

extension Double {
    /// As a person writes it: `12`, not `12.0`.
    var plain: String {
        let text = String(describing: self)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
