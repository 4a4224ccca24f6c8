import JobModel

/// A submitted job: what was asked for, and what has become of it. A row of the service's database.
///
/// One submission becomes one run. Several processes may take part in the run, if some of them are killed.
package struct Submission: Hashable, Sendable {
    package let id: JobID
    package let owner: Owner
    /// Together with the owner, it identifies the submission: if the same request comes again, this job is the answer.
    package let key: String?
    /// The digest of the request. Another request with the same key has another one.
    package let digest: String
    /// The name of the manifest's job. Jobs of earlier versions with an uploaded manifest have its file's name.
    package let name: String
    package let manifest: ManifestSource
    package let options: RunOptions
    package internal(set) var priority: Priority
    /// When somebody asked that it run next. Nil if nobody did.
    package internal(set) var expedited: WallTime?
    package internal(set) var labels: Labels
    /// The jobs that have to end first, by number. All of them are earlier ones, so no circle is possible.
    package internal(set) var needs: [Need]
    package let notBefore: WallTime?
    /// The job that it repeats.
    package let retryOf: JobID?
    package let submitted: WallTime
    package internal(set) var state: JobState

    package static let longestKey = 255
    package static let mostNeeds = 100

    /// A new job, which waits or is held.
    ///
    /// - Parameter known: Looks up a job that it needs.
    package init(
        id: JobID, owner: Owner, key: String? = nil, digest: String, name: String, manifest: ManifestSource,
        options: RunOptions = RunOptions(), priority: Priority = .normal, labels: Labels = Labels(), needs: [Need] = [],
        isHeld: Bool = false, notBefore: WallTime? = nil, retryOf: JobID? = nil, at time: WallTime,
        known: (JobID) -> KnownJob?
    ) throws {
        if let key { try Self.check(key: key) }
        self.id = id
        self.owner = owner
        self.key = key
        self.digest = digest
        self.name = name
        self.manifest = manifest
        self.options = options
        self.priority = priority
        self.labels = labels
        self.needs = try Need.checked(needs, of: id, known: known)
        self.notBefore = notBefore
        self.retryOf = retryOf
        submitted = time
        let waiting = JobState.Waiting(since: time)
        state = isHeld ? .held(waiting) : .waiting(waiting)
    }

    /// A stored job.
    package init(
        id: JobID, owner: Owner, key: String?, digest: String, name: String, manifest: ManifestSource,
        options: RunOptions, priority: Priority, expedited: WallTime?, labels: Labels, needs: [Need],
        notBefore: WallTime?, retryOf: JobID?, submitted: WallTime, state: JobState
    ) {
        self.id = id
        self.owner = owner
        self.key = key
        self.digest = digest
        self.name = name
        self.manifest = manifest
        self.options = options
        self.priority = priority
        self.expedited = expedited
        self.labels = labels
        self.needs = needs.sorted { $0.job < $1.job }
        self.notBefore = notBefore
        self.retryOf = retryOf
        self.submitted = submitted
        self.state = state
    }

    private static func check(key: String) throws(InputError) {
        guard (1...longestKey).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .key(key)
        }
    }

    /// Whether a request with this job's owner and key is the same one. Another request with a used key is refused.
    package func checkRepetition(digest: String) throws(Refusal) {
        guard digest == self.digest else { throw Refusal(id, .keyIsUsed(key ?? "")) }
    }
}

extension Submission {
    /// Only one run of a manifest's job is open at a time: it has a lock. Other jobs with the same value wait for it.
    package struct RunLock: Hashable, Sendable {
        /// The path of the manifest. That of an uploaded text needs no file.
        package let path: String
        let name: String
    }

    package var lock: RunLock { RunLock(path: manifestPath, name: name) }
}

/// Where the manifest of a job is.
package struct ManifestSource: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// The absolute path of a file on the service's machine. The run reads it when it starts.
        case file(path: String)
        /// Its relative paths start at the folder.
        case uploaded(text: String, folder: String)
    }

    package let place: Place
    /// The digest of the text as it was read at the submission. If the run reads another text, that is reported.
    package let digest: String
    /// The name of the file that an uploaded text stands for, without its ending. Nil for the name of its job.
    package let fileName: String?

    package init(_ place: Place, digest: String, fileName: String? = nil) {
        self.place = place
        self.digest = digest
        self.fileName = fileName
    }
}

extension ManifestSource.Place {
    /// The path of the manifest as runs know it. It decides whose outputs are found at an output's path: those of the same
    /// path and job belong to the run. In the folder of an uploaded text no file needs to be.
    ///
    /// - Parameter name: of the file that an uploaded text stands for, without its ending.
    package func path(name: String) -> String {
        switch self {
        case .file(let path): path
        case .uploaded(_, let folder): PathNames.joined(folder, "\(name).yaml")
        }
    }
}

extension Submission {
    /// The path of its manifest as its run knows it.
    package var manifestPath: String { manifest.place.path(name: manifest.fileName ?? name) }
}

/// What others need to know of a job.
package struct KnownJob: Hashable, Sendable {
    /// Nil if it has not ended.
    package let ended: JobState.Ended?
    /// The latest job that repeats it.
    package let retriedAs: JobID?

    package init(ended: JobState.Ended?, retriedAs: JobID? = nil) {
        self.ended = ended
        self.retriedAs = retriedAs
    }

    package var end: JobState.End? { ended?.end }
}

/// Another job that has to end before a job starts.
package struct Need: Hashable, Sendable, Codable, CustomStringConvertible {
    package enum Outcome: String, Hashable, Sendable, Codable, CaseIterable {
        /// If the other job ends in another way, the job that needs it is skipped.
        case success
        /// Any end.
        case end
    }

    package let job: JobID
    package let on: Outcome

    package init(_ job: JobID, on outcome: Outcome = .success) {
        self.job = job
        on = outcome
    }

    /// Reads `17`, `17:success` or `17:end`.
    package init(text: String) throws(InputError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, let number = Int(first), number > 0, String(number) == first,
            let outcome = parts.count == 1 ? .success : Outcome(rawValue: parts[1])
        else { throw .need(text) }
        self.init(JobID(number), on: outcome)
    }

    package var description: String { "\(job.number):\(on.rawValue)" }

    func isMet(by end: JobState.End) -> Bool { on == .end || end.isSuccess }

    /// The needs by number. Refuses needs that name an unknown job, a later one or one twice, and needs that cannot be
    /// met any more.
    static func checked(
        _ needs: [Need], of id: JobID, known: (JobID) -> KnownJob?
    ) throws(Refusal) -> [Need] {
        guard needs.count <= Submission.mostNeeds else { throw Refusal(id, .tooManyNeeds(needs.count)) }
        let sorted = needs.sorted { $0.job < $1.job }
        for (need, next) in zip(sorted, sorted.dropFirst()) where need.job == next.job {
            throw Refusal(id, .needsTwice(need.job))
        }
        for need in sorted {
            guard need.job != id else { throw Refusal(id, known(id) == nil ? .needsUnknown(id) : .needsItself) }
            guard let other = known(need.job) else { throw Refusal(id, .needsUnknown(need.job)) }
            guard need.job < id else { throw Refusal(id, .needsLater(need.job)) }
            if let end = other.end, !need.isMet(by: end) { throw Refusal(id, .needsFailed(need.job, end)) }
        }
        return sorted
    }
}
