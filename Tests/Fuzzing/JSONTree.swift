import FoundationEssentials

/// A JSON value as Foundation reads it, to compare it with readings of our own.
indirect enum JSONTree: Decodable, Equatable {
    case null
    case truth(Bool)
    case number(Double)
    /// Bytes, because Swift takes texts for equal that differ in how accents are encoded.
    case text([UInt8])
    case list([JSONTree])
    case object([[UInt8]: JSONTree])

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let keys = try? decoder.container(keyedBy: Key.self) {
            var members: [[UInt8]: JSONTree] = [:]
            for key in keys.allKeys {
                members[Array(key.stringValue.utf8)] = try keys.decode(JSONTree.self, forKey: key)
            }
            self = .object(members)
        } else if var items = try? decoder.unkeyedContainer() {
            var list: [JSONTree] = []
            while !items.isAtEnd { list.append(try items.decode(JSONTree.self)) }
            self = .list(list)
        } else {
            self = try Self.single(decoder.singleValueContainer())
        }
    }

    private static func single(_ value: any SingleValueDecodingContainer) throws -> JSONTree {
        if value.decodeNil() { return .null }
        // Each type is tried in turn.
        if let truth = try? value.decode(Bool.self) { return .truth(truth) }
        if let text = try? value.decode(String.self) { return .text(Array(text.utf8)) }
        return .number(try value.decode(Double.self))
    }

    /// Whether Foundation reads a number as others do. It refuses numbers that are too large or too small, and `0e1`.
    static func isComparable(_ number: String) -> Bool {
        guard let value = Double(number), !number.lowercased().hasPrefix("0e") else { return false }
        if value == 0 { return !number.contains { ("1"..."9").contains($0) } }
        return value.isFinite && value.magnitude > 1e-300
    }

    /// Nil if Foundation refuses the text.
    init?(_ bytes: [UInt8]) {
        guard let tree = try? JSONDecoder().decode(JSONTree.self, from: Data(bytes)) else { return nil }
        self = tree
    }
}
