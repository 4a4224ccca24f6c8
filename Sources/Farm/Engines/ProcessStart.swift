import Glibc
import Synchronization
package import WorkerProtocol

/// Lets processes be started one after the other, and each only while there are descriptors for it.
///
/// swift-subprocess (1.0.2) ends this process where it gets one pipe of a new process and not the next.
enum ProcessStart {
    /// Three pipes, the new process, and what the start of the first one leaves open; and as many for other threads, which
    /// open files meanwhile.
    private static let descriptors = 24

    /// Those with which the library starts processes, reads from them and waits for their end, and one more.
    private static let threads = 4

    private static let gate = Gate()

    /// - Parameter body: starts the process, and calls what it gets once the process runs.
    static func one<Result>(
        _ body: (_ hasStarted: @escaping @Sendable () -> Void) async throws -> Result
    ) async throws -> Result {
        await gate.enter()
        let pass = Pass(gate)
        defer { pass.giveBack() }
        try refuseWithoutDescriptors()
        // The library waits for ever for a thread of its own that it could not start.
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

    /// What one has got who was let in; given back once.
    private final class Pass: Sendable {
        private let gate: Mutex<Gate?>

        init(_ gate: Gate) { self.gate = Mutex(gate) }

        func giveBack() { gate.withLock { $0.take() }?.leave() }
    }

    /// Lets in one after the other, in the order of their coming.
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
/// Every worker takes some descriptors, and a library that meets the limit in the middle of starting one ends this
/// process. So the limit is raised, or the run refused, before anything starts.
package enum DescriptorLimit {
    /// What the coordinator needs for itself: the database, locks, outputs, and what starts and watches processes.
    package static let own = 56

    /// Three pipes and the process itself, and what is open while it starts.
    package static let perWorker = 5

    /// Locks, the database and the indexes of one job.
    package static let perJob = 12

    /// What a soft limit is raised to where the hard limit allows it: some of every number more than is needed.
    private static let comfort = 128

    /// Raises the soft limit, as far as the hard one, if so many workers and jobs need it.
    ///
    /// - Throws: where the hard limit is too low.
    package static func secure(workers: Int, jobs: Int = 1) throws(ResourceLimitError) {
        let needed = own + perWorker * workers + perJob * jobs
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < rlim_t(needed + comfort) else { return }
        let wanted = min(limit.rlim_max, rlim_t(needed + comfort))
        if wanted > limit.rlim_cur {
            limit.rlim_cur = wanted
            setrlimit(files, &limit)
            getrlimit(files, &limit)
        }
        guard limit.rlim_cur < rlim_t(needed) else { return }
        let possible = (Int(limit.rlim_cur) - own - perJob * jobs) / perWorker
        throw ResourceLimitError(
            .files, action(workers, needed: needed, possible: possible), limit: Int(limit.rlim_cur))
    }

    private static func action(_ workers: Int, needed: Int, possible: Int) -> String {
        let plural = workers == 1 ? "worker" : "workers"
        let begin = "run \(workers) \(plural), which need \(needed) open files"
        return possible > 0 ? "\(begin) (\(possible) could be had)" : begin
    }
}
