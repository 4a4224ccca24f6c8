import JobModel

/// The state of a submitted job.
///
///                  hold / release
///       held ◄──────────────────────► waiting ──► starting ──► running ──► ended
///                                       ▲            │            │
///                                       └────────────┴────────────┘
///                                        its process is to be started again
///
/// Every state has exactly the values that exist in it. ``Submission`` has the transitions. A job ends once: no
/// transition leaves ``ended(_:)``.
package enum JobState: Hashable, Sendable {
    /// It starts only after somebody releases it.
    case held(Waiting)
    case waiting(Waiting)
    /// Its run has a name, and its process may exist.
    case starting(Starting)
    /// Its process has begun the run.
    case running(Running)
    case ended(Ended)

    package struct Waiting: Hashable, Sendable {
        package var history: History
        /// When it began to wait: its submission, its release, or the end of its last process.
        package var since: WallTime
        /// The run that it resumes: an interrupted one, or one that was named and never begun. Nil if it begins a new run.
        package var resumes: String?
        /// Set after a process that did not bring the job to its end.
        package var pause: Pause?

        package init(history: History = History(), since: WallTime, resumes: String? = nil, pause: Pause? = nil) {
            self.history = history
            self.since = since
            self.resumes = resumes
            self.pause = pause
        }
    }

    package struct Starting: Hashable, Sendable {
        package let run: String
        /// Whether the run existed before, and was interrupted.
        package let isResumed: Bool
        package var history: History
        package let since: WallTime
        package var request: Request?
    }

    package struct Running: Hashable, Sendable {
        package let run: String
        package var history: History
        package let since: WallTime
        package var request: Request?
    }

    package struct Ended: Hashable, Sendable {
        package let end: End
        package let time: WallTime
        /// Its last run. Nil if it never had one.
        package let run: String?
        /// The number of processes that were started for it.
        package let tries: Int
        /// ``History/isDelayed``
        package let wasDelayed: Bool
        /// When its last process was started. Nil if it had none at its end, or an earlier version has stored it.
        package let started: WallTime?
        package let leftovers: Leftovers

        package init(
            end: End, time: WallTime, run: String?, tries: Int, wasDelayed: Bool = false, started: WallTime? = nil,
            leftovers: Leftovers = Leftovers()
        ) {
            self.end = end
            self.time = time
            self.run = run
            self.tries = tries
            self.wasDelayed = wasDelayed
            self.started = started
            self.leftovers = leftovers
        }

        /// How it ended, for a person.
        package var words: String { ([end.words] + leftovers.words).joined(separator: "; ") }
    }

    /// Frames that a run has not rendered although their outputs are not up to date. They are no failures of that run.
    package struct Leftovers: Hashable, Sendable {
        /// Their outputs were edited, or belong to another job.
        package let kept: Int
        /// The most frequent reasons for that, with the number of frames. Empty if an earlier version has stored it.
        package let keptByReason: [String: Int]
        /// Their pictures were broken in an earlier run, and have not changed since.
        package let stillBroken: Int

        private static let mostReasons = 4

        package init(kept: Int = 0, by reasons: [String: Int] = [:], stillBroken: Int = 0) {
            self.kept = max(0, kept)
            let frequent = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.mostReasons)
            keptByReason = Dictionary(frequent.map { (String($0.key.prefix(500)), $0.value) }) { $0 + $1 }
            self.stillBroken = max(0, stillBroken)
        }

        fileprivate var words: [String] {
            func part(_ count: Int, _ words: String) -> [String] {
                count == 0 ? [] : ["\(count) \(count == 1 ? "frame" : "frames") \(words)"]
            }
            return part(kept, "kept as \(kept == 1 ? "it was" : "they were")") + part(stillBroken, "still broken")
        }
    }

    /// How a job ended.
    package enum End: Hashable, Sendable {
        case done
        /// The deadline came first.
        case doneWithWorkLeft
        case failed(code: Int, text: String)
        /// Somebody outside of the queue stopped its run, or its processes died too often.
        case stopped(text: String)
        /// - Parameter by: Nil if its run was cancelled by other means than the queue, such as `penumbra cancel`.
        case cancelled(by: Owner?)
        /// A job whose success it needs, perhaps through others, ended in another way.
        case skipped(because: JobID)
    }

    /// What the queue has asked the process of a run to do.
    package enum Request: Hashable, Sendable {
        case cancel(by: Owner)
        /// The service stops. The job waits afterwards, and resumes its run.
        case stop
    }

    /// Processes that were started for a job so far.
    package struct History: Hashable, Sendable {
        package var tries = 0
        /// How the last processes ended. Nil before the first one ended.
        package var setback: Setback?
        /// How long the job has waited without being held back by anything of its own. For aging.
        package var waited = Duration.zero
        /// Whether a process ended because of a trouble that a person may have to mend. People are told of it once, and of the end.
        package var isDelayed = false

        package init() {}
    }

    /// Equal ends of processes in a row.
    package struct Setback: Hashable, Sendable, Codable {
        package let cause: Cause
        /// How many of them there were without progress in between.
        package let count: Int
    }

    /// Why a process did not bring a job to its end, although another process may.
    package enum Cause: String, Hashable, Sendable, Codable, CaseIterable {
        /// Another run holds a lock (exit code 75).
        case locked
        /// Workers, a plugin, a cluster or a limit of the machine (exit code 69).
        case unavailable
        /// Files or databases cannot be read or written (exit code 74).
        case storage
        /// The process is gone, and its run has no end.
        case vanished

        /// Whether a person may have to mend something before the job can go on.
        package var needsPerson: Bool {
            switch self {
            case .unavailable, .storage: true
            case .locked, .vanished: false
            }
        }

        /// The exit code of such a process. Nil if it has none.
        package var exitCode: Int? {
            switch self {
            case .locked: RunOutcome.busy.number
            case .unavailable: RunOutcome.unavailable.number
            case .storage: RunOutcome.storage.number
            case .vanished: nil
            }
        }
    }

    /// A time that has to pass before the next process.
    package struct Pause: Hashable, Sendable, Codable {
        package let cause: Cause
        /// The line of the process that says what was wrong.
        package let text: String
        package let until: WallTime

        package init(cause: Cause, text: String, until: WallTime) {
            self.cause = cause
            self.text = text
            self.until = until
        }
    }

    /// The name of a state. Databases, JSON and filters have them.
    package enum Name: String, Hashable, Sendable, Codable, CaseIterable {
        case held, waiting, starting, running
        case done
        case workLeft = "work_left"
        case failed, stopped, cancelled, skipped

        package var isEnd: Bool {
            switch self {
            case .held, .waiting, .starting, .running: false
            case .done, .workLeft, .failed, .stopped, .cancelled, .skipped: true
            }
        }

        /// States of jobs that have not ended.
        package static let open = allCases.filter { !$0.isEnd }
        package static let ended = allCases.filter(\.isEnd)
    }

    package var name: Name {
        switch self {
        case .held: .held
        case .waiting: .waiting
        case .starting: .starting
        case .running: .running
        case .ended(let ended): ended.end.name
        }
    }

    package var isEnded: Bool { if case .ended = self { true } else { false } }

    /// Whether a process may exist.
    package var hasProcess: Bool {
        switch self {
        case .starting, .running: true
        case .held, .waiting, .ended: false
        }
    }

    /// When its last process was started. Nil while it waits.
    package var started: WallTime? {
        switch self {
        case .held, .waiting: nil
        case .starting(let starting): starting.since
        case .running(let running): running.since
        case .ended(let ended): ended.started
        }
    }

    /// The current or the last run, or the one that it will resume.
    package var run: String? {
        switch self {
        case .held(let waiting), .waiting(let waiting): waiting.resumes
        case .starting(let starting): starting.run
        case .running(let running): running.run
        case .ended(let ended): ended.run
        }
    }

    package var tries: Int {
        switch self {
        case .held(let waiting), .waiting(let waiting): waiting.history.tries
        case .starting(let starting): starting.history.tries
        case .running(let running): running.history.tries
        case .ended(let ended): ended.tries
        }
    }

    /// What the process of its run has been asked to do. The service repeats it after it was killed.
    package var request: Request? {
        switch self {
        case .starting(let starting): starting.request
        case .running(let running): running.request
        case .held, .waiting, .ended: nil
        }
    }
}

