extension SchemaNode {
    /// The value as JSON, indented by two spaces a level; what is short stays on one line.
    var json: String { json(indent: 0) }

    /// Lines up to this length are not broken.
    private static let width = 100

    private func json(indent: Int) -> String {
        let line = compact
        if line.utf8.count + indent <= Self.width { return line }
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        switch self {
        case .truth, .number, .text:
            return line
        case .list(let items):
            let lines = items.map { inner + $0.json(indent: indent + 2) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let members):
            let lines = members.map { "\(inner)\(Self.quoted($0.key)): \($0.value.json(indent: indent + 2))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        }
    }

    private var compact: String {
        switch self {
        case .truth(let truth): truth ? "true" : "false"
        case .number(let number): Int(exactly: number).map(String.init) ?? number.plain
        case .text(let text): Self.quoted(text)
        case .list(let items): "[" + items.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.key)): \($0.value.compact)" }.joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.isObeyedOrHidden && scalar.value < 0x1_0000:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
