import Queueing
import Testing

@Suite struct BulkPutTests {
    @Test func `jobs that end together leave the queue as if one after the other`() throws {
        var (one, other) = (JobQueue(), JobQueue())
        var jobs: [Submission] = []
        for number in 1...6 {
            let job = try Submission.make(JobID(number), needs: number > 1 ? [Need(JobID(number - 1), on: .end)] : [])
            one.put(job) { _ in nil }
            other.put(job) { _ in nil }
            jobs.append(job)
        }
        var changed = [jobs[1], jobs[3], jobs[4]]
        for index in [0, 2] { try changed[index].cancel(by: .user(0), at: .noon) }
        try changed[1].hold()
        one.put(changed) { _ in nil }
        for job in changed { other.put(job) { _ in nil } }
        #expect(one.jobs == other.jobs)
        #expect(one.jobs.map(\.id) == [1, 3, 4, 6])
        #expect(one.end(of: 2) != nil && one.end(of: 5) != nil)
        let limits = Limits(workers: 4)
        #expect(one.decision(limits, at: .noon) == other.decision(limits, at: .noon))
    }
}
