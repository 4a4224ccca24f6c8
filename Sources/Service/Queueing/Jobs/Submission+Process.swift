import JobModel

/// What happens to the process of a job.
extension Submission {
    /// Stored before the process exists, so that a service that is killed in between finds the run by its name.
    ///
    /// - Parameters:
    ///   - run: The name of a new run. An interrupted run is resumed under its own name.
    ///   - waited: How long the job has waited since ``JobState/Waiting/since`` and could have started, for aging.
    package mutating func start(run: String, waited: Duration = .zero, at now: WallTime) throws(Refusal) {
        guard case .waiting(let waiting) = state else { throw unexpected(.start) }
        var history = waiting.history
        history.tries += 1
        history.waited += waited
        state = .starting(
            .init(run: waiting.resumes ?? run, isResumed: waiting.resumes != nil, history: history, since: now))
    }

    /// Its run has begun.
    package mutating func started(at now: WallTime) throws(Refusal) {
        guard case .starting(let starting) = state else { throw unexpected(.started) }
        state = .running(
            .init(run: starting.run, history: starting.history, since: now, request: starting.request))
    }

    /// No process could be started, or it is gone, nobody knows its exit code, and there is no run of that name.
    package mutating func startFailed(_ text: String, at now: WallTime) throws(Refusal) {
        guard case .starting(let starting) = state else { throw unexpected(.startFailed) }
        setBack(
            .unavailable, text, outcome: .unavailable, starting.isResumed ? .interrupted(starting.run) : .none,
            starting.history, progressed: false, asked: starting.request, at: now)
    }

    /// The service was ended after ``start(run:waited:at:)``, and before there was a process. The job waits as before, and its run keeps its
    /// name: should a process exist in spite of all, only one of two gets the run.
    package mutating func takeBackStart(at now: WallTime) throws(Refusal) {
        guard case .starting(let starting) = state else { throw unexpected(.startFailed) }
        var history = starting.history
        history.tries -= 1
        state = .waiting(.init(history: history, since: now, resumes: starting.run))
        if case .cancel(let owner) = starting.request {
            end(.cancelled(by: owner), run: starting.isResumed ? starting.run : nil, history, at: now)
        }
    }

    /// What a process that is gone has left of its run.
    package enum RunRemainder: String, Hashable, Sendable, CaseIterable {
        /// There is no run of that name: the process ended before it began.
        case none
        /// The run has an end. Another process begins a new run.
        case ended
        /// The run has no end. Another process resumes it.
        case interrupted
    }

    /// Its process is gone.
    ///
    /// - Parameters:
    ///   - code: Its exit code, or that of the run's end. Nil if neither is known.
    ///   - remainder: What is left of its run.
    ///   - text: The last line that it wrote to its standard error.
    ///   - progressed: Whether it did work that is kept: a frame ended, or a tile.
    ///   - leftovers: What the run has not rendered, if it has an end.
    package mutating func processEnded(
        code: Int?, leaving remainder: RunRemainder, text: String, progressed: Bool,
        leftovers: JobState.Leftovers = JobState.Leftovers(), at now: WallTime
    ) throws(Refusal) {
        let (run, history) = try process()
        let left = Remainder(remainder, of: run)
        let request = state.request
        switch ProcessEnd(code: code) {
        case .done: end(.done, run: left.run, history, leaving: leftovers, at: now)
        case .workLeft: end(.doneWithWorkLeft, run: left.run, history, leaving: leftovers, at: now)
        case .failed(let code):
            end(.failed(code: code, text: text), run: left.run, history, leaving: leftovers, at: now)
        case .again(let cause, let outcome):
            setBack(
                cause, text, outcome: outcome, left, history, progressed: progressed, asked: request, at: now)
        // The run does not say who has cancelled it.
        case .signalled(RunOutcome.interrupted.number) where request == nil && remainder == .ended:
            end(.cancelled(by: nil), run: run, history, at: now)
        // A signal from outside ends no job whose run can be resumed: all processes get one when a machine shuts down.
        case .signalled(let code) where request == nil && remainder == .ended:
            let words = text.isEmpty ? "its run was stopped from outside, with exit code \(code)" : text
            end(.stopped(text: words), run: run, history, at: now)
        case .signalled, .vanished:
            if request == .stop {
                state = .waiting(.init(history: history, since: now, resumes: left.resumes))
            } else {
                setBack(
                    .vanished, text, outcome: .killed, left, history, progressed: progressed, asked: request, at: now)
            }
        }
    }

    /// The service stops, and asks the process to end. A job that is to be cancelled stays so.
    package mutating func stop() {
        switch state {
        case .starting(var starting) where starting.request == nil:
            starting.request = .stop
            state = .starting(starting)
        case .running(var running) where running.request == nil:
            running.request = .stop
            state = .running(running)
        case .held, .waiting, .starting, .running, .ended: break
        }
    }

