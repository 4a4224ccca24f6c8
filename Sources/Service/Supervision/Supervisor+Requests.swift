import ContentNames
import Coordination
import FoundationEssentials
import JobModel
package import Queueing
package import QueueStorage
import Runs
import Synchronization

/// What people and programs ask of the queue.
extension Supervisor {
    // MARK: New jobs

    /// Accepts a job. The same request, with the same key, leads to the same job.
    ///
    /// - Parameter address: where the request came from, for the list of who changed what.
    /// - Throws: ``ManifestRefusal`` if the manifest is wrong; ``InputError``, ``Refusal``, ``PriorityRefusal`` and ``FullQueue``;
    ///   ``QueueStoreError``.
    package func submit(_ order: SubmissionOrder, from address: String?) async throws -> Insertion {
        let digest = try Self.digest(of: order)
        // A repeated request is answered even if its manifest has changed since.
        let request = JobRequest(owner: order.owner, key: order.key, digest: digest)
        if order.key != nil {
            if let earlier = try await onThread({ [self] in try store.job(of: request, at: now()) }) {
                try earlier.checkRepetition(digest: digest)
                return .repeated(earlier)
            }
        }
        if let priority = order.priority { try order.priorityLimit?.check(priority) }
        let priority = order.priority ?? order.priorityLimit?.lowered(.normal) ?? .normal
        var options = order.options
        options.roots = order.roots
        let manifest = try await checker.check(order.place, name: order.name, options)
        options.roots = manifest.roots
        return try await onThread { [self, options] in
            let time = now()
            let insertion = try store.insert(
                request,
                audit: { AuditEntry(at: time, caller: order.owner.text, address: address, action: "submit", job: $0) },
                at: time
            ) { id, known in
                try refuseIfFull(for: [order.place])
                return try Submission(
                    id: id, owner: order.owner, key: order.key, digest: digest, name: manifest.job,
                    manifest: ManifestSource(order.place, digest: manifest.digest, fileName: order.name),
                    options: options,
                    priority: priority, labels: order.labels, needs: order.needs, isHeld: order.isHeld,
                    notBefore: order.notBefore, at: time, known: known)
            }
            if case .new(let job) = insertion {
                put([job])
                observer.step(.submitted)
                wake()
            }
            return insertion
        }
    }

    /// Jobs that have not ended are in memory. A queue of this length is a program that has gone wrong.
    package static let mostOpenJobs = 100_000
    /// The same for the texts of their manifests, in bytes.
    package static let mostUploadedBytes = 32 << 20

    /// A new job, for which the queue has no room.
    package struct FullQueue: Error, Hashable, Sendable {
        package enum Limit: Hashable, Sendable {
            case jobs
            case uploads
        }

        package let limit: Limit

        package var message: String {
            switch limit {
            case .jobs:
                "\(Supervisor.mostOpenJobs) jobs have not ended, and the queue takes no more\n   = cancel some, or try again when some "
                    + "have ended"
            case .uploads:
                "the queue holds \(Supervisor.mostUploadedBytes >> 20) MB of uploaded manifests, and takes no more\n   = submit "
                    + "manifests by their paths, or try again when some jobs have ended"
            }
        }
    }

    /// On the supervisor's thread.
    ///
    /// - Parameter places: of the manifests of new jobs.
    func refuseIfFull(for places: [ManifestSource.Place]) throws(FullQueue) {
        let jobs = state.withLock(\.queue.jobs)
        guard jobs.count + places.count <= Self.mostOpenJobs else { throw FullQueue(limit: .jobs) }
        let new = places.reduce(0) { $0 + $1.uploadedBytes }
        guard new > 0 else { return }
        let bytes = jobs.reduce(new) { $0 + $1.manifest.place.uploadedBytes }
        guard bytes <= Self.mostUploadedBytes else { throw FullQueue(limit: .uploads) }
    }

