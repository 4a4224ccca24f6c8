/// The problems of one value: of its start, its contents and its quotes.
package enum ScalarProblem: Hashable, Sendable {
    // Without quotes. `value` is the whole value, as it is written.
    case alias(value: String)
    case anchor(value: String)
    case tag(value: String)
    case blockScalar(indicator: String)
    case reservedStart(indicator: String, value: String)
    case colonInside(value: String)
    case colonInBraces(value: String)
    case colonAtEnd(value: String)

    // In quotes.
    case unterminated(quote: String)
    case textAfterQuote(quote: String)
    case unknownEscape(String)
    case hexEscape(digits: String)
    case incompleteUnicodeEscape
    case surrogateEscape(character: String?)
    /// A zero byte or a byte order mark, at which programs cut texts, or which they drop.
    case unusableEscape(String)
}

extension ScalarProblem {
    var words: Words {
        switch self {
        case .alias(let value):
            Words("'*' at the start makes this a YAML alias, which is not read", remedy: quoteIt(value))
        case .anchor(let value):
            Words(
                "'&' at the start makes this a YAML anchor, which is not read",
                remedy: "write the value again where it is needed; if '&' belongs to the text, \(quoteIt(value))")
        case .tag(let value):
            Words(
                "'!' at the start makes this a YAML tag, which is not read",
                remedy: "leave the tag out: the key decides the type; if '!' belongs to the text, \(quoteIt(value))")
        case .blockScalar(let indicator):
            Words(
                "text blocks ('\(indicator)') are not read",
                remedy: #"write the text on this line; for a line break write "…\n…" in double quotes"#)
        case .reservedStart(let indicator, let value):
            Words("a value cannot begin with '\(indicator)'", remedy: quoteIt(value))
        case .colonInside(let value):
            Words("': ' inside a value makes it another 'key: value'", remedy: quoteIt(value))
        case .colonInBraces(let value):
            Words(
                "': ' inside a value makes it another 'key: value'",
                remedy: withComma(value).map {
                    "if a comma is missing, write {…: \($0)}; if this is one text, \(quoteIt(value))"
                }
                    ?? quoteIt(value))
        case .colonAtEnd(let value):
            Words("a colon at the end of a value makes it a key", remedy: quoteIt(value))

        case .unterminated(let quote):
            Words("no closing \(quote) on this line", remedy: "a quoted text ends on the line where it begins")
        case .textAfterQuote(let quote):
            Words(
                "text after the closing \(quote)",
                remedy: quote == "'"
                    ? "write '' for a quote inside single quotes" : #"write \" for a quote inside double quotes"#)
        case .unknownEscape(let escape):
            Words(
                "\(escape.quoted) is not an escape",
                remedy: #"inside double quotes write \\ for a backslash; "#
                    + #"the escapes are \" \\ \/ \b \f \n \r \t and \u with four digits"#)
        case .hexEscape(let digits):
            Words(#"'\x' is not an escape"#, remedy: #"write \u00\#(digits)"#)
        case .incompleteUnicodeEscape:
            Words(#"'\u' without four hexadecimal digits"#, remedy: #"write it as in \u00e9"#)
        case .surrogateEscape(let character):
            Words(
                "half of a surrogate pair is not a character in YAML",
                remedy: "write the character itself" + (character.map { ": \($0)" } ?? ""))
        case .unusableEscape(let escape):
            Words("'\(escape)' cannot be part of a text", remedy: "remove it")
        }
    }
}

/// The text with a comma before what looks like a key: `zstd, level: 3` for `zstd level: 3`. Nil if nothing does.
private func withComma(_ text: String) -> String? {
    guard text.unicodeScalars.count <= 60, let colon = text.firstRange(of: ": ")?.lowerBound,
        let space = text[..<colon].lastIndex(of: " ")
    else { return nil }
    let key = text[text.index(after: space)..<colon]
    guard key.first?.isLetter == true, key.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { return nil }
    return "\(text[..<space]),\(text[space...])"
}
