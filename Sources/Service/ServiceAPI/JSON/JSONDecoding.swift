/// Decodes values from a tree of JSON, and records the keys that types ask for.
struct JSONDecoding: Decoder {
    private let value: JSONValue
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let keys: JSONKeys

    init(_ value: JSONValue, _ path: [any CodingKey], _ keys: JSONKeys) {
        self.value = value
        codingPath = path
        self.keys = keys
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw mismatch("an object") }
        return KeyedDecodingContainer(Members<Key>(object: object, codingPath: codingPath, keys: keys))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let items) = value else { throw mismatch("a list") }
        return Items(items: items, codingPath: codingPath, keys: keys)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ expected: String) -> BodyError {
        BodyError(.wrongType(found: value.kind, expected: expected), path: BodyError.path(codingPath))
    }
}

extension JSONDecoding: SingleValueDecodingContainer {
    func decodeNil() -> Bool { if case .null = value { true } else { false } }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let simple: Any
        if type == String.self {
            simple = try text()
        } else if type == Bool.self {
            simple = try truth()
        } else if type == Double.self {
            simple = try number()
        } else if let integer = type as? any FixedWidthInteger.Type {
            simple = try whole(integer)
        } else {
            return try Value(from: self)
        }
        guard let value = simple as? Value else { throw mismatch("another type") }
        return value
    }

    private func text() throws -> String {
        guard case .text(let text) = value else { throw mismatch("text") }
        return text
    }

    private func truth() throws -> Bool {
        guard case .truth(let truth) = value else { throw mismatch("true or false") }
        return truth
    }

    private func number() throws -> Double {
        guard case .number(let text) = value, let number = Double(text) else { throw mismatch("a number") }
        guard number.isFinite else {
            throw BodyError(.invalid("\(BodyError.shown(text)) is too large"), path: BodyError.path(codingPath))
        }
        return number
    }

    /// `5`, and also `5.0` and `5e0`: to JSON they are the same number.
    private func whole<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard case .number(let text) = value else { throw mismatch("a whole number") }
        if let number = Number(text) { return number }
        /// Numbers beyond it are not exact.
        let largest = 9_007_199_254_740_992.0
        guard let number = Double(text), abs(number) <= largest, let exact = Number(exactly: number) else {
            throw BodyError(
                .invalid("\(BodyError.shown(text)) is not a whole number, or outside of the allowed range"),
                path: BodyError.path(codingPath))
        }
        return exact
    }
}

/// The members of an object.
private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject
    let codingPath: [any CodingKey]
    let keys: JSONKeys

    var allKeys: [Key] {
        let found = object.members.keys.compactMap { Key(stringValue: $0) }
        for key in found { keys.ask(for: key.stringValue, of: object) }
        return found
    }

    func contains(_ key: Key) -> Bool {
        keys.ask(for: key.stringValue, of: object)
        return object.members[key.stringValue] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { JSONDecoding(.object(object), codingPath, keys) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> JSONDecoding {
        keys.ask(for: key.stringValue, of: object)
        guard let value = object.members[key.stringValue] else {
            throw BodyError(.missingKey(key.stringValue), path: BodyError.path(codingPath))
        }
        return JSONDecoding(value, codingPath + [key], keys)
    }
}

/// The items of a list.
private struct Items: UnkeyedDecodingContainer {
    let items: [JSONValue]
    let codingPath: [any CodingKey]
    let keys: JSONKeys
    private(set) var currentIndex = 0

    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    init(items: [JSONValue], codingPath: [any CodingKey], keys: JSONKeys) {
        self.items = items
        self.codingPath = codingPath
        self.keys = keys
    }

    mutating func decodeNil() throws -> Bool {
        guard try decoder().decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try decoder().decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try superDecoder().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try decoder()
        currentIndex += 1
        return decoder
    }

    private func decoder() throws -> JSONDecoding {
        guard !isAtEnd else {
            throw BodyError(.invalid("the list has only \(items.count) items"), path: BodyError.path(codingPath))
        }
        return JSONDecoding(items[currentIndex], codingPath + [Index(intValue: currentIndex)], keys)
    }

    private struct Index: CodingKey {
        let number: Int
        var stringValue: String { String(number) }
        var intValue: Int? { number }

        init(intValue: Int) { number = intValue }
        init?(stringValue: String) { return nil }
    }
}

/// The keys that types have asked for. Others in the body are unknown.
final class JSONKeys {
    /// By the numbers of objects.
    private var asked: [Int: Set<String>] = [:]

    func ask(for key: String, of object: JSONObject) { asked[object.number, default: []].insert(key) }

    /// The first unknown key, by the order of paths, so that the same body always gives the same message.
    func unknownKey(in value: JSONValue, path: String = "") -> BodyError? {
        switch value {
        case .null, .truth, .number, .text: return nil
        case .list(let items):
            for (index, item) in items.enumerated() {
                if let error = unknownKey(in: item, path: "\(path)[\(index)]") { return error }
            }
            return nil
        case .object(let object):
            let known = asked[object.number] ?? []
            for (key, value) in object.members.sorted(by: { $0.key < $1.key }) {
                guard known.contains(key) else {
                    return BodyError(.unknownKey(key, known: known.sorted()), path: path)
                }
                if let error = unknownKey(in: value, path: path.isEmpty ? key : "\(path).\(key)") { return error }
            }
            return nil
        }
    }
}
