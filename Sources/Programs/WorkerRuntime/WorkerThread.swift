import Glibc
import WorkerProtocol

/// Threads of a worker, of which nobody waits for one that never started.
enum WorkerThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own.
    ///
    /// - Throws: where the system has no thread for it; `body` is not called then.
    static func start(_ body: @escaping @Sendable () -> Void) throws(Shortage) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw Shortage(noThread: code)
        }
        pthread_detach(thread)
    }
}
