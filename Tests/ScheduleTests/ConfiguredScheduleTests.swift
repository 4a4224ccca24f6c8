import JobModel
import QueueStorage
import Queueing
import ServiceAPI
import Settings
import Supervision
import TestSupport
import Testing

/// Schedules of the config file, at starts of a service.
@Suite struct ConfiguredScheduleTests {
    let service: ScheduledService

    init() throws {
        service = try ScheduledService()
        try service.restart()
    }

    private func schedule(
        _ name: String = "nightly", cron: String = "0 * * * *", zone: String? = "UTC"
    ) -> ConfiguredSchedule {
        ConfiguredSchedule(
            name: name, trigger: .times(cron: cron, zone: zone, missed: .once, overlap: .queue),
            job: .init(manifest: "/srv/night.yaml"))
    }

    private func watch(_ name: String) -> ConfiguredSchedule {
        ConfiguredSchedule(
            name: name, trigger: .changes(quiet: .seconds(1), minAge: .seconds(2)),
            job: .init(manifest: "/srv/night.yaml"))
    }

    /// The next service with this config file.
    private func start(_ schedules: ConfiguredSchedule...) async throws {
        try service.restart()
        try await service.runner.synchronise(with: schedules)
    }

    private var entries: [ScheduleEntry] { get async throws { try await service.runner.list().schedules } }

    @Test func `a schedule of the file begins with its first start`() async throws {
        service.time.advance(.seconds(1800))
        try await start(schedule(), watch("scans"))
        let found = try await entries
        #expect(found.map(\.request.name) == ["nightly", "scans"])
        #expect(found.map(\.origin) == [.config, .config])
        #expect(found.map(\.next) == [.noon + .seconds(3600), nil])
        #expect(found.map(\.last) == [service.time.now, service.time.now])
    }

    @Test func `a changed schedule goes on from where it is`() async throws {
        try await start(schedule())
        let before = try service.stored()
        service.time.advance(.seconds(60))
        try await start(schedule(cron: "30 * * * *"))
        #expect(try service.stored().last == before.last)
        #expect(try await entries.map(\.next) == [.noon + .seconds(1800)])
    }

    @Test func `a schedule that the file does not have any more is disabled, and begins anew when it is there again`()
        async throws
    {
        try await start(schedule())
        try await start()
        #expect(service.told == ["schedule 'nightly' is not in the config file any more, so it is disabled"])
        #expect(try await entries.map(\.origin) == [.removed])
        await #expect(throws: ScheduleRefusal.isRemoved("nightly")) {
            _ = try await service.runner.setEnabled(true, "nightly", by: .admin)
        }
        service.time.advance(.seconds(7200))
        _ = try await service.look()
        try await start()
        #expect(service.told.isEmpty)
        try await start(schedule())
        _ = try await service.look()
        #expect(try service.jobs.isEmpty)
        #expect(try await entries.map(\.request.isEnabled) == [true])
        try await start()
        try await service.runner.remove("nightly", by: .admin)
        #expect(try await entries.isEmpty)
    }

    @Test func `a schedule that somebody has disabled stays so`() async throws {
        try await start(schedule())
        _ = try await service.runner.setEnabled(false, "nightly", by: .admin)
        try await start(schedule(cron: "30 * * * *"))
        #expect(try await entries.map(\.request.isEnabled) == [false])
        service.time.advance(.seconds(7200))
        _ = try await service.look()
        let entry = try await service.runner.setEnabled(true, "nightly", by: .admin)
        #expect(entry.next == service.time.now + .seconds(1800))
        #expect(try service.jobs.isEmpty)
    }

    @Test func `a schedule may become a watch of the same name`() async throws {
        try await start(schedule())
        try await start(watch("nightly"))
        #expect(try service.stored().kind == .watch)
        #expect(try await entries.map(\.origin) == [.config])
    }

    @Test func `a schedule that the API made is kept, and the file's is told of`() async throws {
        let made = try ScheduleRequest.times("15 * * * *")
        _ = try await service.runner.add(made, by: .admin)
        try await start(schedule())
        #expect(try await entries.map(\.request) == [made])
        #expect(
            service.told == [
                "schedule 'nightly' of the config file is not used: somebody has made one of this name by the API\n   = give "
                    + "one of them another name"
            ])
    }

    @Test func `a zone that does not exist is told, and nothing has changed`() async throws {
        let error = await #expect(throws: FarmError.self) {
            try await start(schedule("good"), schedule(zone: "Mars/Olympus"))
        }
        #expect(
            error?.message
                == "the config file: schedule 'nightly': schedule: there is no time zone 'Mars/Olympus'\n   = write a name of "
                + "the time zone database, such as Europe/Berlin or UTC")
        #expect(error?.outcome == .badManifest)
        #expect(try await entries.isEmpty)
    }

    // MARK: Requests

    @Test func `requests are refused with words`() async throws {
        try await start(schedule())
        let request = try ScheduleRequest.times()
        await #expect(throws: ScheduleRefusal.nameIsUsed("nightly")) {
            _ = try await service.runner.add(request, by: .admin)
        }
        await #expect(throws: ScheduleRefusal.isConfigured("nightly")) {
            try await service.runner.remove("nightly", by: .admin)
        }
        await #expect(throws: ScheduleRefusal.unknown("gone")) { try await service.runner.remove("gone", by: .admin) }
        await #expect(throws: ScheduleRefusal.unknown("gone")) {
            _ = try await service.runner.setEnabled(true, "gone", by: .admin)
        }
        #expect(
            ScheduleRefusal.isConfigured("nightly").message
                == "schedule 'nightly' is in the config file\n   = remove it there, or disable it: 'penumbra queue schedule "
                + "disable nightly'")
        #expect(
            ScheduleRefusal.unknown("go\u{1b}ne").message
                == "there is no schedule '\(VisibleText.line("go\u{1b}ne"))'\n   = 'penumbra queue schedules' lists them"
        )
    }

    @Test func `changes are in the list of who changed what`() async throws {
        let request = try ScheduleRequest.times()
        _ = try await service.runner.add(request, by: .admin)
        _ = try await service.runner.setEnabled(false, "nightly", by: .admin)
        // Nothing changes.
        _ = try await service.runner.setEnabled(false, "nightly", by: .admin)
        try await service.runner.remove("nightly", by: .admin)
        let entries = try service.store.auditEntries(limit: 10).map(\.entry)
        #expect(Set(entries.map(\.action)) == ["schedule.add", "schedule.disable", "schedule.remove"])
        #expect(entries.count == 3)
        #expect(Set(entries.map(\.subject)) == ["schedule 'nightly'"])
    }
}
