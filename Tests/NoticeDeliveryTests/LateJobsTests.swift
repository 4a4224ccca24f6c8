import Foundation
import NoticeDelivery
import QueueStorage
import Queueing
import Settings
import Synchronization
import Testing

/// Noon is 12:00 UTC on 2026-11-25, and the job is expected by 06:00.
@Suite struct LateJobsTests {
    let fixture: Fixture
    private let rules = NoticeRules(
        late: [ExpectedSuccess(job: "archive", minute: 360, zone: "UTC", targets: [.ops, .hook])])

    init() throws { fixture = try Fixture() }

    private func late(_ rules: NoticeRules? = nil, success: WallTime? = nil) throws -> LateJobs {
        let zone = try #require(TimeZone(identifier: "UTC"))
        return try LateJobs(rules ?? self.rules, fixture.origin, store: fixture.store, zone: zone) { job in
            job == "archive" ? success : nil
        }
    }

    private func due() throws -> [OutboxEntry] { try fixture.store.dueMessages(at: fixture.now, limit: 100) }

    private static let sixHours = 6 * 3600

    @Test func `a rule that is new is judged at its next time`() throws {
        let judged = try late().judge(at: fixture.now)
        #expect(!judged.hasMessages)
        #expect(judged.next == fixture.now + .seconds(3 * Self.sixHours))
        #expect(try due().isEmpty)
    }

    @Test func `a job without a success in time is told to each target, once a day`() throws {
        _ = try late().judge(at: fixture.now)
        fixture.pass(3 * Self.sixHours)
        #expect(try late().judge(at: fixture.now).hasMessages)
        #expect(try due().map(\.message.target) == ["mail:ops@example.org", "webhook:https://example.org/hook"])
        #expect(try due().allSatisfy { $0.message.body.contains(#""rule":"06:00 UTC""#) })
        // Another service looks at the same day.
        #expect(try !late().judge(at: fixture.now).hasMessages)
        #expect(try due().count == 2)
        fixture.pass(86_400)
        #expect(try late().judge(at: fixture.now).hasMessages)
        #expect(try due().count == 4)
    }

    @Test func `a success since the day before is in time`() throws {
        _ = try late().judge(at: fixture.now)
        let success = fixture.now + .seconds(3600)
        fixture.pass(3 * Self.sixHours)
        #expect(try !late(success: success).judge(at: fixture.now).hasMessages)
        fixture.pass(86_400)
        #expect(try late(success: success).judge(at: fixture.now).hasMessages)
    }

    @Test func `runs are looked at only when a time has come`() throws {
        let looks = Mutex(0)
        let zone = try #require(TimeZone(identifier: "UTC"))
        let late = try LateJobs(rules, fixture.origin, store: fixture.store, zone: zone) { _ in
            looks.withLock { $0 += 1 }
            return nil
        }
        for _ in 0..<3 { _ = try late.judge(at: fixture.now) }
        #expect(looks.withLock { $0 } == 0)
        fixture.pass(3 * Self.sixHours)
        _ = try late.judge(at: fixture.now)
        #expect(looks.withLock { $0 } == 1)
    }

    @Test func `a time that cannot be judged is judged later`() throws {
        struct Damage: Error {}
        _ = try late().judge(at: fixture.now)
        fixture.pass(3 * Self.sixHours)
        let zone = try #require(TimeZone(identifier: "UTC"))
        let damaged = try LateJobs(rules, fixture.origin, store: fixture.store, zone: zone) { _ in throw Damage() }
        #expect(throws: Damage.self) { try damaged.judge(at: fixture.now) }
        fixture.pass(60)
        #expect(try late().judge(at: fixture.now).hasMessages)
    }

    @Test func `a zone that does not exist is refused`() throws {
        let rules = NoticeRules(late: [ExpectedSuccess(job: "a", minute: 0, zone: "Mars/Base", targets: [.ops])])
        #expect(throws: InputError.timeZone("Mars/Base")) { try late(rules) }
    }

    @Test func `without rules nothing is judged`() throws {
        #expect(try late(NoticeRules()).judge(at: fixture.now).next == nil)
    }
}
