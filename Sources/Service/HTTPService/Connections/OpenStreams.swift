import Synchronization

/// The streams that are being sent, so that they can be ended: when their token is revoked, when their session ends, and
/// when the service stops.
final class OpenStreams: Sendable {
    private struct Stream {
        let token: TokenIdentity?
        let cancel: @Sendable () -> Void
    }

    private struct State {
        var streams: [Int: Stream] = [:]
        var last = 0
        var isStopping = false
    }

    private let state = Mutex(State())

    /// Nil once the service stops: no new stream begins.
    func add(of token: TokenIdentity?, cancel: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            guard !state.isStopping else { return nil }
            state.last += 1
            state.streams[state.last] = Stream(token: token, cancel: cancel)
            return state.last
        }
    }

    func remove(_ id: Int) { state.withLock { _ = $0.streams.removeValue(forKey: id) } }

    func end(of token: TokenID) { end { $0.id == token } }

    /// Ends the streams of one browser.
    func end(ofSession session: SecretDigest) { end { $0.session == session } }

    private func end(_ isMeant: (TokenIdentity) -> Bool) {
        let ended = state.withLock { state in state.streams.values.filter { $0.token.map(isMeant) ?? false } }
        for stream in ended { stream.cancel() }
    }

    func endAll() {
        let ended = state.withLock { state in
            state.isStopping = true
            return Array(state.streams.values)
        }
        for stream in ended { stream.cancel() }
    }

    var count: Int { state.withLock { $0.streams.count } }
}
