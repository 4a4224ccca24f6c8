import Foundation
import JobModel
import JobStorage
import Runs
import Testing
import TestSupport

/// Past and present runs, as any program may read them.
@Suite struct RunArchiveTests {
    let state: TemporaryFolder

    init() throws { state = try TemporaryFolder() }

    private func store(
        _ name: String, job: String = "night", request: String = "{}", at time: Int64, outcome: RunOutcome? = nil,
        frames: [StoredFrame] = []
    ) throws {
        let store = try JobStore(path: "\(state.path)/penumbra.sqlite")
        try store.write { writer in
            let id = try writer.job(manifest: "/jobs/\(job).yaml", name: job)
            let run = try writer.begin(
                run: name, of: id, at: time, workers: 2, request: request, counts: RunCounts().json)
            for frame in frames { try writer.put(frame, run: run) }
            if let outcome { try writer.end(run, at: time + 1, exitCode: outcome.number, reason: nil) }
        }
    }

    private func archive() throws -> RunArchive { try RunArchive(state: state.path) }

    private func error(_ body: () throws -> Void) -> FarmError? { #expect(throws: FarmError.self) { try body() } }

    @Test func `a run is named by itself, by a beginning, by its job, or is the latest one`() throws {
        try store("20261101T000000Z-aaaaaa", at: 10, outcome: .done)
        try store("20261102T000000Z-bbbbbb", at: 20, outcome: .someFailed)
        try store("20261103T000000Z-cccccc", job: "day", at: 30)
        let archive = try archive()
        #expect(try archive.runs().map(\.stored.started) == [30, 20, 10])
        #expect(try archive.runs().map(\.condition) == [.interrupted, .failed, .done])
        #expect(try archive.run(nil).stored.started == 30)
        #expect(try archive.run("20261102T000000Z-bbbbbb").stored.started == 20)
        #expect(try archive.run("20261101").stored.started == 10)
        #expect(try archive.run("night").stored.started == 20)
        let several = error { _ = try archive.run("202611") }
        #expect(several == FarmError(.missingInput, "3 runs begin with '202611'\n   = give more of the name"))
        let none = error { _ = try archive.run("noon\n") }
        #expect(
            none
                == FarmError(
                    .missingInput, "no run or job is called 'noon\\u{a}'\n   = 'penumbra status' lists them"))
        let unnamed = error { _ = try archive.run("") }
        #expect(unnamed?.message == "no run or job is called ''\n   = 'penumbra status' lists them")
    }

    @Test(arguments: [
        ("13", "if a service has job 13, 'penumbra queue wait 13' waits for it"),
        ("job-13", "'penumbra queue wait 13' waits for job 13 of the service"),
    ])
    func `a number leads to the jobs of the service`(name: String, hint: String) {
        #expect(
            error { _ = try archive().run(name) }?.message == """
                no run or job is called '\(name)'
                   = 'penumbra status' lists them
                   = \(hint)
                """)
    }

    @Test func `where nothing has run there is no run`() throws {
        #expect(try archive().runs().isEmpty)
        #expect(error { _ = try archive().run(nil) } == FarmError(.missingInput, "nothing has run yet"))
    }

    @Test func `all open runs are listed, and as many ended ones as wanted`() throws {
        try store("run-1", at: 10)
        for number in 2...4 { try store("run-\(number)", at: Int64(number) * 10, outcome: .done) }
        let runs = try archive().runs()
        #expect(RunStatus.latest(of: runs, ended: 2).map(\.stored.name) == ["run-4", "run-3", "run-1"])
        #expect(RunStatus.latest(of: runs, ended: 0).map(\.stored.name) == ["run-1"])
        #expect(RunStatus.latest(of: runs, ended: nil).count == 4)
    }

    @Test func `what cannot be undone needs a name if several runs are open`() throws {
        try store("run-1", at: 10)
        #expect(try archive().run(toEnd: nil)?.stored.name == "run-1")
        try store("run-2", job: "day", at: 20)
        let refusal = error { _ = try archive().run(toEnd: nil) }
        #expect(
            refusal
                == FarmError(.usage, "2 runs have not ended\n   = name one of them: run-2 of day, run-1 of night"))
        #expect(try archive().run(toEnd: "run-1")?.stored.name == "run-1")
    }

    @Test func `a job is repeated from its latest run that was no retry`() throws {
        var retry = RunRequest(manifests: [], folder: "/")
        retry.inputs = ["/in/1.png"]
        try store("run-1", at: 10, outcome: .someFailed)
        try store("run-2", request: retry.text, at: 20, outcome: .someFailed)
        #expect(try archive().run(toRepeat: "night").stored.name == "run-1")
        #expect(try archive().run(toRepeat: nil).stored.name == "run-1")
        // A retry that is named is meant.
        #expect(try archive().run(toRepeat: "run-2").stored.name == "run-2")
    }

    @Test func `the inputs that have ended are those of all runs that did what another had left`() throws {
        func frame(_ number: Int, _ state: FrameResult) -> StoredFrame {
            StoredFrame(number: number, page: 0, input: "/in/\(number)", recipe: "r", outputs: [], state: state)
        }
        var rest = RunRequest(manifests: [], folder: "/")
        rest.leftOf = "run-1"
        try store("run-1", at: 10, outcome: .workLeft, frames: [frame(1, .published), frame(2, .left)])
        try store(
            "run-2", request: rest.text, at: 20, outcome: .workLeft, frames: [frame(3, .published), frame(4, .open)])
        #expect(try archive().concludedInputs(ofRun: "run-2") == [PathKey("/in/1"), PathKey("/in/3")])
        #expect(try archive().concludedInputs(ofRun: "forgotten") == [])
    }

    @Test func `an abandoned run has ended`() throws {
        try store("run-1", at: 10)
        let archive = try archive()
        let removal = try archive.abandon(try archive.run(nil), reason: "given up", now: 99)
        #expect(removal != .refused)
        let run = try archive.run("run-1")
        #expect(run.condition == .stopped)
        #expect(run.reason == "given up")
        #expect(run.exitCode == 137)
        #expect(run.ended == 99)
    }

    @Test func `a folder without runs says what it is`() throws {
        func why(_ folder: String) -> String? { error { _ = try RunArchive(runFolder: folder) }?.message }
        #expect(why("\(state.path)/none") == "\(state.path)/none: no such folder")
        #expect(
            why(state.path)
                == "\(state.path): no run; 'penumbra run --detach' and 'penumbra prepare' say where they keep theirs")
        try Data().write(to: URL(filePath: state.file("journal")))
        #expect(
            why(state.path)
                == "\(state.path): the work of a run that was neither detached nor prepared; 'penumbra status' lists it where it "
                + "was begun")
    }
}
