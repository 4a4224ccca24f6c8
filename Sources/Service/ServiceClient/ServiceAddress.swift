import JobModel

/// Where a service listens.
package struct ServiceAddress: Hashable, Sendable, CustomStringConvertible {
    package enum Place: Hashable, Sendable {
        case socket(path: String)
        /// A port of this machine.
        case port(UInt16, isIPv6: Bool)
    }

    package let place: Place
    /// What precedes each path, behind a proxy. Empty, or `/penumbra` for example.
    package let prefix: String
    /// As the user wrote it.
    package let description: String
    /// The value of the header `Host`.
    let host: String

    /// The longest path that an address of the kernel can have.
    package static let longestSocketPath = 107

    /// Reads `/path/to/control.sock`, `unix:/path/to/control.sock`, and `http://127.0.0.1:8642`, which may have a path.
    package init(text: String) throws(ServiceError) {
        let scheme = "http://"
        if PathNames.isAbsolute(text) {
            try self.init(socket: text)
        } else if text.hasPrefix("unix:") {
            let path = text.dropFirst("unix:".count)
            try self.init(socket: path.hasPrefix("///") ? String(path.dropFirst(2)) : String(path), text)
        } else if text.hasPrefix(scheme) {
            try self.init(web: text.dropFirst(scheme.count), text)
        } else if text.hasPrefix("https://") {
            let rest = text.dropFirst("https://".count).prefix { $0 != "/" }
            throw Self.isLocal(Self.name(in: rest)) ? Self.encrypted(text) : Self.foreign(text)
        } else {
            throw Self.noAddress(text)
        }
    }

    /// The socket of a service on this machine.
    package init(socket path: String, _ text: String? = nil) throws(ServiceError) {
        let text = text ?? path
        guard PathNames.isAbsolute(path), !path.utf8.contains(0) else { throw Self.noAddress(text) }
        guard path.utf8.count <= Self.longestSocketPath else {
            throw ServiceError(
                .address,
                "the path of the socket '\(ServiceError.shown(path))' has \(path.utf8.count) bytes, and at most "
                    + "\(Self.longestSocketPath) are possible\n   = use a service folder with a shorter path")
        }
        place = .socket(path: path)
        prefix = ""
        description = text
        host = "localhost"
    }

    /// - Parameter rest: What follows `http://`.
    private init(web rest: Substring, _ text: String) throws(ServiceError) {
        let end = rest.utf8.firstIndex(of: PathNames.slash) ?? rest.endIndex
        let authority = rest[..<end]
        guard let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")), !authority.utf8.contains(UInt8(ascii: "@")),
            authority.last != "]"
        else {
            // Without a port, the name decides which of two messages helps.
            throw Self.isLocal(authority) ? Self.noAddress(text) : Self.foreign(text)
        }
        let name = authority[..<colon]
        guard Self.isLocal(name) else { throw Self.foreign(text) }
        let digits = authority[authority.utf8.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits), port > 0 else {
            throw Self.noAddress(text)
        }
        var prefix = rest[end...]
        while prefix.utf8.last == PathNames.slash { prefix = prefix.dropLast() }
        guard
            prefix.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        else { throw Self.noAddress(text) }
        place = .port(port, isIPv6: name == "[::1]")
        self.prefix = String(prefix)
        description = text
        host = String(authority)
    }

    /// What precedes the port.
    private static func name(in authority: Substring) -> Substring {
        guard authority.last != "]", let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")) else {
            return authority
        }
        return authority[..<colon]
    }

    private static func encrypted(_ text: String) -> ServiceError {
        ServiceError(
            .address,
            "'\(ServiceError.shown(text))' needs TLS, which commands do not speak\n   = write http://127.0.0.1:PORT with the "
                + "service's own port, in place of a proxy's, or the path of its socket")
    }

    private static func isLocal(_ name: Substring) -> Bool { ["127.0.0.1", "localhost", "[::1]"].contains(name) }

    private static func noAddress(_ text: String) -> ServiceError {
        ServiceError(
            .address,
            "'\(ServiceError.shown(text))' is no address of a service\n   = write the absolute path of its socket, "
                + "or http://127.0.0.1:PORT")
    }

    private static func foreign(_ text: String) -> ServiceError {
        ServiceError(
            .address,
            "'\(ServiceError.shown(text))' is not on this machine, and is not reached directly\n   = forward a port: "
                + "ssh -L 8642:127.0.0.1:8642 HOST\n   = then write http://127.0.0.1:8642")
    }
}