extension JobState.End {
    package var name: JobState.Name {
        switch self {
        case .done: .done
        case .doneWithWorkLeft: .workLeft
        case .failed: .failed
        case .stopped: .stopped
        case .cancelled: .cancelled
        case .skipped: .skipped
        }
    }

    /// Whether jobs that need its success may start. Work that is left is no success, because outputs are missing.
    package var isSuccess: Bool { self == .done }

    package var words: String {
        switch self {
        case .done: "done"
        case .doneWithWorkLeft: "done, with work left at the deadline"
        case .failed(let code, let text):
            "failed with exit code \(code)" + (text.isEmpty ? "" : ": \(VisibleText.line(text))")
        case .stopped(let text): "stopped: \(VisibleText.line(text))"
        case .cancelled(let owner?): "cancelled by \(VisibleText.line(owner.text))"
        case .cancelled(nil): "cancelled: somebody cancelled its run"
        case .skipped(let cause): "skipped, because \(cause) did not succeed"
        }
    }

    /// The exit code of `penumbra submit --wait`: as the run's.
    package var exitCode: Int {
        switch self {
        case .done: RunOutcome.done.number
        case .doneWithWorkLeft: RunOutcome.workLeft.number
        case .failed(let code, _): code
        case .stopped: RunOutcome.terminated.number
        case .cancelled: RunOutcome.interrupted.number
        case .skipped: RunOutcome.someFailed.number
        }
    }
}
