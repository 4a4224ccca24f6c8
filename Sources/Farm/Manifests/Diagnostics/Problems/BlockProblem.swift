/// The problems of a line as an entry of its block: of its key, its dash, or the rest of the line.
package enum BlockProblem: Hashable, Sendable {
    // Keys.
    case notAnEntry(text: String)
    case bracketsAsLine
    case quotedKey(String)
    case badKey(String)
    case keyTooLong
    case mergeKey
    case complexKey
    case missingBlankAfterColon(key: String)
    case blankBeforeColon(key: String)
    case duplicateKey(String, firstLine: Int)

    // Dashes.
    /// An item `- key: value` among keys. `key` is nil if the item has none.
    case itemAmongKeys(key: String?)
    /// `key` is nil if the line is no `key: value`.
    case keyAmongItems(text: String, key: String?)
    case missingBlankAfterDash
    case itemOnKeyLine
    case nestedItem

    // The rest of the line.
    case emptyValue(key: String)
    case emptyItem
    case valueOnOwnLine
}

extension BlockProblem {
    var words: Words {
        switch self {
        case .notAnEntry(let text):
            Words("expected 'key: value', found \(text.quoted)", remedy: "write a key, a colon, a blank and a value")
        case .bracketsAsLine:
            Words("expected 'key: value', found a bracket", remedy: "write brackets as a value, after 'key: '")
        case .quotedKey(let key):
            Words("the key \(key.quoted) is in quotes", remedy: "write it without: \(key.cut(to: 60)):")
        case .badKey(let key):
            Words(
                "\(key.quoted) is not a key",
                remedy: "a key is a letter or '_', then letters, digits, '_' and '-'; "
                    + "if this is text with a colon, quote it")
        case .keyTooLong:
            Words("a key of more than \(SyntaxLimits.keyLength) characters", remedy: "no key is that long")
        case .mergeKey:
            Words("merge keys ('<<:') are not read", remedy: "write the entries here once more")
        case .complexKey:
            Words(
                "'?' begins a complex key in YAML, which is not read",
                remedy: "write 'key: value'; if the text begins with '?', quote it")
        case .missingBlankAfterColon(let key):
            Words("no blank after '\(key):'", remedy: "write '\(key): ' and the value")
        case .blankBeforeColon(let key):
            Words("a blank between '\(key)' and its colon", remedy: "write '\(key): ' and the value")
        case .duplicateKey(let key, let firstLine):
            Words("'\(key)' is already given in line \(firstLine)", remedy: "remove one of the two")

        case .itemAmongKeys(let key):
            Words(
                "a list item among 'key: value' lines",
                remedy: "indent it below the key that the list belongs to"
                    + (key.map { "; if '\($0)' is a key of the job, begin the line with '\($0):'" } ?? ""))
        case .keyAmongItems(let text, let key?):
            Words(
                "\(text.quoted) among list items",
                remedy:
                    "if '\(key)' is a key of the job, move it to the start of the line; if it belongs to the item above, "
                    + "indent it deeper; if it is an item, begin it with '- '")
        case .keyAmongItems(let text, nil):
            Words("\(text.quoted) among list items", remedy: "begin it with '- '")
        case .missingBlankAfterDash:
            Words("no blank after '-'", remedy: "write '- ' and the item")
        case .itemOnKeyLine:
            Words(
                "a list cannot begin on its key's line",
                remedy: "put each '- item' on a line of its own below the key, or write [a, b]")
        case .nestedItem:
            Words("a list item cannot begin with another '-'", remedy: "write the inner list as - [a, b]")

        case .emptyValue(let key):
            Words(
                "'\(key)' has no value",
                remedy: "write it after the colon ('' is empty text), or indent the lines that belong to it "
                    + "deeper than '\(key)'")
        case .emptyItem:
            Words("a list item without a value", remedy: "write it after '- ' ('' is empty text), or remove the line")
        case .valueOnOwnLine:
            Words("a value starts on the line of its key or '-'", remedy: "move it to the end of the line above")
        }
    }
}
