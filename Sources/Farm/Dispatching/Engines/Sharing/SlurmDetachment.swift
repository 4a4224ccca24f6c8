import Scheduling
package import WorkerProtocol

/// Hands a run to Slurm: all tasks that are ready as job arrays, and after them a job that goes on as the coordinator.
package struct SlurmDetachment: HandingOverEngine.Recipient {
    private let client: SlurmClient
    private let options: SlurmOptions
    private let setup: SlurmEngine.Setup
    private let runFolder: String
    private let tell: @Sendable (String) -> Void

    /// - Parameter runFolder: as ``SlurmCoordinator/runFolder``.
    package init(
        client: SlurmClient = SlurmClient(), options: SlurmOptions, setup: SlurmEngine.Setup, runFolder: String,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.options = options
        self.setup = setup
        self.runFolder = runFolder
        self.tell = tell
    }

    package func takes(_ spec: TaskSpec) -> Bool { true }

    package func carryOut(_ tasks: [GatheredTask], as number: Int) async -> Result<[TaskEnd], HandingOverTrouble> {
        .success([])
    }

    package func receive(_ tasks: [GatheredTask], from first: Int) async -> HandingOverTrouble? {
        do {
            try SharedFolder.make(setup.logs)
            let largest = try await client.largestArray()
            let shards = gathered(tasks)
            for (index, part) in shards.enumerated() { _ = try setup.source.write(part, as: first + index) }
            var jobs: [String] = []
            for start in stride(from: 0, to: shards.count, by: largest) {
                let array = SlurmSubmission(
                    name: "penumbra-\(setup.run)-\(setup.epoch)-\(jobs.count + 1)", firstShard: first + start,
                    count: min(largest, shards.count - start))
                jobs.append(try await submitted(array))
            }
            let name = "penumbra-\(setup.run)-\(setup.epoch)-coordinator"
            _ = try await submitted(SlurmCoordinator(name: name, after: jobs, runFolder: runFolder))
            return nil
        } catch let trouble as HandingOverTrouble {
            return await withdrawing(trouble)
        } catch let trouble as SlurmClient.Trouble {
            return await withdrawing(HandingOverTrouble(.cluster(trouble.message)))
        } catch {
            return await withdrawing(
                HandingOverTrouble(.place((error as? SharedFolder.Trouble)?.message ?? "\(error)")))
        }
    }

    private func gathered(_ tasks: [GatheredTask]) -> [[Shard.Task]] {
        var gathering = ShardGathering(seconds: options.shardSeconds, cores: options.cpusPerTask)
        for task in tasks { gathering.add(task.lease, at: .start) }
        let earlier = Dictionary(tasks.map { ($0.lease.id, $0.earlier) }) { $1 }
        return gathering.take(.max, at: .start + ShardGathering.lull).map { leases in
            leases.map { Shard.Task($0, earlier: earlier[$0.id] ?? nil) }
        }
    }

    private func submitted(_ job: some SlurmJob) async throws(HandingOverTrouble) -> String {
        let submitter = SlurmSubmitter(client: client, options: options, setup: setup, tell: tell)
        switch await submitter.submit(job) {
        case .accepted(let number): return number
        case .failed(let message): throw HandingOverTrouble(.cluster(message))
        }
    }

    /// Nobody would look after what was submitted already.
    private func withdrawing(_ trouble: HandingOverTrouble) async -> HandingOverTrouble {
        try? await SlurmPast.end(before: .max, in: setup.folder, client)
        return trouble
    }
}

/// The job that goes on with a run when the job in which its coordinator runs ends before the run: it is out of time, or its
/// node dies.
package struct SlurmSuccession: Sendable {
    private let job: String
    private let runFolder: String

    /// - Parameter job: the number of the job in which this coordinator runs.
    package init(job: String, runFolder: String) {
        self.job = job
        self.runFolder = runFolder
    }

    /// A run that kills so many coordinators will kill the next one, too.
    private static let mostCoordinators = 20

    private func name(_ setup: SlurmEngine.Setup) -> String { "penumbra-\(setup.run)-coordinator-after-\(job)" }

    /// Submits the successor, unless it is there: this job was requeued perhaps.
    func begin(
        _ client: SlurmClient, _ options: SlurmOptions, _ setup: SlurmEngine.Setup,
        _ tell: @escaping @Sendable (String) -> Void
    ) async throws {
        let known = setup.folder.lines(SlurmSubmitter.Line.self, of: setup.folder.coordinators)
        guard !known.contains(where: { $0.name == name(setup) && $0.job != nil }) else { return }
        guard Set(known.map(\.name)).count < Self.mostCoordinators else {
            return tell("this is coordinator \(Self.mostCoordinators) of the run, and has no successor")
        }
        let successor = SlurmCoordinator(name: name(setup), after: [job], runFolder: runFolder)
        let submitter = SlurmSubmitter(client: client, options: options, setup: setup, tell: tell)
        if case .failed(let message) = await submitter.submit(successor) { throw SlurmClient.Trouble.refused(message) }
    }

    /// The run is over.
    func end(_ client: SlurmClient, _ setup: SlurmEngine.Setup) async throws(SlurmClient.Trouble) {
        try await client.cancel(named: name(setup))
    }
}
