import JobModel

/// The place of a waiting job, and why it waits.
package struct Standing: Hashable, Sendable {
    /// From 1, among all waiting jobs.
    package let position: Int
    package let reason: WaitReason
}

/// Why a waiting job does not start. Of several reasons, the first one in this order.
package enum WaitReason: Hashable, Sendable {
    /// A job that it needs did not succeed. The next decision skips it.
    case skippedSoon(because: JobID)
    /// These jobs have to end first.
    case needs([JobID])
    case notBefore(WallTime)
    /// Another run holds a lock.
    case lock(text: String, again: WallTime)
    /// Its last process did not bring it to its end.
    case backoff(text: String, again: WallTime)
    /// The service starts no jobs.
    case drained
    /// No run can begin, because the config file has a mistake.
    case config(String)
    /// The next decision starts it.
    case startsNow
    /// This job has an open run of the same manifest.
    case sameManifest(JobID)
    /// So many runs are open already.
    case maxRuns(Int)
    /// These jobs have the workers.
    case workers(by: [JobID])

    init(_ pause: JobState.Pause) {
        switch pause.cause {
        case .locked: self = .lock(text: pause.text, again: pause.until)
        case .unavailable, .storage, .vanished: self = .backoff(text: pause.text, again: pause.until)
        }
    }

    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case skippedSoon = "skipped_soon"
        case needs
        case notBefore = "not_before"
        case lock, backoff, drained, config
        case startsNow = "starts_now"
        case sameManifest = "same_manifest"
        case maxRuns = "max_runs"
        case workers
    }

    package var kind: Kind {
        switch self {
        case .skippedSoon: .skippedSoon
        case .needs: .needs
        case .notBefore: .notBefore
        case .lock: .lock
        case .backoff: .backoff
        case .drained: .drained
        case .config: .config
        case .startsNow: .startsNow
        case .sameManifest: .sameManifest
        case .maxRuns: .maxRuns
        case .workers: .workers
        }
    }

    /// For people, on one line. Times are in UTC: programs that show them to a person may use ``time`` instead.
    package var words: String {
        switch self {
        case .skippedSoon(let cause): "\(cause) did not succeed"
        case .needs(let jobs): "needs \(Self.list(jobs))"
        case .notBefore(let time): "not before \(time)"
        case .lock(let text, let again):
            (text.isEmpty ? "another run has its lock" : VisibleText.line(text)) + "; try again at \(again)"
        case .backoff(let text, let again):
            (text.isEmpty ? "its process was gone" : VisibleText.line(text)) + "; try again at \(again)"
        case .drained: "the service is drained"
        case .config(let text): "until the config file is corrected: \(VisibleText.line(text))"
        case .startsNow: "starts now"
        case .sameManifest(let job): "waits for \(job), which runs the same manifest"
        case .maxRuns(let count): count == 1 ? "1 run is open (max_runs)" : "\(count) runs are open (max_runs)"
        case .workers(let jobs): jobs.isEmpty ? "no workers" : "workers in use by \(Self.list(jobs))"
        }
    }

    /// When it tries again, or may start.
    package var time: WallTime? {
        switch self {
        case .notBefore(let time), .lock(_, let time), .backoff(_, let time): time
        case .skippedSoon, .needs, .drained, .config, .startsNow, .sameManifest, .maxRuns, .workers: nil
        }
    }

    /// The other jobs that it waits for.
    package var jobs: [JobID] {
        switch self {
        case .skippedSoon(let cause): [cause]
        case .sameManifest(let job): [job]
        case .needs(let jobs), .workers(let jobs): jobs
        case .notBefore, .lock, .backoff, .drained, .config, .startsNow, .maxRuns: []
        }
    }

    private var text: String? {
        switch self {
        case .lock(let text, _), .backoff(let text, _), .config(let text): text
        case .skippedSoon, .needs, .notBefore, .drained, .startsNow, .sameManifest, .maxRuns, .workers: nil
        }
    }

    private var count: Int? { if case .maxRuns(let count) = self { count } else { nil } }

    /// `job 3`, `jobs 3 and 5`, `jobs 3, 5 and 7`; of many, the first ones.
    private static func list(_ jobs: [JobID]) -> String {
        let shown = 5
        let numbers = jobs.prefix(shown).map { String($0.number) }
        guard let last = numbers.last, numbers.count > 1 else { return jobs.first?.description ?? "no job" }
        if jobs.count > shown { return "jobs \(numbers.joined(separator: ", ")) and \(jobs.count - shown) more" }
        return "jobs \(numbers.dropLast().joined(separator: ", ")) and \(last)"
    }
}

/// `{"kind": "needs", "jobs": [17], "words": "needs job 17"}`; `time`, `text` and `count` where they exist.
extension WaitReason: Codable {
    private enum CodingKeys: String, CodingKey {
        case kind, jobs, time, text, count, words
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(kind, forKey: .kind)
        if !jobs.isEmpty { try values.encode(jobs, forKey: .jobs) }
        try values.encodeIfPresent(time, forKey: .time)
        try values.encodeIfPresent(text, forKey: .text)
        try values.encodeIfPresent(count, forKey: .count)
        try values.encode(words, forKey: .words)
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type = Value.self) throws -> Value {
            try values.decode(type, forKey: key)
        }
        let jobs = try values.decodeIfPresent([JobID].self, forKey: .jobs) ?? []
        func job() throws -> JobID {
            guard let job = jobs.first else {
                throw DecodingError.dataCorruptedError(forKey: .jobs, in: values, debugDescription: "no job")
            }
            return job
        }
        switch try read(.kind, Kind.self) {
        case .skippedSoon: self = .skippedSoon(because: try job())
        case .sameManifest: self = .sameManifest(try job())
        case .needs: self = .needs(jobs)
        case .notBefore: self = .notBefore(try read(.time))
        case .lock: self = .lock(text: try read(.text), again: try read(.time))
        case .backoff: self = .backoff(text: try read(.text), again: try read(.time))
        case .drained: self = .drained
        case .config: self = .config(try read(.text))
        case .startsNow: self = .startsNow
        case .maxRuns: self = .maxRuns(try read(.count))
        case .workers: self = .workers(by: jobs)
        }
    }
}
