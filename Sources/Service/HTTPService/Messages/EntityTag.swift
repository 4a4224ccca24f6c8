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

    /// The tag of these bytes: another content has another tag.
    package init(of bytes: [UInt8]) throws {
        value = Base32.encode(Array(try SecretDigest(of: bytes).bytes.prefix(15)))
    }

    package var description: String { "\"\(value)\"" }

    /// Whether the value of `If-None-Match` or `If-Match` names this tag. Proxies that compress make tags weak: `W/"…"`.
    func isListed(in header: String) -> Bool {
        header.split(separator: ",").contains { item in
            let item = item.trimming(" ")
            return item == "*" || item == description[...] || item == "W/\(description)"
        }
    }
}

extension APIRequest {
    /// Refuses a change of a version that the caller has not seen. Without `If-Match` every version may be changed.
    package func requireMatch(_ tag: EntityTag) throws(Problem) {
        let conditions = headers.all("If-Match")
        guard conditions.isEmpty || conditions.contains(where: tag.isListed) else { throw .changedMeanwhile(tag) }
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
