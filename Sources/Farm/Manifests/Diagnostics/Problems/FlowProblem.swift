/// The problems of a list or mapping in brackets.
package enum FlowProblem: Hashable, Sendable {
    case unterminated(closer: String)
    /// Brackets with text behind them, such as an output template. `value` is the whole text.
    case bracketedText(opener: String, value: String)
    case textAfter(closer: String)
    case emptyItem
    case missingValue(key: String)
    /// Two entries instead of one number with a decimal comma. `number` is the number with a point. Nil if it is not
    /// clear.
    case decimalComma(number: String?)
    case pairInList
    case bracketInText(value: String)
    case missingComma(closer: String)
    case tooDeep
}

extension FlowProblem {
    var words: Words {
        switch self {
        case .unterminated(let closer):
            Words(
                "no closing '\(closer)' on this line",
                remedy: "close it on the line where it begins, or write one entry per line, indented, without brackets")
        case .bracketedText(let opener, let value):
            Words(
                "'\(opener)' at the start makes this \(opener == "[" ? "a list" : "a mapping"), and text follows it",
                remedy: quoteIt(value))
        case .textAfter(let closer):
            Words("text after the closing '\(closer)'", remedy: "remove it, or quote the whole value")
        case .emptyItem:
            Words("nothing stands between the commas", remedy: "remove the comma that is too many")
        case .missingValue(let key):
            Words(
                "\(key.quoted) has no value",
                remedy: "write {\(key.cut(to: 40)): value}; if the braces belong to a text, quote it")
        case .decimalComma(let number):
            Words(
                "a comma in braces ends a value, and what follows it is no 'key: value'",
                remedy: number.map { "did you mean \($0.cut(to: 40))? decimals come after a point" }
                    ?? "decimals come after a point, and nothing stands between thousands")
        case .pairInList:
            Words("a 'key: value' pair inside a list", remedy: "put it in braces: [{key: value}]")
        case .bracketInText(let value):
            Words(
                "a bracket or brace inside a text inside brackets", remedy: quoteIt(value))
        case .missingComma(let closer):
            Words("expected ',' or '\(closer)'", remedy: "put a comma between entries")
        case .tooDeep:
            Words(
                "more than \(SyntaxLimits.flowDepth) brackets inside each other",
                remedy: "write the outer ones as indented lines")
        }
    }
}
