import Synchronization

/// Tells the stream of a connection that the client has gone. The event loop calls it, and the stream may be waiting for an
/// event that never comes.
final class ConnectionClosing: Sendable {
    private struct State {
        var isClosed = false
        var action: (@Sendable () -> Void)?
        /// Whether the action is also run if the client closes only its own side.
        var isForInput = false
    }

    private let state = Mutex(State())

    /// Runs the action when the connection is closed: at once if it is closed already. It replaces the earlier one.
    ///
    /// - Parameter orOfInput: also when the client closes its side from now on. A client that goes away does that first, and the kernel
    ///   tells no difference until something is sent to it.
    func onClose(orOfInput isForInput: Bool = false, _ action: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { (state.action, state.isForInput) = (action, isForInput) }
            return state.isClosed
        }
        if isClosed { action() }
    }

    /// The client has closed its side.
    func closeInput() {
        let action = state.withLock { $0.isForInput ? $0.action : nil }
        action?()
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
