import Queueing
import Testing

/// What people read when the queue refuses something.
@Suite struct RefusalTests {
    @Test(arguments: [
        (JobState.End.done, "job 17 has ended: done"),
        (.doneWithWorkLeft, "job 17 has ended: done, with work left at the deadline"),
        (
            .failed(code: 65, text: "night.yaml:3:1: error"),
            "job 17 has ended: failed with exit code 65: night.yaml:3:1: error"
        ),
        (.failed(code: 1, text: ""), "job 17 has ended: failed with exit code 1"),
        (.stopped(text: "by hand"), "job 17 has ended: stopped: by hand"),
        (.cancelled(by: .token("7")), "job 17 has ended: cancelled by token:7"),
        (.skipped(because: 5), "job 17 has ended: skipped, because job 5 did not succeed"),
        (.failed(code: 1, text: "a\u{1b}[2J\nb"), "job 17 has ended: failed with exit code 1: a\\u{1b}[2J\\u{a}b"),
    ])
    func `nothing happens to a job that has ended`(end: JobState.End, message: String) throws {
        let state = JobState.ended(.init(end: end, time: .noon, run: "r", tries: 1))
        let some = try Submission.make()
        let job = Submission(
            id: 17, owner: some.owner, key: nil, digest: "d", name: "n", manifest: some.manifest, options: some.options,
            priority: some.priority, expedited: nil, labels: some.labels, needs: [], notBefore: nil, retryOf: nil,
            submitted: .noon, state: state)
        let changes: [(inout Submission) throws -> Void] = [
            { try $0.hold() }, { try $0.release(at: .noon) }, { try $0.cancel(by: .user(0), at: .noon) },
            { try $0.runNext(at: .noon) }, { try $0.set(Priority(7)) }, { try $0.set([], known: { _ in nil }) },
            { try $0.start(run: "s", at: .noon) }, { try $0.started(at: .noon) },
            { try $0.startFailed("", at: .noon) }, { try $0.skip(because: 1, at: .noon) },
            { try $0.processEnded(code: 0, leaving: .ended, text: "", progressed: true, at: .noon) },
        ]
        for change in changes {
            var changed = job
            #expect(refusal { try change(&changed) } == message)
            #expect(changed == job)
        }
        var stopped = job
        stopped.stop()
        stopped.starved(for: .seconds(1))
        #expect(stopped == job)
    }

    @Test func `a job with a process is not held, and needs nothing any more`() throws {
        var starting = try Submission.starting()
        #expect(refusal { try starting.hold() } == "job 17 is starting\n   = cancel it, or pause its run in a moment")
        var running = try Submission.running()
        #expect(
            refusal { try running.hold() } == "job 17 is running\n   = 'penumbra pause run-17' pauses its run")
        let message =
            "job 17 has started, so it needs no other job any more\n   = cancel it, and submit it again with other jobs to wait for"
        #expect(refusal { try starting.set([], known: { _ in nil }) } == message)
        #expect(refusal { try running.set([], known: { _ in nil }) } == message)
    }

    @Test func `a held job does not run next`() throws {
        var job = try Submission.make(isHeld: true)
        #expect(refusal { try job.runNext(at: .noon) } == "job 17 is held\n   = release it first")
    }

    @Test func `dependencies that cannot come true are refused`() throws {
        func message(_ needs: [Need], _ known: KnownJob? = KnownJob(end: nil)) -> String? {
            refusal { _ = try Submission.make(needs: needs, known: { _ in known }) }
        }
        #expect(message([Need(5)], nil) == "after: there is no job 5\n   = 'penumbra queue --all' lists all jobs")
        #expect(message([Need(99)], nil) == "after: there is no job 99\n   = 'penumbra queue --all' lists all jobs")
        #expect(
            message([Need(99)])
                == """
                after: job 99 is later than job 17, and a job waits only for earlier ones
                   = submit a new job that waits for job 99
                """)
        // A new job does not exist before it is accepted.
        #expect(message([Need(17)], nil) == "after: there is no job 17\n   = 'penumbra queue --all' lists all jobs")
        #expect(message([Need(17)]) == "after: job 17 cannot wait for itself\n   = name other jobs")
        #expect(message([Need(5), Need(5, on: .end)]) == "after: job 5 is there twice\n   = name each job once")
        #expect(
            message([Need(5)], KnownJob(end: .cancelled(by: .user(0))))
                == """
                the job would never start: it needs the success of job 5, which has ended: cancelled by uid:0
                   = retry job 5, and name the new job, or write '5:end'
                """)
        #expect(
            message([Need(5)], KnownJob(end: .doneWithWorkLeft))?.hasPrefix("the job would never start: ") == true)
        #expect(
            refusal { _ = try Submission.make(500, needs: (1...101).map { Need(JobID($0)) }) }
                == "after: there are 101 jobs, and a job waits for at most 100\n   = name fewer jobs")
    }

    @Test func `a job that has not ended, or is done, is not retried`() throws {
        func message(_ job: Submission) -> String? {
            refusal { _ = try job.retry(as: 30, by: .user(0), digest: "", at: .noon, known: { _ in nil }) }
        }
        #expect(message(try .make()) == "job 17 has not ended: it is waiting\n   = cancel it first")
        #expect(message(try .running()) == "job 17 has not ended: it is running\n   = cancel it first")
        #expect(message(try .ended()) == "job 17 has ended: done\n   = submit it again to run it again")
    }

    @Test func `steps of a process follow from the state`() throws {
        var waiting = try Submission.make()
        #expect(refusal { try waiting.started(at: .noon) } == "job 17 cannot have begun its run: it is waiting")
        #expect(
            refusal { try waiting.processEnded(code: 0, leaving: .ended, text: "", progressed: true, at: .noon) }
                == "job 17 cannot have a process that ends: it is waiting")
        #expect(refusal { try waiting.startFailed("", at: .noon) } == "job 17 cannot fail to start: it is waiting")
        var held = try Submission.make(isHeld: true)
        #expect(refusal { try held.start(run: "r", at: .noon) } == "job 17 cannot be started: it is held")
        var running = try Submission.running()
        #expect(refusal { try running.start(run: "r", at: .noon) } == "job 17 cannot be started: it is running")
        #expect(refusal { try running.skip(because: 5, at: .noon) } == "job 17 cannot be skipped: it is running")
    }

    @Test func `a key belongs to one request`() throws {
        let job = try Submission.make(key: "k1", digest: "one")
        try job.checkRepetition(digest: "one")
        #expect(
            refusal { try job.checkRepetition(digest: "two") }
                == "job 17 has the key 'k1', and was another request\n   = use a new key for a new job")
    }

    @Test(arguments: ["", "a b", "ü", String(repeating: "k", count: 256)])
    func `a key has visible ASCII characters`(key: String) {
        #expect(
            refusal { _ = try Submission.make(key: key) }
                == "key: '\(key.prefix(200))' is no idempotency key\n   = a key has 1 to 255 visible ASCII characters, without "
                + "blanks")
    }

    @Test func `a job that does not exist is named`() {
        var queue = JobQueue()
        #expect(
            refusal { try queue.change(17) { job throws(Refusal) in try job.hold() } }
                == "there is no job 17\n   = 'penumbra queue --all' lists all jobs")
    }
}
