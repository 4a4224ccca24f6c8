import Foundation
import Notifications
import Queueing
import Testing

@Suite struct LatenessTests {
    private func policy(_ minute: Int = 6 * 60, zone: String = "UTC") throws -> LatenessPolicy {
        try LatenessPolicy(minute: minute, zone: Schedule.zone(named: zone))
    }

    @Test func `before the time nothing is late`() throws {
        let rule = try time("2026-11-25T12:00:00Z")
        let decision = try policy().decision(since: rule, lastSuccess: nil, at: time("2026-11-26T05:59:59.999Z"))
        #expect(decision == .init(lateSince: nil, judged: rule, next: try time("2026-11-26T06:00:00Z")))
    }

    @Test func `a job without a success since the day before is late, once`() throws {
        let due = try time("2026-11-26T06:00:00Z")
        let success = try time("2026-11-25T05:30:00Z")
        let first = try policy().decision(since: time("2026-11-25T06:00:00Z"), lastSuccess: success, at: due)
        #expect(first == .init(lateSince: due, judged: due, next: try time("2026-11-27T06:00:00Z")))
        let second = try policy().decision(since: first.judged, lastSuccess: success, at: time("2026-11-27T05:59:59Z"))
        #expect(second == .init(lateSince: nil, judged: due, next: try time("2026-11-27T06:00:00Z")))
        let next = try policy().decision(since: first.judged, lastSuccess: success, at: time("2026-11-27T06:00:00Z"))
        #expect(next.lateSince == (try time("2026-11-27T06:00:00Z")))
    }

    @Test func `a success of the last day is in time, and an older one is not`() throws {
        let (judged, due) = (try time("2026-11-25T06:00:00Z"), try time("2026-11-26T06:00:00Z"))
        for (success, isLate) in [
            ("2026-11-25T06:00:00Z", true), ("2026-11-25T06:00:00.001Z", false), ("2026-11-26T06:00:00Z", false),
        ] {
            let decision = try policy().decision(since: judged, lastSuccess: time(success), at: due)
            #expect((decision.lateSince == due) == isLate, "\(success)")
        }
    }

    @Test func `after a week without a service one day is judged, and a late success counts`() throws {
        let (judged, now) = (try time("2026-11-18T06:00:00Z"), try time("2026-11-25T12:00:00Z"))
        let due = try time("2026-11-25T06:00:00Z")
        #expect(try policy().decision(since: judged, lastSuccess: nil, at: now).lateSince == due)
        let late = try policy().decision(since: judged, lastSuccess: time("2026-11-25T11:00:00Z"), at: now)
        #expect(late == .init(lateSince: nil, judged: due, next: try time("2026-11-26T06:00:00Z")))
    }

    /// Clocks in Berlin skip 02:00–03:00 on 29 March 2026, and show it twice on 25 October 2026.
    @Test(arguments: [
        ("2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"), ("2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
    ])
    func `a change of clocks neither skips nor doubles a day`(since: String, due: String) throws {
        let policy = try policy(2 * 60 + 30, zone: "Europe/Berlin")
        var judged = try time(since)
        var found: [WallTime] = []
        for hour in 1...35 {
            let now = try time(since) + .seconds(hour * 3600)
            let decision = policy.decision(since: judged, lastSuccess: nil, at: now)
            judged = decision.judged
            if let late = decision.lateSince { found.append(late) }
        }
        #expect(found == [try time(due)])
    }

    @Test func `after a change of clocks the day before still ends at its own time`() throws {
        let policy = try policy(6 * 60, zone: "Europe/Berlin")
        // 06:00 was 05:00Z on the day before, and is 04:00Z on the day of the change.
        let (judged, due) = (try time("2026-03-28T05:00:00Z"), try time("2026-03-29T04:00:00Z"))
        #expect(policy.decision(since: judged, lastSuccess: judged, at: due).lateSince == due)
        #expect(policy.decision(since: judged, lastSuccess: judged + .seconds(1), at: due).lateSince == nil)
    }

    @Test func `a clock that was set back reports no day again`() throws {
        let judged = try time("2026-11-26T06:00:00Z")
        let decision = try policy().decision(since: judged, lastSuccess: nil, at: time("2026-11-20T12:00:00Z"))
        #expect(decision == .init(lateSince: nil, judged: judged, next: try time("2026-11-27T06:00:00Z")))
    }
}
