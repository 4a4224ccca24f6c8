import JobModel
import JobStorage
import Notifications
package import QueueStorage
package import Queueing
import Runs

/// Makes the messages of the ends of jobs, and of jobs that wait for a person to mend something. They are stored in the transactions of
/// the changes.
package struct EndNotices: Sendable {
    private let rules: NoticeRules
    private let origin: NoticeOrigin
    private let stateFolder: String

    package init(_ rules: NoticeRules, _ origin: NoticeOrigin, stateFolder: String) {
        self.rules = rules
        self.origin = origin
        self.stateFolder = stateFolder
    }

    /// - Returns: none for other jobs, and if nobody wants to be told. Reads the records of its run.
    package func messages(of job: Submission) -> [OutboxMessage] {
        guard rules.tellsOfEnds else { return [] }
        switch job.state {
        case .ended(let ended): return messages(of: job, ended)
        case .waiting(let waiting): return waiting.pause.map { messages(of: job, waiting, $0) } ?? []
        case .held, .starting, .running: return []
        }
    }

    /// A job is told of once: the outbox has a message of one name once.
    private func messages(of job: Submission, _ waiting: JobState.Waiting, _ pause: JobState.Pause) -> [OutboxMessage] {
        let targets = rules.targets(isFailure: true)
        guard pause.cause.needsPerson, !targets.isEmpty else { return [] }
        let delay = Notice.Delay(exitCode: pause.cause.exitCode, reason: pause.text, next: pause.until)
        let notice = Notice(
            job: job.name, host: origin.host, time: waiting.since,
            command: "penumbra queue show \(job.id.number)\(origin.serviceOption)", event: .delayed(delay))
        return origin.messages(notice, to: targets, event: "job-\(job.id.number)-delay")
    }

    private func messages(of job: Submission, _ ended: JobState.Ended) -> [OutboxMessage] {
        let outcome = ended.end.noticeOutcome
        // Who was told that it waits is told how it has ended.
        let targets = rules.targets(isFailure: outcome.isFailure || ended.wasDelayed)
        guard !targets.isEmpty else { return [] }
        let run = ended.run.flatMap { found(run: $0) }
        let end = Notice.End(
            run: run == nil ? nil : ended.run, outcome: outcome, exitCode: ended.end.exitCode,
            counts: run?.record.counts,
            reason: ended.end.noticeReason, failures: run?.failures ?? [],
            kept: (run?.record.counts.trouble?.kept ?? []).map(\.words),
            broken: (run?.record.counts.trouble?.broken ?? []).map(\.words))
        let notice = Notice(
            job: job.name, host: origin.host, time: ended.time,
            command: ended.run.flatMap { run == nil ? nil : "penumbra show \($0)\(origin.stateOption)" }
                ?? "penumbra queue show \(job.id.number)\(origin.serviceOption)",
            event: .ended(end))
        return origin.messages(notice, to: targets, event: "job-\(job.id.number)-end")
    }

    /// The messages of a schedule or a watched folder that submits no job now.
    ///
    /// - Parameters:
    ///   - schedule: its name.
    ///   - problem: why. The same problem is told once a day.
    package func messages(
        ofSchedule schedule: String, problem: String, exitCode: Int, at time: WallTime
    ) -> [OutboxMessage] {
        let targets = rules.targets(isFailure: true)
        guard !targets.isEmpty else { return [] }
        let end = Notice.End(run: nil, outcome: .failed, exitCode: exitCode, counts: nil, reason: problem)
        let notice = Notice(
            job: schedule, host: origin.host, time: time, command: "penumbra queue schedules\(origin.serviceOption)",
            event: .ended(end))
        let name = ShortDigest.text(schedule, problem)
        return origin.messages(notice, to: targets, event: "schedule-\(name)-\(time.seconds / 86_400)")
    }

    /// Nil if no coordinator has begun the run, or if its records cannot be read: the end is told nevertheless.
    private func found(run name: String) -> (record: RunRecord, failures: [String])? {
        guard let record = try? StoredRuns.run(named: name, state: stateFolder) else { return nil }
        guard record.counts.failed > 0 else { return (record, []) }
        let frames = try? StoredRuns.failedFrames(of: record, state: stateFolder, limit: Notice.End.mostFailures)
        return (record, (frames ?? []).compactMap(\.failure))
    }
}

extension StoredFrame {
    /// `photos/a.jpg: not a JPEG file`. Nil for a frame that has not failed.
    fileprivate var failure: String? {
        guard case .failed(_, let message) = state else { return nil }
        return FileReason(path: input, reason: message).words
    }
}

extension FileReason {
    /// `photos/a.jpg: not a JPEG file`. Some reasons begin with the path.
    fileprivate var words: String { reason.hasPrefix(path) ? reason : "\(path): \(reason)" }
}

extension JobState.End {
    fileprivate var noticeOutcome: Notice.End.Outcome {
        switch self {
        case .done: .done
        case .doneWithWorkLeft: .workLeft
        case .failed: .failed
        case .stopped: .stopped
        case .cancelled: .cancelled
        case .skipped: .skipped
        }
    }

    /// Nil if the outcome says everything.
    fileprivate var noticeReason: String? {
        switch self {
        case .done, .doneWithWorkLeft: nil
        case .failed(_, let text), .stopped(let text): text.isEmpty ? nil : text
        case .cancelled, .skipped: words
        }
    }
}
