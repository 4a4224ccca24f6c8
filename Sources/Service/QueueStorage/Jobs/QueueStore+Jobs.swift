import GRDB
package import Queueing

/// What a stored queue was.
package struct LoadedQueue: Sendable {
    /// All jobs that have not ended, and the ends of those that they need.
    package let queue: JobQueue
    /// Rows that cannot be read. Such a job is not in the queue, so it does not run, and jobs that need it wait.
    package let unreadable: [UnreadableRow]
}

/// What a request for a new job led to.
package enum Insertion: Hashable, Sendable {
    case new(Submission)
    /// The same request came before. This is its job, as it is now.
    case repeated(Submission)

    package var job: Submission {
        switch self {
        case .new(let job), .repeated(let job): job
        }
    }
}

/// Who asks for a new job, and by which key the same request is known.
package struct JobRequest: Hashable, Sendable {
    package let owner: Owner
    package let key: String?
    package let digest: String

    package init(owner: Owner, key: String?, digest: String) {
        self.owner = owner
        self.key = key
        self.digest = digest
    }

    /// How long a key is remembered after its submission. If the job ends later, the key is remembered until then.
    package static let keyLifetime = Duration.seconds(7 * 86_400)
}

extension QueueStore {
    /// The queue of a service that starts.
    package func load() throws -> LoadedQueue {
        try read { database in
            let reader = JobReader(database: database, store: self)
            var unreadable: [UnreadableRow] = []
            let rows = try database.rows(
                "SELECT \(SubmissionRow.columns) FROM submissions WHERE ended IS NULL ORDER BY id")
            let jobs = try reader.jobs(rows, &unreadable)
            let ends = try ends(database, &unreadable)
            var queue = JobQueue()
            for job in jobs { queue.put(job) { ends[$0].map { KnownJob(ended: $0) } } }
            return LoadedQueue(queue: queue, unreadable: unreadable)
        }
    }

    /// The ends of all jobs that open ones need.
    private func ends(_ database: Database, _ unreadable: inout [UnreadableRow]) throws -> [JobID: JobState.Ended] {
        let rows = try database.rows(
            """
            SELECT \(SubmissionRow.stateColumns) FROM submissions WHERE ended IS NOT NULL AND id IN
                (SELECT other FROM needs WHERE submission IN (SELECT id FROM submissions WHERE ended IS NULL))
            ORDER BY id
            """)
        var ends: [JobID: JobState.Ended] = [:]
        for row in rows {
            let id = JobID(try row.stored("id"))
            do {
                ends[id] = try SubmissionRow.state(row).end
            } catch let problem as RowProblem {
                unreadable.append(SubmissionRow.unreadable(id, problem))
            }
        }
        return ends
    }

    /// Stores a new job, once: if the same request came before, its job is the answer.
    ///
    /// All of it is one transaction.
    ///
    /// - Parameters:
    ///   - schedule: The schedule that submits the job, and the time that it has come to.
    ///   - audit: The entry for a new job.
    ///   - make: Makes the job from its number. It looks up jobs by its second argument, because it must not use the
    ///     store. It may throw a ``Refusal``.
    /// - Throws: ``Refusal`` if the key was used for another request, and what `make` throws.
    package func insert(
        _ request: JobRequest, schedule: ScheduleStep? = nil, audit: (Submission) -> AuditEntry? = { _ in nil },
        at now: WallTime, make: (JobID, _ known: (JobID) -> KnownJob?) throws -> Submission
    ) throws -> Insertion {
        try write { database in
            let reader = JobReader(database: database, store: self)
            if let earlier = try earlierJob(request, reader, at: now) {
                try earlier.checkRepetition(digest: request.digest)
                if let schedule { try advance(schedule, submitting: earlier.id, database) }
                return .repeated(earlier)
            }
            let id = try reader.nextID()
            let job = try JobLookup(reader).deciding { try make(id, $0) }
            guard job.id == id, job.owner == request.owner, job.key == request.key, job.digest == request.digest else {
                throw error(.notStorable("\(job.id) is another one than was asked for"))
            }
            try SubmissionRow.insert(job, database)
            try finish(job, reader)
            if let schedule { try advance(schedule, submitting: id, database) }
            if let entry = audit(job) { try append([entry], database) }
            return .new(job)
        }
    }

