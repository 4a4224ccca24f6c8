import Glibc

/// Plain threads, as a worker has them.
enum Threads {
    /// Runs the same body on several threads, and waits for all.
    static func run(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        let threads = (0..<count).compactMap { _ in start(body) }
        for thread in threads { pthread_join(thread, nil) }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        if code == 0 { return thread }
        work.release()
        body()
        return nil
    }
}
