import Queueing
import Testing

@Suite struct RetryTests {
    private func retry(_ job: Submission, known: @escaping (JobID) -> KnownJob? = { _ in nil }) throws -> Submission {
        try job.retry(as: 30, by: .token("7"), digest: "d2", at: .noon(plus: 60), known: known)
    }

    @Test func `a retry is a new job that does the same`() throws {
        var job = try Submission.make(priority: 70, labels: ["show": "night"])
        try job.cancel(by: .user(0), at: .noon)
        let retry = try retry(job)
        #expect(retry.id == 30)
        #expect(retry.retryOf == 17)
        #expect(retry.owner == .token("7"))
        #expect(retry.manifest == job.manifest)
        var options = job.options
        options.triesBroken = true
        #expect(retry.options == options)
        #expect(retry.priority.value == 70)
        #expect(retry.labels.texts == ["show=night"])
        #expect(retry.submitted == .noon(plus: 60))
        #expect(retry.state == .waiting(.init(since: .noon(plus: 60))))
        #expect(retry.notBefore == nil)
    }

    @Test(arguments: [1, 3, 65, 143])
    func `whatever did not succeed can be retried`(code: Int) throws {
        #expect(try retry(Submission.ended(code: code)).retryOf == 17)
    }

    @Test func `a job says beforehand why a retry would do nothing, or the same as another job`() throws {
        #expect(try Submission.running().obstacleToRetry(after: nil)?.problem == .hasNotEnded(.running))
        #expect(try Submission.ended().obstacleToRetry(after: nil)?.problem == .isDone)
        #expect(try Submission.ended(code: 1).obstacleToRetry(after: 20)?.problem == .wasRetried(as: 20))
        #expect(try Submission.ended(code: 1).obstacleToRetry(after: nil) == nil)
        #expect(try done(stillBroken: 1).obstacleToRetry(after: nil) == nil)
    }

    /// A job whose run has ended well and has left pictures that are still broken.
    private func done(kept: Int = 0, stillBroken: Int = 0) throws -> Submission {
        var job = try Submission.running()
        try job.processEnded(
            code: 0, leaving: .ended, text: "", progressed: true,
            leftovers: .init(kept: kept, stillBroken: stillBroken), at: .noon)
        return job
    }

    @Test func `a job that is done can be retried for the pictures that are still broken, and for nothing else`() throws
    {
        #expect(try retry(done(stillBroken: 1)).retryOf == 17)
        #expect(QueueEntry(try done(stillBroken: 3)).stillBroken == 3)
        let kept = try done(kept: 1)
        #expect(QueueEntry(kept).stillBroken == nil)
        #expect(
            refusal { _ = try retry(kept) }
                == "job 17 has ended: done\n   = submit it again to run it again")
    }

    @Test(arguments: [(RetryDeadline.kept, 60), (.none, nil), (.seconds(600), 600)] as [(RetryDeadline, Int?)])
    func `a retry has the deadline of its job, or another one, or none`(deadline: RetryDeadline, expected: Int?) throws
    {
        var job = try Submission(
            id: 17, owner: .user(1000), digest: "d", name: "night",
            manifest: ManifestSource(.file(path: "/srv/a/night.yaml"), digest: "m"),
            options: RunOptions(overrides: ["a=1"], isForced: true, deadline: 60), at: .noon, known: { _ in nil })
        try job.cancel(by: .user(0), at: .noon)
        let options = try job.retry(
            as: 30, by: .token("7"), digest: "d2", deadline: deadline, at: .noon, known: { _ in nil }
        ).options
        #expect(options.deadline == expected)
        #expect(options.overrides == ["a=1"] && options.isForced && options.triesBroken)
    }

    @Test func `a deadline that no run takes is refused for a retry, too`() throws {
        let job = try Submission.ended(code: 3)
        #expect(
            refusal {
                _ = try job.retry(
                    as: 30, by: .token("7"), digest: "d2", deadline: .seconds(0), at: .noon, known: { _ in nil })
            }?.hasPrefix("deadline: 0 seconds are not between a second and a week\n") == true)
    }

    /// A job that was skipped because job 5 did not succeed.
    private func skipped() throws -> Submission {
        var job = try Submission.make(needs: [Need(5), Need(6)])
        try job.skip(because: 5, at: .noon)
        return job
    }

    @Test func `a retry needs the latest retry of what failed, and nothing that has succeeded`() throws {
        let jobs: [JobID: KnownJob] = [
            5: KnownJob(end: .failed(code: 1, text: ""), retriedAs: 20),
            20: KnownJob(end: .cancelled(by: .user(0)), retriedAs: 21), 21: KnownJob(end: nil), 6: KnownJob(end: .done),
        ]
        #expect(try retry(skipped(), known: { jobs[$0] }).needs == [Need(21)])
    }

    @Test func `a retry waits for what still runs`() throws {
        let jobs: [JobID: KnownJob] = [5: KnownJob(end: nil), 6: KnownJob(end: nil)]
        #expect(try retry(skipped(), known: { jobs[$0] }).needs == [Need(5), Need(6)])
    }

    @Test func `two needs that have become one job are one need`() throws {
        let failed = JobState.End.failed(code: 1, text: "")
        let jobs: [JobID: KnownJob] = [
            5: KnownJob(end: failed, retriedAs: 6), 6: KnownJob(end: failed, retriedAs: 21), 21: KnownJob(end: nil),
        ]
        #expect(try retry(skipped(), known: { jobs[$0] }).needs == [Need(21)])
    }

    @Test func `a retry whose need failed and was not retried is refused`() throws {
        let jobs: [JobID: KnownJob] = [5: KnownJob(end: .failed(code: 1, text: "")), 6: KnownJob(end: .done)]
        let job = try skipped()
        #expect(
            refusal { _ = try retry(job, known: { jobs[$0] }) }
                == """
                the job would never start: it needs the success of job 5, which has ended: failed with exit code 1
                   = retry job 5, and name the new job, or write '5:end'
                """)
    }
}