    /// The digest of everything that makes a request another one.
    private static func digest(of order: SubmissionOrder) throws -> String {
        struct Content: Encodable {
            let path: String?
            let text: String?
            let folder: String?
            let name: String?
            let options: RunOptions
            let priority: Priority
            let labels: Labels
            let needs: [Need]
            let isHeld: Bool
            let notBefore: WallTime?
        }
        var (path, text, folder): (String?, String?, String?)
        switch order.place {
        case .file(let file): path = file
        case .uploaded(let uploaded, let base): (text, folder) = (uploaded, base)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let bytes = try encoder.encode(
            Content(
                path: path, text: text, folder: folder, name: order.name, options: order.options,
                priority: order.priority ?? .normal, labels: order.labels,
                needs: order.needs.sorted { $0.job < $1.job },
                isHeld: order.isHeld, notBefore: order.notBefore))
        return try self.digest(of: Array(bytes))
    }

    static func digest(of bytes: [UInt8]) throws(FarmError) -> String {
        guard let digest = SHA256Stream.digest(of: bytes) else {
            throw FarmError(.unavailable, "libcrypto gives no SHA-256 digests\n   = install OpenSSL's libcrypto again")
        }
        return digest
    }

    // MARK: Changes

    /// Who asks for a change.
    package struct Caller: Hashable, Sendable {
        package let owner: Owner
        package let address: String?
        /// May change only jobs of this owner.
        package let isLimited: Bool
        /// Nil if he may choose every priority.
        package let priorityLimit: PriorityLimit?

        package init(
            owner: Owner, address: String? = nil, isLimited: Bool = false, priorityLimit: PriorityLimit? = nil
        ) {
            self.owner = owner
            self.address = address
            self.isLimited = isLimited
            self.priorityLimit = priorityLimit
        }
    }

    /// A job of somebody else, for a caller who may change only his own.
    package struct ForeignJob: Error, Hashable, Sendable {
        package let job: JobID

        package var message: String {
            "\(job) was submitted by somebody else\n   = ask its owner, or use a token of the scope 'admin'"
        }
    }

    /// Changes a job.
    ///
    /// - Parameters:
    ///   - action: a word for the list of who changed what.
    ///   - expected: the state of the job that the caller has seen; nil for any.
    /// - Returns: the job as it is now.
    /// - Throws: ``Refusal``, ``InputError``, ``ForeignJob``, ``ChangedJob``, ``QueueStoreError``.
    package func change(
        _ id: JobID, by caller: Caller, action: String, expecting expected: String? = nil,
        _ body: @escaping @Sendable (inout Submission, _ now: WallTime, _ known: (JobID) -> KnownJob?) throws -> Void
    ) async throws -> Submission {
        try await onThread { [self] in
            guard let job = try store.job(id) else { throw Refusal(id, .unknownJob) }
            guard !caller.isLimited || job.owner == caller.owner else { throw ForeignJob(job: id) }
            if let expected, expected != Self.tag(of: job) { throw ChangedJob(job: id) }
            var changed = job
            let time = now()
            var failure: (any Error)?
            try body(&changed, time) { other in
                do {
                    return try store.known(other)
                } catch {
                    failure = error
                    return nil
                }
            }
            if let failure { throw failure }
            guard changed != job else { return job }
            let entry = AuditEntry(
                at: time, caller: caller.owner.text, address: caller.address, action: action, job: changed,
                changed.differences(from: job))
            let isEnded = if case .ended = job.state { true } else { false }
            try store.update(changed, messages: isEnded ? [] : messages(of: [changed]), audit: entry, at: time)
            put([changed])
            wake()
            return changed
        }
    }

    /// The job is not as the caller has seen it.
    package struct ChangedJob: Error, Hashable, Sendable {
        package let job: JobID

        package var message: String { "\(job) has changed in the meantime\n   = look at it again" }
    }

    /// Another text whenever the job is another value.
    package static func tag(of job: Submission) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // A job can always be encoded. An empty tag would only refuse a change.
        let bytes = (try? encoder.encode(QueueEntry(job))) ?? Data()
        return SHA256Stream.digest(of: Array(bytes)).map { String($0.prefix(32)) } ?? ""
    }

