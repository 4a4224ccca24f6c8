/// Texts about a picture that outputs get, whatever their inputs say.
public struct MetadataTexts: Hashable, Sendable, Codable {
    public enum Field: String, Hashable, Sendable, Codable, CaseIterable {
        case copyright
        case creator
        case title
        case description
        case credit
        case keywords

        /// Whether it has several texts.
        public var isList: Bool { self == .creator || self == .keywords }
    }

    /// For each field, by its name, its texts; a field without a list has one.
    private var texts: [String: [String]]

    /// - Parameter texts: none of them is empty.
    public init(_ texts: [Field: [String]]) {
        self.texts = Dictionary(uniqueKeysWithValues: texts.map { ($0.key.rawValue, $0.value) })
    }

    public init(from decoder: any Decoder) throws { texts = try .init(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try texts.encode(to: encoder) }

    /// Empty for a field that is not set.
    public subscript(field: Field) -> [String] { texts[field.rawValue] ?? [] }

    /// The fields that are set, in the order of the enumeration.
    public var fields: [Field] { Field.allCases.filter { !self[$0].isEmpty } }
}
