package import JobModel
import Scheduling
package import Shards
package import WorkerProtocol

/// Hands a run to a cluster: all tasks that are ready as job arrays, and a job that resumes the run as its coordinator
/// after them.
package struct ClusterHandoff: HandoffEngine.Recipient {
    private let system: any BatchSystem
    private let options: ClusterOptions
    private let setup: ClusterEngine.Setup
    private let runFolder: String
    private let report: @Sendable (String) -> Void

    /// - Parameter runFolder: as ``CoordinatorJob/runFolder``.
    package init(
        system: any BatchSystem, options: ClusterOptions, setup: ClusterEngine.Setup, runFolder: String,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.system = system
        self.options = options
        self.setup = setup
        self.runFolder = runFolder
        self.report = report
    }

    package func takes(_ spec: TaskSpec) -> Bool { true }

    package func carryOut(_ tasks: [GatheredTask], as number: Int) async -> Result<[TaskEnd], HandoffError> {
        .success([])
    }

    package func receive(_ tasks: [GatheredTask], from first: Int) async -> HandoffError? {
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
            // The last job is the coordinator's, which has to wait.
            await tellPendingReasons(of: jobs.dropLast())
            return nil
        } catch let error as HandoffError {
            return await withdrawing(after: error)
        } catch let error as BatchError {
            return await withdrawing(after: HandoffError(.cluster(error.message)))
        } catch {
            return await withdrawing(
                after:
                    HandoffError(.storage((error as? ShardFolderError)?.message ?? "\(error)")))
        }
    }

    private func gathered(_ tasks: [GatheredTask]) -> [[Shard.Task]] {
        var batcher = ShardBatcher(seconds: options.shardTime / .seconds(1), cores: options.cores)
        for task in tasks { batcher.add(task.lease, at: .start) }
        let earlier = Dictionary(tasks.map { ($0.lease.id, $0.earlier) }) { $1 }
        return batcher.take(.max, at: .start + ShardBatcher.idleDelay).map { leases in
            leases.map { Shard.Task($0, earlier: earlier[$0.id] ?? nil) }
        }
    }

    private func submit(_ job: ClusterJob) async -> ArraySubmitter.Outcome {
        await ArraySubmitter(system: system, options: options, setup: setup, report: report).submit(job)
    }

    /// Submits as many arrays as the site takes now. The coordinator submits the rest.
    ///
    /// - Returns: the jobs' numbers; empty only if there was nothing to submit.
    private func submitted(_ arrays: [ArrayJob]) async throws(HandoffError) -> [String] {
        var (jobs, rest, isFull) = ([String](), arrays[...], false)
        while let array = rest.popFirst() {
            switch await submit(.array(array)) {
            case .failed(let message): throw HandoffError(.cluster(message))
            case .accepted(let job): jobs.append(job)
            case .full(let message):
                if let (first, _) = array.halves {
                    rest = [first]
                } else if jobs.isEmpty {
                    throw HandoffError(.cluster(message))
                } else {
                    rest = []
                }
                if !isFull {
                    report(
                        "\(system.traits.name) takes no more jobs for now; the run's coordinator submits the rest: \(message)"
                    )
                }
                isFull = true
            }
        }
        return jobs
    }

    /// The coordinator counts among the user's jobs. If the site takes no more, it replaces the last array.
    private func submittedWithCoordinator(_ arrays: [String]) async throws -> [String] {
        let name = "penumbra-\(setup.run)-\(setup.epoch)-coordinator"
        var jobs = arrays
        while true {
            switch await submit(.coordinator(CoordinatorJob(name: name, after: jobs, runFolder: runFolder))) {
            case .failed(let message): throw HandoffError(.cluster(message))
            case .accepted(let number): return jobs + [number]
            case .full(let message):
                guard let last = jobs.popLast() else { throw HandoffError(.cluster(message)) }
                try await system.cancel(.ids([last]))
            }
        }
    }

    /// Reports what blocks the jobs now. Later the system's own commands show it.
    private func tellPendingReasons(of jobs: [String]) async {
        var reasons = PendingReasons()
        reasons.new(in: (try? await system.query(.ids(jobs))) ?? []).forEach(report)
    }

    private func withdrawing(after error: HandoffError) async -> HandoffError {
        await withdraw()
        return error
    }

    /// Nobody would follow the jobs that were submitted.
    package func withdraw() async {
        defer { ShardFolder.removeIfEmpty(logs: setup.logs) }
        do {
            let submitted = SubmittedJobs(of: setup.folder)
            try await submitted.endCoordinators(on: system)
            try await submitted.endArrays(before: .max, on: system)
        } catch {
            report("\(system.traits.leftover(beginning: "penumbra-\(setup.run)")): \(error.message)")
        }
    }
}

