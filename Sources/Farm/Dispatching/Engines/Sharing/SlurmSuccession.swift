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

    /// What a disk or a controller may need to recover.
    private static let pause = Duration.seconds(600)

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
        switch await submitter.submit(successor) {
        case .accepted: break
        case .full(let message): tell("this coordinator has no successor: \(message)")
        case .failed(let message): throw SlurmClient.Trouble.refused(message)
        }
    }

    /// It waits in the queue.
    package func isThere(_ client: SlurmClient, _ setup: SlurmEngine.Setup) async throws(SlurmClient.Trouble) -> Bool {
        try await client.isQueued(name(setup))
    }

    /// Lets it begin in some minutes.
    package func postpone(_ client: SlurmClient, _ setup: SlurmEngine.Setup) async throws(SlurmClient.Trouble) {
        for job in try await client.jobs(named: name(setup)) { try await client.postpone(job, by: Self.pause) }
    }

    /// The run is over, or needs the successor's place in the queue.
    func end(_ client: SlurmClient, _ setup: SlurmEngine.Setup) async throws(SlurmClient.Trouble) {
        try await client.cancel(named: name(setup))
    }
}
