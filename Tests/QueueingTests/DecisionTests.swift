import Queueing
import Testing

@Suite struct DecisionTests {
    private func starts(
        _ jobs: [Submission], _ limits: Limits = .usual, wants: [JobID: Int] = [:], at now: WallTime = .noon
    ) -> [JobID] {
        JobQueue(jobs).decision(limits, wants: wants, at: now).starts.map(\.job)
    }

    @Test func `higher priorities start first, and of equal ones the earlier job`() throws {
        let jobs = [
            try Submission.make(1, priority: 50), try .make(2, priority: 90), try .make(3, priority: 50),
            try .make(4, priority: 50),
        ]
        #expect(starts(jobs, Limits(workers: 8, maxRuns: 1)) == [2])
        // Job 2 may use all workers, until it says that it cannot.
        #expect(starts(jobs) == [2])
        #expect(starts([jobs[0], jobs[2], jobs[3]]) == [1, 3, 4])
        #expect(starts([jobs[0], jobs[2], jobs[3]], Limits(workers: 8, maxRuns: 2)) == [1, 3])
    }

    @Test func `a job that is to run next precedes all priorities, the last one first`() throws {
        var jobs = [
            try Submission.make(1, priority: 100), try .make(2, priority: 0), try .make(3, priority: 0),
            try .make(4, priority: 0),
        ]
        try jobs[1].runNext(at: .noon)
        try jobs[2].runNext(at: .noon(plus: 1))
        #expect(starts(jobs, Limits(workers: 8, maxRuns: 3)) == [3, 2])
    }

    @Test func `an urgent job starts although all workers are in use`() throws {
        let jobs = [try Submission.running(1, priority: 50), try .make(2, priority: 90)]
        #expect(starts(jobs, wants: [1: 100_000]) == [2])
    }

    @Test func `an urgent job does not wait for the end of runs that are less urgent`() throws {
        let limits = Limits(workers: 8, maxRuns: 2)
        var jobs = [try Submission.running(1), try .running(2), try .make(3), try .make(4, priority: 90)]
        #expect(starts(jobs, limits) == [4])
        jobs[2] = try .make(3, priority: 0)
        try jobs[2].runNext(at: .noon)
        #expect(starts(jobs, limits) == [3])
    }

    @Test func `at most twice as many runs are open as of one level`() throws {
        let limits = Limits(workers: 8, maxRuns: 2)
        let jobs = try [10, 10, 20, 20].enumerated().map { try Submission.running(JobID($0 + 1), priority: $1) }
        #expect(starts(jobs + [try .make(9, priority: 90)], limits) == [])
        #expect(starts(jobs.dropLast() + [try .make(9, priority: 90)], limits) == [9])
        // Two of a higher level are open already.
        #expect(starts(jobs.dropFirst() + [try .make(9, priority: 15)], limits) == [])
    }

    @Test func `a job that would have no worker leaves its place to others`() throws {
        let jobs = [try Submission.running(1, priority: 90), try .make(2, priority: 50)]
        #expect(starts(jobs, wants: [1: 100_000]) == [])
        #expect(starts(jobs, wants: [1: 8]) == [])
        #expect(starts(jobs, wants: [1: 7]) == [2])
        #expect(starts(jobs, wants: [1: 0]) == [2])
        #expect(starts(jobs, wants: [:]) == [])
    }

    @Test func `equals start as long as each has a worker`() throws {
        let jobs = try (1...6).map { try Submission.make(JobID($0)) }
        #expect(starts(jobs, Limits(workers: 3, maxRuns: 5)) == [1, 2, 3])
        #expect(starts(jobs, Limits(workers: 0, maxRuns: 5)) == [])
        #expect(starts(jobs, Limits(workers: 3, maxRuns: 0)) == [])
    }

    @Test func `a drained service starts nothing, and still skips`() throws {
        let jobs = [try Submission.ended(1, code: 1), try .make(2, needs: [Need(1)]), try .make(3)]
        let decision = JobQueue(jobs).decision(Limits(workers: 8, isDrained: true), at: .noon)
        #expect(decision.starts == [])
        #expect(decision.skips == [.init(job: 2, cause: 1)])
    }

