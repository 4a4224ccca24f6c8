import GRDB
import Queueing

/// A row, or a part of it, that this version does not write.
struct RowProblem: Error {
    let words: String
}

/// A type of values that this version stores in the database.
protocol ColumnValue {
    /// The values in messages: `texts`.
    static var words: String { get }

    /// Nil for a value of another type. Values are not converted.
    init?(stored: DatabaseValue.Storage)
}

extension Row {
    /// The value of a column. SQLite may contain values of other types, and GRDB's own subscripts trap on them.
    func stored<Value: ColumnValue>(_ name: String, _ type: Value.Type = Value.self) throws -> Value {
        let found = try decode(DatabaseValue.self, forColumn: name).storage
        guard let value = Value(stored: found) else {
            throw RowProblem(words: "\(found.words) in the column '\(name)', which is for \(Value.words)")
        }
        return value
    }
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

extension Int: ColumnValue {
    static var words: String { "whole numbers" }

    init?(stored: DatabaseValue.Storage) {
        guard case .int64(let number) = stored else { return nil }
        self.init(exactly: number)
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

extension [UInt8]: ColumnValue {
    static var words: String { "bytes" }

    init?(stored: DatabaseValue.Storage) {
        guard case .blob(let data) = stored else { return nil }
        self = Array(data)
    }
}

extension WallTime: ColumnValue {
    static var words: String { "times" }

    init?(stored: DatabaseValue.Storage) {
        guard case .int64(let number) = stored else { return nil }
        self.init(milliseconds: number)
        // Times outside of the years 1970–9999 are never stored.
        guard milliseconds == number else { return nil }
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
