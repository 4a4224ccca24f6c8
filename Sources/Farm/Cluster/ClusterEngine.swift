package import Engines
package import JobModel
package import Scheduling
package import Shards
import WorkerProtocol

/// Gives shards to a cluster as job arrays, over a file system that all nodes share. ``ClusterState`` decides. This class
/// runs the system's commands in the background, and reads the folder.
///
/// Only the result file of a shard says what was done, never the cluster alone: see ``ShardFolder`` and ``ElementFailure``.
package final class ClusterEngine: Engine {
    /// The constants of one run.
    package struct Setup: Sendable {
        package let folder: ShardFolder
        /// The folder for the output of elements (``BatchTraits/LogName``).
        package let logs: String
        package let run: String
        package let epoch: Int
        /// The path of `penumbra` on the nodes.
        package let program: String
        package let versions: [String: String]
        package let workers: Shard.Workers
        /// Nil if no job has to resume the run when this process ends.
        package let succession: SuccessorJob?
        /// The names of the environment variables that jobs get (``WorkerEnvironment``); empty for the system's choice.
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

    /// - Parameter report: gets messages for people, such as that the cluster does not answer.
    package init(
        system: any BatchSystem, options: ClusterOptions, setup: Setup, report: @escaping @Sendable (String) -> Void
    ) {
        self.system = system
        self.options = options
        self.setup = setup
        self.report = report
    }

    /// The lowest limit for tasks at a time, however small the cluster is.
    package static let leastTasks = 4096
    /// Each task takes about two kilobytes of the coordinator's memory.
    package static let mostTasks = 131_072

    private static let tick = Duration.milliseconds(100)

    private enum Input: Sendable {
        case input(ClusterState.Input)
        /// The run is over.
        case ended
    }

    /// What is known when a run begins.
    private struct Beginning: Sendable {
        let prior: PriorResults
        let largestArray: Int
    }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        // Commands that come before the preparation is complete wait in the stream.
        let preparation = Task { await prepare(onEvent) }
        let feed = Task {
            for await command in commands { continuation.yield(.input(.command(command))) }
            preparation.cancel()
            continuation.yield(.ended)
        }
        guard let beginning = await preparation.value else {
            // No worker was ever ready, so none is reported as lost.
            await feed.value
            continuation.finish()
            return await Task { await leaveUnprepared(inputs) }.value
        }
        let last = await follow(beginning, inputs, continuation, onEvent)
        guard !last.isHandedOver else { return }
        // A task of its own, so that a cancelled run is cleaned up, too.
        await Task { await leave(last) }.value
        if !last.hadErrors { ShardFolder.remove(logs: setup.logs) }
    }

    /// - Returns: the last state. No request to the system is open any more.
    private func follow(
        _ beginning: Beginning, _ inputs: AsyncStream<Input>, _ continuation: AsyncStream<Input>.Continuation,
        _ onEvent: @escaping @Sendable (Event) -> Void
    ) async -> ClusterState {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // The sleep is cancelled when the run is over.
                while (try? await Task.sleep(for: Self.tick)) != nil { continuation.yield(.input(.tick)) }
            }
            let start = ContinuousClock.now
            var prior = beginning.prior
            var state = ClusterState(
                ClusterState.Setup(
                    run: setup.run, epoch: setup.epoch, logs: setup.logs, options: options, traits: system.traits,
                    largestArray: beginning.largestArray, lastShard: prior.lastShard))
            var folder = ResultReader(
                ShardResults(folder: setup.folder, run: setup.run, epoch: setup.epoch, grace: options.fileGrace))
            for event in state.begin() { onEvent(event) }
            for await case .input(let input) in inputs.prefix(while: { if case .ended = $0 { false } else { true } }) {
                let now = Timestamp(ContinuousClock.now - start)
                var effects: [ClusterState.Effect] = []
                switch input {
                case .command(.start(let lease), _):
                    effects = state.handle(.command(.start(lease), prior: prior.take(lease.spec)), at: now)
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

    /// Reads the results of shards.
    private struct ResultReader {
        private var results: ShardResults
        private var next = Timestamp.start

        init(_ results: ShardResults) { self.results = results }

        /// Reading a very large folder takes long, so it is read less often.
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
            // This comes first. From now on a job resumes the run, whatever happens here.
            try await setup.succession?.begin(system, options, setup, report)
            if setup.epoch > 1 {
                try await askingAgain { () async throws(BatchError) in
                    try await SubmittedJobs(of: setup.folder).endArrays(before: setup.epoch, on: system)
                }
            }
            let description = try await askingAgain { () async throws(BatchError) in
                try await system.describe(withQueues: false)
            }
            return Beginning(prior: PriorResults(of: setup.folder), largestArray: description.largestArray)
        } catch let error as ShardFolderError {
            onEvent(.stop(.cluster(error.message)))
        } catch let error as BatchError {
            onEvent(.stop(.cluster(error.message)))
        } catch {
            onEvent(.stop(.cluster("\(system.traits.name) cannot be used: \(error)")))
        }
        return nil
    }

    /// Repeats a request while the controller does not answer, up to a limit.
    private func askingAgain<Answer>(
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
            // Fails if the run is over.
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
                if case .ended(let end) = line { ShardResults.filesExist(of: end) } else { true }
            }
            return .log(lost, lines)
        case .makeRoom:
            // If that fails, the next submission is refused again, and its message says why.
            try? await setup.succession?.end(system, setup)
            return nil
        case .cancel(let element):
            // An element that could not be cancelled writes files that nobody reads.
            try? await system.cancel(.ids([element]))
            return nil
        }
    }

    /// Cancels all jobs of the run, unless another coordinator resumes it.
    private func leaveUnprepared(_ inputs: AsyncStream<Input>) async {
        // The jobs of the next coordinator write to the log folder.
        for await case .input(.command(.handOver, _)) in inputs { return }
        defer { ShardFolder.removeIfEmpty(logs: setup.logs) }
        do {
            try await setup.succession?.end(system, setup)
            try await SubmittedJobs(of: setup.folder).endArrays(before: setup.epoch, on: system)
        } catch {
            report("\(system.traits.leftover(beginning: "penumbra-\(setup.run)")): \(error.message)")
        }
    }

    /// Cancels all jobs of this run in the queue and on reachable nodes.
    private func leave(_ state: ClusterState) async {
        let end = ContinuousClock.now + Self.endLimit
        while true {
            do {
                if try await cancelAll(of: state) || ContinuousClock.now >= end { return }
            } catch {
                guard case .unanswered = error, ContinuousClock.now < end else {
                    return report(
                        "\(system.traits.leftover(beginning: "penumbra-\(setup.run)")): \(error.message)")
                }
            }
            // Running elements would leave files behind. Nobody cancels this task.
            try? await Task.sleep(for: .milliseconds(300))
        }
    }

    /// - Returns: whether all jobs have ended.
    private func cancelAll(of state: ClusterState) async throws(BatchError) -> Bool {
        try await setup.succession?.end(system, setup)
        var jobs = state.jobs
        // A job may exist although its number was never received.
        for name in state.names {
            try await system.cancel(.named(name))
            jobs += try await system.jobs(named: name)
        }
        let rest = try await system.query(.ids(Set(jobs).sorted())).filter {
            state.allNames.contains($0.submission) && !$0.condition.isOver
        }
        // Also elements that were started again after their results came.
        try await system.cancel(.ids(rest.filter { $0.condition != .running }.map(\.id)))
        return rest.isEmpty
    }

    /// Elements end within the cluster's grace time, or when they have nothing to do.
    private static let endLimit = Duration.seconds(60)
}

extension ClusterEngine {
    /// Lets an element start a worker on a node and compare its programs' versions. It carries out no task.
    ///
    /// - Parameter limit: the time for everything, including the queue.
    /// - Returns: the element's result. Nil if another program has removed its file.
    package func tryOut(signals: AsyncStream<Int32>, limit: Duration) async throws(EngineError) -> ShardResult? {
        _ = try await ask(.compare(DigestTask(files: [])), signals: signals, limit: limit)
        let names = setup.folder.names(in: setup.folder.results).filter { $0.hasSuffix(".json") }
        let folder = setup.folder
        return names.lazy.compactMap { folder.read(ShardResult.self, from: "\(folder.results)/\($0)") }
            .first { ($0.shard.run, $0.shard.epoch) == (self.setup.run, self.setup.epoch) }
    }

    /// Removes all files of the self-test.
    package func forgetTrial() { ShardFolder.remove(setup.folder.path) }
}
