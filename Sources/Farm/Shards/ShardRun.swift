import Catalogs
package import Engines
package import Scheduling
package import WorkerProtocol

/// Carries out one shard with worker processes on this machine. An element of a job array does this.
package struct ShardRun: Sendable {
    package let folder: ShardFolder
    package let number: Int
    /// As ``ShardResult/location``.
    package let location: String
    /// Unique for this attempt. The cluster's job numbers are not, because it reuses them.
    package let attempt: String
    private let onProgress: @Sendable (_ done: Int, _ all: Int) -> Void

    package enum End: Hashable, Sendable {
        /// The result is written.
        case done(tasks: Int, failed: Int)
        /// The refusal is written.
        case refused(String)
        case interrupted(signal: Int32)
    }

    package init(
        folder: ShardFolder, number: Int, location: String, attempt: String,
        onProgress: @escaping @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) {
        self.onProgress = onProgress
        self.folder = folder
        self.number = number
        self.location = location
        self.attempt = attempt
    }

    private enum Input: Sendable {
        case event(Event)
        case signal(Int32)
    }

    /// The shard that the coordinator wrote.
    package func shard() throws(ShardFolderError) -> Shard {
        let path = folder.shard(number)
        guard let shard = folder.read(Shard.self, from: path), shard.format == Shard.currentFormat,
            shard.isOf(folder, as: number)
        else {
            throw ShardFolderError(
                message: "\(path): no shard of this version of Penumbra; is the folder on a file system that this node "
                    + "shares, and the program the coordinator's?")
        }
        return shard
    }

    /// - Parameters:
    ///   - signals: makes a new stream for each reader, because cancelling a reader ends its stream. The first signal ends
    ///     the workers. The log keeps finished tasks for the next attempt.
    ///   - workers: the number of workers at a time.
    package func run(
        _ shard: Shard, engine: LocalEngine, workers: Int, signals: @Sendable () -> AsyncStream<Int32>
    ) async throws -> End {
        let adopted = adopted(of: shard)
        var ends: [TaskEnd] = []
        var rest: [Shard.Task] = []
        for task in shard.tasks {
            switch adopted[task.lease] {
            // Outputs are checked now, because nothing checks them again before they are published.
            case .outputs(let receipts, let source)?: rest.append(task.adopting(.outputs(receipts, of: source)))
            case let receipt?: ends.append(TaskEnd(task.lease, .done(receipt)))
            case nil: rest.append(task)
            }
        }
        if !rest.isEmpty {
            do throws(Stop) {
                let (engine, catalog) = try await start(engine, signals())
                if let difference = VersionDifference(wanted: shard.versions, found: catalog.componentVersions) {
                    throw .abandoned("its programs are not the coordinator's: \(difference.words)", [])
                }
                ends += try await render(
                    rest, of: shard, engine, catalog, workers: max(1, min(workers, rest.count)), signals())
            } catch {
                switch error {
                case .signal(let signal): return .interrupted(signal: signal)
                case .abandoned(let reason, let more):
                    try put(ends + more, of: shard, refusal: reason)
                    return .refused(reason)
                case .folder(let error): throw error
                }
            }
        }
        // A result makes the shard count as done. So a result without the ends of all tasks must have a refusal.
        let lost = Set(shard.tasks.map(\.lease)).subtracting(ends.map(\.lease)).count
        guard lost == 0 else {
            let reason = "\(lost) of its \(shard.tasks.count) tasks came to no end"
            try put(ends, of: shard, refusal: reason)
            return .refused(reason)
        }
        try put(ends, of: shard)
        return .done(tasks: ends.count, failed: ends.count { if case .done = $0.outcome { false } else { true } })
    }

    private enum Stop: Error {
        case signal(Int32)
        case abandoned(String, [TaskEnd])
        case folder(ShardFolderError)
    }

    /// Starts the engine's first worker. The worker may end before it is ready: because the whole element is ended, because
    /// of the node, or because it was killed.
    private func start(
        _ engine: LocalEngine, _ signals: AsyncStream<Int32>
    ) async throws(Stop) -> (LocalEngine, Catalog) {
        if let catalog = await engine.introduce() { return (engine, catalog) }
        if let signal = await Self.first(of: signals) { throw .signal(signal) }
        do {
            return (LocalEngine(command: engine.command), try await engine.command.describe())
        } catch {
            throw .abandoned(error.message, [])
        }
    }

    /// A cluster signals all processes of an element in any order, so the signal for this process may still come.
    private static func first(of signals: AsyncStream<Int32>) async -> Int32? {
        await withTaskGroup(of: Int32?.self) { group in
            group.addTask { await signals.first { _ in true } }
            group.addTask {
                // The sleep is cancelled when the signal has come.
                try? await Task.sleep(for: .seconds(2))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func put(_ ends: [TaskEnd], of shard: Shard, refusal: String? = nil) throws(ShardFolderError) {
        let result = ShardResult(shard: shard.id, attempt: attempt, location: location, ends: ends, refusal: refusal)
        try folder.write(result, to: folder.result(shard.id, attempt), by: attempt)
    }

    /// The results of earlier attempts at the shard whose files exist.
    private func adopted(of shard: Shard) -> [LeaseID: TaskReceipt] {
        let wanted = Dictionary(shard.tasks.map { ($0.lease, $0) }) { first, _ in first }
        var found: [LeaseID: TaskReceipt] = [:]
        for case .ended(let end) in folder.logs(of: shard.id) {
            guard case .done(let receipt) = end.outcome, wanted[end.lease]?.isAnswered(by: receipt) == true,
                receipt.files.allSatisfy(ShardFolder.holds)
            else { continue }
            found[end.lease] = receipt
        }
        return found
    }

    private func render(
        _ tasks: [Shard.Task], of shard: Shard, _ engine: LocalEngine, _ catalog: Catalog, workers: Int,
        _ signals: AsyncStream<Int32>
    ) async throws(Stop) -> [TaskEnd] {
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        async let running: Void = engine.run(commands) { continuation.yield(.event($0)) }
        command.yield(.widen(to: workers))
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { for await signal in signals { continuation.yield(.signal(signal)) } }
            group.addTask {
                // The sleep is cancelled when all tasks are done.
                while (try? await Task.sleep(for: .milliseconds(200))) != nil { continuation.yield(.event(.tick)) }
            }
            defer { group.cancelAll() }
            let state = ShardState(
                tasks, workers: workers, silence: shard.workers.silence, plugins: catalog.pluginNames)
            return await decide(state, for: shard, before: shard.tasks.count - tasks.count, inputs, command)
        }
        command.finish()
        await running
        return try outcome.get()
    }

    private func decide(
        _ state: ShardState, for shard: Shard, before: Int, _ inputs: AsyncStream<Input>,
        _ command: AsyncStream<EngineCommand>.Continuation
    ) async -> Result<[TaskEnd], Stop> {
        var state = state
        var ends: [TaskEnd] = []
        var busy: Set<WorkerID> = []
        let start = ContinuousClock.now
        for await item in inputs {
            guard case .event(let event) = item else {
                // The workers are killed, because only seconds are left.
                for worker in busy { command.yield(.kill(worker)) }
                if case .signal(let signal) = item { return .failure(.signal(signal)) }
                continue
            }
            if case .workerReady(let worker) = event { busy.insert(worker) }
            for action in state.handle(event, at: Timestamp(ContinuousClock.now - start)) {
                switch action {
                case .start(let lease): command.yield(.start(lease.written(by: attempt)))
                case .kill(let worker): command.yield(.kill(worker))
                case .recycle(let worker): command.yield(.recycle(worker))
                case .begun(let lease):
                    if let error = note(.begun(lease), of: shard) { return .failure(.folder(error)) }
                case .ended(let end):
                    let end = end.naming(attempt: attempt)
                    if let error = note(.ended(end), of: shard) { return .failure(.folder(error)) }
                    ends.append(end)
                    onProgress(before + ends.count, shard.tasks.count)
                case .abandon(let reason): return .failure(.abandoned(reason, ends))
                }
            }
            if state.isDone { return .success(ends) }
        }
        return .success(ends)
    }

    private func note(_ line: AttemptLine, of shard: Shard) -> ShardFolderError? {
        do {
            try folder.append(line, to: folder.log(shard.id, attempt))
            return nil
        } catch {
            return error
        }
    }
}

extension Lease {
    /// A worker that died may have left files. The next one writes other names.
    fileprivate func written(by attempt: String) -> Lease {
        let name = self.attempt == 1 ? attempt : "\(attempt)-\(self.attempt)"
        return Lease(
            id: id, task: task, attempt: self.attempt, round: round, worker: worker, deadline: deadline,
            timeLimit: timeLimit, spec: spec.written(by: name))
    }
}

extension TaskEnd {
    /// Messages use the names of files that the coordinator knows.
    fileprivate func naming(attempt: String) -> TaskEnd {
        guard case .failed(let failure) = outcome else { return self }
        return TaskEnd(
            lease, .failed(TaskFailure(failure.kind, Self.plain(failure.message, attempt))))
    }

    private static func plain(_ message: String, _ attempt: String) -> String {
        message.replacing(".\(attempt)-2", with: "").replacing(".\(attempt)", with: "")
    }
}

/// The pure state of an element: decides what its workers do next. It knows one shard and nothing of the run, so the
/// coordinator decides about further attempts. It tries a task again once if its worker died, because a new worker is there
/// at once and a cluster's queue is long.
package struct ShardState: Sendable {
    package enum Action: Hashable, Sendable {
        case start(Lease)
        case kill(WorkerID)
        case recycle(WorkerID)
        case begun(LeaseID)
        case ended(TaskEnd)
        /// No worker can be started here.
        case abandon(String)
    }

    private struct Running {
        let task: Shard.Task
        var deadline: Timestamp
        var plugins: [String] = []
        var isWorn = false
        var isOverdue = false
        /// Why the worker's answer was rejected.
        var objection: String?
    }

    private var waiting: [Shard.Task]
    private var running: [WorkerID: Running] = [:]
    private var idle: [WorkerID] = []
    private var lastReports: [WorkerID: Timestamp] = [:]
    private var tried: Set<LeaseID> = []
    private var failedStarts = 0
    private let mostFailedStarts: Int
    private let silence: Duration
    private let plugins: Set<String>?
    private var watch = StallWatch()

    /// - Parameters:
    ///   - workers: the intended number of workers.
    ///   - plugins: the names of the filters that are plugins; nil if they are not known.
    package init(_ tasks: [Shard.Task], workers: Int, silence: Duration, plugins: Set<String>? = nil) {
        self.plugins = plugins
        waiting = tasks.reversed()
        mostFailedStarts = 3 * workers
        self.silence = silence
    }

    package var isDone: Bool { waiting.isEmpty && running.isEmpty }

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        if let gap = watch.gap(at: now) { forgive(gap) }
        var actions: [Action] = []
        switch event {
        case .workerReady(let worker):
            // A second greeting changes nothing.
            guard lastReports[worker] == nil else { break }
            failedStarts = 0
            lastReports[worker] = now
            idle.append(worker)
        case .workerLost(let worker, let death): actions = lose(worker, death)
        case .report(let worker, let report):
            // A worker that has not greeted gets no work.
            guard lastReports[worker] != nil else { break }
            lastReports[worker] = now
            actions = handle(report, from: worker)
        case .tick: actions = endLate(at: now)
        case .frames, .planEnded, .words, .adopted, .published, .publishFailed, .decided, .stop, .pause, .limitWorkers,
            .drain,
            .stalled:
            break
        }
        return actions + startWaiting(at: now)
    }

    private mutating func handle(_ report: Report, from worker: WorkerID) -> [Action] {
        switch report {
        case .ready, .alive: return []
        case .inPlugins(_, let names):
            if let objection = running[worker]?.task.order.objection(toPlugins: names, plugins) {
                return reject(worker, objection)
            }
            running[worker]?.plugins = names
        case .worn: running[worker]?.isWorn = true
        case .finished(let lease, let receipt):
            guard let current = running[worker], current.task.lease == lease, current.objection == nil else {
                return []
            }
            if let objection = current.task.order.objection(to: receipt) { return reject(worker, objection) }
            guard let earlier = current.task.earlier else { return end(lease, .done(receipt), of: worker) }
            return current.task.isAsBefore(receipt)
                ? end(lease, .done(earlier), of: worker) : redo(lease, of: worker)
        case .failed(let lease, let failure):
            if running[worker]?.task.earlier != nil { return redo(lease, of: worker) }
            if let current = running[worker], current.task.lease == lease,
                let objection = current.task.spec.objection(to: failure, plugins: plugins)
            {
                return reject(worker, objection)
            }
            return end(lease, .failed(failure), of: worker)
        }
        return []
    }

    /// All later reports of the worker are ignored.
    private mutating func reject(_ worker: WorkerID, _ objection: String) -> [Action] {
        guard running[worker]?.objection == nil else { return [] }
        running[worker]?.objection = objection
        return [.kill(worker)]
    }

    private mutating func end(_ lease: LeaseID, _ outcome: TaskEnd.Outcome, of worker: WorkerID) -> [Action] {
        guard let ended = running[worker], ended.task.lease == lease, !ended.isOverdue, ended.objection == nil else {
            return []
        }
        running[worker] = nil
        if !ended.isWorn { idle.append(worker) }
        return [.ended(TaskEnd(lease, outcome))] + (ended.isWorn ? [.recycle(worker)] : [])
    }

    /// The files of an earlier attempt have changed, so the task is carried out again.
    private mutating func redo(_ lease: LeaseID, of worker: WorkerID) -> [Action] {
        guard let ended = running[worker], ended.task.lease == lease, !ended.isOverdue, ended.objection == nil else {
            return []
        }
        waiting.append(ended.task.adopting(nil))
        running[worker] = nil
        if !ended.isWorn { idle.append(worker) }
        return ended.isWorn ? [.recycle(worker)] : []
    }

    private mutating func lose(_ worker: WorkerID, _ death: Death) -> [Action] {
        let wasReady = lastReports.removeValue(forKey: worker) != nil
        idle.removeAll { $0 == worker }
        guard let lost = running.removeValue(forKey: worker) else {
            guard !wasReady, death.manner != .byOrder else { return [] }
            failedStarts += 1
            return failedStarts >= mostFailedStarts ? [.abandon(Self.words(death))] : []
        }
        let isFirst = tried.insert(lost.task.lease).inserted
        if isFirst, !lost.isOverdue {
            waiting.append(lost.task)
            return []
        }
        let manner = lost.objection.map { Death(.brokeProtocol($0), lastWords: death.lastWords) }
        return [.ended(TaskEnd(lost.task.lease, .died(manner ?? Self.blameless(death), inPlugins: lost.plugins)))]
    }

    /// No worker sends itself SIGTERM, but a cluster sends it to all processes of an element.
    private static func blameless(_ death: Death) -> Death {
        death.manner == .signal(15) ? Death(.killed, lastWords: death.lastWords) : death
    }

    private static func words(_ death: Death) -> String {
        switch death.manner {
        case .failedToStart(let words), .brokeProtocol(let words): words
        case .signal(let signal): "the worker crashes with signal \(signal) before it is ready"
        case .exited(let code): "the worker leaves with exit code \(code) before it is ready"
        case .killed, .outOfMemory: "the worker is killed before it is ready; is there memory enough for one?"
        case .byOrder, .silent, .elementLost, .elementFailed: "no worker becomes ready"
        }
    }

    /// Kills workers that are over their time, and workers that are stopped.
    private mutating func endLate(at now: Timestamp) -> [Action] {
        var actions: [Action] = []
        for worker in running.keys.sorted() {
            guard let current = running[worker], !current.isOverdue, current.objection == nil else { continue }
            let isSilent = lastReports[worker].map { $0 + silence <= now } ?? false
            guard current.deadline <= now || isSilent else { continue }
            // A task that reached its time limit is not tried again. The task of a stopped process is.
            running[worker]?.isOverdue = current.deadline <= now
            if isSilent { lastReports[worker] = now }
            actions.append(.kill(worker))
        }
        return actions
    }

    /// Extends all deadlines by the time for which the element was stopped.
    private mutating func forgive(_ gap: Duration) {
        running = running.mapValues { current in
            var current = current
            current.deadline = current.deadline + gap
            return current
        }
        lastReports = lastReports.mapValues { $0 + gap }
    }

    private mutating func startWaiting(at now: Timestamp) -> [Action] {
        var actions: [Action] = []
        while let worker = idle.first, let task = waiting.popLast() {
            idle.removeFirst()
            running[worker] = Running(task: task, deadline: now + task.timeLimit)
            let lease = Lease(
                id: task.lease, task: TaskID(FrameID(1), .frame), attempt: tried.contains(task.lease) ? 2 : 1, round: 0,
                worker: worker,
                deadline: now + task.timeLimit, timeLimit: task.timeLimit, spec: task.order)
            actions += [.begun(task.lease), .start(lease)]
        }
        return actions
    }
}
