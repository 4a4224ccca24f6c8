import Glibc
import Synchronization

/// Runs calls that may block for long: locks, a database that another process writes to, folders with many files.
///
/// There are only as many threads for tasks as cores, and concurrent dispatch queues share them. A call that blocks one of
/// them delays every run of the process.
package enum Blocking {
    /// Runs the body on a thread of its own.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await answer(to: body) { start($0) }
    }

    fileprivate static func answer<Value: Sendable, Failure: Error>(
        to body: @escaping @Sendable () throws(Failure) -> Value, start: (@escaping @Sendable () -> Void) -> Void
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { answer in
            start {
                do throws(Failure) {
                    answer.resume(returning: .success(try body()))
                } catch {
                    answer.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    private final class Body: Sendable {
        let carryOut: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { carryOut = body }
    }

    /// Runs the body on a new thread. If no thread can be created, it runs on the present one.
    fileprivate static func start(_ body: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(Body(body))
        var (thread, attributes) = (pthread_t(), pthread_attr_t())
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let code = pthread_create(
            &thread, &attributes,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().carryOut() }
                return nil
            }, context.toOpaque())
        if code != 0 { context.takeRetainedValue().carryOut() }
    }
}

/// Runs calls that may block one after the other, on a thread that exists only while there are calls.
final class SerialThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isBusy = false
    }

    private let state = Mutex(State())

    /// Returns at once.
    func begin(_ body: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(body)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { Blocking.start { self.work() } }
    }

    /// Returns after the body, and all bodies that were begun before it, have ended.
    func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await Blocking.answer(to: body) { begin($0) }
    }

    private func work() {
        while true {
            let bodies = state.withLock { state in
                defer { state.waiting = [] }
                state.isBusy = !state.waiting.isEmpty
                return state.waiting
            }
            if bodies.isEmpty { return }
            for body in bodies { body() }
        }
    }
}
