import GRDB
import QueueStorage
import Queueing
import Testing

@Suite struct SubmissionTests {
    let stored: StoredQueue

    init() throws { stored = try StoredQueue() }

    @Test func `a job is read back as it was submitted`() throws {
        let first = try stored.submit()
        let second = try stored.submit(
            owner: .token("x7"), key: "k", name: "a ☃ [night]?",
            manifest: ManifestSource(
                .uploaded(text: "job:\n  name: a\n", folder: "/srv/ä"), digest: "m", fileName: "ö [1]"), priority: 90,
            labels: ["show": "night", "camera/a": "7 'x' \"y\""], needs: [Need(first.id, on: .end)], isHeld: true,
            notBefore: .noon(plus: 60), at: .noon + .milliseconds(7))
        #expect(try stored.store.job(first.id) == first)
        #expect(try stored.store.job(second.id) == second)
        #expect(try stored.store.job(3) == nil)
        #expect(try stored.store.known(first.id) == KnownJob(ended: nil))
        #expect(try stored.store.known(3) == nil)
    }

    @Test func `each state is read back`() throws {
        var job = try stored.submit()
        func check() throws {
            try stored.store.update(job, at: .noon)
            #expect(try stored.store.job(job.id) == job)
        }
        try job.hold()
        try check()
        try job.release(at: .noon(plus: 1))
        try job.runNext(at: .noon(plus: 2))
        try check()
        try job.start(run: "a", waited: .seconds(3), at: .noon(plus: 3))
        try check()
        try job.started(at: .noon(plus: 4))
        job.starved(for: .milliseconds(1500))
        job.stop()
        try check()
        try job.processEnded(code: nil, leaving: .interrupted, text: "gone", progressed: true, at: .noon(plus: 5))
        #expect(job.state.run == "a")
        try check()
        try job.start(run: "b", at: .noon(plus: 6))
        try job.cancel(by: .token("x7"), at: .noon(plus: 7))
        try check()
        try job.processEnded(code: 65, leaving: .ended, text: "m.yaml:1: error", progressed: false, at: .noon(plus: 8))
        try check()
        job.set(try Labels(["late": "yes"]))
        try check()
    }

    @Test func `a state is stored to the millisecond`() throws {
        var job = try stored.submit()
        try job.start(run: "a", at: .noon)
        try job.started(at: .noon)
        job.starved(for: .microseconds(2900))
        try stored.store.update(job, at: .noon)
        guard case .running(let running)? = try stored.store.job(1)?.state else {
            Issue.record("it does not run")
            return
        }
        #expect(running.history.waited == .milliseconds(2))
    }

    @Test func `needs can change while a job waits`() throws {
        let others = try (0..<3).map { _ in try stored.submit() }
        var job = try stored.submit(needs: [Need(others[0].id), Need(others[1].id)])
        try job.set([Need(others[2].id, on: .end), Need(others[1].id, on: .end)]) { _ in KnownJob(ended: nil) }
        try stored.store.update(job, at: .noon)
        #expect(try stored.store.job(job.id)?.needs.description == "[2:end, 3:end]")
    }