    @Test func `all that needs a failed job is skipped for it, and named`() throws {
        let jobs = [
            try Submission.ended(1, code: 1), try .make(2, needs: [Need(1)]), try .make(3, needs: [Need(2)]),
            try .make(4, needs: [Need(3)]), try .make(5),
            try .make(6, needs: [Need(3, on: .end)]), try .make(7, isHeld: true), try .make(8, needs: [Need(7)]),
        ]
        let decision = JobQueue(jobs).decision(.usual, at: .noon)
        #expect(
            decision.skips == [
                .init(job: 2, cause: 1), .init(job: 3, cause: 1), .init(job: 4, cause: 1),
            ])
        // Job 6 needs only the end of job 3, which comes now.
        #expect(decision.starts.map(\.job) == [5, 6])
    }

    @Test func `who cancels a job can see what is skipped with it`() throws {
        let queue = JobQueue([
            try .make(1), try .make(2, needs: [Need(1)]), try .make(3, needs: [Need(1, on: .end)]),
            try .make(4, needs: [Need(2)]), try .make(5),
        ])
        #expect(queue.dependents(on: 1) == [2, 4])
        #expect(queue.dependents(on: 5) == [])
        #expect(queue.dependents(on: 99) == [])
    }

    @Test func `work that is left at a deadline is no success`() throws {
        let jobs = [
            try Submission.ended(1, code: 3), try .make(2, needs: [Need(1)]), try .make(3, needs: [Need(1, on: .end)]),
        ]
        let decision = JobQueue(jobs).decision(.usual, at: .noon)
        #expect(decision.skips == [.init(job: 2, cause: 1)])
        #expect(decision.starts.map(\.job) == [3])
    }

    @Test func `a decision says until when it holds`() throws {
        let jobs = [
            try Submission.make(1, notBefore: .noon(plus: 600)), try .ended(2, code: 75), try .make(3, isHeld: true),
        ]
        #expect(JobQueue(jobs).decision(.usual, at: .noon).recheck == .noon(plus: 2))
        #expect(JobQueue([jobs[0]]).decision(.usual, at: .noon).recheck == .noon(plus: 600))
        #expect(JobQueue([jobs[2]]).decision(.usual, at: .noon).recheck == nil)
        #expect(starts(jobs, at: .noon(plus: 2)) == [2])
        #expect(starts(jobs, at: .noon(plus: 600)) == [1, 2])
    }

    @Test func `one job of a manifest runs at a time, and the most urgent one starts first`() throws {
        let jobs = [
            try Submission.make(1, manifest: .shared, priority: 50), try .make(2, manifest: .shared, priority: 50),
            try .make(3, priority: 50), try .make(4, manifest: .shared, priority: 50),
            try .make(5, name: "day", manifest: .shared),
        ]
        // Another name makes it another job of the same file.
        #expect(starts(jobs) == [1, 3, 5])
        #expect(starts(jobs, Limits(workers: 8, maxRuns: 2)) == [1, 3])
        var urgent = jobs
        try urgent[3].runNext(at: .noon)
        #expect(starts(urgent) == [4])
        let open = [try Submission.running(9, manifest: .shared)]
        #expect(starts(jobs + open) == [3, 5])
    }

    @Test func `many jobs of one manifest keep no others from their places`() throws {
        let jobs = try (1...20).map { try Submission.make(JobID($0), manifest: $0 < 18 ? .shared : nil) }
        #expect(starts(jobs, Limits(workers: 8, maxRuns: 3)) == [1, 18, 19])
        #expect(starts(jobs.reversed(), Limits(workers: 8, maxRuns: 3)) == [1, 18, 19])
    }

    @Test func `a job that found a lock held tries again as soon as any run has ended`() throws {
        var queue = JobQueue([try .running(1), try .starting(2), try .starting(3)])
        func end(_ id: JobID, _ code: Int, at time: WallTime) throws {
            try queue.change(id) { job throws(Refusal) in
                try job.processEnded(code: code, leaving: .none, text: "", progressed: false, at: time)
            }
        }
        try end(2, 75, at: .noon(plus: 1))
        // It waits for a lock, too, so its end frees none.
        try end(3, 75, at: .noon(plus: 2))
        #expect(queue.decision(.usual, at: .noon(plus: 2)).starts.isEmpty)
        try end(1, 1, at: .noon(plus: 2) + .milliseconds(1))
        #expect(queue.decision(.usual, at: .noon(plus: 2) + .milliseconds(1)).starts.map(\.job) == [2, 3])
    }

    @Test func `aging raises what waits, up to the highest priority`() throws {
        let aging = Limits(workers: 8, maxRuns: 1, aging: Aging(points: 1, per: .seconds(600)))
        let jobs = [try Submission.make(1, priority: 60, at: .noon(plus: 6600)), try .make(2, priority: 50)]
        #expect(starts(jobs, aging, at: .noon(plus: 6599)) == [1])
        #expect(starts(jobs, aging, at: .noon(plus: 6600)) == [2])
        #expect(starts(jobs, Limits(workers: 8, maxRuns: 1), at: .noon(plus: 6600)) == [1])
        let old = [try Submission.make(1, priority: 100, at: .noon(plus: 900_000)), try .make(2, priority: 0)]
        #expect(starts(old, aging, at: .noon(plus: 900_000)) == [1])
    }

    @Test func `only time in which a job could have started makes it older`() throws {
        let aging = Limits(workers: 8, maxRuns: 1, aging: Aging(points: 1, per: .seconds(60)))
        var released = try Submission.make(2, priority: 50, isHeld: true)
        try released.release(at: .noon(plus: 3600))
        let other = try Submission.make(3, priority: 51, at: .noon(plus: 3600))
        #expect(starts([released, other], aging, at: .noon(plus: 3600)) == [3])
        let late = try Submission.make(4, priority: 50, notBefore: .noon(plus: 3600))
        #expect(starts([late, other], aging, at: .noon(plus: 3600)) == [3])
        let needy = [try Submission.ended(1, at: .noon(plus: 3600)), try .make(5, priority: 50, needs: [Need(1)])]
        #expect(starts(needy + [other], aging, at: .noon(plus: 3600)) == [3])
    }

    @Test func `what a job has gained by waiting stays with its run`() throws {
        let aging = Limits(workers: 8, aging: Aging(points: 1, per: .seconds(60)))
        var queue = JobQueue([try .make(1, priority: 50)])
        let start = try #require(queue.decision(aging, at: .noon(plus: 3000)).starts.first)
        #expect(start.waited == .seconds(3000))
        try queue.change(1) { job throws(Refusal) in
            try job.start(run: "r", waited: start.waited, at: .noon(plus: 3000))
        }
        queue.put(try .running(2, priority: 99, at: .noon(plus: 3000)), known: { _ in nil })
        #expect(queue.shares(aging, wants: [1: 20, 2: 20]) == [1: 8, 2: 0])
    }

    @Test func `an ended job cannot be changed through the queue while others need it`() throws {
        var queue = JobQueue([try .make(1), try .make(2, needs: [Need(1)])])
        try queue.change(1) { job throws(Refusal) in try job.cancel(by: .user(0), at: .noon) }
        #expect(queue[1] == nil)
        #expect(queue.end(of: 1)?.end == .cancelled(by: .user(0)))
        #expect(
            refusal { try queue.change(1) { job throws(Refusal) in try job.hold() } }
                == "job 1 has ended: cancelled by uid:0")
    }

    @Test func `a job may need one that ended before the queue was made`() throws {
        var queue = JobQueue()
        queue.put(try .make(2, needs: [Need(1)]), known: { _ in KnownJob(end: .done) })
        #expect(queue.decision(.usual, at: .noon).starts.map(\.job) == [2])
        queue.put(try .make(4), known: { _ in nil })
        try queue.change(4, known: { _ in KnownJob(end: .done) }) { job throws(Refusal) in
            try job.set([Need(3)], known: { _ in KnownJob(end: .done) })
        }
        #expect(queue.decision(.usual, at: .noon).starts.map(\.job) == [2, 4])
    }

    @Test func `ends that nobody needs are forgotten, and those that are needed stay`() throws {
        var queue = JobQueue([try .make(1), try .make(2, needs: [Need(1)], isHeld: true)])
        queue.put(try .ended(1), known: { _ in nil })
        for number in 3...5000 { queue.put(try .ended(JobID(number)), known: { _ in nil }) }
        #expect(queue.end(of: 1)?.end == .done)
        let kept = (3...5000).count { queue.end(of: JobID($0)) != nil }
        #expect(kept < 2048)
    }

    @Test func `ten thousand jobs in a chain are skipped in one decision`() throws {
        var queue = JobQueue([try .ended(1, code: 1)])
        for number in 2...10_000 {
            queue.put(try .make(JobID(number), needs: [Need(JobID(number - 1))]), known: { _ in nil })
        }
        let decision = queue.decision(.usual, at: .noon)
        #expect(decision.skips.count == 9999)
        #expect(decision.skips.allSatisfy { $0.cause == 1 })
    }
}
