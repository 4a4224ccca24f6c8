package import JobModel
package import JobStorage
package import Runs
import SafeFiles
package import Scheduling

/// A run in the database, from its begin to its end.
package final class RunHistory: Sendable {
    package let recorder: RunRecorder
    /// What coordinators before had done of it.
    package let recovered: RecoveredWork
    private let store: JobStore
    private let now: @Sendable () -> Int64

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
        let store = try JobStore(path: JobStore.databasePath(state: state), survivesPowerLoss: false)
        let (name, epoch, time) = (directory.name, directory.epoch, now())
        let known = try store.read { try $0.run(named: name) }
        var (recovered, concluded) = (RecoveredWork(), Set<FrameID>())
        if let known, !known.state.isEnded {
            let frames = try store.read { try $0.frames(of: known.id) }
            concluded = Set(
                frames.filter { $0.state != .open && $0.wasBegun }.map { FrameID($0.number, page: $0.page) })
            recovered = try store.read { RecoveredWork(known, frames: frames, attempts: try $0.attempts(of: known.id)) }
        }
        let counts = counts(concluded).json
        // Who asks for something else, such as --force, means all of it.
        if known?.request != request { recovered.forgetPublished() }
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
        (self.store, self.recovered, self.now) = (store, recovered, now)
        recorder = RunRecorder(
            store: store, run: run, epoch: epoch, history: isShared ? directory.folder.log : nil, now: now)
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
