/// Where the service accepts connections.
package enum Listener: Hashable, Sendable {
    /// A Unix domain socket for the service's own user and root. The kernel says who calls.
    case control(path: String)
    /// A Unix domain socket for a proxy. Everybody needs a token.
    case web(path: String)
    /// A port of this machine alone, by IPv4 and, if there is one, by IPv6. 0 means any free port. Everybody needs a token.
    case loopback(port: UInt16)
    /// An IP address and a port that other machines reach. Allowed only behind a proxy, which adds TLS.
    case address(String, port: UInt16)
    /// A socket that systemd has opened.
    case inherited(descriptor: Int32, Kind)

    /// Which rules hold for a connection.
    package enum Kind: String, Hashable, Sendable {
        case control
        case web
        case http
    }
}

/// A socket could not be opened. The message says which one, why, and what to do.
package struct ListenerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Problem: Hashable, Sendable {
        case pathTooLong(bytes: Int)
        case notAbsolute
        case folderMissing
        case folderIsOpen(mode: UInt32)
        case otherFile
        case served
        case portInUse
        case noPermission(isPort: Bool)
        case notAnAddress
        case addressMissing
        case notBehindProxy
        case unknownName(String)
        case notListening
        case wrongFamily(name: String)
        case tooManySockets
        case system(call: String, code: Int32)
    }

    /// The path, the address, or the name of the socket.
    package let place: String
    package let problem: Problem
}
