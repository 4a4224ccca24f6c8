import Foundation
import QueueStorage
import Queueing
import ServiceAPI
import Supervision
import Synchronization
import Testing

/// Databases that cannot be used, rows that cannot be read, stray files, and the times of looks.
@Suite struct TroubleTests {
    let farm: TestFarm

    init() throws { farm = try TestFarm() }

    @Test
    func `nothing starts while the database cannot be written, which is told once, and the next look tries again`()
        async throws
    {
        let id = try await farm.submit()
        let other = try farm.writer()
        for _ in 0..<3 { await farm.look() }
        #expect(farm.runs.orders.isEmpty)
        #expect(
            farm.seen.notes == [
                .trouble(
                    "\(farm.serviceFolder.database): the database cannot be used: another program writes to it\n   = stop the other "
                        + "program, or try again in a moment")
            ])
        #expect(try await farm.supervisor.condition().trouble != nil)
        try other.end()
        await farm.look()
        #expect(farm.runs.orders.map(\.job) == [id])
        #expect(try await farm.supervisor.condition().trouble == nil)
    }

    @Test func `an end that cannot be stored is stored later`() async throws {
        let (id, run) = try await farm.begin()
        let other = try farm.writer()
        try farm.runs.end(run, code: 0)
        await farm.look()
        #expect(try await farm.state(id) == .running)
        try other.end()
        await farm.look()
        #expect(try await farm.state(id) == .done)
    }

    @Test func `a job that cannot be read is named, and the others run`() async throws {
        for _ in 0..<3 { try await farm.submit() }
        try farm.restart { _ in try farm.change("UPDATE submissions SET owner = 'somebody:else' WHERE id = 2") }
        await farm.look()
        #expect(farm.runs.orders.map(\.job) == [1, 3])
        #expect(
            farm.seen.notes == [
                .unreadableRow(
                    "job 2 cannot be read, and it does not run: 'somebody:else' is no owner\n   = use the version of Penumbra that wrote "
                        + "it, or restore a backup")
            ])
    }

    @Test func `files that no job needs are removed, and those of open runs stay`() async throws {
        let (_, run) = try await farm.begin()
        let service = farm.serviceFolder
        let stray = [
            "\(service.locks)/job-9-old.lock", "\(service.logs)/job-9-old.log", "\(service.manifests)/9.yaml",
            "\(service.manifests)/9.yaml.new",
        ]
        for path in stray { try Data().write(to: URL(filePath: path)) }
        try Data().write(to: URL(filePath: "\(service.logs)/\(run).log"))
        await farm.supervisor.tidy()
        for path in stray { #expect(!farm.exists(path), "\(path)") }
        #expect(farm.exists(farm.lockPath(run)))
        #expect(farm.exists("\(service.logs)/\(run).log"))
    }

    @Test func `expired sessions are removed`() async throws {
        try farm.store.add(
            StoredToken(
                id: "x7", name: "anna", digest: Array(repeating: 1, count: 32), scope: .read, created: .earliest))
        let digests = [UInt8(1), 2].map { [UInt8](repeating: $0, count: 32) }
        let now = farm.now
        for (digest, expires) in zip(digests, [now, now + .seconds(1)]) {
            _ = try farm.store.add(
                StoredSession(digest: digest, token: "x7", created: .earliest, expires: expires))
        }
        await farm.supervisor.tidy()
        #expect(try farm.store.session(digests[0]) == nil)
        #expect(try farm.store.session(digests[1])?.expires == now + .seconds(1))
    }

    @Test func `the log of a job that cannot be read stays, and others are removed`() async throws {
        let (_, run) = try await farm.begin()
        let logs = farm.serviceFolder.logs
        for name in [run, "job-9-old"] { try Data().write(to: URL(filePath: "\(logs)/\(name).log")) }
        try farm.restart { _ in try farm.change("UPDATE submissions SET owner = 'somebody:else' WHERE id = 1") }
        await farm.supervisor.tidy()
        #expect(try FileManager.default.contentsOfDirectory(atPath: logs) == ["\(run).log"])
        #expect(farm.exists(farm.lockPath(run)))
        #expect(try await farm.supervisor.condition().trouble == nil)
    }

    @Test func `the log of a job that has ended stays as long as the job`() async throws {
        let id = try await farm.submit()
        await farm.look()
        let run = try await farm.run(id)
        farm.runs.exit(run, code: 65, saying: "no")
        await farm.look()
        await farm.supervisor.tidy()
        #expect(farm.log(run) == "no\n")
    }

    @Test func `a run that starts after an idle time is looked at soon, and not when the idle time is over`()
        async throws
    {
        let (sleeps, sleep) = AsyncStream.makeStream(of: Duration.self)
        let supervisor = farm.supervisor
        let loop = Task {
            await supervisor.run { time in
                sleep.yield(time)
                try await Task.sleep(for: .seconds(86_400))
            }
        }
        var times = sleeps.makeAsyncIterator()
        #expect(await times.next() == .seconds(5))
        try await farm.submit()
        #expect(await times.next() == .milliseconds(250))
        #expect(farm.runs.orders.count == 1)
        loop.cancel()
        await loop.value
    }
}
