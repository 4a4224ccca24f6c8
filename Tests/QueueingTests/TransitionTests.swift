import Queueing
import Testing

@Suite struct TransitionTests {
    @Test func `a job waits, starts, runs and is done`() throws {
        var job = try Submission.make()
        #expect(job.state == .waiting(.init(since: .noon)))
        try job.start(run: "night-1", at: .noon(plus: 1))
        #expect(job.state.name == .starting)
        #expect(job.state.started == .noon(plus: 1))
        #expect(job.state.run == "night-1")
        #expect(job.state.tries == 1)
        try job.started(at: .noon(plus: 2))
        #expect(job.state.name == .running)
        #expect(job.state.run == "night-1")
        try job.processEnded(code: 0, leaving: .ended, text: "", progressed: true, at: .noon(plus: 9))
        guard case .ended(let ended) = job.state else { throw Unexpected() }
        #expect(ended.end == .done)
        #expect(ended.time == .noon(plus: 9))
        #expect(ended.run == "night-1")
        #expect(ended.tries == 1)
        // So a program can say how long it took.
        #expect(ended.started == .noon(plus: 2))
    }

    @Test func `a job that ends while it waits was not started, and one that ends in its process was`() throws {
        var waiting = try Submission.make()
        try waiting.cancel(by: .user(0), at: .noon(plus: 3))
        #expect(waiting.state.isEnded && waiting.state.started == nil)
        var taken = try Submission.starting()
        try taken.cancel(by: .user(0), at: .noon(plus: 3))
        try taken.takeBackStart(at: .noon(plus: 4))
        #expect(taken.state.isEnded && taken.state.started == nil)
        var running = try Submission.running()
        try running.cancel(by: .user(0), at: .noon(plus: 3))
        try running.processEnded(code: 130, leaving: .ended, text: "", progressed: true, at: .noon(plus: 4))
        #expect(running.state.isEnded && running.state.started == .noon)
    }

    @Test(arguments: [
        (0, JobState.End.done), (1, .failed(code: 1, text: "why")), (2, .failed(code: 2, text: "why")),
        (3, .doneWithWorkLeft), (64, .failed(code: 64, text: "why")), (65, .failed(code: 65, text: "why")),
        (66, .failed(code: 66, text: "why")), (70, .failed(code: 70, text: "why")), (129, .stopped(text: "why")),
        (130, .cancelled(by: nil)), (143, .stopped(text: "why")),
    ])
    func `an exit code ends a job`(code: Int, end: JobState.End) throws {
        #expect(try Submission.ended(code: code, text: "why").state.end == end)
    }

    @Test(
        arguments: [
            (75, JobState.Cause.locked, 2, nil), (69, .unavailable, 30, nil), (74, .storage, 30, nil),
            (nil, .vanished, 5, "run-17"), (137, .vanished, 5, "run-17"), (139, .vanished, 5, "run-17"),
        ] as [(Int?, JobState.Cause, Int, String?)])
    func `after other exits another process follows`(code: Int?, cause: JobState.Cause, pause: Int, resumes: String?)
        throws
    {
        let job = try Submission.ended(code: code, text: "why")
        guard case .waiting(let waiting) = job.state else { throw Unexpected() }
        #expect(waiting.pause?.cause == cause)
        #expect(waiting.pause?.text == "why")
        #expect(waiting.pause?.until == .noon(plus: pause))
        #expect(waiting.resumes == resumes)
        #expect(waiting.history.tries == 1)
    }

    @Test func `an interrupted run is resumed under its name, and one with an end is followed by a new one`() throws {
        var job = try Submission.ended(code: nil)
        try job.start(run: "run-18", at: .noon(plus: 5))
        guard case .starting(let resumed) = job.state else { throw Unexpected() }
        #expect(resumed.run == "run-17")
        #expect(resumed.isResumed)
        var other = try Submission.ended(code: 75)
        try other.start(run: "run-18", at: .noon(plus: 10))
        guard case .starting(let new) = other.state else { throw Unexpected() }
        #expect(new.run == "run-18")
        #expect(!new.isResumed)
    }

