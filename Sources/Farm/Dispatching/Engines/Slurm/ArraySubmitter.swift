/// Submits job arrays so that each is there once, whatever the controller answers.
package struct ArraySubmitter: Sendable {
    private let client: SlurmClient
    private let options: SlurmOptions
    private let setup: ClusterEngine.Setup
    private let pause: Duration
    private let patience: Duration
    private let tell: @Sendable (String) -> Void

    /// - Parameters:
    ///   - pause: before each question to a controller that has not answered.
    ///   - patience: how long a controller that does not answer is waited for.
    ///   - tell: gets sentences for a person: that Slurm does not answer.
    package init(
        client: SlurmClient, options: SlurmOptions, setup: ClusterEngine.Setup, pause: Duration = .seconds(3),
        patience: Duration = Self.patience, tell: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.options = options
        self.setup = setup
        self.pause = pause
        self.patience = patience
        self.tell = tell
    }

    /// A line of the run's `submissions`: written before a submission, and again with its number after it. Whoever takes the
    /// run over knows from it what to cancel.
    struct Line: Hashable, Sendable, Codable {
        let epoch: Int
        let name: String
        let job: String?
        /// As ``CoordinatorJob/left``.
        var left: Int?
    }

    package enum Outcome: Hashable, Sendable {
        case accepted(job: String)
        /// The site lets the user submit no more now.
        case full(String)
        case failed(String)
    }

    /// A controller that is away for so long is not coming back by itself.
    static let patience = Duration.seconds(30 * 60)

    package func submit(_ submission: some SlurmJob) async -> Outcome {
        do {
            try note(submission, nil)
            let job = try await submitSurely(submission)
            try note(submission, job)
            return .accepted(job: job)
        } catch SlurmClient.Trouble.full(let message) {
            return .full(message)
        } catch let trouble as SlurmClient.Trouble {
            return .failed(trouble.message)
        } catch let trouble as ShardFolder.Trouble {
            return .failed(trouble.message)
        } catch {
            return .failed("the submission was given up: \(error)")
        }
    }

    private func note(_ submission: some SlurmJob, _ job: String?) throws(ShardFolder.Trouble) {
        let coordinator = submission as? CoordinatorJob
        let line = Line(epoch: setup.epoch, name: submission.name, job: job, left: coordinator?.left)
        let list = coordinator != nil ? setup.folder.coordinators : setup.folder.submissions
        try setup.folder.append(line, to: list, syncs: true)
    }

    /// A submission without an answer may have been accepted: a frozen controller does so when it wakes. So it is looked for,
    /// twice, before it is made again.
    private func submitSurely(_ submission: some SlurmJob) async throws -> String {
        let exported = setup.variables.isEmpty ? [] : ["--export=\(setup.variables.joined(separator: ","))"]
        let arguments = exported + submission.arguments(options, folder: setup.folder.path, logs: setup.logs)
        let script = "\(setup.folder.shards)/\(submission.name).sh"
        try setup.folder.write(
            text: submission.script(program: setup.program, folder: setup.folder.path), to: script, by: "\(setup.epoch)"
        )
        let begin = ContinuousClock.now
        while true {
            try Task.checkCancellation()
            do {
                return try await client.submit(script: script, arguments: arguments)
            } catch {
                try wait(for: error, since: begin)
                tell("Slurm does not answer, and is asked again: \(error.message)")
            }
            if let job = try await found(submission, since: begin) { return job }
        }
    }

    private func found(_ submission: some SlurmJob, since begin: ContinuousClock.Instant) async throws -> String? {
        var looks = 0
        while looks < 2 {
            try await Task.sleep(for: pause)
            do {
                if let job = try await client.jobs(named: submission.name).first { return job }
                looks += 1
            } catch {
                try wait(for: error, since: begin)
            }
        }
        return nil
    }

    /// A decision is no reason to wait, and neither is a controller that was away for too long.
    private func wait(for trouble: SlurmClient.Trouble, since begin: ContinuousClock.Instant) throws(SlurmClient
        .Trouble)
    {
        guard case .unanswered = trouble, begin.duration(to: .now) < patience else { throw trouble }
    }
}

extension ArraySubmitter.Line: SharedRecord {
    /// To `scancel` a comma parts names, and a hyphen in front makes an option of a number.
    var isPlausible: Bool {
        let isName =
            name.utf8.count <= 250
            && name.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                    || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains($0)
            }
        let isJob =
            job.map { (1...20).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } } ?? true
        return isName && isJob && StoredLimits.counts.contains(epoch)
            && left.map { (0...StoredLimits.counts.upperBound).contains($0) } ?? true
    }
}
