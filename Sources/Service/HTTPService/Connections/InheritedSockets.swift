/// The sockets that systemd has opened for this process, as sd_listen_fds(3) describes them.
package enum InheritedSockets {
    private static let first: Int32 = 3
    private static let most: Int32 = 16

    /// None if the variables are for another process: they are inherited by children.
    ///
    /// - Parameters:
    ///   - environment: Has `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` if there are sockets.
    ///   - process: The ID of this process.
    package static func listeners(
        in environment: [String: String], process: Int32
    ) throws(ListenerError) -> [Listener] {
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == process,
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
        else { return [] }
        guard count <= most else { throw ListenerError(place: "LISTEN_FDS", problem: .tooManySockets) }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return try (0..<count).map { index throws(ListenerError) in
            let name = names.indices.contains(Int(index)) ? String(names[Int(index)]) : ""
            guard let kind = Listener.Kind(rawValue: name) else {
                throw ListenerError(place: "LISTEN_FDNAMES", problem: .unknownName(name))
            }
            return .inherited(descriptor: first + index, kind)
        }
    }
}
