import Foundation
import JobModel
import QueueStorage
import Queueing
import ServiceAPI
import Supervision
import Synchronization
import TestSupport
import Testing

/// Watched folders: real folders and real events of the kernel, at times that the test sets. The folder has to be quiet for three
/// seconds.
@Suite struct WatchedFolderTests {
    let service: ScheduledService
    let told = Told()

    /// What is wrong, as it was told last.
    final class Told: Sendable {
        let problems = Mutex<[ScheduleProblem?]>([])

        var lastProblem: ScheduleProblem? { problems.withLock { $0.last ?? nil } }
        var last: String? { lastProblem?.words }
    }

    init() async throws {
        // Files get the times of the real clock, which is a little behind, also on a slow machine.
        service = try ScheduledService(
            at: WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) + .seconds(600))
        try makeFolder("photos")
        try write("photos/0.png")
        let inputs = [service.folder.file("photos/*.png")]
        service.manifests.state.withLock { $0.inputs = inputs }
        let request = try ScheduleRequest(
            name: "scans", trigger: .changes(quiet: .seconds(3), minAge: .seconds(1)),
            job: SubmitRequest(.file(path: service.folder.file("night.yaml"))))
        _ = try await service.runner.add(request, by: .admin)
    }

    private func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: service.folder.file(name), withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ text: String = "x") throws {
        try Data(text.utf8).write(to: URL(filePath: service.folder.file(name)))
    }

    /// A watch as the service makes it at its start.
    private func watch() throws -> WatchedFolder {
        let told = told
        return WatchedFolder(
            name: "scans", spec: try ScheduleSpecification(service.stored("scans")), supervisor: service.supervisor,
            manifests: service.manifests, told: { problem in told.problems.withLock { $0.append(problem) } },
            now: { [time = service.time] in time.now }, uptime: { [time = service.time] in time.uptime })
    }

    /// Looks, lets the quiet pass, and looks again.
    private func settle(_ watch: WatchedFolder) async {
        _ = await watch.look(readsAlone: true)
        service.time.advance(.seconds(4))
        _ = await watch.look(readsAlone: true)
    }

    private func finish(_ job: JobID) throws {
        try service.start(job)
        try service.end(job)
    }

    @Test func `pictures that are there at the beginning get a job`() async throws {
        try write("photos/a.png")
        let watch = try watch()
        #expect(await watch.look(readsAlone: true) == .seconds(3))
        #expect(try service.jobs.isEmpty)
        service.time.advance(.seconds(3))
        _ = await watch.look(readsAlone: true)
        let job = try #require(try service.jobs.first)
        #expect((job.owner, job.key) == (.watch("scans"), "watch:scans:1"))
        #expect(job.options.overrides == ["min_age=1s"])
        _ = await watch.look(readsAlone: true)
        #expect(try service.jobs.count == 1)
    }

    @Test func `an empty folder gets no job before its first picture, and one when it is empty again`() async throws {
        try FileManager.default.removeItem(atPath: service.folder.file("photos/0.png"))
        try makeFolder("photos/later")
        try await settle(watch())
        try service.restart()
        let watch = try watch()
        await settle(watch)
        #expect(try service.jobs.isEmpty)
        #expect(told.lastProblem == nil)
        try write("photos/later/a.png")
        await settle(watch)
        #expect(try service.jobs.count == 1)
        try finish(1)
        try FileManager.default.removeItem(atPath: service.folder.file("photos/later/a.png"))
        await settle(watch)
        #expect(try service.jobs.count == 2)
    }

    @Test func `a job comes when there were no changes for the time of quiet`() async throws {
        let watch = try watch()
        await settle(watch)
        try finish(1)
        for name in ["a", "b", "c"] {
            try write("photos/\(name).png")
            _ = await watch.look(readsAlone: true)
            service.time.advance(.seconds(2))
            _ = await watch.look(readsAlone: true)
        }
        #expect(try service.jobs.count == 1)
        service.time.advance(.seconds(1))
        _ = await watch.look(readsAlone: true)
        #expect(try service.jobs.map(\.key) == ["watch:scans:1", "watch:scans:2"])
    }

    @Test func `a job that has not started serves for later changes, and one that runs does not`() async throws {
        let watch = try watch()
        await settle(watch)
        try write("photos/a.png")
        await settle(watch)
        #expect(try service.jobs.count == 1)
        try service.start(1)
        try write("photos/b.png")
        await settle(watch)
        #expect(try service.jobs.map(\.needs) == [[], [Need(1, on: .end)]])
    }

    @Test func `a service that starts again submits nothing for what has a job already`() async throws {
        try write("photos/a.png")
        await settle(try watch())
        try finish(1)
        try service.restart()
        await settle(try watch())
        #expect(try service.jobs.count == 1)
    }

    @Test func `changes while no service ran get one job`() async throws {
        await settle(try watch())
        try finish(1)
        let stored = try service.stored("scans")
        // An hour ago.
        try service.store.changeSchedule(
            named: "scans", spec: stored.spec, isEnabled: true, last: service.time.now + .seconds(-3600))
        try service.restart()
        try write("photos/a.png")
        await settle(try watch())
        #expect(try service.jobs.map(\.key) == ["watch:scans:1", "watch:scans:2"])
        try finish(2)
        try service.restart()
        await settle(try watch())
        #expect(try service.jobs.count == 2)
    }

    @Test func `a missing folder is told, and its return is a change`() async throws {
        let watch = try watch()
        await settle(watch)
        try finish(1)
        try FileManager.default.removeItem(atPath: service.folder.file("photos"))
        await settle(watch)
        let words =
            "watch 'scans': \(service.folder.file("photos")): the folder is missing\n   = create it, or mount its disk"
        #expect(told.lastProblem == ScheduleProblem(words, outcome: .missingInput, mayPass: true))
        #expect(try service.jobs.count == 1)
        try makeFolder("photos")
        try write("photos/a.png")
        await settle(watch)
        #expect(told.last == nil)
        #expect(try service.jobs.count == 2)
        // Pictures in the new folder are watched, too.
        try finish(2)
        try write("photos/b.png")
        await settle(watch)
        #expect(try service.jobs.count == 3)
    }

    @Test func `a wrong manifest is told, and the folders of the right one are watched`() async throws {
        service.manifests.state.withLock { ($0.fault, $0.digest) = (.wrong, "wrong") }
        let watch = try watch()
        _ = await watch.look(readsAlone: true)
        #expect(
            told.lastProblem
                == ScheduleProblem(
                    "watch 'scans': /srv/night.yaml:3: unknown filter 'gausian'", outcome: .badManifest))
        #expect(try service.jobs.isEmpty)
        let inputs = [service.folder.file("scans/*.png")]
        try makeFolder("scans")
        try write("scans/0.png")
        service.manifests.state.withLock { ($0.fault, $0.digest, $0.inputs) = (.none, "right", inputs) }
        await settle(watch)
        #expect(told.last == nil)
        try finish(1)
        try write("scans/a.png")
        await settle(watch)
        #expect(try service.jobs.count == 2)
    }

    @Test func `an error that may pass is tried again after a pause`() async throws {
        let watch = try watch()
        service.manifests.state.withLock { $0.fault = .passing }
        await settle(watch)
        #expect(told.last == "watch 'scans': no worker can be started")
        #expect(await watch.look(readsAlone: true) == .seconds(10))
        service.manifests.state.withLock { $0.fault = .none }
        service.time.advance(.seconds(10))
        _ = await watch.look(readsAlone: true)
        #expect(try service.jobs.count == 1)
        #expect(told.last == nil)
    }

    @Test func `a new watch goes past the keys of an old one of its name`() async throws {
        await settle(try watch())
        try finish(1)
        let spec = try service.stored("scans").spec
        try service.store.removeSchedule(named: "scans")
        try service.store.add(StoredSchedule(name: "scans", kind: .watch, spec: spec, last: service.time.now))
        await settle(try watch())
        #expect(try service.jobs.map(\.key) == ["watch:scans:1", "watch:scans:2"])
    }

    @Test func `a manifest's own age of files holds`() async throws {
        service.manifests.state.withLock { $0.minAge = 60 }
        let watch = try watch()
        await settle(watch)
        #expect(try service.jobs.isEmpty)
        service.time.advance(.seconds(60))
        _ = await watch.look(readsAlone: true)
        #expect(try service.jobs.map(\.options.overrides) == [[]])
    }
}