    @Test func `a job that needs an unknown job, or one that failed, is refused, and its number is used by the next`()
        throws
    {
        let failed = try stored.end(code: 1)
        for unknown: JobID in [0, 2, 9] {
            #expect(
                message { try stored.submit(needs: [Need(unknown)]) }
                    == "after: there is no \(unknown)\n   = 'penumbra queue --all' lists all jobs")
        }
        #expect(message { try stored.submit(needs: [Need(failed.id)]) }?.hasPrefix("the job would never start") == true)
        #expect(try stored.submit().id == 2)
    }

    @Test func `a number is never used again, not even after the last job is removed`() throws {
        try stored.end()
        try stored.end()
        #expect(try stored.store.prune(endedBefore: .noon(plus: 1), keeping: 0, at: .noon(plusDays: 30)) == 2)
        #expect(try stored.submit().id == 3)
    }

    @Test func `a text that the database would cut is refused, and nothing is stored`() throws {
        let manifest = ManifestSource(.uploaded(text: "a: 1\n\0b: 2", folder: "/srv"), digest: "m")
        #expect(
            message { try stored.submit(manifest: manifest) }
                == "\(stored.path): the value cannot be stored: job 1 would be read as another one; a text may contain a zero "
                + "byte\n   = remove what is named, and try again")
        #expect(try stored.store.count(JobFilter()) == 0)
        #expect(try stored.submit().id == 1)
    }

    @Test func `another job than was asked for is refused`() throws {
        let found = message {
            _ = try stored.store.insert(JobRequest(owner: .user(1), key: nil, digest: "d"), at: .noon) { id, known in
                try Submission(
                    id: id, owner: .user(2), digest: "d", name: "b", manifest: .file, at: .noon, known: known)
            }
        }
        #expect(found?.contains("job 1 is another one than was asked for") == true)
    }

    // MARK: Keys

    @Test func `the same request is one job, and is answered with the job as it is now`() throws {
        var job = try stored.submit(key: "k")
        try job.hold()
        try stored.store.update(job, at: .noon)
        let again = try stored.store.insert(
            JobRequest(owner: .user(1000), key: "k", digest: "d"), at: .noon(plusDays: 6)
        ) { _, _ in
            Issue.record("a repeated request makes no job")
            throw Refusal(1, .unknownJob)
        }
        #expect(again == .repeated(job))
        #expect(try stored.store.count(JobFilter()) == 1)
    }

    @Test func `another request with a used key is refused, and another owner may use it`() throws {
        try stored.submit(key: "k")
        #expect(
            message { try stored.submit(key: "k", digest: "other") }
                == "job 1 has the key 'k', and was another request\n   = use a new key for a new job")
        #expect(try stored.submit(owner: .user(1), key: "k").id == 2)
        #expect(try stored.submit(key: "l").id == 3)
        #expect(try stored.submit().id == 4)
    }

    @Test func `after a week and the end of its job a key may be used again`() throws {
        let job = try stored.end(key: "k")
        #expect(try stored.submit(key: "k", at: .noon(plusDays: 7)).id == job.id)
        let next = try stored.submit(key: "k", digest: "other", at: .noon(plusDays: 7) + .milliseconds(1))
        #expect(next.id == 2)
        #expect(try stored.store.job(1)?.key == nil)
        #expect(try stored.submit(key: "k", digest: "other", at: .noon(plusDays: 8)).id == 2)
    }

    @Test func `a key is remembered until its job ends, and when the clock was set back`() throws {
        try stored.submit(key: "k")
        #expect(try stored.submit(key: "k", at: .noon(plusDays: 400)).id == 1)
        #expect(try stored.submit(key: "k", at: .earliest).id == 1)
    }

    @Test func `a key whose job cannot be read submits nothing`() throws {
        try stored.submit(key: "k")
        try stored.change("UPDATE submissions SET options = '{\"version\":2}'")
        guard case .unreadable(let row)? = problem({ try stored.submit(key: "k") }) else {
            Issue.record("the key was taken for a new one")
            return
        }
        #expect(row.job == 1)
        #expect(try stored.store.count(JobFilter()) == 1)
    }

    // MARK: Runs

    @Test func `a job is found by each of its runs`() throws {
        var job = try stored.submit()
        for (number, run) in ["a", "b"].enumerated() {
            try job.start(run: run, at: .noon(plus: number))
            try stored.store.update(job, at: .noon)
            try job.processEnded(code: 75, leaving: .ended, text: "locked", progressed: false, at: .noon(plus: number))
            try stored.store.update(job, at: .noon)
        }
        #expect(try stored.store.job(run: "a") == job)
        #expect(try stored.store.job(run: "b") == job)
        #expect(try stored.store.job(run: "c") == nil)
    }

    @Test func `an owner's latest runs are his own, and no more than are asked for`() throws {
        for _ in 1...3 { try stored.end() }
        var foreign = try stored.submit(owner: .user(1001))
        try foreign.start(run: "foreign", at: .noon)
        try stored.store.update(foreign, at: .noon)
        #expect(try stored.store.runs(of: .user(1000), limit: 2) == ["run-3", "run-2"])
        #expect(try stored.store.runs(of: .user(1001), limit: 2) == ["foreign"])
        #expect(try stored.store.runs(of: .user(1002), limit: 2).isEmpty)
    }

    @Test func `a run belongs to one job, also after it has ended`() throws {
        var first = try stored.submit()
        var second = try stored.submit()
        try first.start(run: "a", at: .noon)
        try stored.store.update(first, at: .noon)
        try first.processEnded(code: 75, leaving: .ended, text: "locked", progressed: false, at: .noon)
        try stored.store.update(first, at: .noon)
        try second.start(run: "a", at: .noon)
        #expect(
            message { try stored.store.update(second, at: .noon) }
                == "\(stored.path): the run 'a' belongs to job 1\n   = choose another name for the run")
        #expect(try stored.store.job(2)?.state.name == .waiting)
    }

    // MARK: Updates

    @Test func `several jobs change together, or none`() throws {
        var jobs = try (0..<3).map { _ in try stored.submit() }
        for index in jobs.indices { try jobs[index].hold() }
        let strange = try Submission(
            id: 9, owner: .user(1), digest: "d", name: "b", manifest: .file, at: .noon, known: { _ in nil })
        #expect(
            message { try stored.store.update(jobs + [strange], at: .noon) }
                == "\(stored.path): there is no job 9\n   = 'penumbra queue --all' lists all jobs")
        #expect(try stored.store.load().queue.jobs.map(\.state.name) == [.waiting, .waiting, .waiting])
        try stored.store.update(jobs, at: .noon)
        #expect(try stored.store.load().queue.jobs == jobs)
    }

    @Test func `a job ends once, whatever a service with old knowledge says`() throws {
        let waiting = try stored.submit()
        var job = waiting
        try job.cancel(by: .user(0), at: .noon)
        try stored.store.update(job, at: .noon)
        #expect(
            message { try stored.store.update(waiting, at: .noon) }
                == "\(stored.path): a record breaks a rule, and is not stored: a job ends once\n   = nothing has changed; this "
                + "is a fault of Penumbra: please report it")
        #expect(try stored.store.job(1) == job)
    }

    @Test func `the latest retry of a job is known`() throws {
        let job = try stored.end(code: 1)
        for number in 2...3 {
            let retry = try stored.store.insert(JobRequest(owner: .user(1), key: nil, digest: "d"), at: .noon) {
                try job.retry(as: $0, by: .user(1), digest: "d", at: .noon, known: $1)
            }
            #expect(retry.job.id == JobID(number))
        }
        let known = try #require(try stored.store.known(1))
        #expect(known.retriedAs == 3)
        #expect(known.end == .failed(code: 1, text: ""))
    }

    // MARK: Many jobs

    @Test func `messages of a bulk action are stored with its changes`() throws {
        for _ in 0..<3 { try stored.submit() }
        func cancel(_ expected: Int) throws {
            _ = try stored.store.apply(
                .cancel, to: JobFilter(), expecting: expected, by: .user(5),
                messages: { changes in
                    changes.changed.map { OutboxMessage(event: "end-\($0.id.number)", target: "hook", body: "{}") }
                }, at: .noon)
        }
        #expect(throws: BulkAction.Mismatch.self) { try cancel(2) }
        #expect(try stored.store.nextMessageTime() == nil)
        try cancel(3)
        #expect(
            try stored.store.dueMessages(at: .noon, limit: 9).map(\.message.event) == ["end-1", "end-2", "end-3"])
        #expect(try stored.store.load().queue.jobs == [])
    }

    @Test func `a bulk action changes what its filter matches, in one step`() throws {
        try stored.end(name: "night", code: 1)
        try stored.end(name: "night", code: 0)
        try stored.end(name: "day", code: 1)
        try stored.submit(name: "night")
        var filter = JobFilter()
        filter.names = ["ni*"]
        func apply(_ expected: Int?) throws -> BulkAction.Outcome {
            try stored.store.apply(
                .retry, to: filter, expecting: expected, by: .user(5),
                audit: {
                    AuditEntry(
                        at: .noon, caller: "uid:5", action: "retry", subject: filter.text,
                        detail: "\($0.submitted.count) jobs")
                }, at: .noon)
        }
        #expect(try apply(nil) == .count(3, possible: 1))
        #expect(throws: BulkAction.Mismatch.self) { try apply(4) }
        guard case .done(let changes) = try apply(3) else {
            Issue.record("nothing was done")
            return
        }
        #expect(changes.submitted.map(\.id) == [5])
        #expect(changes.refused.map(\.job) == [2, 4])
        #expect(try stored.store.job(5) == changes.submitted.first)
        #expect(try stored.store.job(5)?.retryOf == 1)
        #expect(try stored.store.auditEntries(limit: 9).map(\.entry.detail) == ["1 jobs"])
    }
}
