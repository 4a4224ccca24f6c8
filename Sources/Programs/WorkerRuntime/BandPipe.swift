import Foundation
import Raster
import WorkerProtocol

/// Hands bands from the thread that makes them to the one that needs them, a few waiting at most.
final class BandPipe: @unchecked Sendable {
    // Sendable: everything that changes is touched only while `condition` is locked.
    private let condition = NSCondition()
    private let capacity: Int
    private var waiting: [AnyRaster] = []
    /// How the making ended.
    private var end: Result<Void, any Error>?
    private var isClosed = false

    /// Thrown to the maker when nobody wants more.
    struct Closed: Error {}

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Waits until there is room.
    func push(_ band: AnyRaster) throws(Closed) {
        condition.lock()
        defer { condition.unlock() }
        while waiting.count >= capacity, !isClosed { condition.wait() }
        if isClosed { throw Closed() }
        waiting.append(band)
        condition.broadcast()
    }

    /// No more bands will come. Those that wait are still given out before an error is thrown.
    func finish(_ result: Result<Void, any Error>) {
        condition.lock()
        defer { condition.unlock() }
        end = result
        condition.broadcast()
    }

    /// Waits for the next band; nil behind the last one. Throws what ended the making.
    func pull() throws -> AnyRaster? {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty, end == nil, !isClosed { condition.wait() }
        if isClosed { throw Closed() }
        guard waiting.isEmpty else {
            defer { condition.broadcast() }
            return waiting.removeFirst()
        }
        try end?.get()
        return nil
    }

    /// Wakes both sides for good.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        waiting = []
        condition.broadcast()
    }

    /// Waits until the making has ended, whatever came of it.
    func waitForEnd() {
        condition.lock()
        defer { condition.unlock() }
        while end == nil { condition.wait() }
    }
}

extension BandPipe {
    /// What one thread hands to another. Its proof is where it is used: the one that made it leaves it alone until the
    /// thread has ended.
    private struct Handed<Value>: @unchecked Sendable {
        // Sendable: used by one thread at a time, see ``start(_:)``.
        let value: Value
    }

    /// Makes bands on a thread of its own.
    ///
    /// - Parameter make: may use what the caller holds, since the caller does not touch it before ``waitForEnd()`` has
    ///   returned.
    func start(_ make: @escaping (BandPipe) throws -> Void) {
        Self.start([self]) { [self] in try make(self) }
    }

    /// Makes the bands of several pipes on one thread. Where no thread can be had, the pipes end with that error.
    static func start(_ pipes: [BandPipe], _ make: @escaping () throws -> Void) {
        let handed = Handed(value: make)
        do throws(Shortage) {
            try WorkerThread.start {
                let result = Result { try handed.value() }
                for pipe in pipes { pipe.finish(result) }
            }
        } catch {
            for pipe in pipes { pipe.finish(.failure(error)) }
        }
    }

    /// Runs `body` for each number below `count`, the first on this thread and every other one on its own, and waits for
    /// all of them.
    ///
    /// - Parameters:
    ///   - body: may use what the caller holds, each number other things than the others.
    ///   - abandon: is called at the first failure; lets the others end soon.
    /// - Throws: the first failure that is neither ``Closed`` nor a cancellation.
    static func together<Value>(
        _ count: Int, _ body: @escaping (Int) throws -> Value, abandon: @escaping () -> Void
    ) throws -> [Value] {
        let handed = Handed(value: (body: body, abandon: abandon))
        let results = Results<Value>(count)
        for number in (0..<count).reversed() {
            let work = {
                let result = Result { try handed.value.body(number) }
                if case .failure = result { handed.value.abandon() }
                results.put(result, for: number)
            }
            if number == 0 {
                work()
            } else {
                let started = Handed(value: work)
                do throws(Shortage) {
                    try WorkerThread.start { started.value() }
                } catch {
                    abandon()
                    results.put(.failure(error), for: number)
                }
            }
        }
        return try results.all()
    }

    /// What several threads bring together.
    private final class Results<Value>: @unchecked Sendable {
        // Sendable: everything that changes is touched only while `condition` is locked.
        private let condition = NSCondition()
        private let count: Int
        private var results: [Int: Result<Value, any Error>] = [:]

        init(_ count: Int) { self.count = count }

        func put(_ result: Result<Value, any Error>, for number: Int) {
            condition.lock()
            defer { condition.unlock() }
            results[number] = result
            condition.broadcast()
        }

        /// Waits for all.
        func all() throws -> [Value] {
            condition.lock()
            defer { condition.unlock() }
            while results.count < count { condition.wait() }
            let failures = results.sorted { $0.key < $1.key }.compactMap { number, result in
                if case .failure(let error) = result { error } else { nil }
            }
            if let reason = failures.first(where: { !($0 is Closed) && !($0 is CancellationError) }) ?? failures.first {
                throw reason
            }
            return try (0..<count).compactMap { try results[$0]?.get() }
        }
    }
}
