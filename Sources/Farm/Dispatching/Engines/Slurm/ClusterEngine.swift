package import Scheduling
import WorkerProtocol

/// Hands shards to Slurm's job arrays, over a file system that all nodes share.
///
/// What was done is told by each shard's own result file, never by Slurm alone: see ``ShardFolder`` and ``ElementFailure``.
package final class ClusterEngine: Engine {
    /// Of one run.
    package struct Setup: Sendable {
        package let folder: ShardFolder
        /// What elements print goes to `JOB_INDEX.out` in this folder.
        package let logs: String
        package let run: String
        package let epoch: Int
        /// The path of `penumbra` on the nodes.
        package let program: String
        package let versions: [String: String]
        package let workers: Shard.Workers
        /// Nil where no job has to go on with the run when this process ends.
        package let succession: SuccessorJob?
        /// Names of the environment variables that jobs get (``WorkerEnvironment``); none for what Slurm chooses.
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

    let client: SlurmClient
    let options: SlurmOptions
    let setup: Setup
    let tell: @Sendable (String) -> Void

    /// - Parameter tell: gets sentences that a person should read: that Slurm does not answer, say.
    package init(
        client: SlurmClient = SlurmClient(), options: SlurmOptions, setup: Setup,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.options = options
        self.setup = setup
        self.tell = tell
    }

    /// Tasks that may be with the cluster at once, whatever it has.
    package static let leastTasks = 4096
    /// Each takes some two kilobytes of the coordinator.
    package static let mostTasks = 131_072

    private static let tick = Duration.milliseconds(100)

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        let (news, tell) = AsyncStream.makeStream(of: ClusterState.News.self)
        // What comes before all is ready waits in the stream.
        let preparation = Task { await prepare(onEvent) }
        let feed = Task {
            for await command in commands { tell.yield(.command(command)) }
            preparation.cancel()
            tell.yield(.ended)
        }
        guard let desk = await preparation.value else {
            // No worker was ever ready, so none has to be taken leave of.
            await feed.value
            tell.finish()
            return await Task { await leaveUnprepared(news) }.value
        }
        let last = await follow(desk, news, tell)
        guard !last.isHandedOver else { return }
        // In a task of its own: a run that is cancelled leaves nothing behind, either.
        await Task { await leave(last) }.value
        if !last.hadTrouble { ShardFolder.remove(logs: setup.logs) }
    }

    /// - Returns: the desk as it is when nothing is being asked of Slurm any more.
    private func follow(
        _ desk: ClusterState, _ news: AsyncStream<ClusterState.News>,
        _ tell: AsyncStream<ClusterState.News>.Continuation
    ) async -> ClusterState {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // Sleeping fails when the run is over.
                while (try? await Task.sleep(for: Self.tick)) != nil { tell.yield(.tick) }
            }
            var desk = desk
            desk.begin()
            for await item in news {
                if case .ended = item { break }
                for job in desk.handle(item) {
                    group.addTask { tell.yield(await self.carryOut(job)) }
                }
            }
            group.cancelAll()
            return desk
        }
    }

    /// Cancels what earlier coordinators of a run have submitted, if any has, and waits until it has ended.
    package static func endArrays(
        of folder: ShardFolder, before epoch: Int, client: SlurmClient = SlurmClient()
    ) async throws(SlurmClient.Trouble) {
        try await PriorResults.end(before: epoch, in: folder, client)
    }

    /// Cancels the jobs that would go on with a run.
    package static func endCoordinators(
        of folder: ShardFolder, client: SlurmClient = SlurmClient()
    ) async throws(SlurmClient.Trouble) {
        let lines = folder.submitted(folder.coordinators)
        for name in Set(lines.map(\.name)).sorted() { try await client.cancel(named: name) }
    }

    /// Whether a job that is to go on with a run waits in the queue, or runs.
    package enum Coordinators: Hashable, Sendable {
        /// None was ever submitted: others look after the run.
        case never
        case queued
        case gone
        /// Slurm cannot be asked.
        case unknown
    }

    package static func coordinators(
        of folder: ShardFolder, client: SlurmClient = SlurmClient()
    ) async -> Coordinators {
        let names = Set(folder.submitted(folder.coordinators).map(\.name))
        guard !names.isEmpty else { return .never }
        do {
            for name in names where try await client.isQueued(name) { return .queued }
            return .gone
        } catch {
            return .unknown
        }
    }

    private func prepare(_ onEvent: @escaping @Sendable (Event) -> Void) async -> ClusterState? {
        do {
            try setup.folder.create()
            try ShardFolder.make(setup.logs)
            // First of all: from now on somebody goes on with the run, whatever happens here.
            try await setup.succession?.begin(client, options, setup, tell)
            if setup.epoch > 1 {
                try await patiently { () async throws(SlurmClient.Trouble) in
                    try await PriorResults.end(before: setup.epoch, in: setup.folder, client)
                }
            }
            let largest = try await patiently { () async throws(SlurmClient.Trouble) in
                try await client.largestArray()
            }
            return ClusterState(self, past: PriorResults(of: setup.folder), largestArray: largest, onEvent: onEvent)
        } catch let trouble as ShardFolder.Trouble {
            onEvent(.stop(.cluster(trouble.message)))
        } catch let trouble as SlurmClient.Trouble {
            onEvent(.stop(.cluster(trouble.message)))
        } catch {
            onEvent(.stop(.cluster("Slurm cannot be used: \(error)")))
        }
        return nil
    }

    /// Asks again while a controller is away, as long as one is waited for.
    private func patiently<Answer>(
        _ ask: () async throws(SlurmClient.Trouble) -> Answer
    ) async throws -> Answer {
        let end = ContinuousClock.now + ArraySubmitter.patience
        while true {
            do throws(SlurmClient.Trouble) {
                return try await ask()
            } catch {
                guard case .unanswered(let words) = error, ContinuousClock.now < end else { throw error }
                tell("Slurm does not answer, and is asked again: \(words)")
            }
            // Fails when the run is over.
            try await Task.sleep(for: .seconds(3))
        }
    }

    private func carryOut(_ job: ClusterState.Job) async -> ClusterState.News {
        switch job {
        case .submit(let submission):
            let submitter = ArraySubmitter(client: client, options: options, setup: setup, tell: tell)
            return .submitted(submission, await submitter.submit(submission))
        case .look(let jobs):
            do {
                return .looked(.success(try await client.elements(of: jobs)))
            } catch {
                return .looked(.failure(error))
            }
        case .makeRoom:
            try? await setup.succession?.end(client, setup)
            return .cancelled
        case .cancel(let element):
            // An element that could not be cancelled writes what nobody reads.
            try? await client.cancel([element])
            return .cancelled
        }
    }

    /// Unless another coordinator goes on with the run, nothing of it is to be left in the queue.
    private func leaveUnprepared(_ news: AsyncStream<ClusterState.News>) async {
        // Its jobs print into the folder for logs.
        for await case .command(.handOver) in news { return }
        defer { ShardFolder.removeIfEmpty(logs: setup.logs) }
        do {
            try await setup.succession?.end(client, setup)
            try await PriorResults.end(before: setup.epoch, in: setup.folder, client)
        } catch {
            tell(
                "jobs of the run may be left in Slurm's queue, as 'squeue --me' tells, with names that begin with "
                    + "penumbra-\(setup.run): \(error.message)")
        }
    }

    /// Nothing of this run is left in the queue, nor on a node that can be reached.
    private func leave(_ desk: ClusterState) async {
        let end = ContinuousClock.now + Self.farewell
        while true {
            do {
                if try await cancelAll(of: desk) || ContinuousClock.now >= end { return }
            } catch {
                guard case .unanswered = error, ContinuousClock.now < end else {
                    return tell(
                        "jobs of the run may be left in Slurm's queue, as 'squeue --name' tells with the names in "
                            + "\(setup.folder.submissions): \(error.message)")
                }
            }
            // Files of what runs on would be left behind. Nobody cancels this task.
            try? await Task.sleep(for: .milliseconds(300))
        }
    }

    /// - Returns: whether all have ended.
    private func cancelAll(of desk: ClusterState) async throws(SlurmClient.Trouble) -> Bool {
        try await setup.succession?.end(client, setup)
        var jobs = desk.jobs
        // One whose number did not come any more may be there all the same.
        for name in desk.names {
            try await client.cancel(named: name)
            jobs += try await client.jobs(named: name)
        }
        let rest = try await client.elements(of: Set(jobs).sorted()).filter {
            desk.allNames.contains($0.submission) && $0.condition != .ended
        }
        // One that was started anew after its result had come.
        try await client.cancel(rest.filter { $0.condition != .running }.map { "\($0.job)_\($0.index)" })
        return rest.isEmpty
    }

    /// Elements end within Slurm's grace, or when they have nothing to do.
    private static let farewell = Duration.seconds(60)
}