    /// A job that it needs, perhaps through others, did not succeed.
    package mutating func skip(because cause: JobID, at now: WallTime) throws(Refusal) {
        guard case .waiting(let waiting) = state else { throw unexpected(.skip) }
        end(.skipped(because: cause), run: waiting.resumes, waiting.history, at: now)
    }

    /// Its run had no worker for some time, and had work for one. For aging.
    package mutating func starved(for time: Duration) {
        guard case .running(var running) = state else { return }
        running.history.waited += time
        state = .running(running)
    }

    private func process() throws(Refusal) -> (run: String, JobState.History) {
        switch state {
        case .starting(let starting): (starting.run, starting.history)
        case .running(let running): (running.run, running.history)
        case .held, .waiting, .ended: throw unexpected(.processEnded)
        }
    }

    private func unexpected(_ step: Refusal.Step) -> Refusal {
        if case .ended(let ended) = state { return Refusal(id, .hasEnded(ended.end)) }
        return Refusal(id, .unexpected(step, state.name))
    }

    /// What is left of the run of a process that did not bring the job to its end.
    private enum Remainder {
        case none
        /// A run with an end. The next process begins a new one.
        case run(String)
        /// A run without an end. The next process resumes it.
        case interrupted(String)

        var run: String? {
            switch self {
            case .none: nil
            case .run(let name), .interrupted(let name): name
            }
        }

        var resumes: String? { if case .interrupted(let name) = self { name } else { nil } }

        init(_ remainder: RunRemainder, of run: String) {
            self =
                switch remainder {
                case .none: .none
                case .ended: .run(run)
                case .interrupted: .interrupted(run)
                }
        }
    }

    /// The name of a run that was never begun, because of a lock. There may be very many tries, and each name has a log.
    private func kept(for cause: JobState.Cause, _ left: Remainder) -> String? {
        guard cause == .locked, case .none = left else { return nil }
        return state.run
    }

    /// Another process follows after a pause, unless there were too many, or somebody has cancelled the job.
    private mutating func setBack(
        _ cause: JobState.Cause, _ text: String, outcome: RunOutcome, _ left: Remainder, _ history: JobState.History,
        progressed: Bool, asked request: JobState.Request?, at now: WallTime
    ) {
        if case .cancel(let owner) = request { return end(.cancelled(by: owner), run: left.run, history, at: now) }
        var history = history
        let isRepeated = !progressed && history.setback?.cause == cause
        let count = isRepeated ? (history.setback?.count ?? 0) + 1 : 1
        history.setback = .init(cause: cause, count: count)
        history.isDelayed = history.isDelayed || cause.needsPerson
        guard let pause = RestartPolicy.pause(after: cause, count: count) else {
            let end: JobState.End =
                cause == .vanished
                ? .stopped(text: RestartPolicy.words(forVanished: count, text))
                : .failed(code: outcome.number, text: text)
            return self.end(end, run: left.run, history, at: now)
        }
        state = .waiting(
            .init(
                history: history, since: now, resumes: left.resumes ?? kept(for: cause, left),
                pause: .init(cause: cause, text: text, until: now + pause)))
    }
}

/// What the exit code of `penumbra run` means for its job.
///
/// | code | meaning |
/// |---|---|
/// | 0 | done |
/// | 1 | failed |
/// | 3 | done, with work left |
/// | 64–66 | refused, which is failed |
/// | 69, 74, 75 | another process follows |
/// | 130 | cancelled; if the run has no end, another process resumes it |
/// | 129, 143 | stopped by whoever asked for it; if the run has no end, another process resumes it |
/// | none, 137 and other signals | the process is gone without an end |
/// | others | failed |
private enum ProcessEnd {
    case done
    case workLeft
    case failed(code: Int)
    case again(JobState.Cause, RunOutcome)
    case signalled(code: Int)
    case vanished

    init(code: Int?) {
        guard let code else {
            self = .vanished
            return
        }
        guard let outcome = RunOutcome(number: code) else {
            self = code > 128 || code < 0 ? .vanished : .failed(code: code)
            return
        }
        self =
            switch outcome {
            case .done: .done
            case .workLeft: .workLeft
            case .someFailed, .usage, .badManifest, .missingInput: .failed(code: code)
            case .unavailable: .again(.unavailable, outcome)
            case .storage: .again(.storage, outcome)
            case .busy: .again(.locked, outcome)
            case .hungUp, .interrupted, .terminated: .signalled(code: code)
            case .killed: .vanished
            }
    }
}
