package import JobModel
import Shards

/// Submits jobs so that each is there once, whatever the controller answers.
package struct ArraySubmitter: Sendable {
    private let system: any BatchSystem
    private let options: ClusterOptions
    private let setup: ClusterEngine.Setup
    private let pause: Duration
    private let patience: Duration
    private let tell: @Sendable (String) -> Void

    /// - Parameters:
    ///   - pause: before each question to a controller that has not answered.
    ///   - patience: how long a controller that does not answer is waited for.
    ///   - tell: gets sentences for a person: that the cluster does not answer.
    package init(
        system: any BatchSystem, options: ClusterOptions, setup: ClusterEngine.Setup, pause: Duration = .seconds(3),
        patience: Duration = Self.patience, tell: @escaping @Sendable (String) -> Void
    ) {
        self.system = system
        self.options = options
        self.setup = setup
        self.pause = pause
        self.patience = patience
        self.tell = tell
    }

    package enum Outcome: Hashable, Sendable {
        case accepted(job: String)
        /// The site lets the user submit no more now.
        case full(String)
        case failed(String)
    }

    /// A controller that is away for so long is not coming back by itself.
    package static let patience = Duration.seconds(30 * 60)

    package func submit(_ job: ClusterJob) async -> Outcome {
        let submitted = SubmittedJobs(of: setup.folder)
        do {
            try submitted.note(job, nil, epoch: setup.epoch, system.traits.engine)
            let number = try await submitSurely(job)
            try submitted.note(job, number, epoch: setup.epoch, system.traits.engine)
            return .accepted(job: number)
        } catch BatchError.full(let message) {
            return .full(message)
        } catch let error as BatchError {
            return .failed(error.message)
        } catch let trouble as ShardFolder.Trouble {
            return .failed(trouble.message)
        } catch {
            return .failed("the submission was given up: \(error)")
        }
    }

    /// A submission without an answer may have been accepted: a frozen controller does so when it wakes. So it is looked for,
    /// twice, before it is made again.
    private func submitSurely(_ job: ClusterJob) async throws -> String {
        let submission = Submission(
            job, options: options, program: setup.program, folder: setup.folder.path, logs: setup.logs,
            variables: setup.variables)
        let script = "\(setup.folder.shards)/\(job.name).sh"
        try setup.folder.write(text: system.script(of: submission), to: script, by: "\(setup.epoch)")
        let begin = ContinuousClock.now
        while true {
            try Task.checkCancellation()
            do {
                return try await system.submit(submission, script: script)
            } catch {
                try wait(for: error, since: begin)
                tell("\(system.traits.name) does not answer, and is asked again: \(error.message)")
            }
            if let number = try await found(job, since: begin) { return number }
        }
    }

    private func found(_ job: ClusterJob, since begin: ContinuousClock.Instant) async throws -> String? {
        var looks = 0
        while looks < 2 {
            try await Task.sleep(for: pause)
            do {
                if let number = try await system.jobs(named: job.name).first { return number }
                looks += 1
            } catch {
                try wait(for: error, since: begin)
            }
        }
        return nil
    }

    /// A decision is no reason to wait, and neither is a controller that was away for too long.
    private func wait(for error: BatchError, since begin: ContinuousClock.Instant) throws(BatchError) {
        guard case .unanswered = error, begin.duration(to: .now) < patience else { throw error }
    }
}
