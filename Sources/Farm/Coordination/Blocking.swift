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

    /// What is left to do after a body: to pass its value on.
    ///
    /// A body holds what it has captured, such as a database. Whoever waits for the value may end the process at once, so
    /// the body is released before the value is passed on.
    fileprivate typealias Reply = @Sendable () -> Void

    fileprivate static func answer<Value: Sendable, Failure: Error>(
        to body: @escaping @Sendable () throws(Failure) -> Value, start: (@escaping @Sendable () -> Reply) -> Void
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { answer in
            start {
                let result = Result { () throws(Failure) in try body() }
                return { answer.resume(returning: result) }
            }
        }
        return try result.get()
    }

    private final class Body: Sendable {
        let carryOut: @Sendable () -> Reply
        init(_ body: @escaping @Sendable () -> Reply) { carryOut = body }

        static func carryOut(_ context: UnsafeMutableRawPointer) -> Reply {
            Unmanaged<Body>.fromOpaque(context).takeRetainedValue().carryOut()
        }
    }

    /// Runs the body on a new thread. If no thread can be created, it runs on the present one.
    fileprivate static func start(_ body: @escaping @Sendable () -> Reply) {
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        var (thread, attributes) = (pthread_t(), pthread_attr_t())
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let code = pthread_create(
            &thread, &attributes,
            { context in
                if let context { Body.carryOut(context)() }
                return nil
            }, context)
        if code != 0 { Body.carryOut(context)() }
    }
}

/// Runs calls that may block one after the other, on a thread that exists only while there are calls.
package final class SerialThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Blocking.Reply] = []
        var isBusy = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns at once.
    package func begin(_ body: @escaping @Sendable () -> Void) {
        add {
            body()
            return {}
        }
    }

    /// Returns after the body, and all bodies that were begun before it, have ended.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await Blocking.answer(to: body) { add($0) }
    }

    private func add(_ body: @escaping @Sendable () -> Blocking.Reply) {
        let isFirst = state.withLock { state in
            state.waiting.append(body)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst {
            Blocking.start {
                while let reply = self.carryOutNext() { reply() }
                return {}
            }
        }
    }

    private func carryOutNext() -> Blocking.Reply? {
        let body = state.withLock { state in
            state.isBusy = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        return body.map { $0() }
    }
}
