import Catalogs
package import Engines
import Scheduling
import WorkerProtocol

/// Does one shard with worker processes here: what an element of a job array is.
package struct ShardRun: Sendable {
    package let folder: ShardFolder
    package let number: Int
    /// As ``ShardResult/place``.
    package let place: String
    /// Of this attempt alone, whatever the cluster calls it: numbers of jobs are used again.
    package let attempt: String
    private let onProgress: @Sendable (_ done: Int, _ all: Int) -> Void

    package enum End: Hashable, Sendable {
        /// The result is in its place.
        case done(tasks: Int, failed: Int)
        /// So is the refusal.
        case refused(String)
        case interrupted(signal: Int32)
    }

    package init(
        folder: ShardFolder, number: Int, place: String, attempt: String,
        onProgress: @escaping @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) {
        self.onProgress = onProgress
        self.folder = folder
        self.number = number
        self.place = place
        self.attempt = attempt
    }

    private enum News: Sendable {
        case event(Event)
        case signal(Int32)
    }

    /// The shard as its coordinator wrote it.
    package func shard() throws(ShardFolder.Trouble) -> Shard {
        let path = folder.shard(number)
        guard let shard = folder.read(Shard.self, from: path), shard.format == Shard.currentFormat,
            shard.isOf(folder, as: number)
        else {
            throw ShardFolder.Trouble(
                message: "\(path): no shard of this version of Penumbra; is the folder on a file system that this node "
                    + "shares, and the program the coordinator's?")
        }
        return shard
    }

    /// - Parameters:
    ///   - signals: a new stream each time: reading one and going on ends it. The first signal ends the workers; what is done stays in the log, for the next attempt.
    ///   - workers: how many at once.
    package func run(
        _ shard: Shard, engine: LocalEngine, workers: Int, signals: @Sendable () -> AsyncStream<Int32>
    ) async throws -> End {
        let adopted = adopted(of: shard)
        var ends: [TaskEnd] = []
        var rest: [Shard.Task] = []
        for task in shard.tasks {
            switch adopted[task.lease] {
            // Nobody looks at these again before they are published.
            case .outputs(let receipts, let source)?: rest.append(task.adopting(.outputs(receipts, of: source)))
            case let receipt?: ends.append(TaskEnd(task.lease, .done(receipt)))
            case nil: rest.append(task)
            }
        }
        if !rest.isEmpty {
            do throws(Stop) {
                let (engine, catalog) = try await start(engine, signals())
                if let difference = VersionDifference(wanted: shard.versions, found: catalog.makings) {
                    throw .gaveUp("its programs are not the coordinator's: \(difference.words)", [])
                }
                ends += try await render(
                    rest, of: shard, engine, catalog, workers: max(1, min(workers, rest.count)), signals())
            } catch {
                switch error {
                case .signal(let signal): return .interrupted(signal: signal)
                case .gaveUp(let reason, let more):
                    try put(ends + more, of: shard, refusal: reason)
                    return .refused(reason)
                case .trouble(let trouble): throw trouble
                }
            }
        }
        // Whoever finds a result takes the shard for done: one that lacks a task's end must say so.
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
        case gaveUp(String, [TaskEnd])
        case trouble(ShardFolder.Trouble)
    }

    /// The engine with its first worker. That one may end before it is ready: because all of the element is being ended, for a
    /// reason that is the node's, or because somebody killed just that.
    private func start(
        _ engine: LocalEngine, _ signals: AsyncStream<Int32>
    ) async throws(Stop) -> (LocalEngine, Catalog) {
        if let catalog = await engine.introduce() { return (engine, catalog) }
        if let signal = await Self.first(of: signals) { throw .signal(signal) }
        do {
            return (LocalEngine(command: engine.command), try await CatalogReader.read(engine.command))
        } catch {
            throw .gaveUp(error.message, [])
        }
    }

    /// A cluster signals all processes of an element, in any order; so the one that matters may be on its way.
    private static func first(of signals: AsyncStream<Int32>) async -> Int32? {
        await withTaskGroup(of: Int32?.self) { group in
            group.addTask { await signals.first { _ in true } }
            group.addTask {
                // Sleeping fails when the signal is there.
                try? await Task.sleep(for: .seconds(2))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func put(_ ends: [TaskEnd], of shard: Shard, refusal: String? = nil) throws(ShardFolder.Trouble) {
        let result = ShardResult(shard: shard.id, attempt: attempt, place: place, ends: ends, refusal: refusal)
        try folder.write(result, to: folder.result(shard.id, attempt), by: attempt)
    }

    /// What earlier attempts at the shard have done, and whose files are there.
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
        let (news, tell) = AsyncStream.makeStream(of: News.self)
        async let crew: Void = engine.run(commands) { tell.yield(.event($0)) }
        command.yield(.widen(to: workers))
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { for await signal in signals { tell.yield(.signal(signal)) } }
            group.addTask {
                // Sleeping fails when all is done.
                while (try? await Task.sleep(for: .milliseconds(200))) != nil { tell.yield(.event(.tick)) }
            }
            defer { group.cancelAll() }
            let desk = ShardState(
                tasks, workers: workers, silence: shard.workers.silence, plugins: catalog.pluginNames)
            return await decide(desk, for: shard, before: shard.tasks.count - tasks.count, news, command)
        }
        command.finish()
        await crew
        return try outcome.get()
    }

    private func decide(
        _ desk: ShardState, for shard: Shard, before: Int, _ news: AsyncStream<News>,
        _ command: AsyncStream<EngineCommand>.Continuation
    ) async -> Result<[TaskEnd], Stop> {
        var desk = desk
        var ends: [TaskEnd] = []
        var busy: Set<WorkerID> = []
        let start = ContinuousClock.now
        for await item in news {
            guard case .event(let event) = item else {
                // They are killed, not let go: there are seconds left.
                for worker in busy { command.yield(.kill(worker)) }
                if case .signal(let signal) = item { return .failure(.signal(signal)) }
                continue
            }
            if case .workerReady(let worker) = event { busy.insert(worker) }
            for action in desk.handle(event, at: Timestamp(ContinuousClock.now - start)) {
                switch action {
                case .start(let lease): command.yield(.start(lease.written(by: attempt)))
                case .kill(let worker): command.yield(.kill(worker))
                case .recycle(let worker): command.yield(.recycle(worker))
                case .begun(let lease):
                    if let trouble = note(.begun(lease), of: shard) { return .failure(.trouble(trouble)) }
                case .ended(let end):
                    let end = end.naming(attempt: attempt)
                    if let trouble = note(.ended(end), of: shard) { return .failure(.trouble(trouble)) }
                    ends.append(end)
                    onProgress(before + ends.count, shard.tasks.count)
                case .giveUp(let reason): return .failure(.gaveUp(reason, ends))
                }
            }
            if desk.isDone { return .success(ends) }
        }
        return .success(ends)
    }

    private func note(_ line: AttemptLine, of shard: Shard) -> ShardFolder.Trouble? {
        do {
            try folder.append(line, to: folder.log(shard.id, attempt))
            return nil
        } catch {
            return error
        }
    }
}

extension Lease {
    /// A worker that died may have left files; its successor has names of its own, too.
    fileprivate func written(by attempt: String) -> Lease {
        let name = self.attempt == 1 ? attempt : "\(attempt)-\(self.attempt)"
        return Lease(
            id: id, task: task, attempt: self.attempt, round: round, worker: worker, deadline: deadline,
            timeLimit: timeLimit, spec: spec.written(by: name))
    }
}

extension TaskEnd {
    /// Messages name files as the coordinator knows them.
    fileprivate func naming(attempt: String) -> TaskEnd {
        guard case .failed(let failure) = outcome else { return self }
        return TaskEnd(
            lease, .failed(TaskFailure(failure.kind, Self.plain(failure.message, attempt))))
    }

    private static func plain(_ message: String, _ attempt: String) -> String {
        message.replacing(".\(attempt)-2", with: "").replacing(".\(attempt)", with: "")
    }
}
