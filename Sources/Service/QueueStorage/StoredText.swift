import FoundationEssentials

/// Texts of the database.
enum StoredText {
    /// JSON. Equal values always have the same text.
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// - Parameter name: The column, for words.
    static func value<Value: Decodable>(_ text: String, _ name: String, _ type: Value.Type = Value.self) throws -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw RowProblem(words: "the column '\(name)' cannot be decoded: \(words(for: error))")
        }
    }

    private static func words(for error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
            // The first line says what is wrong, and the others what a caller would do.
            context.debugDescription.split(separator: "\n").first.map(String.init) ?? "it is empty"
        default: "\(error)"
        }
    }

    /// Refuses a text that SQLite would cut: the library that writes it takes a zero byte as its end.
    static func whole(_ text: String, _ name: String) throws -> String {
        guard !text.utf8.contains(0) else { throw RowProblem(words: "the \(name) contains a zero byte") }
        return text
    }
}
