package import Engines
package import JobModel
package import Scheduling
package import Shards
import WorkerProtocol

/// Hands shards to a cluster's job arrays, over a file system that all nodes share. ``ClusterState`` decides; this runs the
/// system's commands, beside the decisions, and looks at the folder.
///
/// What was done is told by each shard's own result file, never by the cluster alone: see ``ShardFolder`` and ``ElementFailure``.
package final class ClusterEngine: Engine {
    /// Of one run.
    package struct Setup: Sendable {
        package let folder: ShardFolder
        /// What elements print goes to files in this folder (``BatchTraits/LogName``).
        package let logs: String
        package let run: String
        package let epoch: Int
        /// The path of `penumbra` on the nodes.
        package let program: String
        package let versions: [String: String]
        package let workers: Shard.Workers
        /// Nil where no job has to go on with the run when this process ends.
        package let succession: SuccessorJob?
        /// Names of the environment variables that jobs get (``WorkerEnvironment``); none for what the system chooses.
        package let variables: [String]

        package init(
            folder: ShardFolder, logs: String, run: String, epoch: Int, program: String, versions: [String: String],
            workers: Shard.Workers, succession: SuccessorJob? = nil,
            variables: [String] = []
        ) {
            self.folder = folder
            self.logs = logs
            self.run = run
            self.epoch = epoch
            self.program = program
            self.versions = versions
            self.workers = workers
            self.succession = succession
            self.variables = variables
        }

        package var source: ShardSource {
            ShardSource(folder: folder, run: run, epoch: epoch, versions: versions, workers: workers)
        }
    }

    let system: any BatchSystem
    let options: ClusterOptions
    let setup: Setup
    let report: @Sendable (String) -> Void

    /// - Parameter report: gets sentences that a person should read: that the cluster does not answer, say.
    package init(
        system: any BatchSystem, options: ClusterOptions, setup: Setup, report: @escaping @Sendable (String) -> Void
    ) {
        self.system = system
        self.options = options
        self.setup = setup
        self.report = report
    }

    /// Tasks that may be with the cluster at once, whatever it has.
    package static let leastTasks = 4096
    /// Each takes some two kilobytes of the coordinator.
    package static let mostTasks = 131_072

    private static let tick = Duration.milliseconds(100)

    private enum Input: Sendable {
        case input(ClusterState.Input)
        /// The run is over.
        case ended
    }

    /// What a run begins with.
    private struct Beginning: Sendable {
        let past: PriorResults
        let largestArray: Int
    }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        // What comes before all is ready waits in the stream.
        let preparation = Task { await prepare(onEvent) }
        let feed = Task {
            for await command in commands { continuation.yield(.input(.command(command))) }
            preparation.cancel()
            continuation.yield(.ended)
        }
        guard let beginning = await preparation.value else {
            // No worker was ever ready, so none has to be taken leave of.
            await feed.value
            continuation.finish()
            return await Task { await leaveUnprepared(inputs) }.value
        }
        let last = await follow(beginning, inputs, continuation, onEvent)
        guard !last.isHandedOver else { return }
        // In a task of its own: a run that is cancelled leaves nothing behind, either.
        await Task { await leave(last) }.value
        if !last.hadTrouble { ShardFolder.remove(logs: setup.logs) }
    }

    /// - Returns: the state as it is when nothing is being asked of the system any more.
    private func follow(
        _ beginning: Beginning, _ inputs: AsyncStream<Input>, _ continuation: AsyncStream<Input>.Continuation,
        _ onEvent: @escaping @Sendable (Event) -> Void
    ) async -> ClusterState {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // Sleeping fails when the run is over.
                while (try? await Task.sleep(for: Self.tick)) != nil { continuation.yield(.input(.tick)) }
            }
            let start = ContinuousClock.now
            var past = beginning.past
            var state = ClusterState(
                ClusterState.Setup(
                    run: setup.run, epoch: setup.epoch, logs: setup.logs, options: options, traits: system.traits,
                    largestArray: beginning.largestArray, lastShard: past.lastShard))
            var folder = ResultReader(
                ShardResults(folder: setup.folder, run: setup.run, epoch: setup.epoch, grace: options.fileGrace))
            for event in state.begin() { onEvent(event) }
            for await case .input(let input) in inputs.prefix(while: { if case .ended = $0 { false } else { true } }) {
                let now = Timestamp(ContinuousClock.now - start)
                var effects: [ClusterState.Effect] = []
                switch input {
                case .command(.start(let lease), _):
                    effects = state.handle(.command(.start(lease), prior: past.take(lease.spec)), at: now)
                case .tick:
                    let results = folder.read(for: state, at: now)
                    if !results.isEmpty { effects = state.handle(.results(results), at: now) }
                    effects += state.handle(.tick, at: now)
                default: effects = state.handle(input, at: now)
                }
                for effect in effects {
                    switch effect {
                    case .event(let event): onEvent(event)
                    case .report(let sentence): self.report(sentence)
                    default:
                        group.addTask {
                            if let answer = await self.carryOut(effect) { continuation.yield(.input(answer)) }
                        }
                    }
                }
            }
            group.cancelAll()
            return state
        }
    }

    /// Looks for results.
    private struct ResultReader {
        private var results: ShardResults
        private var next = Timestamp.start

        init(_ results: ShardResults) { self.results = results }

        /// A folder of very many names takes its time, and is looked through less often.
        mutating func read(for state: ClusterState, at now: Timestamp) -> [ShardResult] {
            guard !state.awaited.isEmpty, now >= next else { return [] }
            let begin = ContinuousClock.now
            defer { next = now + (ContinuousClock.now - begin) * 21 }
            return results.take(of: state.awaited, at: now, log: state.log)
        }
    }

    private func prepare(_ onEvent: @escaping @Sendable (Event) -> Void) async -> Beginning? {
        do {
            try setup.folder.create()
            try ShardFolder.make(setup.logs)
            // First of all: from now on somebody goes on with the run, whatever happens here.
            try await setup.succession?.begin(system, options, setup, report)
            if setup.epoch > 1 {
                try await patiently { () async throws(BatchError) in
                    try await SubmittedJobs(of: setup.folder).endArrays(before: setup.epoch, on: system)
                }
            }
            let description = try await patiently { () async throws(BatchError) in
                try await system.describe(withQueues: false)
            }
            return Beginning(past: PriorResults(of: setup.folder), largestArray: description.largestArray)
        } catch let trouble as ShardFolderError {
            onEvent(.stop(.cluster(trouble.message)))
        } catch let error as BatchError {
            onEvent(.stop(.cluster(error.message)))
        } catch {
            onEvent(.stop(.cluster("\(system.traits.name) cannot be used: \(error)")))
        }
        return nil
    }

    /// Asks again while a controller is away, as long as one is waited for.
    private func patiently<Answer>(
        _ ask: () async throws(BatchError) -> Answer
    ) async throws -> Answer {
        let end = ContinuousClock.now + ArraySubmitter.timeout
        while true {
            do throws(BatchError) {
                return try await ask()
            } catch {
                guard case .unanswered(let words) = error, ContinuousClock.now < end else { throw error }
                report("\(system.traits.name) does not answer, and is asked again: \(words)")
            }
            // Fails when the run is over.
            try await Task.sleep(for: .seconds(3))
        }
    }

    private func carryOut(_ effect: ClusterState.Effect) async -> ClusterState.Input? {
        switch effect {
        case .event, .report: return nil
        case .submit(let array, let shards):
            do {
                for (number, tasks) in shards.sorted(by: { $0.key < $1.key }) {
                    _ = try setup.source.write(tasks, as: number)
                }
            } catch {
                return .unwritten(array, error.message)
            }
            let submitter = ArraySubmitter(system: system, options: options, setup: setup, report: report)
            return .submitted(array, await submitter.submit(.array(array)))
        case .list(let jobs):
            do {
                return .listed(.success(try await system.query(.ids(jobs))))
            } catch {
                return .listed(.failure(error))
            }
        case .readLog(let lost):
            let id = Shard.ID(run: setup.run, epoch: setup.epoch, number: lost.shard)
            let lines = setup.folder.logs(of: id).filter { line in
                if case .ended(let end) = line { ShardResults.isThere(end) } else { true }
            }
            return .log(lost, lines)
        case .makeRoom:
            try? await setup.succession?.end(system, setup)
            return nil
        case .cancel(let element):
            // An element that could not be cancelled writes what nobody reads.
            try? await system.cancel(.ids([element]))
            return nil
        }
    }

    /// Unless another coordinator goes on with the run, nothing of it is to be left in the queue.
    private func leaveUnprepared(_ inputs: AsyncStream<Input>) async {
        // Its jobs print into the folder for logs.
        for await case .input(.command(.handOver, _)) in inputs { return }
        defer { ShardFolder.removeIfEmpty(logs: setup.logs) }
        do {
            try await setup.succession?.end(system, setup)
            try await SubmittedJobs(of: setup.folder).endArrays(before: setup.epoch, on: system)
        } catch {
            report("\(system.traits.leftover(beginning: "penumbra-\(setup.run)")): \(error.message)")
        }
    }

    /// Nothing of this run is left in the queue, nor on a node that can be reached.
    private func leave(_ state: ClusterState) async {
        let end = ContinuousClock.now + Self.endLimit
        while true {
            do {
                if try await cancelAll(of: state) || ContinuousClock.now >= end { return }
            } catch {
                guard case .unanswered = error, ContinuousClock.now < end else {
                    return report(
                        "\(system.traits.leftover(listedIn: setup.folder.submissions)): \(error.message)")
                }
            }
            // Files of what runs on would be left behind. Nobody cancels this task.
            try? await Task.sleep(for: .milliseconds(300))
        }
    }

    /// - Returns: whether all have ended.
    private func cancelAll(of state: ClusterState) async throws(BatchError) -> Bool {
        try await setup.succession?.end(system, setup)
        var jobs = state.jobs
        // One whose number did not come any more may be there all the same.
        for name in state.names {
            try await system.cancel(.named(name))
            jobs += try await system.jobs(named: name)
        }
        let rest = try await system.query(.ids(Set(jobs).sorted())).filter {
            state.allNames.contains($0.submission) && !$0.condition.isOver
        }
        // One that was started anew after its result had come.
        try await system.cancel(.ids(rest.filter { $0.condition != .running }.map(\.id)))
        return rest.isEmpty
    }

    /// Elements end within the cluster's grace, or when they have nothing to do.
    private static let endLimit = Duration.seconds(60)
}

extension ClusterEngine {
    /// Has an element start a worker on a node, compare its programs' versions and do nothing.
    ///
    /// - Parameter limit: for all of it, the queue too.
    /// - Returns: where that was: `element 12_0 on n2`.
    package func tryOut(signals: AsyncStream<Int32>, limit: Duration) async throws(EngineError) -> String {
        _ = try await ask(.compare(DigestTask(files: [])), signals: signals, limit: limit)
        let names = setup.folder.names(in: setup.folder.results).filter { $0.hasSuffix(".json") }
        let result = names.last.flatMap { setup.folder.read(ShardResult.self, from: "\(setup.folder.results)/\($0)") }
        return result?.location ?? "an element"
    }

    /// Nothing of the trial is left.
    package func forgetTrial() { ShardFolder.remove(setup.folder.path) }
}
