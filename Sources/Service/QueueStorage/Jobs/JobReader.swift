import GRDB
import Queueing

/// Reads jobs in a transaction.
struct JobReader {
    let database: Database
    let store: QueueStore

    /// - Throws: ``QueueStoreError`` for a row that cannot be read.
    func job(_ id: JobID) throws -> Submission? {
        try database.row("SELECT \(SubmissionRow.columns) FROM submissions WHERE id = ?", [id.number]).map { row in
            try readable(id) { try SubmissionRow.submission(row, database) }
        }
    }

    func known(_ id: JobID) throws -> KnownJob? {
        guard
            let row = try database.row(
                "SELECT \(SubmissionRow.stateColumns) FROM submissions WHERE id = ?", [id.number])
        else { return nil }
        let state = try readable(id) { try SubmissionRow.state(row) }
        let retry = try database.row("SELECT max(id) AS id FROM submissions WHERE retry_of = ?", [id.number])
        return KnownJob(ended: state.end, retriedAs: try retry?.stored("id", Int?.self).map { JobID($0) })
    }

    /// The number of the next job.
    func nextID() throws -> JobID {
        // A number is not used again after its row is removed.
        let row = try database.row("SELECT seq FROM sqlite_sequence WHERE name = ?", ["submissions"])
        return JobID((try row?.stored("seq") ?? 0) + 1)
    }

    private func readable<Result>(_ id: JobID, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let problem as RowProblem {
            throw store.error(.unreadable(SubmissionRow.unreadable(id, problem)))
        }
    }

    /// Decodes rows of ``SubmissionRow/columns``. Rows that cannot be read are reported, and the others are decoded.
    func jobs(_ rows: [Row], _ unreadable: inout [UnreadableRow]) throws -> [Submission] {
        var jobs: [Submission] = []
        for row in rows {
            let id = JobID(try row.stored("id"))
            do {
                jobs.append(try SubmissionRow.submission(row, database))
            } catch let problem as RowProblem {
                unreadable.append(SubmissionRow.unreadable(id, problem))
            }
        }
        return jobs
    }
}

/// Looks up jobs for a decision of `Queueing`, which takes no errors.
final class JobLookup {
    private let reader: JobReader
    /// The first error. Whoever used ``known(_:)`` has to throw it instead of an error of his own.
    private(set) var failure: (any Error)?

    init(_ reader: JobReader) { self.reader = reader }

    func known(_ id: JobID) -> KnownJob? {
        do {
            return try reader.known(id)
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    /// Runs a decision that looks up jobs. An error of the database comes before a refusal that follows from it.
    func deciding<Result>(_ body: (@escaping (JobID) -> KnownJob?) throws -> Result) throws -> Result {
        do {
            let result = try body(known)
            if let failure { throw failure }
            return result
        } catch {
            throw failure ?? error
        }
    }
}
