import FoundationEssentials
import Queueing

/// Reads and writes bodies of the API.
package enum StrictJSON {
    /// What happens to keys that a type does not ask for.
    package enum UnknownKeys: Sendable {
        /// For requests: a misspelled option must not be ignored.
        case refused
        /// For answers: a later service may say more.
        case ignored
    }

    /// The limit for bodies of requests, unless it is another one.
    package static let largestRequest = 1 << 20

    /// - Parameter limit: The greatest number of bytes.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from bytes: [UInt8], limit: Int = largestRequest,
        unknownKeys: UnknownKeys = .refused
    ) throws(BodyError) -> Value {
        let tree = try JSONReader.value(of: bytes, limit: limit)
        let keys = JSONKeys()
        let value: Value
        do {
            value = try JSONDecoding(tree, [], keys).decode(type)
        } catch let error as BodyError {
            throw error
        } catch let error as InputError {
            throw BodyError(.refused(error.message))
        } catch let error as DecodingError {
            throw BodyError(error)
        } catch {
            throw BodyError(.invalid("\(error)"))
        }
        if unknownKeys == .refused, let error = keys.unknownKey(in: tree) { throw error }
        return value
    }

    /// The same value always has the same text.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}

extension BodyError {
    /// Errors that types of the queue throw, and those of `Codable` itself.
    fileprivate init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missingKey(key.stringValue), path: Self.path(context.codingPath))
        case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context):
            self.init(.invalid(context.debugDescription), path: Self.path(context.codingPath))
        @unknown default: self.init(.invalid("\(error)"))
        }
    }

    /// `after[0].job`.
    static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}
