import Foundation
import JobModel
import QueueStorage
import Queueing
import Runs
import SafeFiles
import ServiceAPI
import Supervision
import TestSupport
import Testing

/// The life of jobs, from their submission to the end of their last process.
@Suite struct LifeTests {
    let farm: TestFarm

    init() throws { farm = try TestFarm() }

    @Test func `a job has one process, and ends as its run does`() async throws {
        let id = try await farm.submit()
        #expect(try await farm.state(id) == .waiting)
        await farm.look()
        #expect(try await farm.state(id) == .starting)
        let run = try await farm.run(id)
        #expect(run == "job-1-20261125T120000-000z")
        let order = try #require(farm.runs.orders.first)
        #expect(
            order.arguments == [
                "run", "/srv/night.yaml", "--run", run, "--resumable", "--quiet", "--no-notify", "--state-dir",
                farm.folder.file("state"), "--workers", "8",
            ])
        #expect(order.notes.isEmpty)
        try farm.runs.begin(run)
        await farm.look()
        #expect(try await farm.state(id) == .running)
        try farm.runs.end(run, code: 0, published: 7)
        await farm.look()
        let job = try await farm.job(id)
        #expect(job.state.name == .done)
        #expect(job.state.run == run && job.state.tries == 1)
        #expect(!farm.exists(farm.lockPath(run)))
        await farm.look()
        #expect(farm.runs.orders.count == 1)
        #expect(farm.seen.notes.isEmpty)
    }

    @Test func `a run that begins and ends between two looks is not missed`() async throws {
        let id = try await farm.submit()
        await farm.look()
        let run = try await farm.run(id)
        try farm.runs.begin(run)
        try farm.runs.end(run, code: 1)
        await farm.look()
        #expect(try await farm.state(id) == .failed)
    }

    @Test func `a process that refuses its manifest fails its job with its last words`() async throws {
        let id = try await farm.submit()
        await farm.look()
        farm.runs.exit(
            try await farm.run(id), code: 65,
            saying: "night.yaml:3:5: error: unknown filter\n3 |  - x\n   = name another")
        await farm.look()
        guard case .ended(let ended) = try await farm.job(id).state else {
            Issue.record("the job has not ended")
            return
        }
        #expect(ended.end == .failed(code: 65, text: "night.yaml:3:5: error: unknown filter"))
    }

    @Test func `a job that is cancelled while it starts is cancelled when its run has begun`() async throws {
        let id = try await farm.submit()
        await farm.look()
        let run = try await farm.run(id)
        try await farm.cancel(id)
        await farm.look()
        #expect(try await farm.state(id) == .starting)
        try farm.runs.begin(run)
        await farm.look()
        #expect(farm.runs.folder(run).isAsked(.cancel))
        try farm.runs.end(run, code: 130)
        await farm.look()
        #expect(try await farm.state(id) == .cancelled)
    }

    @Test func `a job that is cancelled while it runs ends with its run`() async throws {
        let (id, run) = try await farm.begin()
        try await farm.cancel(id)
        await farm.look()
        #expect(farm.runs.folder(run).isAsked(.cancel))
        #expect(try await farm.state(id) == .running)
        try farm.runs.end(run, code: 130)
        await farm.look()
        #expect(try await farm.state(id) == .cancelled)
    }

    @Test(arguments: [
        (75, "night: another run of this job is running; try again at 2026-11-25T12:00:02Z", 2),
        (69, "no worker; try again at 2026-11-25T12:00:30Z", 30),
        (74, "the disk is full; try again at 2026-11-25T12:00:30Z", 30),
    ])
    func `a farm that cannot run a job now is asked again after a pause`(code: Int, reason: String, seconds: Int)
        async throws
    {
        let id = try await farm.submit()
        await farm.look()
        let words = String(reason.prefix { $0 != ";" })
        farm.runs.exit(try await farm.run(id), code: code, saying: words)
        await farm.look()
        #expect(try await farm.reason(id) == reason)
        farm.advance(by: .seconds(seconds - 1))
        await farm.look()
        #expect(farm.runs.orders.count == 1)
        farm.advance(by: .seconds(1))
        await farm.look()
        #expect(farm.runs.orders.count == 2)
        #expect(try await farm.job(id).state.tries == 2)
    }

    @Test func `a job waits for another one of its manifest by number, and starts when that ends`() async throws {
        let manifest = ManifestSource.Place.file(path: "/srv/night.yaml")
        let first = try await farm.begin(manifest)
        let second = try await farm.submit(manifest, priority: 90)
        let third = try await farm.submit(manifest)
        await farm.look()
        #expect(farm.runs.orders.count == 1)
        for id in [second, third] {
            #expect(try await farm.reason(id) == "waits for job 1, which runs the same manifest")
        }
        try farm.runs.end(first.run, code: 0)
        await farm.look()
        #expect(farm.runs.orders.map(\.job) == [first.job, second])
        #expect(try await farm.reason(third) == "waits for job 2, which runs the same manifest")
        #expect(try await farm.job(third).state.tries == 0)
    }

    @Test func `a job whose folder another run has tries again when that ends, and its run keeps its name`()
        async throws
    {
        let first = try await farm.begin()
        let id = try await farm.submit()
        await farm.look()
        let run = try await farm.run(id)
        farm.runs.exit(run, code: 75, saying: "night: another run writes to web")
        await farm.look()
        #expect(try await farm.reason(id) == "night: another run writes to web; try again at 2026-11-25T12:00:02Z")
        farm.advance(by: .seconds(1))
        try farm.runs.end(first.run, code: 0)
        await farm.look()
        #expect(farm.runs.orders.map(\.run) == [first.run, run, run])
    }

    @Test func `whoever has mended what kept a job back lets it try at once`() async throws {
        let id = try await farm.submit()
        await farm.look()
        farm.runs.exit(try await farm.run(id), code: 74, saying: "the disk is full")
        await farm.look()
        #expect(farm.runs.orders.count == 1)
        _ = try await farm.supervisor.change(id, by: .init(owner: .user(0)), action: "run_next") { job, now, _ in
            try job.runNext(at: now)
        }
        await farm.look()
        #expect(farm.runs.orders.count == 2)
    }

    @Test func `a run that is killed is resumed under its name, and the fifth time without progress stops its job`()
        async throws
    {
        let (id, run) = try await farm.begin()
        for kill in 1...5 {
            farm.runs.exit(run, code: 137)
            await farm.look()
            guard kill < 5 else { break }
            #expect(try await farm.state(id) == .waiting)
            farm.advance(by: .seconds(60))
            await farm.look()
            #expect(farm.runs.open == [run])
            try farm.runs.begin(run)
            await farm.look()
        }
        #expect(Set(farm.runs.orders.map(\.run)) == [run])
        guard case .ended(let ended) = try await farm.job(id).state else {
            Issue.record("the job has not ended")
            return
        }
        #expect(ended.end == .stopped(text: "its process was gone 5 times in a row, without progress"))
    }

    @Test func `a run that is killed after it has finished frames begins to count anew`() async throws {
        let (id, run) = try await farm.begin()
        for kill in 1...8 {
            try farm.runs.report(run, done: kill, wants: 9)
            await farm.look()
            try farm.runs.report(run, done: kill + 1, wants: 9)
            farm.runs.exit(run, code: 137)
            await farm.look()
            farm.advance(by: .seconds(60))
            await farm.look()
            try farm.runs.begin(run)
            await farm.look()
        }
        #expect(try await farm.state(id) == .running)
    }

    @Test func `a program that cannot be started sets its job back, also if the run exists already`() async throws {
        let (id, run) = try await farm.begin()
        farm.runs.exit(run, code: 137)
        await farm.look()
        farm.runs.fail(with: "/usr/bin/penumbra cannot be started: no such file")
        farm.advance(by: .seconds(60))
        for _ in 0..<6 {
            await farm.look()
            await farm.look()
            #expect(
                try await farm.reason(id)?.hasPrefix("/usr/bin/penumbra cannot be started: no such file; try again at ")
                    == true)
            farm.advance(by: .seconds(1800))
        }
        farm.runs.fail(with: nil)
        await farm.look()
        #expect(farm.runs.open == [run])
    }

    @Test func `a job waits for those that it needs`() async throws {
        let first = try await farm.begin()
        let second = try await farm.submit(needs: [Need(first.job)])
        await farm.look()
        #expect(try await farm.reason(second) == "needs job 1")
        try farm.runs.end(first.run, code: 0)
        await farm.look()
        #expect(try await farm.state(second) == .starting)
    }

    @Test func `what needs a failed job is skipped, however long the chain, in few transactions`() async throws {
        let farm = try TestFarm(isDurable: false)
        let first = try await farm.begin()
        for job in 1..<1200 { try await farm.submit(needs: [Need(JobID(job))]) }
        let before = farm.seen.changes.count
        try farm.runs.end(first.run, code: 1)
        await farm.look()
        #expect(farm.seen.changes.count - before == 1 + 3)
        #expect(try await farm.job(1200).state.name == .skipped)
        #expect(farm.runs.orders.count == 1)
    }

    @Test func `a drained service starts nothing, and remembers it`() async throws {
        try await farm.supervisor.drain(true, by: .init(owner: .user(0)))
        let id = try await farm.submit()
        await farm.look()
        #expect(try await farm.reason(id) == "the service is drained")
        try farm.restart()
        await farm.look()
        #expect(farm.runs.orders.isEmpty)
        try await farm.supervisor.drain(false, by: .init(owner: .user(0)))
        await farm.look()
        #expect(farm.runs.orders.count == 1)
    }

    @Test func `jobs wait while the config file has a mistake, which is told once, and no process is started`()
        async throws
    {
        let mistake = "/etc/penumbra.yaml:19:1: unknown key 'servce'"
        farm.seen.obstacle = mistake
        let id = try await farm.submit()
        for _ in 0..<3 { await farm.look() }
        #expect(farm.runs.orders.isEmpty)
        #expect(try await farm.state(id) == .waiting)
        #expect(try await farm.reason(id) == "until the config file is corrected: \(mistake)")
        #expect(farm.seen.notes == [.trouble("no job starts: \(mistake)")])
        farm.seen.obstacle = nil
        await farm.look()
        #expect(farm.runs.orders.count == 1)
    }

    @Test func `a job whose run is paused says so`() async throws {
        let (id, run) = try await farm.begin()
        for isPaused in [true, false] {
            try farm.runs.report(run, wants: 5, isPaused: isPaused)
            await farm.look()
            let entry = try await farm.supervisor.job(id).entry
            #expect(entry.paused == (isPaused ? true : nil))
            #expect(entry.stateWords == (isPaused ? "paused" : "running"))
            #expect(try await farm.supervisor.jobs(JobFilter(), before: nil, limit: 9).jobs == [entry])
        }
    }

    @Test func `a job whose frames failed for several causes names all of them`() async throws {
        let (id, run) = try await farm.begin()
        let log = "night: 2 frames failed: broken or unreadable picture\nnight: 1 frame failed: not permitted"
        try FileSystem.append(Array(log.utf8), to: farm.runs.orders[0].logPath)
        try farm.runs.end(run, code: 1, failures: ["not permitted": 1, "broken or unreadable picture": 2])
        await farm.look()
        #expect(
            try await farm.supervisor.job(id).entry.result
                == "failed with exit code 1: night: 3 frames failed: 2 broken or unreadable picture, 1 not permitted")
    }

    @Test func `a job whose frames failed for one cause names it, whatever note ends the log`() async throws {
        let (id, run) = try await farm.begin()
        let log = "night: 2 frames failed: plugin fault\nnight: this version of Penumbra changes edge's pixels"
        try FileSystem.append(Array(log.utf8), to: farm.runs.orders[0].logPath)
        try farm.runs.end(run, code: 1, failures: ["plugin fault": 2])
        await farm.look()
        #expect(
            try await farm.supervisor.job(id).entry.result
                == "failed with exit code 1: night: 2 frames failed: plugin fault")
    }

    @Test func `only max_runs runs are open at once`() async throws {
        let farm = try TestFarm(maxRuns: 2)
        for _ in 0..<3 { try await farm.submit() }
        await farm.look()
        #expect(farm.runs.orders.map(\.job) == [1, 2])
        #expect(try await farm.reason(3) == "2 runs are open (max_runs)")
        let run = try await farm.run(1)
        try farm.runs.begin(run)
        try farm.runs.end(run, code: 0)
        await farm.look()
        #expect(farm.runs.orders.map(\.job) == [1, 2, 3])
    }

    @Test func `the most urgent job starts first, and others when it leaves them workers`() async throws {
        for priority in [10, 90, 50] { try await farm.submit(priority: priority) }
        await farm.look()
        #expect(farm.runs.orders.map(\.job) == [2])
        #expect(try await farm.reason(3) == "workers in use by job 2")
        let run = try await farm.run(2)
        try farm.runs.begin(run)
        try farm.runs.report(run, wants: 3)
        await farm.look()
        #expect(farm.runs.orders.map(\.job) == [2, 3])
    }

    @Test func `a manifest that has changed since its submission is reported in the log of the run`() async throws {
        try await farm.submit()
        farm.checker.change()
        await farm.look()
        #expect(
            farm.runs.orders.first?.notes == [
                "note: the manifest has changed since job 1 was submitted; the run uses it as it is now"
            ])
    }

    @Test func `a manifest that has changed and is refused says so in the result, and has a log`() async throws {
        let id = try await farm.submit()
        #expect(try await farm.supervisor.logPath(of: id) == nil)
        farm.checker.change()
        await farm.look()
        let order = farm.runs.orders[0]
        farm.runs.exit(order.run, code: 66, saying: "/srv/night.yaml: the manifest cannot be read")
        await farm.look()
        #expect(
            try await farm.supervisor.job(id).entry.result
                == "failed with exit code 66: /srv/night.yaml: the manifest cannot be read (the manifest has changed since it was "
                + "submitted)")
        // It has no run, because none has begun.
        #expect(try await farm.job(id).state.run == nil)
        #expect(try await farm.supervisor.logPath(of: id) == order.logPath)
    }

    @Test func `a manifest that cannot be read any more is not taken for another one`() async throws {
        let id = try await farm.submit()
        farm.checker.hide()
        await farm.look()
        let order = farm.runs.orders[0]
        #expect(order.notes.isEmpty)
        farm.runs.exit(order.run, code: 66, saying: "/srv/night.yaml: the manifest cannot be read")
        await farm.look()
        #expect(
            try await farm.supervisor.job(id).entry.result
                == "failed with exit code 66: /srv/night.yaml: the manifest cannot be read")
    }

    @Test func `an uploaded manifest runs from a private file, under a name in its folder`() async throws {
        let id = try await farm.submit(.uploaded(text: "job: night\n", folder: "/srv/a"), name: "night")
        await farm.look()
        let file = farm.serviceFolder.manifests + "/1.yaml"
        #expect(
            Array(farm.runs.orders[0].arguments.prefix(4)) == ["run", file, "--manifest-path", "/srv/a/night.yaml"])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "job: night\n")
        let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(rights == 0o600)
        await farm.supervisor.tidy()
        #expect(farm.exists(file))
        let run = try await farm.run(id)
        try farm.runs.begin(run)
        try farm.runs.end(run, code: 0)
        await farm.look()
        await farm.supervisor.tidy()
        #expect(!farm.exists(file))
    }

    @Test func `ten thousand waiting jobs cost one change for each start`() async throws {
        let farm = try TestFarm(isDurable: false)
        for _ in 0..<10_000 { try await farm.submit() }
        let before = farm.seen.changes.count
        await farm.look()
        #expect(farm.seen.changes.count - before == 4)
        await farm.look()
        #expect(farm.seen.changes.count - before == 4)
        #expect(farm.runs.orders.map(\.job) == [1, 2, 3, 4])
    }

    @Test func `a queue takes so many uploaded texts, and says what to do`() async throws {
        let farm = try TestFarm(isDurable: false)
        let text = String(repeating: "#", count: 1 << 20)
        for _ in 0..<32 { try await farm.submit(.uploaded(text: text, folder: "/srv")) }
        let refusal = await #expect(throws: Supervisor.FullQueue.self) {
            try await farm.submit(.uploaded(text: text, folder: "/srv"))
        }
        #expect(
            refusal?.message
                == "the queue holds 32 MB of uploaded manifests, and takes no more\n   = submit manifests by their paths, or try again "
                + "when some jobs have ended")
        #expect(try await farm.submit() == 33)
        try await farm.cancel(1)
        #expect(try await farm.submit(.uploaded(text: text, folder: "/srv")) == 34)
        // A retry of the first one, among others, would be one text too many.
        let ended = try JobFilter(text: "state=cancelled")
        #expect(
            try await farm.supervisor.apply(.retry, to: ended, expecting: nil, by: .init(owner: .user(0))) == .count(1))
        await #expect(throws: Supervisor.FullQueue.self) {
            try await farm.supervisor.apply(.retry, to: ended, expecting: 1, by: .init(owner: .user(0)))
        }
        await #expect(throws: Supervisor.FullQueue.self) {
            try await farm.supervisor.retry(1, by: .init(owner: .user(0)), key: nil)
        }
        await #expect(throws: BulkAction.TooLarge.self) {
            try await farm.supervisor.apply(.hold, to: JobFilter(), expecting: 34, by: .init(owner: .user(0)))
        }
    }

    @Test func `the same key leads to the same job, also when the queue is full or the manifest has changed`()
        async throws
    {
        let id = try await farm.submit(key: "k")
        farm.checker.change()
        #expect(try await farm.submit(key: "k") == id)
    }
}