    /// The pauses of a job whose processes always end in the same way, in seconds.
    private func pauses(code: Int?, most: Int, progressed: Bool = false) throws -> (pauses: [Int64], end: JobState.End?)
    {
        var job = try Submission.make()
        var pauses: [Int64] = []
        for _ in 0..<most {
            try job.start(run: "run", at: .noon)
            try job.started(at: .noon)
            try job.processEnded(
                code: code, leaving: .usual(after: code), text: "why", progressed: progressed, at: .noon)
            guard case .waiting(let waiting) = job.state, let pause = waiting.pause else { break }
            pauses.append((pause.until - .noon).components.seconds)
        }
        return (pauses, job.state.end)
    }

    @Test func `for a lock it waits some seconds, and for ever`() throws {
        let (pauses, end) = try pauses(code: 75, most: 1000)
        #expect(pauses.prefix(5) == [2, 4, 8, 10, 10])
        #expect(pauses.count == 1000)
        #expect(end == nil)
    }

    @Test func `five processes that vanish without progress stop a job`() throws {
        let (pauses, end) = try pauses(code: nil, most: 1000)
        #expect(pauses == [5, 10, 20, 40])
        #expect(end == .stopped(text: "its process was gone 5 times in a row, without progress; the last said: why"))
    }

    @Test func `processes that vanish after progress are followed by others`() throws {
        let (pauses, end) = try pauses(code: nil, most: 50, progressed: true)
        #expect(pauses == Array(repeating: 5, count: 50))
        #expect(end == nil)
    }

    @Test(arguments: [69, 74])
    func `a full disk and missing workers are waited for some hours`(code: Int) throws {
        let (pauses, end) = try pauses(code: code, most: 1000)
        #expect(pauses.prefix(8) == [30, 60, 120, 240, 480, 960, 1800, 1800])
        #expect(pauses.count == 19)
        #expect(end == .failed(code: code, text: "why"))
    }

    @Test func `another end in between begins the count again`() throws {
        var job = try Submission.make()
        for code in [nil, nil, nil, nil, 75, nil, nil, nil, nil] as [Int?] {
            try job.start(run: "run", at: .noon)
            try job.processEnded(code: code, leaving: .usual(after: code), text: "", progressed: false, at: .noon)
            #expect(job.state.name == .waiting)
        }
    }

    @Test func `a process that cannot be started is tried again`() throws {
        var job = try Submission.starting()
        try job.startFailed("no processes left", at: .noon)
        guard case .waiting(let waiting) = job.state else { throw Unexpected() }
        #expect(waiting.pause == .init(cause: .unavailable, text: "no processes left", until: .noon(plus: 30)))
        #expect(waiting.resumes == nil)
    }

    @Test func `a start without a process is taken back, and the run keeps its name`() throws {
        var job = try Submission.starting()
        try job.takeBackStart(at: .noon(plus: 9))
        #expect(job.state == .waiting(.init(since: .noon(plus: 9), resumes: "run-17")))
        try job.start(run: "another", at: .noon(plus: 10))
        #expect(job.state.run == "run-17" && job.state.tries == 1)
        try job.cancel(by: .user(0), at: .noon)
        try job.takeBackStart(at: .noon)
        #expect(job.state.end == .cancelled(by: .user(0)))
        #expect(throws: Refusal.self) { try job.takeBackStart(at: .noon) }
    }

    @Test(arguments: [130, 143, 129, 137, nil, 75, 69, 74] as [Int?])
    func `a cancelled job is cancelled by its process's end`(code: Int?) throws {
        var job = try Submission.running()
        try job.cancel(by: .token("7"), at: .noon)
        #expect(job.state.name == .running)
        #expect(job.state.request == .cancel(by: .token("7")))
        try job.processEnded(code: code, leaving: .usual(after: code), text: "", progressed: false, at: .noon)
        #expect(job.state.end == .cancelled(by: .token("7")))
        #expect(job.state.run == "run-17")
    }

