/// Whether a file may be replaced by an index.
extension AssetIndex {
    /// How much of a file ``isOurs(_:)`` asks for.
    package static let recognisedWithin = 256

    /// Whether a file is an index that Penumbra wrote, of this or a later schema, also when it was laid out anew since.
    /// Nothing else may be replaced.
    ///
    /// - Parameter firstBytes: the file's first ``recognisedWithin`` bytes, or all if it has fewer.
    package static func isOurs(_ firstBytes: [UInt8]) -> Bool {
        afterHead(of: firstBytes.prefix(recognisedWithin)) != nil
    }

    /// The job whose index a file is; nil where that cannot be told.
    ///
    /// - Parameter firstBytes: as many of the file's bytes as may hold the name.
    package static func job(in firstBytes: [UInt8]) -> String? {
        guard let head = afterHead(of: firstBytes[...]), let schema = after(["\"schema\"", ":"], in: head),
            let name = after([",", "\"job\"", ":", "\""], in: schema.drop { isBlank($0) || isDigit($0) })
        else { return nil }
        return unescaped(name)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { "\u{20}\t\r\n".utf8.contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// What follows the tokens that every index begins with; nil where something else is there.
    private static func afterHead(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        after(["{", "\"generator\"", ":", "\"penumbra\"", ","], in: bytes)
    }

    private static func after(_ tokens: [String], in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = bytes
        for token in tokens {
            rest = rest.drop(while: isBlank)
            guard rest.starts(with: token.utf8) else { return nil }
            rest = rest.dropFirst(token.utf8.count)
        }
        return rest
    }

    /// Of a JSON text up to its closing quote; nil when there is none.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> String? {
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                guard escaped == UInt8(ascii: "u") else {
                    result.append(escaped)
                    continue
                }
                let digits = String(decoding: rest.prefix(4), as: UTF8.self)
                guard let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else { return nil }
                result += Array(String(Character(scalar)).utf8)
                rest = rest.dropFirst(4)
            default: result.append(byte)
            }
        }
        return nil
    }
}
