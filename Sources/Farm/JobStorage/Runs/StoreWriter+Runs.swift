import FoundationEssentials
import GRDB
package import JobModel

/// What is written down of runs.
extension StoreWriter {
    package func begin(
        run name: String, of job: JobID, at time: Int64, workers: Int, request: String, counts: String
    ) throws -> RunID {
        try execute(
            """
            INSERT INTO runs (name, job, epoch, state, started, workers, request, counts)
            VALUES (?, ?, 1, 'running', ?, ?, ?, ?)
            """, [name, job.number, time, workers, request, counts])
        return RunID(number: database.lastInsertedRowID)
    }

    /// Another coordinator has it now. What the last one left running is lost.
    package func claim(
        _ run: RunID, epoch: Int, at time: Int64, workers: Int, request: String, counts: String
    ) throws {
        try execute(
            """
            UPDATE runs SET epoch = ?, state = 'running', workers = ?, request = ?, counts = ?, ended = NULL,
                exit_code = NULL, reason = NULL
            WHERE id = ?
            """, [epoch, workers, request, counts, run.number])
        try execute(
            """
            UPDATE attempts SET state = 'lost', ended = ?, message = 'the coordinator was killed'
            WHERE run = ? AND state = 'running'
            """, [time, run.number])
    }

    package func set(_ run: RunID, counts: String) throws {
        try execute("UPDATE runs SET counts = ? WHERE id = ?", [counts, run.number])
    }

    /// The first end counts.
    package func end(_ run: RunID, at time: Int64, exitCode: Int, reason: String?) throws {
        try execute(
            "UPDATE runs SET state = 'ended', ended = ?, exit_code = ?, reason = ? WHERE id = ? AND state != 'ended'",
            [time, exitCode, reason, run.number])
        try execute(
            "UPDATE attempts SET state = 'dropped', ended = ? WHERE run = ? AND state = 'running'", [time, run.number])
        try execute("UPDATE frames SET state = 'left' WHERE run = ? AND state = 'open'", [run.number])
    }

    package func put(_ frame: StoredFrame, run: RunID) throws {
        let (state, cause, message) = frame.state.columns
        try execute(
            """
            INSERT OR REPLACE INTO frames (run, number, page, input, recipe, outputs, state, cause, message, seconds)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                run.number, frame.number, frame.page, frame.input, frame.recipe,
                String(decoding: try JSONEncoder().encode(frame.outputs), as: UTF8.self), state, cause, message,
                frame.seconds,
            ])
    }

    package func put(_ attempt: StoredAttempt, run: RunID) throws {
        let columns = attempt.state.columns
        try execute(
            """
            INSERT INTO attempts (run, epoch, lease, number, page, kind, tile, attempt, round, worker, started,
                deadline, state, ended, message, receipt, log)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (run, epoch, lease) DO UPDATE SET
                state = excluded.state, ended = excluded.ended, message = excluded.message,
                receipt = excluded.receipt, log = excluded.log
            WHERE state = 'running'
            """,
            [
                run.number, attempt.epoch, attempt.lease, attempt.number, attempt.page, attempt.kind,
                attempt.tile ?? -1, attempt.attempt, attempt.round, attempt.worker, attempt.started, attempt.deadline,
                columns.state, columns.ended, columns.message, columns.receipt, attempt.log,
            ])
    }

    /// Attempts that this machine only handed to others, who tell of theirs.
    package func forgetRunning(of run: RunID) throws {
        try execute("DELETE FROM attempts WHERE run = ? AND state = 'running'", [run.number])
    }

    package func put(_ publication: StoredPublication, run: RunID) throws {
        try execute(
            "INSERT OR IGNORE INTO publications (run, path, number, page, at) VALUES (?, ?, ?, ?, ?)",
            [run.number, publication.path, publication.number, publication.page, publication.at])
    }

    /// Keeps so many runs of each job, and of the latest of them what was done in them.
    package func prune(runs: Int = 100, detailed: Int = 10) throws {
        let ranked = """
            SELECT id, ROW_NUMBER() OVER (PARTITION BY job ORDER BY started DESC, id DESC) AS place FROM runs
            WHERE state = 'ended'
            """
        try execute("DELETE FROM runs WHERE id IN (SELECT id FROM (\(ranked)) WHERE place > ?)", [runs])
        let old = "run IN (SELECT id FROM (\(ranked)) WHERE place > ?)"
        for table in ["attempts", "frames", "publications"] {
            try execute("DELETE FROM \(table) WHERE \(old)", [detailed])
        }
    }
}

extension FrameResult {
    /// The table does not tell apart why nothing was made.
    fileprivate var columns: (state: String, cause: String?, message: String?) {
        switch self {
        case .failed(let cause, let message): (kind.rawValue, cause, message)
        case .skipped, .kept, .stillBroken: (Kind.skipped.rawValue, nil, nil)
        case .open, .published, .left: (kind.rawValue, nil, nil)
        }
    }
}

extension StoredAttempt.State {
    fileprivate var columns: (state: String, ended: Int64?, message: String?, receipt: String?) {
        switch self {
        case .running: ("running", nil, nil, nil)
        case .done(let time, let receipt): ("done", time, nil, receipt)
        case .failed(let time, let message): ("failed", time, message, nil)
        case .lost(let time, let message): ("lost", time, message, nil)
        case .dropped(let time): ("dropped", time, nil, nil)
        }
    }
}
