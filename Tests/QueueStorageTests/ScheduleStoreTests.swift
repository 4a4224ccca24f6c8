import QueueStorage
import Queueing
import Testing

@Suite struct ScheduleStoreTests {
    let stored: StoredQueue

    init() throws {
        stored = try StoredQueue()
        try stored.store.add(schedule())
    }

    private func schedule(last: WallTime = .noon, job: JobID? = nil, submitted: Int = 0) -> StoredSchedule {
        StoredSchedule(
            name: "night", kind: .cron, spec: #"{"cron":"0 2 * * *"}"#, last: last, lastJob: job, submitted: submitted)
    }

    private var current: StoredSchedule? { get throws { try stored.store.schedule(named: "night") } }

    @Test func `schedules are read back, by name`() throws {
        let watch = StoredSchedule(name: "inbox", kind: .watch, spec: "{}", isEnabled: false, last: .noon)
        try stored.store.add(watch)
        #expect(try stored.store.schedules().schedules == [watch, schedule()])
        #expect(try stored.store.schedule(named: "gone") == nil)
        #expect(
            message { try stored.store.add(schedule()) }
                == "\(stored.path): there is already a schedule 'night'\n   = choose another name")
    }

    @Test func `a job and the step of its schedule are stored together`() throws {
        let job = try stored.submit(key: "schedule:night:1", schedule: .init(name: "night", last: .noon(plus: 60)))
        #expect(try current == schedule(last: .noon(plus: 60), job: job.id, submitted: 1))
    }

    @Test func `a refused job leaves its schedule where it was`() throws {
        #expect(
            message { try stored.submit(needs: [Need(0)], schedule: .init(name: "night", last: .noon(plus: 60))) }
                != nil)
        #expect(try current == schedule())
    }

    @Test func `the same time submits one job, and the next key is another one`() throws {
        for _ in 0..<2 {
            try stored.submit(key: "schedule:night:1", schedule: .init(name: "night", last: .noon(plus: 60)))
        }
        #expect(try current == schedule(last: .noon(plus: 60), job: 1, submitted: 2))
        #expect(try stored.store.count(JobFilter()) == 1)
    }

    @Test func `a schedule that was removed submits nothing`() throws {
        #expect(try stored.store.removeSchedule(named: "night"))
        #expect(try !stored.store.removeSchedule(named: "night"))
        #expect(
            message { try stored.submit(schedule: .init(name: "night", last: .noon)) }
                == "\(stored.path): there is no schedule 'night'\n   = list those that exist")
        #expect(try stored.store.count(JobFilter()) == 0)
    }

    @Test func `a time can pass without a job`() throws {
        try stored.store.pass(.init(name: "night", last: .noon(plus: 60)))
        #expect(try current == schedule(last: .noon(plus: 60)))
        #expect(
            problem { try stored.store.pass(.init(name: "gone", last: .noon)) } == .unknownName("schedule 'gone'"))
    }

    @Test func `a changed schedule stays where it was, and an enabled one begins at a given time`() throws {
        try stored.submit(schedule: .init(name: "night", last: .noon(plus: 60)))
        try stored.store.changeSchedule(named: "night", spec: "{}", isEnabled: false)
        let changed = try #require(try current)
        #expect((changed.spec, changed.isEnabled, changed.last) == ("{}", false, .noon(plus: 60)))
        #expect((changed.lastJob, changed.submitted) == (1, 1))
        try stored.store.changeSchedule(named: "night", spec: "{}", isEnabled: true, last: .noon(plusDays: 3))
        #expect(try current?.last == .noon(plusDays: 3))
        #expect(
            problem { try stored.store.changeSchedule(named: "gone", spec: "{}", isEnabled: true) }
                == .unknownName("schedule 'gone'"))
        guard case .broken? = problem({ try stored.store.changeSchedule(named: "night", spec: "[]", isEnabled: true) })
        else {
            Issue.record("a list is a schedule")
            return
        }
    }
}
