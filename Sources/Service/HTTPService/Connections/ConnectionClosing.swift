import Synchronization

/// Tells the stream of a connection that the client has gone. The event loop calls it, and the stream may be waiting for an
/// event that never comes.
final class ConnectionClosing: Sendable {
    private struct State {
        var isClosed = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Runs the action when the connection is closed: at once if it is closed already. It replaces the earlier one.
    func onClose(_ action: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.action = action }
            return state.isClosed
        }
        if isClosed { action() }
    }

    func forgetAction() { state.withLock { $0.action = nil } }

    func close() {
        let action = state.withLock { state in
            state.isClosed = true
            defer { state.action = nil }
            return state.action
        }
        action?()
    }
}