    /// A new job that does the same as an ended one, and also tries pictures that are still broken.
    package func retry(
        _ id: JobID, by caller: Caller, key: String?, deadline: RetryDeadline = .kept
    ) async throws -> Insertion {
        try await onThread { [self] in
            guard let job = try store.job(id) else { throw Refusal(id, .unknownJob) }
            guard !caller.isLimited || job.owner == caller.owner else { throw ForeignJob(job: id) }
            let time = now()
            let digest = try Self.digest(of: Array("retry \(id.number)\(deadline.suffix)".utf8))
            let insertion = try store.insert(
                JobRequest(owner: caller.owner, key: key, digest: digest),
                audit: {
                    AuditEntry(
                        at: time, caller: caller.owner.text, address: caller.address, action: "retry", job: $0,
                        ["a retry of \(id)"])
                }, at: time
            ) { new, known in
                try refuseIfFull(for: [job.manifest.place])
                return try job.retry(
                    as: new, by: caller.owner, key: key, digest: digest, deadline: deadline,
                    limit: caller.priorityLimit,
                    at: time, known: known)
            }
            if case .new(let job) = insertion {
                put([job])
                wake()
            }
            return insertion
        }
    }

    /// Changes all jobs that a filter matches, if there are as many as expected.
    ///
    /// - Throws: ``BulkAction/Mismatch``, ``BulkAction/TooLarge``, ``PriorityRefusal``, ``FullQueue``, ``QueueStoreError``.
    package func apply(
        _ action: BulkAction, to filter: JobFilter, expecting expected: Int?, by caller: Caller
    ) async throws -> BulkAction.Outcome {
        try caller.priorityLimit?.check(action)
        var filter = filter
        // Jobs of others do not match.
        if caller.isLimited {
            guard filter.ownerNames.isEmpty, filter.owners.isEmpty || filter.owners.contains(caller.owner) else {
                return .count(0)
            }
            filter.owners = [caller.owner]
        }
        return try await onThread { [self, filter] in
            let time = now()
            let outcome = try store.apply(
                action, to: filter, expecting: expected, by: caller.owner, limit: caller.priorityLimit,
                admit: { changes in try refuseIfFull(for: changes.submitted.map(\.manifest.place)) },
                // Jobs that had ended before may have changed, too.
                messages: { changes in
                    messages(
                        of: changes.changed.filter {
                            if case .ended(let end) = $0.state { end.time == time } else { false }
                        })
                },
                audit: { changes in
                    AuditEntry(
                        at: time, caller: caller.owner.text, address: caller.address, action: "bulk",
                        subject: filter.text, detail: "\(action.words): \(changes.words)")
                }, at: time)
            if case .done(let changes) = outcome {
                put(changes.changed + changes.submitted)
                wake()
            }
            return outcome
        }
    }

    /// Starts no jobs any more, or starts them again. Runs that are open go on.
    package func drain(_ isDrained: Bool, by caller: Caller) async throws {
        try await onThread { [self] in
            let entry = AuditEntry(
                at: now(), caller: caller.owner.text, address: caller.address, action: isDrained ? "drain" : "undrain",
                subject: "", detail: "")
            try store.set(.drained, to: isDrained ? "yes" : nil, audit: entry)
            state.withLock { $0.limits.isDrained = isDrained }
            wake()
        }
    }

    // MARK: Lists

    package struct Listing: Sendable {
        package let jobs: [QueueEntry]
        /// How many jobs the filter matches, on all pages.
        package let total: Int
        /// The next page begins below this job. Nil on the last page.
        package let next: JobID?
        package let unreadable: [UnreadableRow]
    }

    /// The filter, with owners in the place of names of tokens. Several tokens may have one name.
    ///
    /// - Throws: ``InputError`` for a name that no token has.
    package func resolved(_ filter: JobFilter) async throws -> JobFilter {
        guard !filter.ownerNames.isEmpty else { return filter }
        return try await onThread { [self] in
            let names = try store.tokenNames()
            var filter = filter
            for name in filter.ownerNames {
                let tokens = names.filter { $0.value == name }.keys
                guard !tokens.isEmpty else { throw InputError.filter(.ownerName(name)) }
                filter.owners.formUnion(tokens.map { .token($0) })
            }
            filter.ownerNames = []
            return filter
        }
    }

    /// A page of jobs, the newest first. Waiting ones say why they wait.
    package func jobs(_ filter: JobFilter, before cursor: JobID?, limit: Int) async throws -> Listing {
        try await onThread { [self] in
            let page = try store.list(filter, before: cursor, limit: limit)
            let standings = page.jobs.contains { $0.state.name == .waiting } ? standings : [:]
            let names = try store.tokenNames()
            return Listing(
                jobs: page.jobs.map { job in
                    var name: String?
                    if case .token(let id) = job.owner { name = names[id] }
                    return QueueEntry(job, standing: standings[job.id], isPaused: isPaused(job.id), ownerName: name)
                }, total: try store.count(filter),
                next: page.next, unreadable: page.unreadable)
        }
    }

