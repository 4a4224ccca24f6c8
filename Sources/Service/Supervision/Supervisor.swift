import Coordination
package import Queueing
package import QueueStorage
import SafeFiles
package import ServiceAPI
import Synchronization

/// Starts the runs of submitted jobs, follows them, and shares the workers out.
///
/// The queue is in memory, as a value, and in the database. A change is stored first. All changes are made one after the other on one thread,
/// which may block. Every run is a process of its own, and goes on if this one is killed: the next supervisor finds it by its name and its
/// lock.
package final class Supervisor: Sendable {
    package struct Setup: Sendable {
        package var folder: ServiceFolder
        /// Where the runs keep their state.
        package var stateFolder: String
        package var limits: Limits
        /// Arguments that each run gets, such as `--config`.
        package var runArguments: [String]
        /// What runs of tokens with folders may open beside these.
        package var confined = ConfinedPlaces()
        /// Why no run could begin now. Nil if nothing prevents it. It is asked before jobs start, and may block.
        package var obstacle: @Sendable () -> String? = { nil }
        /// The name of another engine than the machine itself, which the config file has now. Nil for none. May block.
        package var otherEngine: @Sendable () -> String? = { nil }
        /// What to tell of a job that has changed. It is stored in the transaction of the change. May block.
        package var messages: @Sendable (Submission) -> [OutboxMessage] = { _ in [] }

        package init(folder: ServiceFolder, stateFolder: String, limits: Limits, runArguments: [String] = []) {
            self.folder = folder
            self.stateFolder = stateFolder
            self.limits = limits
            self.runArguments = runArguments
        }

        /// What no folder of a token may hold or lie in.
        package var protectedPaths: [String] { confined.protectedPaths(with: [folder.path, stateFolder]) }
    }

    /// What happens, for whoever shows it. Called on the supervisor's thread, so it must not block.
    package struct Observer: Sendable {
        /// Jobs that have changed, as they are now.
        package var changed: @Sendable ([Submission]) -> Void = { _ in }
        /// A line for the service's own log.
        package var noted: @Sendable (SupervisorNote) -> Void = { _ in }
        /// Called between two steps of a start, with the name of the step before. Tests end the process here.
        package var step: @Sendable (StartStep) -> Void = { _ in }

        package init() {}
    }

    /// The steps of a start. What is stored, and what exists, differs after each of them.
    package enum StartStep: String, Sendable, CaseIterable {
        /// The job is stored as one that waits.
        case submitted
        /// The run's name is stored, and no process exists.
        case named
        /// The process exists.
        case launched
        /// The run has begun, which is not stored.
        case begun
        /// The beginning is stored.
        case running
        /// The process is gone, which is not stored.
        case exited
        /// The end is stored.
        case ended
    }

    struct State {
        var queue = JobQueue()
        var limits: Limits
        var runs: [JobID: OpenRun] = [:]
        /// Jobs whose needs could not be looked up. The next look tries again.
        var incomplete: Set<JobID> = []
        var isStopping = false
        /// Why the database could not be written last. Nil if it could.
        var trouble: String?
    }

    let setup: Setup
    let store: QueueStore
    let checker: any ManifestChecker
    let launcher: any RunLauncher
    let observer: Observer
    let now: @Sendable () -> WallTime
    /// For the names of runs.
    let random: @Sendable () -> UInt64
    let thread = SerialThread()
    let state: Mutex<State>
    private let wakes: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    /// Reads the queue. No process is started or followed before ``run(sleep:)``.
    ///
    /// - Throws: ``QueueStoreError``, or ``FileError`` if a folder cannot be created.
    package init(
        _ setup: Setup, store: QueueStore, checker: any ManifestChecker, launcher: any RunLauncher,
        observer: Observer = Observer(), now: @escaping @Sendable () -> WallTime,
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    ) throws {
        self.setup = setup
        self.store = store
        self.checker = checker
        self.launcher = launcher
        self.observer = observer
        self.now = now
        self.random = random
        for folder in [setup.folder.manifests, setup.folder.logs, setup.folder.locks] {
            _ = try FileSystem.createFolders(folder, mode: 0o700)
        }
        let loaded = try store.load()
        var state = State(limits: setup.limits)
        state.queue = loaded.queue
        state.limits.isDrained = try store[.drained] != nil
        for job in loaded.queue.jobs {
            guard job.state.hasProcess, let run = job.state.run else { continue }
            state.runs[job.id] = OpenRun(run, isOwn: false, since: now())
        }
        self.state = Mutex(state)
        wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        for row in loaded.unreadable { observer.noted(.unreadableRow(row.message)) }
    }

    /// What no folder of a token may hold or lie in.
    package var protectedPaths: [String] { setup.protectedPaths }

    // MARK: The loop

    /// How often runs are looked at, and their shares decided.
    private static let tick = Duration.milliseconds(250)
    /// The same while nothing runs.
    private static let idleTick = Duration.seconds(5)

    /// Starts and follows runs until the task is cancelled, or ``stop()`` is called.
    ///
    /// - Parameter sleep: waits for a time, or until its task is cancelled.
    package func run(
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) async {
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        wake()
        for await _ in wakes.stream {
            await look()
            timer?.cancel()
            if Task.isCancelled { break }
            let time = nextLook
            // It has no parent, because a wait of seconds is given up as soon as something has begun. It lives as long as its sleep, which is
            // cancelled above and at the end.
            timer = Task { [wakes] in
                guard (try? await sleep(time)) != nil else { return }
                wakes.continuation.yield()
            }
        }
    }

    private var nextLook: Duration {
        state.withLock { state in
            guard state.runs.isEmpty else { return Self.tick }
            guard let recheck = state.queue.decision(state.limits, at: now()).recheck else { return Self.idleTick }
            return min(Self.idleTick, max(.milliseconds(10), recheck - now()))
        }
    }

    /// Looks at once, and not only at the next tick.
    func wake() { wakes.continuation.yield() }

    /// One look at everything: ends and beginnings of runs, what may start, and the shares.
    package func look() async {
        let orders = await thread.run { self.lookNow() }
        for order in orders { await launch(order) }
    }

    private func lookNow() -> [RunOrder] {
        let incomplete = state.withLock { state in state.incomplete.compactMap { state.queue[$0] } }
        if !incomplete.isEmpty { put(incomplete) }
        observeRuns()
        let now = now()
        let (limits, wants) = state.withLock { ($0.limits, $0.runs.compactMapValues { $0.wants(at: now) }) }
        let decision = state.withLock { $0.queue.decision(limits, wants: wants, at: now) }
        skip(decision.skips, at: now)
        let isStopping = state.withLock(\.isStopping)
        let orders = isStopping || isObstructed(decision) ? [] : decision.starts.compactMap { begin($0, at: now) }
        shareWorkers(at: now)
        return orders
    }

    /// Whether nothing can begin. The next look asks again.
    private func isObstructed(_ decision: QueueDecision) -> Bool {
        let obstacle = decision.starts.isEmpty ? nil : setup.obstacle()
        let before = state.withLock { state in
            defer { state.limits.obstacle = obstacle }
            return state.limits.obstacle
        }
        if let obstacle, obstacle != before { observer.noted(.trouble("no job starts: \(obstacle)")) }
        return obstacle != nil
    }

    /// So many jobs are skipped in one transaction.
    private static let skipsAtOnce = 500

    /// A job that fails may take thousands with it. Each transaction waits for the disk, so there are few of them.
    private func skip(_ skips: [QueueDecision.Skip], at now: WallTime) {
        var rest = skips[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.skipsAtOnce)
            rest = rest.dropFirst(part.count)
            do {
                let jobs = try part.compactMap { skip -> Submission? in
                    guard var job = state.withLock({ $0.queue[skip.job] }) else { return nil }
                    try job.skip(because: skip.cause, at: now)
                    return job
                }
                try store.update(jobs, messages: messages(of: jobs), at: now)
                put(jobs)
            } catch {
                // One of them may be odd. The others are skipped.
                for skip in part {
                    change(skip.job) { job throws(Refusal) in try job.skip(because: skip.cause, at: now) }
                }
            }
        }
    }

    // MARK: Changes

    /// Changes a job in the database and in the queue. If that fails, nothing has changed, and the next look tries again.
    ///
    /// - Returns: whether the job has changed.
    @discardableResult
    func change(_ id: JobID, _ body: (inout Submission) throws(Refusal) -> Void) -> Bool {
        do {
            return try changing(id, audit: nil, body) != nil
        } catch {
            note(error)
            return false
        }
    }

    /// - Returns: the job as it is now; nil if nothing has changed.
    @discardableResult
    func changing(
        _ id: JobID, audit: ((Submission) -> AuditEntry)?, _ body: (inout Submission) throws(Refusal) -> Void
    ) throws -> Submission? {
        guard var job = state.withLock({ $0.queue[id] }) else {
            guard let ended = try store.job(id), case .ended(let end) = ended.state else {
                throw Refusal(id, .unknownJob)
            }
            throw Refusal(id, .hasEnded(end.end))
        }
        let before = job
        try body(&job)
        guard job != before else { return nil }
        try store.update(job, messages: messages(of: [job]), audit: audit?(job), at: now())
        put([job])
        return job
    }

    /// The messages of jobs that have just changed.
    func messages(of jobs: [Submission]) -> [OutboxMessage] {
        jobs.flatMap(setup.messages)
    }

    /// Jobs that are stored become those of the queue.
    func put(_ jobs: [Submission]) {
        var failure: (any Error)?
        state.withLock { state in
            state.queue.put(jobs) { other in
                do {
                    return try store.known(other)
                } catch {
                    failure = error
                    return nil
                }
            }
            for job in jobs {
                if failure != nil, !job.needs.isEmpty {
                    state.incomplete.insert(job.id)
                } else {
                    state.incomplete.remove(job.id)
                }
                if !job.state.hasProcess { state.runs[job.id] = nil }
            }
            state.trouble = nil
        }
        if let failure { note(failure) }
        observer.changed(jobs)
    }

    /// An error of the database is not the job's. It is told once until the database works again.
    func note(_ error: any Error) {
        if let refusal = error as? Refusal { return observer.noted(.unexpected(refusal.message)) }
        let words = (error as? QueueStoreError)?.message ?? "\(error)"
        let isNew = state.withLock { state in
            defer { state.trouble = words }
            return state.trouble != words
        }
        if isNew { observer.noted(.trouble(words)) }
    }
}

/// A line for the log of the service.
package enum SupervisorNote: Hashable, Sendable {
    /// A job that cannot be read does not run.
    case unreadableRow(String)
    /// A file or the database cannot be used now.
    case trouble(String)
    /// A step did not fit the state of a job.
    case unexpected(String)

    package var text: String {
        switch self {
        case .unreadableRow(let text), .trouble(let text), .unexpected(let text): text
        }
    }
}
