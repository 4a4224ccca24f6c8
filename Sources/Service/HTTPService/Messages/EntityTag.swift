/// The version of a resource, as HTTP shows it (RFC 9110, section 8.8.3).
package struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    /// Without quotes.
    package let value: String

    /// - Parameter value: Letters, digits and `.`, `_`, `-` only.
    package init(_ value: String) {
        precondition(
            value.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || "._-".utf8.contains(byte)
            }, "the tag '\(value)' would have to be escaped")
        self.value = value
    }

    /// The tag of a resource that is shown with something that is not its own, such as its place in a queue. `If-None-Match` compares
    /// all of it. `If-Match` compares the version alone, because a change is not wrong if only the details have changed.
    ///
    /// - Parameters:
    ///   - version: Letters and digits.
    ///   - details: The bytes that are shown beside the version.
    package init(version: String, details: [UInt8]) throws {
        self.init("\(version).\(try EntityTag(of: details).value.prefix(12))")
    }

    private var version: Substring { value.prefix { $0 != "." } }

    /// The tag of these bytes: another content has another tag.
    package init(of bytes: [UInt8]) throws {
        value = Base32.encode(Array(try SecretDigest(of: bytes).bytes.prefix(15)))
    }

    package var description: String { "\"\(value)\"" }

    /// Whether the value of `If-None-Match` or `If-Match` names this tag. Proxies that compress make tags weak: `W/"…"`.
    func isListed(in header: String) -> Bool {
        Self.values(in: header).contains { $0 == nil || $0 == value[...] }
    }

    /// Whether the value of `If-Match` names a tag with this version.
    func hasVersionListed(in header: String) -> Bool {
        Self.values(in: header).contains { listed in
            listed.map { $0.prefix { $0 != "." } == version } ?? true
        }
    }

    /// The values of the tags in a header; nil for `*`.
    private static func values(in header: String) -> [Substring?] {
        header.split(separator: ",").compactMap { item -> Substring?? in
            var item = item.trimming(" ")
            if item == "*" { return .some(nil) }
            if item.hasPrefix("W/") { item = item.dropFirst(2) }
            guard item.utf8.count >= 2, item.hasPrefix("\""), item.hasSuffix("\"") else { return nil }
            return item.dropFirst().dropLast()
        }
    }
}

extension APIRequest {
    /// Refuses a change of a version that the caller has not seen. Without `If-Match` every version may be changed.
    package func requireMatch(_ tag: EntityTag) throws(Problem) {
        let conditions = headers.all("If-Match")
        guard conditions.isEmpty || conditions.contains(where: tag.hasVersionListed) else {
            throw .changedMeanwhile(tag)
        }
    }
}

extension APIResponse {
    /// Adds the tag. If the client has this version already, the answer becomes 304 without a body.
    package func tagged(_ tag: EntityTag, for request: APIRequest) -> APIResponse {
        var response = self
        response.headers["ETag"] = tag.description
        response.headers["Cache-Control"] = "private, no-cache"
        guard request.method == .get, status == 200,
            request.headers.all("If-None-Match").contains(where: tag.isListed)
        else { return response }
        response.status = 304
        response.body = .bytes([])
        response.headers["Content-Type"] = nil
        return response
    }
}

extension Substring {
    func trimming(_ character: Character) -> Substring {
        var rest = self
        while rest.first == character { rest.removeFirst() }
        while rest.last == character { rest.removeLast() }
        return rest
    }
}
