import FoundationEssentials
import GRDB
import JobModel

/// A type of values that this version stores in the database.
protocol ColumnValue {
    /// The type in messages: `a number`.
    static var words: String { get }

    /// Nil for a value of another type. Values are not converted.
    init?(stored: DatabaseValue.Storage)
}

extension Row {
    /// The value of a column. SQLite allows values of other types in a column, and GRDB's own subscripts trap on them.
    ///
    /// - Throws: an error of a damaged database for a value of another type.
    func stored<Value: ColumnValue>(_ index: Int, _ type: Value.Type = Value.self) throws -> Value {
        let found = try decode(DatabaseValue.self, atIndex: index).storage
        if let value = Value(stored: found) { return value }
        let name = Array(columnNames)[index]
        throw DatabaseError(
            resultCode: .SQLITE_CORRUPT, message: "\(found.words) in the column '\(name)', which is for \(Value.words)")
    }

    /// A number that is stored by its bits.
    func storedBits(_ index: Int) throws -> UInt64 { UInt64(bitPattern: try stored(index)) }
}

extension DatabaseValue.Storage {
    fileprivate var words: String {
        switch self {
        case .null: "nothing"
        case .int64: "a whole number"
        case .double: "a fraction"
        case .string: "a text"
        case .blob: "bytes"
        }
    }
}

extension Int64: ColumnValue {
    static var words: String { "whole numbers" }

    init?(stored: DatabaseValue.Storage) {
        guard case .int64(let number) = stored else { return nil }
        self = number
    }
}

/// A count, a size, or a number that is used in sums.
extension Int: ColumnValue {
    static var words: String { "whole numbers below 2^62" }

    init?(stored: DatabaseValue.Storage) {
        guard case .int64(let number) = stored, number.magnitude <= 1 << 62 else { return nil }
        self.init(exactly: number)
    }
}

extension Double: ColumnValue {
    static var words: String { "numbers" }

    init?(stored: DatabaseValue.Storage) {
        guard case .double(let number) = stored else { return nil }
        self = number
    }
}

extension Bool: ColumnValue {
    static var words: String { "0 and 1" }

    init?(stored: DatabaseValue.Storage) {
        switch stored {
        case .int64(0): self = false
        case .int64(1): self = true
        default: return nil
        }
    }
}

extension String: ColumnValue {
    static var words: String { "texts" }

    init?(stored: DatabaseValue.Storage) {
        guard case .string(let text) = stored else { return nil }
        self = text
    }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    static var words: String { Wrapped.words }

    init?(stored: DatabaseValue.Storage) {
        if case .null = stored {
            self = nil
        } else if let value = Wrapped(stored: stored) {
            self = value
        } else {
            return nil
        }
    }
}

/// A value that is stored as one text of JSON.
package protocol StoredJSON: Codable {}

extension OutputEncoding: StoredJSON {}

extension StoredJSON {
    /// Equal values always have the same text, because texts are compared.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Such values contain only texts and finite numbers, which can always be encoded.
        guard let data = try? encoder.encode(self) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Nil if another version of Penumbra wrote the text in another form.
    package init?(text: String) {
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = value
    }
}
