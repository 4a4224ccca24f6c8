import SafeFiles
package import JobModel
package import JobStorage
package import Scheduling

/// A run in the database, from its begin to its end.
package final class RunHistory: Sendable {
    package let recorder: RunRecorder
    /// What coordinators before had done of it.
    package let heritage: RecoveredWork
    private let store: JobStore
    private let now: @Sendable () -> Int64

    /// The latest run of a job whose coordinator was killed, and that can be gone on with. Others that it left are
    /// removed.
    ///
    /// - Throws: what the database says, where it cannot be read.
    package static func unfinished(of job: JobSpec, state: String) throws -> RunFolder? {
        let runs = RunFolder.unfinished(of: job, state: state)
        guard !runs.isEmpty else { return nil }
        let path = Ledger.databasePath(state: state)
        let store = FileSystem.exists(path) ? try JobStore(path: path) : nil
        let known = try runs.filter { run in try store?.read { try $0.run(named: run.name) }?.state.isEnded == false }
        for run in runs where run != known.first { run.remove() }
        return known.first
    }

    /// Begins a run, or goes on with the one whose folder was claimed. Whoever has the job's lock may.
    ///
    /// - Parameters:
    ///   - isShared: other machines read of it beside its folder.
    ///   - counts: what is known of its outcome, given the frames that earlier coordinators came to the end of.
    package init(
        state: String, job spec: JobSpec, directory: RunClaim, workers: Int, request: String,
        isShared: Bool = false, counts: (Set<FrameID>) -> RunCounts, now: @escaping @Sendable () -> Int64
    ) throws(StoreProblem) {
        // What happens to be lost with the power is done again.
        let store = try JobStore(path: Ledger.databasePath(state: state), survivesPowerLoss: false)
        let (name, epoch, time) = (directory.name, directory.epoch, now())
        let known = try store.read { try $0.run(named: name) }
        var (heritage, concluded) = (RecoveredWork(), Set<FrameID>())
        if let known, !known.state.isEnded {
            let frames = try store.read { try $0.frames(of: known.id) }
            concluded = Set(
                frames.filter { $0.state != .open && $0.wasBegun }.map { FrameID($0.number, page: $0.page) })
            heritage = try store.read { RecoveredWork(known, frames: frames, attempts: try $0.attempts(of: known.id)) }
        }
        let counts = counts(concluded).json
        // Who asks for something else, such as --force, means all of it.
        if known?.request != request { heritage.forgetPublished() }
        let run = try store.write { writer -> RunID in
            let job = try writer.job(manifest: spec.manifestPath, name: spec.name)
            for other in try writer.reader.runs(of: job) where other.name != name && !other.state.isEnded {
                try writer.end(
                    other.id, at: time, exitCode: RunOutcome.killed.number, reason: "its coordinator was killed")
            }
            if let known {
                try writer.claim(
                    known.id, epoch: epoch, at: time, workers: workers, request: request, counts: counts)
                return known.id
            }
            return try writer.begin(run: name, of: job, at: time, workers: workers, request: request, counts: counts)
        }
        (self.store, self.heritage, self.now) = (store, heritage, now)
        recorder = RunRecorder(
            store: store, run: run, epoch: epoch, history: isShared ? directory.folder.log : nil, now: now)
    }

    /// Ends a run that nobody goes on with.
    package static func giveUp(
        _ run: RunRecord, state: String, exitCode: Int, reason: String, counts: RunCounts, at time: Int64
    ) throws(StoreProblem) {
        let store = try JobStore(path: Ledger.databasePath(state: state))
        try store.write { writer in
            try writer.set(run.id, counts: counts.json)
            try writer.end(run.id, at: time, exitCode: exitCode, reason: reason)
        }
    }

    /// Ends a run that other machines have brought to its end, with what they have done of it.
    package static func end(
        _ shared: RunFolder, _ record: RunRecord, _ end: RunRecord.End, state: String
    ) throws {
        let store = try JobStore(path: Ledger.databasePath(state: state))
        guard let run = try store.read({ try $0.run(named: shared.name) }), !run.state.isEnded else { return }
        // What was done is told before the end is: then nobody looks for it any more.
        try shared.log.read { lines in try store.write { try $0.put(lines, run: run.id) } }
        let (failures, broken) = (Dictionary(grouping: end.failures ?? [], by: \.input), shared.log.broken(.found))
        try store.write { writer in
            let job = try writer.job(manifest: run.manifest, name: run.job)
            for one in broken { try writer.put(one, job: job) }
            try writer.forgetRunning(of: run.id)
            for frame in try writer.reader.frames(of: run.id) where [.open, .left].contains(frame.state) {
                try writer.put(Self.told(of: frame, end, failures[frame.input] ?? []), run: run.id)
            }
            try writer.claim(
                run.id, epoch: record.epoch, at: end.time, workers: run.workers, request: run.request,
                counts: record.counts.json)
            try writer.end(run.id, at: end.time, exitCode: end.exitCode, reason: end.reason)
            try writer.prune()
        }
    }

    /// Of which no coordinator has told, or one that was killed.
    private static func told(
        of open: StoredFrame, _ end: RunRecord.End, _ failures: [RunRecord.Failure]
    ) -> StoredFrame {
        var frame = open
        // An output that stays as it is has no path there.
        let wanted = Set(frame.outputs.filter { !$0.isEmpty })
        if let failure = failures.first(where: { wanted.isSubset(of: $0.outputs) }) {
            frame.state = .failed(cause: failure.cause, message: failure.message)
        } else if end.reason == nil, end.hasMoreFailures != true {
            frame.state = .published
        }
        return frame
    }

    package static func prune(keeping runs: Int, state: String) throws(StoreProblem) {
        let store = try JobStore(path: Ledger.databasePath(state: state))
        try store.write { try $0.prune(runs: runs) }
    }

    /// - Parameter reason: nil when the plan was done to its end.
    package func end(exitCode: Int, reason: String?, counts: RunCounts) throws(StoreProblem) {
        recorder.flush()
        let time = now()
        try store.write { writer in
            try writer.set(recorder.run, counts: counts.json)
            try writer.end(recorder.run, at: time, exitCode: exitCode, reason: reason)
            try writer.prune()
        }
    }
}

extension StoreWriter {
    fileprivate func put(_ lines: [RunLog.Line], run: RunID) throws {
        for line in lines {
            switch line {
            case .attempt(let attempt): try put(attempt, run: run)
            case .frame(let frame): try put(frame, run: run)
            case .publication(let publication): try put(publication, run: run)
            }
        }
    }
}
