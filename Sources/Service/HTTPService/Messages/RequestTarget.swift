/// The path and the query of a request, decoded strictly.
///
/// A path that servers and proxies could read in two ways is refused: dot segments, encoded slashes, control characters,
/// and bytes that are not UTF-8.
package struct RequestTarget: Hashable, Sendable {
    package let segments: [String]
    package let query: Query

    static let longest = 8 << 10

    package init(_ text: String) throws(Problem) {
        guard text.utf8.count <= Self.longest else { throw .badTarget("The path is longer than 8 KiB") }
        guard text.utf8.first == UInt8(ascii: "/") else { throw .badTarget("The path does not begin with '/'") }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw .badTarget("The path has characters that must be percent-encoded")
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        segments = try parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
            .map { part throws(Problem) in try Self.segment(part) }
        query = try parts.count == 2 ? Query(encoded: parts[1]) : Query()
    }

    private static func segment(_ text: Substring) throws(Problem) -> String {
        guard let segment = PercentCoding.decode(text) else {
            throw .badTarget("The path has an invalid percent-encoding")
        }
        guard segment != ".", segment != ".." else { throw .badTarget("The path has a segment '.' or '..'") }
        guard !segment.contains("/") else { throw .badTarget("The path has an encoded '/'") }
        return segment
    }

    /// Whether somebody has put a token into the address, where logs and histories would keep it.
    package var holdsToken: Bool {
        segments.contains(where: Self.mayBeToken)
            || query.parameters.contains {
                ["token", "access_token"].contains($0.name.asciiLowercased) || Self.mayBeToken($0.value)
                    || Self.mayBeToken($0.name)
            }
    }

    private static func mayBeToken(_ text: String) -> Bool { text.asciiLowercased.contains(TokenText.prefix) }

    /// For logs: without the query, whose values may be private.
    package var path: String { "/" + segments.joined(separator: "/") }
}

/// The parameters after the `?` of a request, in order.
package struct Query: Hashable, Sendable {
    package struct Parameter: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package let parameters: [Parameter]

    package static let most = 64

    package init(_ parameters: [(String, String)] = []) {
        self.parameters = parameters.map { Parameter(name: $0, value: $1) }
    }

    init(encoded text: Substring) throws(Problem) {
        let pairs = text.split(separator: "&", omittingEmptySubsequences: true)
        guard pairs.count <= Self.most else { throw .badTarget("The query has more than \(Self.most) parameters") }
        parameters = try pairs.map { pair throws(Problem) in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0], plusIsSpace: true),
                let value = PercentCoding.decode(parts.count == 2 ? parts[1] : "", plusIsSpace: true), !name.isEmpty
            else { throw .badTarget("The query has an invalid percent-encoding or a parameter without a name") }
            return Parameter(name: name, value: value)
        }
    }

    package func all(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

    /// The value of a parameter that may occur once.
    package func value(_ name: String) throws(Problem) -> String? {
        let values = all(name)
        guard values.count <= 1 else { throw .repeatedParameter(name) }
        return values.first
    }
}

/// RFC 3986, section 2.1.
enum PercentCoding {
    /// Nil for an invalid encoding, for bytes that are not UTF-8, and for control characters.
    ///
    /// - Parameter plusIsSpace: In queries browsers encode a space as `+`.
    static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
