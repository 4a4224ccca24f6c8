package import JobModel
import Shards

/// The job that goes on with a run when the job in which its coordinator runs ends before the run: it is out of time, or its
/// node dies.
package struct SuccessorJob: Sendable {
    private let job: String
    private let runFolder: String
    private let left: Int?

    /// - Parameters:
    ///   - job: the number of the job in which this coordinator runs.
    ///   - left: how many frames the run's last coordinator had left.
    package init(job: String, runFolder: String, left: Int?) {
        self.job = job
        self.runFolder = runFolder
        self.left = left
    }

    /// A run that kills so many coordinators, none of which comes any further, will kill the next one, too.
    private static let mostCoordinators = 20

    /// What a disk or a controller may need to recover.
    private static let pause = Duration.seconds(600)

    private func name(_ setup: ClusterEngine.Setup) -> String { "penumbra-\(setup.run)-coordinator-after-\(job)" }

    /// Submits the successor, unless it is there: this job was requeued perhaps.
    package func begin(
        _ system: any BatchSystem, _ options: ClusterOptions, _ setup: ClusterEngine.Setup,
        _ tell: @escaping @Sendable (String) -> Void
    ) async throws {
        let known = SubmittedJobs(of: setup.folder).coordinators
        guard !known.contains(where: { $0.name == name(setup) && $0.job != nil }) else { return }
        let idle = known.filter { $0.left != nil && $0.left == left }
        guard Set(idle.map(\.name)).count < Self.mostCoordinators else {
            return tell(
                "this coordinator has no successor: \(Self.mostCoordinators) have not come any further with the run")
        }
        let successor = CoordinatorJob(name: name(setup), after: [job], runFolder: runFolder, left: left)
        let submitter = ArraySubmitter(system: system, options: options, setup: setup, tell: tell)
        switch await submitter.submit(.coordinator(successor)) {
        case .accepted: break
        case .full(let message): tell("this coordinator has no successor: \(message)")
        case .failed(let message): throw BatchError.refused(message)
        }
    }

    /// Long enough to look for a submission that had no answer.
    package static let giveBackPatience = Duration.seconds(30)

    /// Gives a run that was taken over from a coordinator's job to another one.
    ///
    /// - Parameters:
    ///   - isTrouble: which the next coordinator would find, too, if it began at once.
    ///   - patience: for all of the system's answers together.
    /// - Returns: the job's number; nil for a run that no job was to go on with.
    package static func giveBack(
        _ runFolder: String, after isTrouble: Bool, _ given: any BatchSystem, _ options: ClusterOptions,
        _ setup: ClusterEngine.Setup, patience: Duration = giveBackPatience,
        _ tell: @escaping @Sendable (String) -> Void
    ) async throws(BatchError) -> String? {
        guard !SubmittedJobs(of: setup.folder).coordinators.isEmpty else { return nil }
        do {
            try ShardFolder.make(setup.logs)
        } catch {
            throw .refused(error.message)
        }
        let coordinator = CoordinatorJob(
            name: "penumbra-\(setup.run)-\(setup.epoch)-coordinator", after: [], runFolder: runFolder,
            delay: isTrouble ? pause : .zero)
        // Whoever has ended this process waits for it.
        var system = given
        system.patience = min(system.patience, patience / 3)
        let submitter = ArraySubmitter(
            system: system, options: options, setup: setup, pause: .seconds(1), patience: patience, tell: tell)
        switch await submitter.submit(.coordinator(coordinator)) {
        case .accepted(let job): return job
        case .full(let message), .failed(let message): throw .refused(message)
        }
    }

    /// It waits in the queue.
    package func isThere(_ system: any BatchSystem, _ setup: ClusterEngine.Setup) async throws(BatchError) -> Bool {
        try await system.isQueued(name(setup))
    }

    /// Lets it begin in some minutes.
    package func postpone(_ system: any BatchSystem, _ setup: ClusterEngine.Setup) async throws(BatchError) {
        try await system.postpone(system.jobs(named: name(setup)), by: Self.pause)
    }

    /// The run is over, or needs the successor's place in the queue.
    func end(_ system: any BatchSystem, _ setup: ClusterEngine.Setup) async throws(BatchError) {
        try await system.cancel(.named(name(setup)))
    }
}