    @Test func `a job that was done before it heard of its cancellation is done`() throws {
        var job = try Submission.running()
        try job.cancel(by: .user(0), at: .noon)
        try job.processEnded(code: 0, leaving: .ended, text: "", progressed: true, at: .noon)
        #expect(job.state.end == .done)
    }

    @Test func `a job that starts remembers that it is cancelled`() throws {
        var job = try Submission.starting()
        try job.cancel(by: .user(0), at: .noon)
        try job.started(at: .noon)
        #expect(job.state.request == .cancel(by: .user(0)))
        var other = try Submission.starting()
        try other.cancel(by: .user(0), at: .noon)
        try other.startFailed("no memory", at: .noon)
        #expect(other.state.end == .cancelled(by: .user(0)))
    }

    @Test func `the first to cancel has cancelled`() throws {
        var job = try Submission.running()
        try job.cancel(by: .user(1), at: .noon)
        try job.cancel(by: .user(2), at: .noon)
        #expect(job.state.request == .cancel(by: .user(1)))
    }

    @Test(arguments: [143, 130, nil] as [Int?])
    func `a service that stops leaves jobs that resume their runs without a pause`(code: Int?) throws {
        var job = try Submission.running()
        job.stop()
        try job.processEnded(code: code, leaving: .interrupted, text: "", progressed: false, at: .noon(plus: 3))
        guard case .waiting(let waiting) = job.state else { throw Unexpected() }
        #expect(waiting.pause == nil)
        #expect(waiting.resumes == "run-17")
    }

    @Test(arguments: [
        (129, JobState.End.stopped(text: "why")), (130, .cancelled(by: nil)), (143, .stopped(text: "why")),
    ])
    func `a signal from outside ends a job only if its run has an end`(code: Int, end: JobState.End) throws {
        for remainder in [Submission.RunRemainder.none, .interrupted] {
            var job = try Submission.running()
            try job.processEnded(code: code, leaving: remainder, text: "why", progressed: true, at: .noon)
            guard case .waiting(let waiting) = job.state else { throw Unexpected() }
            #expect(waiting.pause?.cause == .vanished)
            #expect(waiting.resumes == (remainder == .interrupted ? "run-17" : nil))
        }
        var job = try Submission.running()
        try job.processEnded(code: code, leaving: .ended, text: "why", progressed: true, at: .noon)
        #expect(job.state.end == end)
    }

    @Test func `a run that has ended while the service stopped is followed by a new one`() throws {
        var job = try Submission.running()
        job.stop()
        try job.processEnded(code: 143, leaving: .ended, text: "", progressed: true, at: .noon)
        guard case .waiting(let waiting) = job.state else { throw Unexpected() }
        #expect(waiting.pause == nil && waiting.resumes == nil)
    }

    @Test func `a run that a full disk interrupts is resumed`() throws {
        var job = try Submission.running()
        try job.processEnded(code: 74, leaving: .interrupted, text: "full", progressed: true, at: .noon)
        guard case .waiting(let waiting) = job.state else { throw Unexpected() }
        #expect(waiting.pause?.cause == .storage)
        #expect(waiting.resumes == "run-17")
    }

    @Test func `a service that stops does not take a cancellation back`() throws {
        var job = try Submission.running()
        try job.cancel(by: .user(0), at: .noon)
        job.stop()
        #expect(job.state.request == .cancel(by: .user(0)))
        var other = try Submission.running()
        other.stop()
        try other.cancel(by: .user(0), at: .noon)
        #expect(other.state.request == .cancel(by: .user(0)))
    }

    @Test func `a held job keeps what it had, and waits anew when it is released`() throws {
        var job = try Submission.ended(code: nil)
        try job.hold()
        #expect(job.state.name == .held)
        #expect(job.state.run == "run-17")
        try job.release(at: .noon(plus: 100))
        guard case .waiting(let waiting) = job.state else { throw Unexpected() }
        #expect(waiting.resumes == "run-17")
        #expect(waiting.since == .noon(plus: 100))
    }

