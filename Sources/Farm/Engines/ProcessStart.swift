import Glibc
import Synchronization
package import WorkerProtocol

/// Starts processes one after the other, and only while enough descriptors are free.
///
/// swift-subprocess (1.0.2) ends this process if it gets one pipe for a new process but not the next.
package enum ProcessStart {
    /// For three pipes, the new process, and what the start of the first process leaves open, and as many for other threads
    /// that open files meanwhile.
    private static let descriptors = 24

    /// The library's threads that start processes, read from them and wait for their end, and one more.
    private static let threads = 4

    private static let gate = Gate()

    /// - Parameter body: starts the process, and calls its argument once the process runs.
    package static func one<Result>(
        _ body: (_ hasStarted: @escaping @Sendable () -> Void) async throws -> Result
    ) async throws -> Result {
        await gate.enter()
        let pass = Pass(gate)
        defer { pass.giveBack() }
        try refuseWithoutDescriptors()
        // The library waits for ever for a thread that it could not start.
        if let limitError = ResourceLimitError.found(threads: threads, for: "start a process") { throw limitError }
        return try await body { pass.giveBack() }
    }

    static func refuseWithoutDescriptors() throws(ResourceLimitError) {
        var open: [Int32] = []
        defer { for file in open { close(file) } }
        while open.count < descriptors {
            let file = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else {
                guard let limitError = ResourceLimitError(code: errno, "start a process") else { return }
                throw limitError
            }
            open.append(file)
        }
    }

    /// The permission to start one process. It is given back once.
    private final class Pass: Sendable {
        private let gate: Mutex<Gate?>

        init(_ gate: Gate) { self.gate = Mutex(gate) }

        func giveBack() { gate.withLock { $0.take() }?.leave() }
    }

    /// Admits one caller at a time, in the order of arrival.
    private final class Gate: Sendable {
        private struct State {
            var isTaken = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        func enter() async {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    defer { state.isTaken = true }
                    if state.isTaken { state.waiting.append(continuation) }
                    return !state.isTaken
                }
                if isFree { continuation.resume() }
            }
        }

        func leave() {
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard !state.waiting.isEmpty else {
                    state.isTaken = false
                    return nil
                }
                return state.waiting.removeFirst()
            }
            next?.resume()
        }
    }
}

/// The limit of open files of this process.
///
/// Every worker needs descriptors, and a library that reaches the limit while it starts a worker ends this process. So the
/// limit is raised, or the run refused, before anything starts.
package enum DescriptorLimit {
    /// The coordinator's own needs: the database, locks, outputs, and what starts and watches processes.
    package static let own = 56

    /// Two pipes and a socket, the process itself, what is open while it starts, and the files of an order: an input, an
    /// output and one without a name, which the sender keeps for later orders.
    package static let perWorker = 9

    /// The files of an order that ``perWorker`` contains.
    package static let perOrder = 3

    /// Locks, the database and the indexes of one job.
    package static let perJob = 12

    /// The reserve to which a soft limit is raised if the hard limit allows it.
    private static let comfort = 128

    /// More of the reserve for each worker, or as many as an order has files. All workers may get orders at once.
    private static let comfortPerWorker = 64

    /// Raises the soft limit, up to the hard limit, if so many workers and jobs need it.
    ///
    /// - Parameter filesPerOrder: the most files that an order may have. Only one order must be possible at a time.
    /// - Throws: if the hard limit is too low.
    package static func secure(
        workers: Int, jobs: Int = 1, filesPerOrder: Int = perOrder
    ) throws(ResourceLimitError) {
        let others = own + perJob * jobs + max(0, filesPerOrder - perOrder)
        let needed = others + perWorker * workers
        let comfortable = needed + comfort + max(comfortPerWorker, filesPerOrder) * workers
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < rlim_t(comfortable) else { return }
        let wanted = min(limit.rlim_max, rlim_t(comfortable))
        if wanted > limit.rlim_cur {
            limit.rlim_cur = wanted
            setrlimit(files, &limit)
            getrlimit(files, &limit)
        }
        guard limit.rlim_cur < rlim_t(needed) else { return }
        let possible = (Int(limit.rlim_cur) - others) / perWorker
        throw ResourceLimitError(
            .files, action(workers, needed: needed, possible: possible), limit: Int(limit.rlim_cur))
    }

    private static func action(_ workers: Int, needed: Int, possible: Int) -> String {
        let plural = workers == 1 ? "worker" : "workers"
        let begin = "run \(workers) \(plural), which need \(needed) open files"
        return possible > 0 ? "\(begin) (\(possible) could be had)" : begin
    }
}
