import Queueing
import Testing

/// What a token with a highest priority may ask for.
@Suite struct PriorityLimitTests {
    private let limit: PriorityLimit

    init() throws { limit = PriorityLimit(try Priority(60)) }

    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
        } catch let refusal as PriorityRefusal {
            return refusal.message
        } catch {
            return "\(error)"
        }
        return nil
    }

    @Test func `priorities up to the limit are accepted, and higher ones refused with the limit`() throws {
        for value in [0, 59, 60] {
            let priority = try Priority(value)
            #expect(refusal { try limit.check(priority) } == nil)
            #expect(refusal { try limit.check(.setPriority(priority)) } == nil)
        }
        let words = """
            priority: 61 is too high: this token allows at most 60
               = choose a priority from 0 to 60, or ask an administrator to raise the limit ('penumbra token change')
            """
        let priority = try Priority(61)
        #expect(refusal { try limit.check(priority) } == words)
        #expect(refusal { try limit.check(.setPriority(priority)) } == words)
    }

    @Test func `no job runs next, because it would be before higher priorities`() {
        #expect(
            refusal { try limit.check(.runNext) } == """
                this token cannot let a job run next: it allows a priority of at most 60
                   = raise the priority of the job up to 60, or ask an administrator
                """)
        for action in [BulkAction.hold, .release, .cancel, .retry, .setLabel("show", nil)] {
            #expect(refusal { try limit.check(action) } == nil)
        }
    }

    @Test func `a retry has the priority of its job, or the limit if that is lower`() throws {
        var job = try Submission.make(17)
        try job.set(.highest)
        try job.cancel(by: .user(0), at: .noon)
        func retry(_ limit: PriorityLimit?) throws -> Int {
            try job.retry(as: 30, by: .token("7"), digest: "d2", limit: limit, at: .noon, known: { _ in nil }).priority
                .value
        }
        #expect(try retry(limit) == 60)
        #expect(try retry(nil) == 100)
        let context = BulkAction.Context(owner: .token("7"), limit: limit, now: .noon, nextID: 30) { _ in nil }
        guard
            case .done(let changes) = try BulkAction.retry.apply(
                to: [job], matching: JobFilter(), expecting: 1, context)
        else { throw Refusal(job.id, .unknownJob) }
        #expect(changes.submitted.map(\.priority.value) == [60])
    }
}
