import Queueing

/// Values with defaults, so that a test shows only what matters to it.
extension Submission {
    static func make(
        _ id: JobID = 17, owner: Owner = .user(1000), key: String? = nil, digest: String = "d", name: String = "night",
        manifest: ManifestSource? = nil, priority: Int = 50,
        labels: [String: String] = [:], needs: [Need] = [], isHeld: Bool = false, notBefore: WallTime? = nil,
        retryOf: JobID? = nil, at time: WallTime = .noon, known: (JobID) -> KnownJob? = { _ in KnownJob(end: nil) }
    ) throws -> Submission {
        try Submission(
            id: id, owner: owner, key: key, digest: digest, name: name, manifest: manifest ?? .own(of: id),
            priority: Priority(priority), labels: Labels(labels), needs: needs, isHeld: isHeld, notBefore: notBefore,
            retryOf: retryOf, at: time, known: known)
    }

    /// A job whose process has been started.
    static func starting(
        _ id: JobID = 17, manifest: ManifestSource? = nil, priority: Int = 50, at time: WallTime = .noon
    ) throws -> Submission {
        var job = try make(id, manifest: manifest, priority: priority, at: time)
        try job.start(run: "run-\(id.number)", at: time)
        return job
    }

    static func running(
        _ id: JobID = 17, manifest: ManifestSource? = nil, priority: Int = 50, at time: WallTime = .noon
    ) throws -> Submission {
        var job = try starting(id, manifest: manifest, priority: priority, at: time)
        try job.started(at: time)
        return job
    }

    /// A job whose process has ended with an exit code.
    static func ended(_ id: JobID = 17, code: Int? = 0, text: String = "", at time: WallTime = .noon) throws
        -> Submission
    {
        var job = try running(id, at: time)
        try job.processEnded(code: code, leaving: .usual(after: code), text: text, progressed: false, at: time)
        return job
    }
}

extension ManifestSource {
    /// A manifest that no other job has.
    static func own(of id: JobID) -> ManifestSource {
        ManifestSource(.file(path: "/srv/a/\(id.number).yaml"), digest: "m")
    }

    /// One for several jobs.
    static let shared = ManifestSource(.file(path: "/srv/a/night.yaml"), digest: "m")
}

extension Submission.RunRemainder {
    /// What a process leaves that is not asked to leave its run open: an end, unless it was killed or has crashed.
    static func usual(after code: Int?) -> Submission.RunRemainder {
        guard let code else { return .interrupted }
        return code > 128 && ![129, 130, 143].contains(code) ? .interrupted : .ended
    }
}

extension WallTime {
    static let noon = WallTime(milliseconds: 1_795_608_000_000)

    static func noon(plus seconds: Int) -> WallTime { noon + .seconds(seconds) }
}

extension JobQueue {
    init(_ jobs: [Submission]) {
        self.init()
        for job in jobs { put(job, known: { _ in nil }) }
    }
}

extension KnownJob {
    init(end: JobState.End?, retriedAs: JobID? = nil) {
        self.init(ended: end.map { .init(end: $0, time: .noon, run: nil, tries: 1) }, retriedAs: retriedAs)
    }
}

extension Limits {
    static let usual = Limits(workers: 8)
}

/// The message of the refusal. Nil if there was none.
func refusal(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let refusal as Refusal {
        return refusal.message
    } catch let error as InputError {
        return error.message
    } catch {
        return "\(error)"
    }
}