/// The job that resumes a run if the job of its coordinator ends first, because of its time limit or a lost node.
package struct SuccessorJob: Sendable {
    private let job: String
    private let runFolder: String
    private let left: Int?

    /// - Parameters:
    ///   - job: the number of the coordinator's own job.
    ///   - left: the number of frames that the last coordinator had left.
    package init(job: String, runFolder: String, left: Int?) {
        self.job = job
        self.runFolder = runFolder
        self.left = left
    }

    /// If so many coordinators of a run end without progress, the next one will, too.
    private static let mostCoordinators = 20

    /// The time that a disk or a controller may need to recover.
    private static let pause = Duration.seconds(600)

    private func name(_ setup: ClusterEngine.Setup) -> String { "penumbra-\(setup.run)-coordinator-after-\(job)" }

    /// Submits the successor, unless it exists: this job may have been requeued.
    package func begin(
        _ system: any BatchSystem, _ options: ClusterOptions, _ setup: ClusterEngine.Setup,
        _ report: @escaping @Sendable (String) -> Void
    ) async throws {
        let known = SubmittedJobs(of: setup.folder).coordinators
        guard !known.contains(where: { $0.name == name(setup) && $0.job != nil }) else { return }
        let idle = known.filter { $0.left != nil && $0.left == left }
        guard Set(idle.map(\.name)).count < Self.mostCoordinators else {
            return report(
                "this coordinator has no successor: \(Self.mostCoordinators) have not come any further with the run")
        }
        let successor = CoordinatorJob(name: name(setup), after: [job], runFolder: runFolder, left: left)
        let submitter = ArraySubmitter(system: system, options: options, setup: setup, report: report)
        switch await submitter.submit(.coordinator(successor)) {
        case .accepted: break
        case .full(let message): report("this coordinator has no successor: \(message)")
        case .failed(let message): throw BatchError.refused(message)
        }
    }

    /// Long enough to look for a submission that had no answer.
    package static let giveBackTimeout = Duration.seconds(30)

    /// Gives a run back to a coordinator's job, after this process took it over from one.
    ///
    /// - Parameters:
    ///   - afterError: whether the next coordinator would meet the same error if it began at once.
    ///   - timeout: the time for all answers of the system together.
    /// - Returns: the job's number; nil for a run without coordinator jobs.
    package static func giveBack(
        _ runFolder: String, afterError: Bool, _ given: any BatchSystem, _ options: ClusterOptions,
        _ setup: ClusterEngine.Setup, timeout: Duration = giveBackTimeout,
        _ report: @escaping @Sendable (String) -> Void
    ) async throws(BatchError) -> String? {
        guard !SubmittedJobs(of: setup.folder).coordinators.isEmpty else { return nil }
        do {
            try ShardFolder.make(setup.logs)
        } catch {
            throw .refused(error.message)
        }
        let coordinator = CoordinatorJob(
            name: "penumbra-\(setup.run)-\(setup.epoch)-coordinator", after: [], runFolder: runFolder,
            delay: afterError ? pause : .zero)
        // The sender of the signal waits for this process.
        var system = given
        system.timeout = min(system.timeout, timeout / 3)
        let submitter = ArraySubmitter(
            system: system, options: options, setup: setup, pause: .seconds(1), timeout: timeout, report: report)
        switch await submitter.submit(.coordinator(coordinator)) {
        case .accepted(let job): return job
        case .full(let message), .failed(let message): throw .refused(message)
        }
    }

    /// Whether the successor waits in the queue.
    package func isQueued(on system: any BatchSystem, _ setup: ClusterEngine.Setup) async throws(BatchError) -> Bool {
        try await system.isQueued(name(setup))
    }

    /// Delays the successor by some minutes.
    package func postpone(_ system: any BatchSystem, _ setup: ClusterEngine.Setup) async throws(BatchError) {
        try await system.postpone(system.jobs(named: name(setup)), by: Self.pause)
    }

    /// The run is over, or needs the successor's slot in the queue.
    func end(_ system: any BatchSystem, _ setup: ClusterEngine.Setup) async throws(BatchError) {
        try await system.cancel(.named(name(setup)))
    }
}