    /// The job of an earlier request with the same key. Its digest may be another one.
    package func job(of request: JobRequest, at now: WallTime) throws -> Submission? {
        try write { try earlierJob(request, JobReader(database: $0, store: self), at: now) }
    }

    /// The job of an earlier request with the same key. A key that does not answer any more is removed from its job.
    private func earlierJob(_ request: JobRequest, _ reader: JobReader, at now: WallTime) throws -> Submission? {
        guard let key = request.key else { return nil }
        let found = try reader.database.row(
            "SELECT id, submitted, ended FROM submissions WHERE owner = ? AND key = ?",
            [StoredText.whole(request.owner.text, "owner"), StoredText.whole(key, "key")])
        guard let found else { return nil }
        let id = JobID(try found.stored("id"))
        let submitted = try found.stored("submitted", WallTime.self)
        if try found.stored("ended", WallTime?.self) != nil, now - submitted > JobRequest.keyLifetime {
            try reader.database.run("UPDATE submissions SET key = NULL WHERE id = ?", [id.number])
            return nil
        }
        return try reader.job(id)
    }

    /// Stores jobs as they are now, and what belongs to the change, in one transaction.
    ///
    /// - Parameter messages: A message whose event is in the outbox already is not stored again.
    package func update(
        _ jobs: [Submission], messages: [OutboxMessage] = [], audit: [AuditEntry] = [], at now: WallTime
    ) throws {
        try write { database in
            try update(jobs, JobReader(database: database, store: self))
            for message in messages { try enqueue(message, at: now, database) }
            try append(audit, database)
        }
    }

    package func update(
        _ job: Submission, messages: [OutboxMessage] = [], audit: AuditEntry? = nil, at now: WallTime
    ) throws {
        try update([job], messages: messages, audit: audit.map { [$0] } ?? [], at: now)
    }

    private func update(_ jobs: [Submission], _ reader: JobReader) throws {
        for job in jobs {
            guard try SubmissionRow.update(job, reader.database) else { throw error(.unknownJob(job.id)) }
            try finish(job, reader)
        }
    }

