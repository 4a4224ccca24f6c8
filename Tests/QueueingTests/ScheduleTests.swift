import JobModel
import Foundation
import Queueing
import TestSupport
import Testing

@Suite struct ScheduleTests {
    private func schedule(
        _ text: String = "0 2 * * *", missed: Schedule.Missed = .once, overlap: Schedule.Overlap = .queue
    ) throws -> Schedule {
        try Schedule(
            name: "nightly", cron: CronExpression(text), zone: Schedule.zone(named: "UTC"), missed: missed,
            overlap: overlap)
    }

    private func time(_ text: String) throws -> WallTime { try #require(WallTime(text: text)) }

    @Test func `nothing happens before the next time`() throws {
        let last = try time("2026-11-25T02:00:00Z")
        let decision = try schedule().decision(since: last, lastJob: nil, at: time("2026-11-26T01:59:59.999Z"))
        #expect(decision == .init(action: nil, last: last, next: try time("2026-11-26T02:00:00Z")))
    }

    @Test func `a time that has come submits a job with its key`() throws {
        let due = try time("2026-11-26T02:00:00Z")
        let decision = try schedule().decision(since: time("2026-11-25T02:00:00Z"), lastJob: .ended, at: due)
        #expect(
            decision
                == .init(
                    action: .submit(key: "schedule:nightly:2026-11-26T02:00:00Z", time: due), last: due,
                    next: try time("2026-11-27T02:00:00Z")))
    }

    @Test func `a service that is killed before it stored the time submits the same key again`() throws {
        let last = try time("2026-11-25T02:00:00Z")
        let first = try schedule().decision(since: last, lastJob: .ended, at: time("2026-11-26T02:00:00Z"))
        let second = try schedule().decision(since: last, lastJob: .ended, at: time("2026-11-26T02:00:41Z"))
        #expect(first.action == second.action)
    }

    @Test func `after a week without a service there is one job, or none`() throws {
        let (last, now) = (try time("2026-11-18T02:00:00Z"), try time("2026-11-25T12:00:00Z"))
        let due = try time("2026-11-25T02:00:00Z")
        #expect(
            try schedule().decision(since: last, lastJob: nil, at: now).action
                == .submit(key: "schedule:nightly:2026-11-25T02:00:00Z", time: due))
        let skipped = try schedule(missed: .skip).decision(since: last, lastJob: nil, at: now)
        #expect(skipped.action == .pass(time: due, reason: .missed))
        #expect(skipped.last == due)
        #expect(skipped.next == (try time("2026-11-26T02:00:00Z")))
    }

    @Test func `a minute late is not missed`() throws {
        let last = try time("2026-11-25T02:00:00Z")
        let inTime = try schedule(missed: .skip).decision(since: last, lastJob: nil, at: time("2026-11-26T02:01:00Z"))
        #expect(inTime.action == .submit(key: "schedule:nightly:2026-11-26T02:00:00Z", time: inTime.last))
        let late = try schedule(missed: .skip).decision(since: last, lastJob: nil, at: time("2026-11-26T02:01:01Z"))
        #expect(late.action == .pass(time: late.last, reason: .missed))
    }

    @Test(
        arguments: [
            (Schedule.Overlap.queue, Schedule.LastJob.running(7), nil), (.queue, .waiting(7), .waits(7)),
            (.skip, .running(7), .overlaps(7)), (.skip, .waiting(7), .overlaps(7)), (.queue, .ended, nil),
            (.skip, .ended, nil),
        ] as [(Schedule.Overlap, Schedule.LastJob, Schedule.PassReason?)])
    func `a job that has not ended is queued behind once, or not at all`(
        overlap: Schedule.Overlap, job: Schedule.LastJob, reason: Schedule.PassReason?
    ) throws {
        let due = try time("2026-11-26T02:00:00Z")
        let action = try schedule(overlap: overlap).decision(since: .noon, lastJob: job, at: due).action
        #expect(
            action == reason.map { .pass(time: due, reason: $0) }
                ?? .submit(key: "schedule:nightly:2026-11-26T02:00:00Z", time: due))
    }

    @Test func `a pass has words`() {
        #expect(Schedule.PassReason.missed.words == "the service was not running at this time")
        #expect(Schedule.PassReason.overlaps(7).words == "job 7 of the schedule has not ended")
        #expect(
            Schedule.PassReason.waits(7).words == "job 7 of the schedule still waits, and serves for this time, too")
    }

    @Test func `a machine whose time is set back submits nothing twice`() throws {
        let last = try time("2026-11-26T02:00:00Z")
        let decision = try schedule().decision(since: last, lastJob: .ended, at: time("2026-11-20T02:00:00Z"))
        #expect(decision == .init(action: nil, last: last, next: try time("2026-11-27T02:00:00Z")))
    }

    /// A service that looks at random moments, and is killed before or after it has stored a decision.
    @Test(arguments: 0..<10)
    func `whenever one looks, each time comes once and the last one is never lost`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let zone = try Schedule.zone(named: "Australia/Lord_Howe")
        let schedule = try Schedule(name: "n", cron: CronExpression("*/30 1-3 * * *"), zone: zone)
        var last = try time("2026-03-20T00:00:00Z")
        var now = last
        var submitted: [String] = []
        let end = try time("2026-04-20T00:00:00Z")
        while now < end {
            now =
                now
                + .seconds(
                    Int.random(in: 0...[10, 4000, 200_000][Int.random(in: 0...2, using: &random)], using: &random))
            let decision = schedule.decision(since: last, lastJob: .ended, at: now)
            // All times through now were decided.
            #expect(decision.next.map { $0 > now } == true)
            guard case .submit(let key, let time) = decision.action else { continue }
            #expect(time <= now)
            #expect(schedule.next(after: WallTime(milliseconds: time.milliseconds - 1)) == time)
            if !submitted.contains(key) { submitted.append(key) }
            if Int.random(in: 0...3, using: &random) > 0 { last = decision.last }
        }
        #expect(submitted == submitted.sorted())
        #expect(submitted.count > 5)
    }

    @Test(arguments: ["", "a b", "-x", "ü", "show/night"])
    func `a schedule has a name that fits a key`(name: String) throws {
        let zone = try Schedule.zone(named: "UTC")
        #expect(
            refusal { _ = try Schedule(name: name, cron: CronExpression("@daily"), zone: zone) }
                == """
                schedule: '\(name)' is no name of a schedule
                   = a name has 1 to 63 letters (a-z, A-Z), digits, '.', '_' and '-', and begins with a letter or digit
                """)
    }
}
