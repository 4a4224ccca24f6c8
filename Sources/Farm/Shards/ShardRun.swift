import Catalogs
package import Engines
import Scheduling
import Synchronization
import WorkerProtocol

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
        var sandbox: SandboxReport?
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
                sandbox = catalog.sandbox
                if let difference = VersionDifference(wanted: shard.versions, found: catalog.componentVersions) {
                    throw .abandoned("its programs are not the coordinator's: \(difference.words)", [])
                }
                ends += try await render(
                    rest, of: shard, engine, catalog, workers: max(1, min(workers, rest.count)), signals())
            } catch {
                switch error {
                case .signal(let signal): return .interrupted(signal: signal)
                case .abandoned(let reason, let more):
                    try put(ends + more, of: shard, refusal: reason, sandbox)
                    return .refused(reason)
                case .folder(let error): throw error
                }
            }
        }
        // A result makes the shard count as done. So a result without the ends of all tasks must have a refusal.
        let lost = Set(shard.tasks.map(\.lease)).subtracting(ends.map(\.lease)).count
        guard lost == 0 else {
            let reason = "\(lost) of its \(shard.tasks.count) tasks came to no end"
            try put(ends, of: shard, refusal: reason, sandbox)
            return .refused(reason)
        }
        try put(ends, of: shard, sandbox)
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

    private func put(
        _ ends: [TaskEnd], of shard: Shard, refusal: String? = nil, _ sandbox: SandboxReport?
    ) throws(ShardFolderError) {
        let result = ShardResult(
            shard: shard.id, attempt: attempt, location: location, ends: ends, refusal: refusal, sandbox: sandbox)
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
        // A log on a disk that hangs stops the reader, and workers go on writing.
        let events = EventQueue()
        let interruption = Interruption()
        async let running: Void = engine.run(commands) { events.post($0) }
        command.yield(.widen(to: workers))
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await signal in signals {
                    interruption.signal.withLock { $0 = $0 ?? signal }
                    events.post(.tick)
                }
            }
            group.addTask {
                // The sleep is cancelled when all tasks are done.
                while (try? await Task.sleep(for: .milliseconds(200))) != nil { events.post(.tick) }
            }
            defer { group.cancelAll() }
            let state = ShardState(
                tasks, workers: workers, silence: shard.workers.silence, plugins: catalog.pluginNames)
            return await decide(
                state, for: shard, before: shard.tasks.count - tasks.count, events, interruption, command)
        }
        events.end()
        command.finish()
        await running
        return try outcome.get()
    }

    /// The first signal that came.
    private final class Interruption: Sendable {
        let signal = Mutex<Int32?>(nil)
    }

    private func decide(
        _ state: ShardState, for shard: Shard, before: Int, _ events: EventQueue, _ interruption: Interruption,
        _ command: AsyncStream<EngineCommand>.Continuation
    ) async -> Result<[TaskEnd], Stop> {
        var state = state
        var ends: [TaskEnd] = []
        var busy: Set<WorkerID> = []
        let start = ContinuousClock.now
        let result = await events.read { event -> Result<[TaskEnd], Stop>? in
            if let signal = interruption.signal.withLock({ $0 }) {
                // The workers are killed, because only seconds are left.
                for worker in busy { command.yield(.kill(worker)) }
                return .failure(.signal(signal))
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
            return state.isDone ? .success(ends) : nil
        }
        return result ?? .success(ends)
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
            timeLimit: timeLimit, pixelBytes: pixelBytes, spec: spec.written(by: name))
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
