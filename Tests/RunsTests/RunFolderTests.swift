import Foundation
import Glibc
import JobModel
import JobStorage
import Runs
import SafeFiles
import Testing
import TestSupport

/// Runs whose folders several machines see.
@Suite struct RunFolderTests {
    let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    private func record(_ name: String) -> RunRecord {
        RunRecord(
            name: name, job: "night", manifest: "/jobs/night.yaml", started: 5, workers: 3, memory: 1 << 30,
            request: "{}", counts: RunCounts())
    }

    private func ended(_ record: RunRecord, code: Int = 0) -> RunRecord {
        var record = record
        (record.epoch, record.state) = (2, .ended(at: 9, exitCode: code, reason: nil))
        return record
    }

    private func begin(_ name: String) throws -> (run: RunFolder, directory: RunClaim) {
        let directory = try RunClaim(state: place.path, name: name, scratch: place.path)
        try directory.folder.write(record(name))
        return (directory.folder, directory)
    }

    private func end(_ run: RunFolder, code: Int = 0) throws {
        try run.write(ended(record(run.name), code: code))
    }

    @Test func `a run is found by its folder and by the place that holds it`() throws {
        let (run, directory) = try begin("run-1")
        #expect(run.path == "\(place.path)/runs/run-1")
        #expect(RunFolder.find(run.path) == [run])
        #expect(RunFolder.find(place.path) == [run])
        #expect(RunFolder.find(place.file("nothing")) == [])
        #expect(run.record == record("run-1"))
        #expect(run.record?.state.isEnded == false)
        withExtendedLifetime(directory) {}
    }

