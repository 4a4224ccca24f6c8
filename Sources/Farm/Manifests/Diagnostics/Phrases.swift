// Small parts of sentences that messages share.

extension String {
    /// The text in quotes, for a message: cut when long, invisible characters spelled out.
    package var quoted: String { "'\(cut(to: 60).visible)'" }

    /// At most `length` Unicode scalars, with an ellipsis where the rest is left out.
    func cut(to length: Int) -> String {
        guard unicodeScalars.dropFirst(length).first != nil else { return self }
        return String(unicodeScalars.prefix(length - 1)) + "…"
    }

    /// The text with control characters and line breaks spelled out.
    var visible: String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isPrintableInYAML, scalar.value != 0x85, !["\n", "\r", "\t"].contains(scalar) {
                result.append(scalar)
            } else {
                result.append(contentsOf: scalar.escaped(asASCII: true).unicodeScalars)
            }
        }
        return String(result)
    }
}

/// Advice to quote a value, which is shown as it should be written when it is short.
func quoteIt(_ value: String) -> String {
    value.unicodeScalars.count <= 60 ? "quote it: \(value.visible.singleQuoted)" : "put it in single quotes"
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