    /// Stores whose run it is, and checks that the job can be read again as it was written.
    private func finish(_ job: Submission, _ reader: JobReader) throws {
        if let run = job.state.run {
            let database = reader.database
            try database.run(
                "INSERT INTO runs (name, submission) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [run, job.id.number])
            let owner = try database.row("SELECT submission FROM runs WHERE name = ?", [run])
            if let owner, case let other = JobID(try owner.stored("submission")), other != job.id {
                throw error(.runOfOther(run: run, job: other))
            }
        }
        guard try reader.job(job.id) == job.asStored() else {
            throw error(.notStorable("\(job.id) would be read as another one; a text may contain a zero byte"))
        }
    }

    /// Changes all jobs that a filter matches, in one transaction.
    ///
    /// The caller puts the changed and the new jobs into its ``JobQueue``. Jobs that cannot be read neither change nor
    /// count.
    ///
    /// - Parameter admit: May refuse the changes, by an error, before anything is stored.
    /// - Throws: ``BulkAction/Mismatch``, ``BulkAction/TooLarge``, and what `admit` throws.
    package func apply(
        _ action: BulkAction, to filter: JobFilter, expecting expected: Int?, by owner: Owner,
        limit: PriorityLimit? = nil, admit: (BulkAction.Changes) throws -> Void = { _ in },
        messages: (BulkAction.Changes) -> [OutboxMessage] = { _ in [] },
        audit: (BulkAction.Changes) -> AuditEntry? = { _ in nil }, at now: WallTime
    ) throws -> BulkAction.Outcome {
        try write { database in
            let reader = JobReader(database: database, store: self)
            var unreadable: [UnreadableRow] = []
            let query = JobListQuery(filter)
            let rows = try Row.fetchCursor(database, sql: query.jobs, arguments: query.arguments)
            var jobs: [Submission] = []
            var bytes = 0
            var (count, possible) = (0, 0)
            while let row = try rows.next() {
                for job in try reader.jobs([row], &unreadable) where filter.matches(job) {
                    count += 1
                    guard expected != nil else {
                        // A job that cannot be read is not there for others. A list of unreadable rows names it.
                        if action.fits(job, { try? reader.known($0) }) { possible += 1 }
                        continue
                    }
                    jobs.append(job)
                    if case .uploaded(let text, _) = job.manifest.place { bytes += text.utf8.count }
                }
                guard jobs.count <= BulkAction.mostJobs, bytes <= BulkAction.mostManifestBytes else {
                    throw BulkAction.TooLarge()
                }
            }
            if expected == nil { return .count(count, possible: possible == count ? nil : possible) }
            let next = try reader.nextID()
            let outcome = try JobLookup(reader).deciding { known in
                try action.apply(
                    to: jobs, matching: filter, expecting: expected,
                    .init(owner: owner, limit: limit, now: now, nextID: next, known: known))
            }
            guard case .done(let changes) = outcome else { return outcome }
            try admit(changes)
            try update(changes.changed, reader)
            for job in changes.submitted {
                try SubmissionRow.insert(job, database)
                try finish(job, reader)
            }
            for message in messages(changes) { try enqueue(message, at: now, database) }
            if let entry = audit(changes) { try append([entry], database) }
            return outcome
        }
    }

    // MARK: Single jobs

    /// - Throws: ``QueueStoreError`` for a row that cannot be read.
    package func job(_ id: JobID) throws -> Submission? {
        try read { try JobReader(database: $0, store: self).job(id) }
    }

    /// The job of a run. Earlier runs of a job lead to it, too.
    package func job(run: String) throws -> Submission? {
        guard StoredText.isWhole(run) else { return nil }
        return try read { database in
            guard let row = try database.row("SELECT submission FROM runs WHERE name = ?", [run]) else { return nil }
            return try JobReader(database: database, store: self).job(JobID(try row.stored("submission")))
        }
    }

    /// The names of the runs of an owner's latest jobs, at most so many.
    package func runs(of owner: Owner, limit: Int) throws -> [String] {
        try read { database in
            try database.rows(
                """
                SELECT runs.name FROM runs JOIN submissions ON submissions.id = runs.submission
                WHERE submissions.owner = ? ORDER BY submissions.id DESC LIMIT ?
                """, [owner.text, limit]
            ).map { try $0.stored("name") }
        }
    }

    /// The name that was given last to a run of the job, also if the run never began. Nil if there was none.
    package func latestRun(of id: JobID) throws -> String? {
        try read { database in
            // Names of one job begin alike, and go on with the time.
            try database.row("SELECT max(name) AS name FROM runs WHERE submission = ?", [id.number])?.stored("name")
        }
    }

    /// What other jobs need to know of a job.
    package func known(_ id: JobID) throws -> KnownJob? {
        try read { try JobReader(database: $0, store: self).known(id) }
    }

    /// Removes old jobs. A job stays if it has not ended, if its key is remembered, or if a job that stays needs it.
    ///
    /// - Parameters:
    ///   - time: Only jobs that ended before it are removed.
    ///   - count: So many ended jobs stay in any case: the newest ones.
    /// - Returns: The number of removed jobs.
    @discardableResult
    package func prune(endedBefore time: WallTime, keeping count: Int, at now: WallTime) throws -> Int {
        try write { database in
            let lastKey = now + (.zero - JobRequest.keyLifetime)
            try database.run(
                """
                WITH RECURSIVE
                    old (id) AS (
                        SELECT id FROM submissions WHERE ended < ? AND (key IS NULL OR submitted < ?) AND id NOT IN
                            (SELECT id FROM submissions WHERE ended IS NOT NULL ORDER BY id DESC LIMIT ?)),
                    needed (id) AS (
                        SELECT other FROM needs WHERE submission NOT IN old
                        UNION SELECT other FROM needs JOIN needed ON needs.submission = needed.id)
                DELETE FROM submissions WHERE id IN old AND id NOT IN needed
                """,
                [time.milliseconds, lastKey.milliseconds, max(0, count)])
            return database.changesCount
        }
    }
}