    @Test func `a process that found a lock held leaves the name of its run to the next one`() throws {
        var job = try Submission.starting()
        try job.processEnded(code: 75, leaving: .none, text: "why", progressed: false, at: .noon)
        try job.start(run: "another", at: .noon(plus: 2))
        #expect(job.state.run == "run-17")
        // Otherwise the next run is another one.
        var other = try Submission.starting()
        try other.processEnded(code: 74, leaving: .none, text: "why", progressed: false, at: .noon)
        try other.start(run: "another", at: .noon(plus: 30))
        #expect(other.state.run == "another")
    }

    @Test(arguments: [69, 74, 75, nil] as [Int?])
    func `whoever releases a job, or lets it run next, ends its pause, and failures are counted anew`(code: Int?) throws
    {
        let waiting = try Submission.ended(code: code)
        var held = waiting
        try held.hold()
        var expedited = waiting
        try expedited.runNext(at: .noon(plus: 1))
        for var job in [waiting, held, expedited] {
            try job.release(at: .noon(plus: 1))
            guard case .waiting(let state) = job.state else { throw Unexpected() }
            #expect(state.pause == nil && state.history.setback == nil)
            #expect(state.resumes == (code == nil ? "run-17" : nil))
            #expect(state.history.tries == 1)
        }
        guard case .waiting(let state) = expedited.state else { throw Unexpected() }
        #expect(state.pause == nil)
    }

    @Test(arguments: [(69, true), (74, true), (75, false), (nil, false)] as [(Int?, Bool)])
    func `a job remembers that a person may have to mend something, also after its end`(code: Int?, isDelayed: Bool)
        throws
    {
        var job = try Submission.ended(code: code)
        guard case .waiting(let waiting) = job.state else { throw Unexpected() }
        #expect(waiting.history.isDelayed == isDelayed)
        try job.start(run: "run-18", at: .noon)
        try job.processEnded(code: 0, leaving: .ended, text: "", progressed: true, at: .noon)
        guard case .ended(let ended) = job.state else { throw Unexpected() }
        #expect(ended.wasDelayed == isDelayed)
    }

    @Test func `what is so already changes nothing`() throws {
        var held = try Submission.make(isHeld: true)
        let before = held
        try held.hold()
        #expect(held == before)
        var waiting = try Submission.make()
        try waiting.release(at: .noon(plus: 5))
        #expect(waiting == (try Submission.make()))
    }

    @Test func `a priority changes while a job runs, and replaces that it is to run next`() throws {
        var job = try Submission.running()
        try job.runNext(at: .noon)
        #expect(job.expedited == .noon)
        try job.set(Priority(90))
        #expect(job.priority.value == 90)
        #expect(job.expedited == nil)
    }

    @Test func `labels change after a job's end, too`() throws {
        var job = try Submission.ended()
        job.set(try Labels(["show": "night"]))
        #expect(job.labels.texts == ["show=night"])
    }

    @Test func `needs are kept by number`() throws {
        var job = try Submission.make(needs: [Need(9), Need(3, on: .end)])
        #expect(job.needs == [Need(3, on: .end), Need(9)])
        try job.set([Need(16)], known: { _ in KnownJob(end: nil) })
        #expect(job.needs == [Need(16)])
    }

    @Test func `an ended job that is needed by its end is no hindrance`() throws {
        let failed = KnownJob(end: .failed(code: 1, text: ""))
        #expect(try Submission.make(needs: [Need(3, on: .end)], known: { _ in failed }).needs.count == 1)
        #expect(try Submission.make(needs: [Need(3)], known: { _ in KnownJob(end: .done) }).needs.count == 1)
    }
}

/// A state that a test does not expect.
struct Unexpected: Error {}

extension JobState {
    var end: End? { if case .ended(let ended) = self { ended.end } else { nil } }
}
