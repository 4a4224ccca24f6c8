/// A JSON value as somebody sent it.
indirect enum JSONValue: Sendable {
    case null
    case truth(Bool)
    /// As it was written.
    case number(String)
    case text(String)
    case list([JSONValue])
    case object(JSONObject)

    /// For messages: "this is text".
    var kind: String {
        switch self {
        case .null: "null"
        case .truth: "true or false"
        case .number: "a number"
        case .text: "text"
        case .list: "a list"
        case .object: "an object"
        }
    }
}

/// The members of a JSON object. Each key occurs once.
struct JSONObject: Sendable {
    /// Differs for each object of a text.
    let number: Int
    let members: [String: JSONValue]
}

/// A place in a text. Both are counted from 1, and columns are counted in bytes.
package struct TextPosition: Hashable, Sendable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The place of a byte.
    init(of offset: Int, in bytes: [UInt8]) {
        let before = bytes.prefix(offset)
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        column = offset - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) + 1
    }
}
