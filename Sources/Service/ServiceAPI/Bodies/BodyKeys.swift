import Queueing

extension Decoder {
    /// The members of a request. A key that the request does not have is refused before anything else, because a missing
    /// one may only be misspelled.
    func request<Key: CodingKey & CaseIterable>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        let known = Key.allCases.map(\.stringValue).sorted()
        let found = try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let unknown = found.filter({ !known.contains($0) }).min() {
            throw BodyError(.unknownKey(unknown, known: known), path: BodyError.path(codingPath))
        }
        return try container(keyedBy: type)
    }
}

/// Of the kernel, in bytes.
private let longestPath = 4095

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}

/// Reads values that a client may leave out. A null is no such value: it is refused, because it could mean anything.
extension KeyedDecodingContainer {
    func optional<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) throws -> Value? {
        contains(key) ? try decode(type, forKey: key) : nil
    }

    /// A value that says itself what is wrong with it.
    func fault(_ key: Key, _ words: String) -> BodyError {
        BodyError(.invalid(words), path: BodyError.path(codingPath + [key]))
    }

    /// An absolute path of the service's machine. Whether something is there, the service finds out.
    func path(_ key: Key) throws -> String {
        let path = try decode(String.self, forKey: key)
        try check(path: path, of: key)
        return path
    }

    /// Refuses a text that is no absolute path, and says what is wrong with it.
    func check(path: String, of key: Key) throws {
        let shown = BodyError.shown(path)
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw fault(key, "'\(shown)' is no absolute path\n   = write a path that begins with '/'")
        }
        guard !path.utf8.contains(0) else { throw fault(key, "'\(shown)' has a NUL, which no path has") }
        let count = path.utf8.count
        guard count <= longestPath else {
            throw fault(key, "'\(shown)' has \(count) bytes\n   = a path has at most \(longestPath) bytes")
        }
    }

    /// A list of texts, with a limit of the API.
    func texts(_ key: Key, most: Int) throws -> [String] {
        let texts: [String] = try optional(key) ?? []
        guard texts.count <= most else { throw fault(key, "at most \(most) are allowed, and there are \(texts.count)") }
        for text in texts where text.isEmpty || text.utf8.count > 4096 || text.utf8.contains(0) {
            throw fault(key, "'\(BodyError.shown(text))' is empty or too long, or has a NUL")
        }
        return texts
    }
}

/// A dependency as requests have it: `{"job": 17, "on": "end"}`, `17`, or the text `17:end`. Success is what counts if
/// nothing else is said.
struct RequestedNeed: Decodable {
    let need: Need

    private enum CodingKeys: String, CodingKey, CaseIterable { case job, on }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {  // another type is tried below
            need = try Need(text: text)
            return
        }
        if let number = try? value.decode(Int.self) {  // an object is tried below
            need = try Need(text: String(number))
            return
        }
        let values = try decoder.request(keyedBy: CodingKeys.self)
        let outcome = try values.optional(.on, as: String.self) ?? Need.Outcome.success.rawValue
        need = try Need(text: "\(try values.decode(Int.self, forKey: .job)):\(outcome)")
    }
}
