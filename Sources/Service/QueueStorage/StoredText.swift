import FoundationEssentials
import Queueing

/// A text that the database cannot keep.
struct UnstorableText: Error {
    let words: String
}

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
        if let error = error as? InputError { return firstLine(error.message) }
        return switch error as? DecodingError {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
            firstLine(context.debugDescription)
        default: "\(error)"
        }
    }

    /// Says what is wrong. The other lines say what a caller would do.
    private static func firstLine(_ message: String) -> String {
        message.split(separator: "\n").first.map(String.init) ?? message
    }

    /// Whether SQLite would keep the whole text. No other text is stored, so a look-up of one finds nothing.
    static func isWhole(_ text: String) -> Bool { !text.utf8.contains(0) }

    /// Refuses a text that SQLite would cut: the library that writes it takes a zero byte as its end.
    static func whole(_ text: String, _ name: String) throws -> String {
        guard isWhole(text) else { throw UnstorableText(words: "the \(name) contains a zero byte") }
        return text
    }
}
