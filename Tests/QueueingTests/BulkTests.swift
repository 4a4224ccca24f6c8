import Queueing
import Testing

@Suite struct BulkTests {
    private let context = BulkAction.Context(owner: .user(0), now: .noon, nextID: 30) { _ in KnownJob(end: nil) }

    private func changes(
        _ action: BulkAction, _ jobs: [Submission], _ context: BulkAction.Context? = nil
    ) throws -> BulkAction.Changes {
        let outcome = try action.apply(to: jobs, matching: JobFilter(), expecting: jobs.count, context ?? self.context)
        guard case .done(let changes) = outcome else { throw Unexpected() }
        return changes
    }

    @Test func `without an expected count nothing changes, and the answer is the count`() throws {
        let jobs = [try Submission.make(1), try .make(2, isHeld: true)]
        #expect(
            try BulkAction.cancel.apply(to: jobs, matching: JobFilter(text: "state=held"), expecting: nil, context)
                == .count(1))
    }

    @Test(
        arguments: [
            (BulkAction.hold, 2), (.release, 3), (.cancel, 3), (.runNext, 2), (.setPriority(.highest), 3), (.retry, 1),
            (.setLabel("a", "1"), nil),
        ] as [(BulkAction, Int?)])
    func `the count says how many of the jobs can be changed, and the action changes no others`(
        action: BulkAction, possible: Int?
    ) throws {
        let jobs = [
            try Submission.make(1), try .make(2, isHeld: true), try .running(3), try .ended(4), try .ended(5, code: 1),
            try .ended(6, code: 1),
        ]
        let context = BulkAction.Context(owner: .user(0), now: .noon, nextID: 30) { id in
            KnownJob(end: .failed(code: 1, text: ""), retriedAs: id == 6 ? 17 : nil)
        }
        #expect(
            try action.apply(to: jobs, matching: JobFilter(), expecting: nil, context) == .count(6, possible: possible))
        #expect(try changes(action, jobs, context).refused.count == 6 - (possible ?? 6))
    }

    @Test func `with another count nothing changes`() throws {
        let jobs = [try Submission.make(1)]
        #expect {
            try BulkAction.cancel.apply(to: jobs, matching: JobFilter(), expecting: 10, context)
        } throws: { error in
            (error as? BulkAction.Mismatch)?.message
                == "the filter matches 1 job, not 10\n   = look at the list again, and repeat the action with 1"
        }
    }

    @Test func `what was changed is told in words`() throws {
        let before = try Submission.make(labels: ["old": "x", "show": "night"], needs: [Need(3)])
        var job = before
        #expect(job.differences(from: before) == [])
        try job.set(Priority(90))
        job.set(try Labels(["new": "", "show": "moon"]))
        try job.set([Need(3, on: .end), Need(4)], known: { _ in KnownJob(end: nil) })
        try job.hold()
        #expect(
            job.differences(from: before) == [
                "priority 50 to 90", "label new: none to ''", "label old: 'x' to none", "label show: 'night' to 'moon'",
                "after 3:success to 3:end, 4:success", "waiting to held",
            ])
        var running = try Submission.running()
        try running.runNext(at: .noon)
        try running.cancel(by: .user(0), at: .noon)
        #expect(running.differences(from: try .running()) == ["runs next", "to be cancelled"])
        #expect(try Submission.running().differences(from: running) == ["runs next no more"])
    }

    @Test func `a bulk action says which jobs it has changed`() throws {
        let jobs = [try Submission.make(1), try .ended(2), try .make(3)]
        #expect(try changes(.hold, jobs).words == "2 changed (1, 3), 1 refused (2)")
        #expect(try changes(.hold, [.make(1, isHeld: true)]).words == "nothing changed")
        #expect(try changes(.hold, (1...51).map { try .make(JobID($0)) }).words.hasSuffix("50, …)"))
        #expect(BulkAction.setPriority(try Priority(70)).words == "set_priority 70")
        #expect(BulkAction.setLabel("show", nil).words == "set_label show: none")
    }

    @Test func `only jobs that the filter matches are changed`() throws {
        let jobs = [try Submission.make(1), try .make(2, owner: .token("7"))]
        let outcome = try BulkAction.hold.apply(
            to: jobs, matching: JobFilter(text: "owner=token:7"), expecting: 1, context)
        guard case .done(let changes) = outcome else { throw Unexpected() }
        #expect(changes.changed.map(\.id) == [2])
    }

    @Test func `jobs that cannot be changed do not keep others from it`() throws {
        let changes = try changes(.cancel, [try .ended(3), try .make(2), try .running(1)])
        #expect(changes.changed.map(\.id) == [1, 2])
        #expect(changes.changed.map(\.state.name) == [.running, .cancelled])
        #expect(changes.refused.map(\.message) == ["job 3 has ended: done"])
    }

    @Test func `every action does what its name says`() throws {
        let held = try Submission.make(isHeld: true)
        #expect(try changes(.hold, [.make()]).changed.map(\.state.name) == [.held])
        #expect(try changes(.release, [held]).changed.map(\.state.name) == [.waiting])
        #expect(try changes(.runNext, [.make()]).changed.map(\.expedited) == [.noon])
        #expect(try changes(.setPriority(.highest), [.make()]).changed.map(\.priority) == [.highest])
        #expect(try changes(.setLabel("a", "1"), [.make()]).changed.map(\.labels.texts) == [["a=1"]])
        #expect(try changes(.setLabel("a", nil), [.make(labels: ["a": "1"])]).changed.map(\.labels.texts) == [[]])
        // Nothing changes, so nothing has to be stored.
        #expect(try changes(.hold, [held]) == .init())
    }

    @Test func `a wrong value changes no job`() throws {
        #expect(
            refusal { _ = try changes(.setLabel("-", "1"), [.make()]) }?.hasPrefix("label: '-' is no name") == true)
    }

    @Test func `a job and what was skipped with it are retried together`() throws {
        var second = try Submission.make(2, needs: [Need(1)])
        try second.skip(because: 1, at: .noon)
        var third = try Submission.make(3, needs: [Need(2, on: .end), Need(1)])
        try third.skip(because: 1, at: .noon)
        let jobs = [third, second, try .ended(1, code: 1), try .ended(4)]
        let ends: [JobID: JobState.End] = Dictionary(
            uniqueKeysWithValues: jobs.compactMap { job in job.state.end.map { (job.id, $0) } })
        let context = BulkAction.Context(owner: .user(0), now: .noon, nextID: 30) { KnownJob(end: ends[$0]) }
        let changes = try changes(.retry, jobs, context)
        #expect(changes.submitted.map(\.id) == [30, 31, 32])
        #expect(changes.submitted.map(\.retryOf) == [1, 2, 3])
        // Job 2 has ended, and job 3 needed no more of it.
        #expect(changes.submitted.map(\.needs) == [[], [Need(30)], [Need(30)]])
        #expect(changes.refused.map(\.message) == ["job 4 has ended: done\n   = submit it again to run it again"])
        #expect(changes.changed == [])
    }

    @Test func `a job that was retried is not retried again with others`() throws {
        let jobs = [try Submission.ended(1, code: 1), try .ended(2, code: 1)]
        let context = BulkAction.Context(owner: .user(0), now: .noon, nextID: 30) { id in
            KnownJob(end: .failed(code: 1, text: ""), retriedAs: id == 1 ? 17 : nil)
        }
        let changes = try changes(.retry, jobs, context)
        #expect(changes.submitted.map(\.retryOf) == [2])
        #expect(changes.refused.map(\.job) == [1])
        #expect(
            changes.refused.map(\.message) == ["job 1 was retried as job 17\n   = retry job 17 if it does not succeed"])
    }

    @Test func `a retry that is refused is named by the job, and not by a number that no job has`() throws {
        var skipped = try Submission.make(2, needs: [Need(1)])
        try skipped.skip(because: 1, at: .noon)
        let context = BulkAction.Context(owner: .user(0), now: .noon, nextID: 30) { _ in
            KnownJob(end: .failed(code: 1, text: ""))
        }
        let changes = try changes(.retry, [skipped], context)
        #expect(changes.refused.map(\.job) == [2])
        #expect(changes.submitted == [])
    }
}
