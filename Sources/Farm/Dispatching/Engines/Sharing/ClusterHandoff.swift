import Scheduling
package import WorkerProtocol

/// Hands a run to Slurm: all tasks that are ready as job arrays, and after them a job that goes on as the coordinator.
package struct ClusterHandoff: HandoffEngine.Recipient {
    private let client: SlurmClient
    private let options: SlurmOptions
    private let setup: ClusterEngine.Setup
    private let runFolder: String
    private let tell: @Sendable (String) -> Void

    /// - Parameter runFolder: as ``CoordinatorJob/runFolder``.
    package init(
        client: SlurmClient = SlurmClient(), options: SlurmOptions, setup: ClusterEngine.Setup, runFolder: String,
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
            try ShardFolder.make(setup.logs)
            let largest = try await client.largestArray()
            let shards = gathered(tasks)
            for (index, part) in shards.enumerated() { _ = try setup.source.write(part, as: first + index) }
            let arrays = stride(from: 0, to: shards.count, by: largest).enumerated().map { number, start in
                ArrayJob(
                    name: "penumbra-\(setup.run)-\(setup.epoch)-\(number + 1)", firstShard: first + start,
                    count: min(largest, shards.count - start))
            }
            let jobs = try await submittedWithCoordinator(try await submitted(arrays))
            await tellHindrances(of: jobs)
            return nil
        } catch let trouble as HandingOverTrouble {
            return await withdrawing(trouble)
        } catch let trouble as SlurmClient.Trouble {
            return await withdrawing(HandingOverTrouble(.cluster(trouble.message)))
        } catch {
            return await withdrawing(
                HandingOverTrouble(.storage((error as? ShardFolder.Trouble)?.message ?? "\(error)")))
        }
    }

    private func gathered(_ tasks: [GatheredTask]) -> [[Shard.Task]] {
        var gathering = ShardBatcher(seconds: options.shardSeconds, cores: options.cpusPerTask)
        for task in tasks { gathering.add(task.lease, at: .start) }
        let earlier = Dictionary(tasks.map { ($0.lease.id, $0.earlier) }) { $1 }
        return gathering.take(.max, at: .start + ShardBatcher.lull).map { leases in
            leases.map { Shard.Task($0, earlier: earlier[$0.id] ?? nil) }
        }
    }

    private func submit(_ job: some SlurmJob) async throws(HandingOverTrouble) -> Submitted {
        let submitter = ArraySubmitter(client: client, options: options, setup: setup, tell: tell)
        switch await submitter.submit(job) {
        case .accepted(let number): return .accepted(number)
        case .full(let message): return .full(message)
        case .failed(let message): throw HandingOverTrouble(.cluster(message))
        }
    }

    private enum Submitted {
        case accepted(String)
        case full(String)
    }

    /// As many as the site takes now; the coordinator submits the rest.
    ///
    /// - Returns: the jobs' numbers; none only where nothing was to be submitted.
    private func submitted(_ arrays: [ArrayJob]) async throws(HandingOverTrouble) -> [String] {
        var (jobs, rest, isFull) = ([String](), arrays[...], false)
        while let array = rest.popFirst() {
            switch try await submit(array) {
            case .accepted(let job): jobs.append(job)
            case .full(let message):
                if let (first, _) = array.halves {
                    rest = [first]
                } else if jobs.isEmpty {
                    throw HandingOverTrouble(.cluster(message))
                } else {
                    rest = []
                }
                if !isFull {
                    tell("Slurm takes no more jobs for now; the run's coordinator submits the rest: \(message)")
                }
                isFull = true
            }
        }
        return jobs
    }

    /// It needs a place of its own among the user's jobs, and gets that of the last array where there is no other.
    private func submittedWithCoordinator(_ arrays: [String]) async throws -> [String] {
        let name = "penumbra-\(setup.run)-\(setup.epoch)-coordinator"
        var jobs = arrays
        while true {
            switch try await submit(CoordinatorJob(name: name, after: jobs, runFolder: runFolder)) {
            case .accepted(let number): return jobs + [number]
            case .full(let message):
                guard let last = jobs.popLast() else { throw HandingOverTrouble(.cluster(message)) }
                try await client.cancel([last])
            }
        }
    }

    /// What is known to be in their way at once; `squeue` tells it later.
    private func tellHindrances(of jobs: [String]) async {
        var teller = PendingReason.Teller()
        teller.news(of: (try? await client.elements(of: jobs)) ?? []).forEach(tell)
    }

    private func withdrawing(_ trouble: HandingOverTrouble) async -> HandingOverTrouble {
        await withdraw()
        return trouble
    }

    /// Nobody would look after what was submitted already.
    package func withdraw() async {
        defer { ShardFolder.removeIfEmpty(logs: setup.logs) }
        do {
            try await ClusterEngine.endCoordinators(of: setup.folder, client: client)
            try await PriorResults.end(before: .max, in: setup.folder, client)
        } catch {
            tell(
                "jobs of the run may be left in Slurm's queue, as 'squeue --me' tells, with names that begin with "
                    + "penumbra-\(setup.run): \(error.message)")
        }
    }
}