    /// - Throws: ``Refusal`` if there is no such job.
    package func job(_ id: JobID) async throws -> (job: Submission, entry: QueueEntry) {
        try await onThread { [self] in
            guard let job = try store.job(id) else { throw Refusal(id, .unknownJob) }
            let standing = job.state.name == .waiting ? standings[id] : nil
            return (
                job, QueueEntry(job, standing: standing, isPaused: isPaused(id), ownerName: store.name(of: job.owner))
            )
        }
    }

    /// The log of the job's last process. A process that refuses its manifest has a log, and no run. Nil if there was no process.
    ///
    /// - Throws: ``Refusal`` if there is no such job.
    package func logPath(of id: JobID) async throws -> String? {
        try await onThread { [self] in
            guard let job = try store.job(id) else { throw Refusal(id, .unknownJob) }
            return try (job.state.run ?? store.latestRun(of: id)).map(logPath)
        }
    }

    /// As its run has last reported.
    private func isPaused(_ id: JobID) -> Bool { state.withLock { $0.runs[id]?.live?.isPaused ?? false } }

    /// A job as it was, and why it waits now.
    package func entry(of job: Submission) async throws -> QueueEntry {
        try await onThread { [self] in
            QueueEntry(
                job, standing: job.state.name == .waiting ? standings[job.id] : nil, isPaused: isPaused(job.id),
                ownerName: store.name(of: job.owner))
        }
    }

    private var standings: [JobID: Standing] {
        let now = now()
        return state.withLock { state in
            state.queue.standings(state.limits, wants: state.runs.compactMapValues { $0.wants(at: now) }, at: now)
        }
    }

    /// The job to which a run belongs. Nil if the service has not begun it.
    package func job(ofRun run: String) async throws -> Submission? {
        try await onThread { [store] in try store.job(run: run) }
    }

    package struct Condition: Sendable {
        package let limits: Limits
        package let openRuns: Int
        package let counts: [JobState.Name: Int]
        /// Why the database could not be written last. Nil if it could.
        package let trouble: String?
    }

    /// - Parameter owner: whose jobs are counted. Nil for those of all.
    package func condition(countingJobsOf owner: Owner? = nil) async throws -> Condition {
        try await onThread { [self] in
            var counts: [JobState.Name: Int] = [:]
            for name in JobState.Name.allCases {
                var filter = JobFilter()
                filter.states = [name]
                if let owner { filter.owners = [owner] }
                counts[name] = try store.count(filter)
            }
            return state.withLock { [counts] state in
                Condition(
                    limits: state.limits, openRuns: state.runs.count, counts: counts, trouble: state.trouble)
            }
        }
    }

    /// Calls that block are made one after the other.
    func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await thread.run { () throws -> Value in try body() }
    }
}

extension RetryDeadline {
    /// Tells apart requests with the same key. Empty for requests without a deadline, as earlier versions had them.
    fileprivate var suffix: String {
        switch self {
        case .kept: ""
        case .none: ", without a deadline"
        case .seconds(let seconds): ", with a deadline of \(seconds) s"
        }
    }
}

extension ManifestSource.Place {
    fileprivate var uploadedBytes: Int {
        switch self {
        case .file: 0
        case .uploaded(let text, _): text.utf8.count
        }
    }
}

extension AuditEntry {
    /// - Parameter changes: what is another way than before, in words.
    fileprivate init(
        at time: WallTime, caller: String, address: String?, action: String, job: Submission, _ changes: [String] = []
    ) {
        self.init(
            at: time, caller: caller, address: address, action: action, subject: "\(job.id)",
            detail: job.name + (changes.isEmpty ? "" : ": \(changes.joined(separator: ", "))"))
    }
}

extension Supervisor {
    /// Calls of the database that are no business of the queue.
    package func onStore<Value: Sendable>(
        _ body: @escaping @Sendable (QueueStore) throws -> Value
    ) async throws -> Value {
        try await onThread { [store] in try body(store) }
    }
}
