package import JobModel
import Scheduling
package import Shards
package import WorkerProtocol

/// Hands a run to a cluster: all tasks that are ready as job arrays, and after them a job that goes on as the coordinator.
package struct ClusterHandoff: HandoffEngine.Recipient {
    private let system: any BatchSystem
    private let options: ClusterOptions
    private let setup: ClusterEngine.Setup
    private let runFolder: String
    private let tell: @Sendable (String) -> Void

    /// - Parameter runFolder: as ``CoordinatorJob/runFolder``.
    package init(
        system: any BatchSystem, options: ClusterOptions, setup: ClusterEngine.Setup, runFolder: String,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.system = system
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
            let largest = try await system.describe(withQueues: false).largestArray
            let shards = gathered(tasks)
            for (index, part) in shards.enumerated() { _ = try setup.source.write(part, as: first + index) }
            let arrays = stride(from: 0, to: shards.count, by: largest).enumerated().map { number, start in
                ArrayJob(
                    name: "penumbra-\(setup.run)-\(setup.epoch)-\(number + 1)", firstShard: first + start,
                    count: min(largest, shards.count - start))
            }
            let jobs = try await submittedWithCoordinator(try await submitted(arrays))
            // The coordinator's job, which is the last, has to wait.
            await tellPendingReasons(of: jobs.dropLast())
            return nil
        } catch let trouble as HandingOverTrouble {
            return await withdrawing(trouble)
        } catch let error as BatchError {
            return await withdrawing(HandingOverTrouble(.cluster(error.message)))
        } catch {
            return await withdrawing(
                HandingOverTrouble(.storage((error as? ShardFolder.Trouble)?.message ?? "\(error)")))
        }
    }

    private func gathered(_ tasks: [GatheredTask]) -> [[Shard.Task]] {
        var gathering = ShardBatcher(seconds: options.shardTime / .seconds(1), cores: options.cores)
        for task in tasks { gathering.add(task.lease, at: .start) }
        let earlier = Dictionary(tasks.map { ($0.lease.id, $0.earlier) }) { $1 }
        return gathering.take(.max, at: .start + ShardBatcher.lull).map { leases in
            leases.map { Shard.Task($0, earlier: earlier[$0.id] ?? nil) }
        }
    }

    private func submit(_ job: ClusterJob) async throws(HandingOverTrouble) -> Submitted {
        let submitter = ArraySubmitter(system: system, options: options, setup: setup, tell: tell)
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
            switch try await submit(.array(array)) {
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
                    tell(
                        "\(system.traits.name) takes no more jobs for now; the run's coordinator submits the rest: \(message)"
                    )
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
            switch try await submit(.coordinator(CoordinatorJob(name: name, after: jobs, runFolder: runFolder))) {
            case .accepted(let number): return jobs + [number]
            case .full(let message):
                guard let last = jobs.popLast() else { throw HandingOverTrouble(.cluster(message)) }
                try await system.cancel(.ids([last]))
            }
        }
    }

    /// What is known to be in their way at once; the system's own commands tell it later.
    private func tellPendingReasons(of jobs: [String]) async {
        var reasons = PendingReasons()
        reasons.news(of: (try? await system.query(.ids(jobs))) ?? []).forEach(tell)
    }

    private func withdrawing(_ trouble: HandingOverTrouble) async -> HandingOverTrouble {
        await withdraw()
        return trouble
    }

    /// Nobody would look after what was submitted already.
    package func withdraw() async {
        defer { ShardFolder.removeIfEmpty(logs: setup.logs) }
        do {
            let submitted = SubmittedJobs(of: setup.folder)
            try await submitted.endCoordinators(on: system)
            try await submitted.endArrays(before: .max, on: system)
        } catch {
            tell("\(system.traits.leftover(beginning: "penumbra-\(setup.run)")): \(error.message)")
        }
    }
}
