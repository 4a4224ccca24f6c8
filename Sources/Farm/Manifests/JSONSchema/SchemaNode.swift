/// A value of JSON whose members stay in the order in which they were written, as a person reads a schema.
indirect enum SchemaNode: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        let key: String
        let value: SchemaNode
    }

    case truth(Bool)
    case number(Double)
    case text(String)
    case list([SchemaNode])
    case object([Member])

    /// The same object with more members at its end; those that are nil are left out.
    func adding(_ members: KeyValuePairs<String, SchemaNode?>) -> SchemaNode {
        guard case .object(let present) = self else { return self }
        return .object(present + members.compactMap { key, value in value.map { Member(key: key, value: $0) } })
    }

    /// An object whose keys are only known at run time.
    static func object(_ members: [(String, SchemaNode)]) -> SchemaNode {
        .object(members.map { Member(key: $0.0, value: $0.1) })
    }

    static func texts(_ texts: [String]) -> SchemaNode { .list(texts.map(SchemaNode.text)) }
}

extension SchemaNode: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(arrayLiteral elements: SchemaNode...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, SchemaNode)...) { self = .object(elements) }
    init(booleanLiteral value: Bool) { self = .truth(value) }
    init(integerLiteral value: Int) { self = .number(Double(value)) }
}