    /// Anybody who may write to the folder may put one there.
    @Test(arguments: ["runs", "ended", "history", "history/run-1"])
    func `nothing of a run is written behind a link`(name: String) throws {
        let (run, directory) = try begin("run-1")
        defer { withExtendedLifetime(directory) {} }
        let elsewhere = try TemporaryFolder()
        try Data("mine".utf8).write(to: URL(filePath: elsewhere.file("letter.json")))
        try FileManager.default.createDirectory(
            atPath: PathNames.folder(of: place.file(name)) ?? "", withIntermediateDirectories: true)
        if name == "runs" { try FileManager.default.moveItem(atPath: place.file(name), toPath: place.file("aside")) }
        #expect(symlink(elsewhere.path, place.file(name)) == 0)

        func message(_ body: () throws -> Void) -> String? {
            #expect(throws: FileError.self) { try body() }?.message
        }
        let refusal = "\(place.file(name)): cannot open the folder: it is a link, and Penumbra did not make it so"
        switch name {
        case "runs":
            #expect(message { _ = try RunClaim(state: place.path, name: "run-2", scratch: nil) } == refusal)
            #expect(message { try run.write(record("run-1")) } == refusal)
        case "ended": #expect(message { try end(run) } == refusal)
        default:
            let frame = StoredFrame(
                number: 1, page: 0, input: "/in", recipe: "r", outputs: ["/out"], state: .published)
            #expect(message { try run.log.append([.frame(frame)], epoch: 1) } == refusal)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == ["letter.json"])
    }

    /// As another program does.
    private func limitWorkers(of run: RunFolder, to text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(run.path)/workers"), options: .atomic)
    }

    @Test func `a worker limit holds for half a minute, unless it is renewed`() throws {
        let (run, directory) = try begin("run-1")
        defer { withExtendedLifetime(directory) {} }
        let now = { Int64(Date().timeIntervalSince1970 * 1e9) }
        #expect(run.workerLimit(at: now()) == nil)
        for limit in [3, 0, 1] {
            try limitWorkers(of: run, to: "\(limit)")
            #expect(run.workerLimit(at: now()) == limit)
        }
        #expect(run.workerLimit(at: now() + 29_000_000_000) == 1)
        #expect(run.workerLimit(at: now() + 31_000_000_000) == nil)
        // The clock was set back.
        #expect(run.workerLimit(at: now() - 31_000_000_000) == nil)
        #expect(run.workerLimit(at: .min) == nil && run.workerLimit(at: .max) == nil)
    }

    @Test(arguments: ["", "-1", "two", "1e3", "99999999999999999999", "0x10", " 3", "000000000000000000000000000001"])
    func `a worker limit that is no number limits nothing`(text: String) throws {
        let (run, directory) = try begin("run-1")
        defer { withExtendedLifetime(directory) {} }
        try limitWorkers(of: run, to: text)
        #expect(run.workerLimit(at: Int64(Date().timeIntervalSince1970 * 1e9)) == nil)
    }

    /// A run whose coordinator is gone.
    private func left(_ name: String) throws -> RunFolder {
        let directory = try RunClaim(state: place.path, name: name, scratch: place.path)
        return directory.folder
    }

    @Test func `the next coordinator of a run is not limited by what was asked of the last one`() throws {
        let run = try left("run-1")
        try limitWorkers(of: run, to: "0")
        try run.ask(.pause)
        let next = try #require(try RunClaim(claiming: run))
        #expect(run.workerLimit(at: Int64(Date().timeIntervalSince1970 * 1e9)) == nil)
        #expect(!run.isAsked(.pause))
        withExtendedLifetime(next) {}
    }

    @Test func `the end of a run is known after its folder is gone`() throws {
        let (run, directory) = try begin("run-1")
        try end(run, code: 1)
        directory.remove()
        #expect(!FileManager.default.fileExists(atPath: run.path))
        #expect(RunFolder.find(place.path) == [run])
        #expect(run.record == ended(record("run-1"), code: 1))
    }

    @Test func `of a place with runs that have not ended those are meant, else the latest`() throws {
        for name in ["run-1", "run-2", "run-3"] {
            let (run, directory) = try begin(name)
            try end(run)
            directory.remove()
        }
        #expect(RunFolder.find(place.path).map(\.name) == ["run-1", "run-2", "run-3"])
        #expect(RunFolder.meant(in: place.path).map(\.name) == ["run-3"])
        let (open, directory) = try begin("run-0")
        #expect(RunFolder.meant(in: place.path) == [open, RunFolder(state: place.path, name: "run-3")])
        withExtendedLifetime(directory) {}
    }

    @Test func `of a command with two jobs both are meant, and none of an earlier command`() throws {
        for (name, job, request) in [
            ("run-1", "a", "old"), ("run-2", "c", "old"), ("run-3", "a", "new"), ("run-4", "b", "new"),
        ] {
            var record = record(name)
            (record.job, record.command, record.started) = (job, request, Int64(name.suffix(1)) ?? 0)
            try RunFolder(state: place.path, name: name).write(ended(record))
        }
        #expect(RunFolder.meant(in: place.path).map(\.name) == ["run-3", "run-4"])
    }

    @Test func `runs that begin and end in one place at once are not in each other's way`() async throws {
        let path = place.file("new/shared")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<6 {
                group.addTask {
                    for turn in 0..<40 {
                        try RunClaim(state: path, name: "run-\(lane)-\(turn)", scratch: path).remove()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(!FileManager.default.fileExists(atPath: path), "nothing is left of the place")
    }

    @Test func `ends are not remembered without end`() throws {
        for number in 100..<205 { try end(RunFolder(state: place.path, name: "run-\(number)")) }
        let names = try FileManager.default.contentsOfDirectory(atPath: place.file("ended")).sorted()
        #expect(names.count == 100)
        #expect(names.first == "run-105.json")
    }

    @Test func `a half-written record is no run`() throws {
        let (run, directory) = try begin("run-1")
        try Data("{\"run\":".utf8).write(to: URL(filePath: "\(run.path)/run.json"))
        #expect(RunFolder.find(place.path) == [])
        withExtendedLifetime(directory) {}
    }

    // Coordinators on several machines. Locks may not reach beyond a machine, so in these tests the lock is always free.

    private var run: RunFolder { RunFolder(state: place.path, name: "run-1") }

    /// A run that a coordinator on another machine had that long ago.
    private func leave(by coordinator: String, age: TimeInterval) throws -> String {
        let folder = place.file("runs/run-1")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["lock", "journal"] { try Data().write(to: URL(filePath: "\(folder)/\(name)")) }
        let claim = "\(folder)/coordinator.1"
        try Data(coordinator.utf8).write(to: URL(filePath: claim))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: claim)
        return folder
    }

    private func isClaimed() throws -> Bool {
        try RunClaim(claiming: run) != nil
    }

    @Test func `a coordinator on another machine with a recent sign of life keeps its run`() throws {
        _ = try leave(by: "77.123@elsewhere", age: 20)
        #expect(try !isClaimed())
        #expect(run.isAlive)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.file("runs/run-1"))
        #expect(names.sorted() == ["coordinator.1", "journal", "lock"])
    }

    @Test func `a coordinator that was silent for more than a minute counts as dead`() throws {
        _ = try leave(by: "77.123@elsewhere", age: 70)
        #expect(!run.isAlive)
        #expect(try isClaimed())
    }

    @Test func `one that has let the run go is not waited for`() throws {
        let folder = try leave(by: "77.123@elsewhere", age: 0)
        try Data().write(to: URL(filePath: "\(folder)/released.1"))
        #expect(try isClaimed())
    }

    /// It was killed when everything was done.
    @Test func `what a coordinator left of a run that has ended is removed`() throws {
        let folder = try leave(by: "77.123@elsewhere", age: 70)
        try run.write(record("run-1"))
        RunFolder.sweep(state: place.path)
        #expect(FileManager.default.fileExists(atPath: folder), "it can be gone on with")
        try end(run)
        RunFolder.sweep(state: place.path)
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(run.end?.exitCode == 0)
    }

    @Test(arguments: [(RunFolder.Control.cancel, true), (.cancel, false), (.pause, true), (.detached, true)])
    func `what was asked of a coordinator that died is asked of the one that follows by itself`(
        kind: RunFolder.Control, followsByItself: Bool
    ) throws {
        _ = try leave(by: "77.123@elsewhere", age: 70)
        try run.ask(kind)
        let directory = try RunClaim(claiming: run, keepsRequests: followsByItself)
        #expect(directory?.origin == .takenOver(epoch: 2))
        #expect(run.isAsked(.cancel) == (kind == .cancel && followsByItself))
        #expect(run.isAsked(.pause) == (kind == .pause))
        #expect(!run.isAsked(.detached))
    }

    @Test func `of a coordinator on this machine the kernel's lock tells`() throws {
        let host = ProcessInfo.processInfo.hostName
        _ = try leave(by: "4194304.123@\(host)", age: 0)
        #expect(try isClaimed())
    }

    @Test func `where detached runs are is remembered in the state folder until it is known how they ended`() throws {
        let run = RunFolder(state: "/shared/out/.penumbra-slurm", name: "run-1")
        try run.remember(in: place.path)
        try run.remember(in: place.path)
        #expect(RunFolder.detached(state: place.path) == [run])
        run.forget(in: place.path)
        #expect(RunFolder.detached(state: place.path) == [])
    }
}
