import Raster
import WorkerProtocol

/// Passes bands from the thread that renders them to the thread that needs them. Only a few wait at a time.
final class BandPipe: @unchecked Sendable {
    // Sendable: everything that changes is touched only while `condition` is locked.
    private let condition = ThreadCondition()
    private let capacity: Int
    private var waiting: [AnyRaster] = []
    /// The result of the rendering thread.
    private var end: Result<Void, any Error>?
    private var isClosed = false

    /// Thrown to the rendering thread when no more bands are needed.
    struct ClosedError: Error {}

    init(capacity: Int) { self.capacity = capacity }

    /// Waits for space in the pipe.
    func push(_ band: AnyRaster) throws(ClosedError) {
        try condition.withLock { () throws(ClosedError) in
            while waiting.count >= capacity, !isClosed { condition.wait() }
            if isClosed { throw ClosedError() }
            waiting.append(band)
            condition.broadcast()
        }
    }

    /// Marks the end of the bands. Waiting bands are still given out before an error is thrown.
    func finish(_ result: Result<Void, any Error>) {
        condition.withLock {
            end = result
            condition.broadcast()
        }
    }

    /// Waits for the next band. Nil behind the last one. Throws the rendering thread's error.
    func pull() throws -> AnyRaster? {
        try condition.withLock {
            while waiting.isEmpty, end == nil, !isClosed { condition.wait() }
            if isClosed { throw ClosedError() }
            guard waiting.isEmpty else {
                defer { condition.broadcast() }
                return waiting.removeFirst()
            }
            try end?.get()
            return nil
        }
    }

    /// Wakes both sides. Later calls fail.
    func close() {
        condition.withLock {
            isClosed = true
            waiting = []
            condition.broadcast()
        }
    }

    /// Waits until the rendering thread has ended, whatever its result is.
    func waitForEnd() {
        condition.withLock {
            while end == nil { condition.wait() }
        }
    }
}

extension BandPipe {
    /// Renders bands on a thread of its own.
    ///
    /// - Parameter make: It may use the caller's values, because the caller does not touch them before ``waitForEnd()``
    ///   has returned.
    func start(_ make: @escaping (BandPipe) throws -> Void) { Self.start([self]) { [self] in try make(self) } }

    /// Renders the bands of several pipes on one thread. If no thread can be started, the pipes end with that error.
    static func start(_ pipes: [BandPipe], _ make: @escaping () throws -> Void) {
        // The caller does not touch its values before the thread has ended.
        nonisolated(unsafe) let make = make
        do throws(ResourceLimitError) {
            try WorkerThread.start {
                let result = Result { try make() }
                for pipe in pipes { pipe.finish(result) }
            }
        } catch {
            for pipe in pipes { pipe.finish(.failure(error)) }
        }
    }

    /// Runs `body` for each number below `count`: the first on this thread, and each of the others on a thread of its
    /// own. Waits for all.
    ///
    /// - Parameters:
    ///   - body: It may use the caller's values, but different ones for each number.
    ///   - abandon: Called at the first failure, so that the others end soon.
    /// - Throws: The first failure that is neither ``ClosedError`` nor a cancellation.
    static func together<Value>(
        _ count: Int, _ body: @escaping (Int) throws -> Value, abandon: @escaping () -> Void
    ) throws -> [Value] {
        // Each thread has values of its own.
        nonisolated(unsafe) let (body, abandon) = (body, abandon)
        let results = Results<Value>(count)
        for number in (0..<count).reversed() {
            let work = {
                let result = Result { try body(number) }
                if case .failure = result { abandon() }
                results.put(result, for: number)
            }
            if number == 0 {
                work()
            } else {
                nonisolated(unsafe) let work = work
                do throws(ResourceLimitError) {
                    try WorkerThread.start { work() }
                } catch {
                    abandon()
                    results.put(.failure(error), for: number)
                }
            }
        }
        return try results.all()
    }

    /// Collects the results of several threads.
    private final class Results<Value>: @unchecked Sendable {
        // Sendable: everything that changes is touched only while `condition` is locked.
        private let condition = ThreadCondition()
        private let count: Int
        private var results: [Int: Result<Value, any Error>] = [:]

        init(_ count: Int) { self.count = count }

        func put(_ result: Result<Value, any Error>, for number: Int) {
            condition.withLock {
                results[number] = result
                condition.broadcast()
            }
        }

        /// Waits for all results.
        func all() throws -> [Value] {
            let found = condition.withLock {
                while results.count < count { condition.wait() }
                return results
            }
            let failures = found.sorted { $0.key < $1.key }.compactMap { number, result in
                if case .failure(let error) = result { error } else { nil }
            }
            if let reason = failures.first(where: { !($0 is ClosedError) && !($0 is CancellationError) })
                ?? failures.first
            {
                throw reason
            }
            return try (0..<count).compactMap { try found[$0]?.get() }
        }
    }
}
