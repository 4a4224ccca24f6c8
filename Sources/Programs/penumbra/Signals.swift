import Dispatch
import Glibc
import Synchronization

/// SIGINT, SIGTERM and SIGHUP as streams, instead of an end of the process.
final class Signals: Sendable {
    /// For runs, of which a process may have several, one after the other: what ends one ends all.
    static let ofRuns = Signals()

    private let inbox = Inbox()
    private let sources: [Source]

    /// Of several in a process each signal reaches but one.
    init() {
        let inbox = inbox
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            return Source(number) { inbox.receive(number) }
        }
    }

    /// What was received so far and what comes. A new stream each time: cancelling its reader ends a stream.
    var stream: AsyncStream<Int32> { inbox.stream() }

    /// What was received first; nil for nothing.
    var first: Int32? { inbox.first }

    private final class Inbox: Sendable {
        private struct State {
            var received: [Int32] = []
            var listeners: [Int: AsyncStream<Int32>.Continuation] = [:]
            var latest = 0
        }

        private let state = Mutex(State())

        var first: Int32? { state.withLock { $0.received.first } }

        func stream() -> AsyncStream<Int32> {
            let (stream, listener) = AsyncStream.makeStream(of: Int32.self)
            let key = state.withLock { state in
                for number in state.received { listener.yield(number) }
                state.latest += 1
                state.listeners[state.latest] = listener
                return state.latest
            }
            // It forgets who has stopped listening, as a command that runs for weeks has many.
            listener.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: key) }
            }
            return stream
        }

        func receive(_ number: Int32) {
            state.withLock { state in
                state.received.append(number)
                // Who asks three times is not made to wait: workers see the end of their input and leave, and what
                // they were writing is removed by the next run.
                if state.received.count >= 3 { _exit(128 + number) }
                for listener in state.listeners.values { listener.yield(number) }
            }
        }
    }

    /// Keeps a source of the dispatch library alive.
    private final class Source: @unchecked Sendable {
        // Sendable: nobody touches the source after this initialiser; it is only held.
        private let source: any DispatchSourceSignal

        init(_ number: Int32, _ handler: @escaping @Sendable () -> Void) {
            source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: handler)
            source.activate()
        }
    }
}
