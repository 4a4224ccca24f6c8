import GRDB
import Queueing

/// The rows of a job.
enum SubmissionRow {
    static let columns = """
        id, owner, key, digest, name, manifest_path, manifest_text, manifest_folder, manifest_name, manifest_digest, options, \
        priority, expedited, labels, not_before, retry_of, submitted, state, details, run, tries, ended, exit_code
        """

    /// The columns of ``state(_:)``.
    static let stateColumns = "id, state, details, run, tries, ended, exit_code"

    static func unreadable(_ id: JobID, _ problem: RowProblem) -> UnreadableRow {
        UnreadableRow(subject: id.description, job: id, words: problem.words)
    }

    /// - Parameter row: A row of ``columns``.
    /// - Throws: ``RowProblem`` for a row that this version does not write.
    static func submission(_ row: Row, _ database: Database) throws -> Submission {
        let id = JobID(try row.stored("id"))
        let key = try row.stored("key", String?.self)
        if let key, key.utf8.count > Submission.longestKey { throw RowProblem(words: "the key is too long") }
        let owner = try row.stored("owner", String.self)
        guard let known = Owner(text: owner) else { throw RowProblem(words: "'\(owner)' is no owner") }
        let priority = try row.stored("priority", Int.self)
        guard Priority(clamping: priority).value == priority else {
            throw RowProblem(words: "\(priority) is no priority")
        }
        return try Submission(
            id: id, owner: known, key: key, digest: row.stored("digest"), name: row.stored("name"),
            manifest: manifest(row), options: StoredText.value(row.stored("options"), "options"),
            priority: Priority(clamping: priority), expedited: row.stored("expedited"),
            labels: StoredText.value(row.stored("labels"), "labels"), needs: needs(of: id, database),
            notBefore: row.stored("not_before"), retryOf: row.stored("retry_of", Int?.self).map { JobID($0) },
            submitted: row.stored("submitted"), state: state(row))
    }

    private static func manifest(_ row: Row) throws -> ManifestSource {
        let place: ManifestSource.Place
        switch (
            try row.stored("manifest_path", String?.self), try row.stored("manifest_text", String?.self),
            try row.stored("manifest_folder", String?.self)
        ) {
        case (let path?, nil, nil): place = .file(path: path)
        case (nil, let text?, let folder?): place = .uploaded(text: text, folder: folder)
        default: throw RowProblem(words: "it has no manifest, or two")
        }
        return ManifestSource(
            place, digest: try row.stored("manifest_digest"), fileName: try row.stored("manifest_name", String?.self))
    }

    private static func needs(of id: JobID, _ database: Database) throws -> [Need] {
        try database.rows("SELECT other, outcome FROM needs WHERE submission = ? ORDER BY other", [id.number]).map {
            row in
            let other = JobID(try row.stored("other"))
            let word = try row.stored("outcome", String.self)
            guard let outcome = Need.Outcome(rawValue: word), other < id, other.number > 0 else {
                throw RowProblem(words: "'\(other.number):\(word)' is no job that it may need")
            }
            return Need(other, on: outcome)
        }
    }

    /// The state, if the columns agree with it.
    static func state(_ row: Row) throws -> JobState {
        let state = try StoredText.value(row.stored("details"), "details", JobState.self)
        guard try row.stored("state") == state.name.rawValue, try row.stored("run") == state.run,
            try row.stored("tries") == state.tries, try row.stored("ended") == state.end?.time,
            try row.stored("exit_code") == state.end?.end.exitCode
        else { throw RowProblem(words: "the columns of its state disagree") }
        return state
    }

    // MARK: Writing

    static func insert(_ job: Submission, _ database: Database) throws {
        let (path, text, folder): (String?, String?, String?) =
            switch job.manifest.place {
            case .file(let path): (path, nil, nil)
            case .uploaded(let text, let folder): (nil, text, folder)
            }
        let marks = Array(repeating: "?", count: 23).joined(separator: ", ")
        try database.run(
            "INSERT INTO submissions (\(columns)) VALUES (\(marks))",
            [
                job.id.number, job.owner.text, job.key, job.digest, job.name, path, text, folder,
                job.manifest.fileName, job.manifest.digest,
                StoredText.json(job.options), job.priority.value, job.expedited?.milliseconds,
                StoredText.json(job.labels), job.notBefore?.milliseconds, job.retryOf?.number,
                job.submitted.milliseconds, job.state.name.rawValue, StoredText.json(job.state), job.state.run,
                job.state.tries, job.state.end?.time.milliseconds, job.state.end?.end.exitCode,
            ])
        try put(job.needs, of: job.id, database)
    }

    /// - Returns: false if there is no such job.
    static func update(_ job: Submission, _ database: Database) throws -> Bool {
        try database.run(
            """
            UPDATE submissions SET priority = ?, expedited = ?, labels = ?, state = ?, details = ?, run = ?, tries = ?,
                ended = ?, exit_code = ? WHERE id = ?
            """,
            [
                job.priority.value, job.expedited?.milliseconds, StoredText.json(job.labels), job.state.name.rawValue,
                StoredText.json(job.state), job.state.run, job.state.tries, job.state.end?.time.milliseconds,
                job.state.end?.end.exitCode, job.id.number,
            ])
        guard database.changesCount > 0 else { return false }
        if try needs(of: job.id, database) != job.needs {
            try database.run("DELETE FROM needs WHERE submission = ?", [job.id.number])
            try put(job.needs, of: job.id, database)
        }
        return true
    }

    private static func put(_ needs: [Need], of id: JobID, _ database: Database) throws {
        for need in needs {
            try database.run(
                "INSERT INTO needs (submission, other, outcome) VALUES (?, ?, ?)",
                [id.number, need.job.number, need.on.rawValue])
        }
    }
}

extension Submission {
    /// The job as it is read. Its state is stored to the millisecond.
    func asStored() throws -> Submission {
        Submission(
            id: id, owner: owner, key: key, digest: digest, name: name, manifest: manifest, options: options,
            priority: priority, expedited: expedited, labels: labels, needs: needs, notBefore: notBefore,
            retryOf: retryOf, submitted: submitted, state: try StoredText.value(StoredText.json(state), "details"))
    }
}

extension JobState {
    /// Nil if it has not ended.
    var end: Ended? { if case .ended(let ended) = self { ended } else { nil } }
}
