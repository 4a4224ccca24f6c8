import JobModel
import QueueStorage
import Queueing
import ServiceAPI
import Supervision
import Synchronization
import TestSupport
import Testing

/// Times of schedules, from noon on. The schedule of most tests has a time at each full hour.
@Suite struct ScheduleRunnerTests {
    let service: ScheduledService

    init() throws {
        service = try ScheduledService()
        try service.restart()
    }

    private func add(_ request: ScheduleRequest) async throws {
        _ = try await service.runner.add(request, by: .admin)
    }

    @Test func `a time that has come submits the job of the schedule`() async throws {
        var job = SubmitRequest(.file(path: "/srv/night.yaml"))
        job.priority = try Priority(70)
        job.labels = try Labels(["show": "night"])
        job.options = try RunOptions(overrides: ["min_age=1m"], isForced: true, deadline: 60)
        try await add(.times(job: job))
        #expect(try await service.look() == .seconds(60))
        #expect(try service.jobs.isEmpty)
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        let submitted = try #require(try service.jobs.first)
        #expect(submitted.owner == .schedule("nightly"))
        #expect(submitted.key == "schedule:nightly:\(service.time.now)")
        #expect(submitted.manifest == ManifestSource(.file(path: "/srv/night.yaml"), digest: "m"))
        #expect(
            (submitted.priority, submitted.labels, submitted.options) == (
                job.priority ?? .normal, job.labels, job.options
            ))
        #expect(submitted.needs.isEmpty)
    }

    @Test func `a look waits for the next time, and at most a minute`() async throws {
        try await add(.times())
        service.time.advance(.seconds(3590))
        #expect(try await service.look() == .seconds(10))
        service.time.advance(.seconds(10))
        #expect(try await service.look() == .seconds(60))
    }

    @Test func `a time is submitted once, however often services are killed`() async throws {
        try await add(.times())
        service.time.advance(.seconds(3600))
        // Before the transaction nothing is stored.
        try service.restart()
        for _ in 0..<3 {
            _ = try await service.look()
            _ = try await service.look()
            // After it everything is.
            try service.restart()
        }
        #expect(try service.jobs.map(\.key) == ["schedule:nightly:\(service.time.now)"])
        #expect(try service.stored().submitted == 1)
    }

    @Test func `a time whose schedule forgot it leads to the job of before`() async throws {
        try await add(.times())
        let before = try service.stored()
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        // As if the step had not been stored with the job.
        try service.store.changeSchedule(named: "nightly", spec: before.spec, isEnabled: true, last: before.last)
        try service.start(1)
        try service.end(1)
        _ = try await service.look()
        #expect(try service.jobs.count == 1)
    }

    @Test func `missed times submit one job, or none`() async throws {
        try await add(.times(name: "once"))
        try await add(.times(name: "skip", missed: .skip))
        service.time.advance(.seconds(5 * 3600 + 120))
        _ = try await service.look()
        #expect(try service.jobs.map(\.owner) == [.schedule("once")])
        #expect(
            service.told == [
                "schedule 'skip': no job for 2026-11-25T17:00:00Z: the service was not running at this time"
            ])
        #expect(try service.stored("skip").last == service.time.now + .seconds(-120))
    }

    @Test func `a job that has not started serves for the next time, too`() async throws {
        try await add(.times())
        for _ in 0..<3 {
            service.time.advance(.seconds(3600))
            _ = try await service.look()
        }
        #expect(try service.jobs.count == 1)
        // That is no failure.
        #expect(await service.runner.failures.isEmpty)
        #expect(try service.notices.isEmpty)
        #expect(try service.stored().last == service.time.now)
        #expect(
            service.told.last
                == "schedule 'nightly': no job for \(service.time.now): job 1 of the schedule still waits, and serves for "
                + "this time, too")
    }

    @Test(arguments: [OverlapRule.queue, .skip])
    func `a job that runs is waited for, or its time passes`(overlap: OverlapRule) async throws {
        try await add(.times(overlap: overlap))
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        try service.start(1)
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        #expect(try service.jobs.map(\.needs) == (overlap == .queue ? [[], [Need(1, on: .end)]] : [[]]))
        try service.end(1)
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        // In the first case the second job still waits.
        #expect(try service.jobs.count == 2)
    }

    @Test func `a wrong manifest costs its time alone, and is told once`() async throws {
        try await add(.times())
        service.manifests.state.withLock { $0.fault = .wrong }
        service.time.advance(.seconds(3600))
        let time = service.time.now
        for _ in 0..<3 { _ = try await service.look() }
        let words = "schedule 'nightly': no job for \(time): /srv/night.yaml:3: unknown filter 'gausian'"
        #expect(service.told == [words])
        #expect(try service.notices == ["\(words) \(time.seconds / 86_400)"])
        #expect(
            service.troubles.withLock(\.last)
                == ScheduleTrouble(name: "nightly", words: words, exitCode: 65, time: time))
        #expect(try await service.runner.list().schedules.map(\.problem) == [words])
        #expect(await service.runner.failures == [words])
        service.manifests.state.withLock { $0.fault = .none }
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        #expect(try service.jobs.map(\.key) == ["schedule:nightly:\(service.time.now)"])
        #expect(try await service.runner.list().schedules.map(\.problem) == [nil])
    }

    @Test func `each time without a job is told, and once if the service is killed in between`() async throws {
        try await add(.times())
        service.manifests.state.withLock { $0.fault = .wrong }
        for _ in 0..<2 {
            service.time.advance(.seconds(3600))
            let before = try service.stored()
            _ = try await service.look()
            // As if the service had been killed after the notice, and before the time had passed.
            try service.store.changeSchedule(
                named: "nightly", spec: before.spec, isEnabled: true, last: before.last)
            try service.restart()
            _ = try await service.look()
        }
        #expect(try service.notices.count == 2)
    }

    @Test func `a wrong manifest is noted before its time comes, and nobody is told yet`() async throws {
        try await add(.times())
        service.manifests.state.withLock { $0.fault = .wrong }
        await service.runner.checkManifest(of: "nightly", try ScheduleSpecification(service.stored()))
        #expect(
            service.told == [
                "schedule 'nightly': its manifest was wrong at \(service.time.now): /srv/night.yaml:3: unknown filter 'gausian'"
            ])
        #expect(try service.notices.isEmpty)
    }

    @Test func `an error that may pass is told if it lasts`() async throws {
        try await add(.times())
        service.manifests.state.withLock { $0.fault = .passing }
        service.time.advance(.seconds(3600))
        for _ in 0..<30 {
            _ = try await service.look()
            #expect(try service.notices.isEmpty)
            service.time.advance(.seconds(10))
        }
        for _ in 0..<3 { _ = try await service.look() }
        #expect(try service.notices.count == 1)
        // Another one has its own time.
        service.manifests.state.withLock { $0.fault = .none }
        _ = try await service.look()
        service.manifests.state.withLock { $0.fault = .passing }
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        #expect(try service.notices.count == 1)
    }

    @Test func `an error that may pass does not cost the time`() async throws {
        try await add(.times())
        service.manifests.state.withLock { $0.fault = .passing }
        service.time.advance(.seconds(3600))
        let time = service.time.now
        #expect(try await service.look() == .seconds(10))
        #expect(service.told == ["schedule 'nightly': no worker can be started"])
        service.manifests.state.withLock { $0.fault = .none }
        service.time.advance(.seconds(10))
        _ = try await service.look()
        #expect(try service.jobs.map(\.key) == ["schedule:nightly:\(time)"])
    }

    @Test func `a schedule that is disabled while its manifest is checked submits nothing`() async throws {
        try await add(.times())
        let service = service
        service.manifests.state.withLock { state in
            state.duringCheck.call = { _ = try? await service.runner.setEnabled(false, "nightly", by: .admin) }
        }
        service.time.advance(.seconds(3600))
        #expect(try await service.look() == .zero)
        _ = try await service.look()
        #expect(try service.jobs.isEmpty)
    }

    @Test func `a schedule that cannot be read costs itself`() async throws {
        try await add(.times(name: "good"))
        try service.store.add(
            StoredSchedule(name: "later", kind: .cron, spec: #"{"origin":"api","plan":1}"#, last: .noon))
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        #expect(try service.jobs.map(\.owner) == [.schedule("good")])
        let list = try await service.runner.list()
        #expect(list.schedules.map(\.request.name) == ["good"])
        #expect(list.unreadable == ["schedule 'later': the key 'schedule' is missing"])
        #expect(service.told == ["schedule 'later': the key 'schedule' is missing"])
        // It can be removed.
        try await service.runner.remove("later", by: .admin)
        #expect(try await service.runner.list().unreadable.isEmpty)
    }

    @Test func `a clock that is set back brings no time twice`() async throws {
        try await add(.times())
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        try service.start(1)
        try service.end(1)
        service.time.set(.noon)
        _ = try await service.look()
        service.time.set(.noon + .seconds(3600))
        _ = try await service.look()
        #expect(try service.jobs.count == 1)
        service.time.advance(.seconds(3600))
        _ = try await service.look()
        #expect(try service.jobs.count == 2)
    }

    @Test(arguments: 1...20)
    func `no history of kills, pauses and jobs submits a time twice`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        try await add(.times("*/10 * * * *"))
        for _ in 0..<60 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try service.restart()
            case 1: _ = try await service.runner.setEnabled(Bool.random(using: &random), "nightly", by: .admin)
            case 2:
                let fault = [Manifests.Fault.none, .wrong, .passing].randomElement(using: &random) ?? .none
                service.manifests.state.withLock { $0.fault = fault }
            case 3:
                for job in try service.jobs where !job.state.name.isEnd {
                    if job.state.hasProcess { try service.end(job.id) } else { try service.start(job.id) }
                }
            default: service.time.advance(.seconds(Int.random(in: 1...1500, using: &random)))
            }
            _ = try await service.look()
            let keys = try service.jobs.map(\.key)
            #expect(Set(keys).count == keys.count)
            // One runs and one waits, and never more.
            #expect(try service.jobs.filter { !$0.state.name.isEnd }.count <= 2)
            #expect(try service.stored().submitted == keys.count)
        }
    }
}
