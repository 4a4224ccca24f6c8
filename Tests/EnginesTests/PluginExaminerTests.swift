import Catalogs
import Engines
import Foundation
import Glibc
import TestSupport
import Testing
import WorkerProtocol

/// What is said of worker programs that do not answer as they should: scripts stand in for them.
@Suite struct PluginExaminerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func worker(_ script: String) throws -> WorkerCommand {
        let path = folder.file("worker")
        try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return WorkerCommand(executable: path)
    }

    /// Says these, then does something else.
    private func findings(_ findings: [PluginFinding], then: String) throws -> WorkerCommand {
        let lines = try findings.map { String(decoding: try FrameCodec.json($0), as: UTF8.self) }
        try lines.map { $0 + "\n" }.joined().write(toFile: folder.file("lines"), atomically: true, encoding: .utf8)
        return try worker("cat '\(folder.file("lines"))'; \(then)")
    }

    /// It stands still until it is killed, and takes no core from other tests.
    private static let forever = "kill -STOP $$"
    private static let short = Duration.milliseconds(300)

    @Test func `a check that hangs is broken, and those before it are what they were`() async throws {
        let worker = try findings([.begins("opening"), .kept("opening"), .begins("geometry")], then: Self.forever)
        let found = try await PluginExaminer.check("libA.so", worker, patience: Self.short)
        #expect(found == [.kept("opening"), .broken("geometry", how: "it hangs: it was not done within 0.3 seconds")])
    }

    @Test func `a worker that does not leave after the last check is told, too`() async throws {
        let worker = try findings([.begins("opening"), .kept("opening")], then: Self.forever)
        let found = try await PluginExaminer.check("libA.so", worker, patience: Self.short)
        #expect(found == [.kept("opening"), .broken("the end", how: "it hangs: it was not done within 0.3 seconds")])
    }

    /// Two processes hold a pipe open that is read here: its end is the end of both.
    @Test func `what hangs leaves no process behind`() async throws {
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        let worker = try worker("exec 3>'\(pipe)'; sh -c '\(Self.forever)' & \(Self.forever)")
        _ = try await PluginExaminer.check("libA.so", worker, patience: Self.short)
        var end = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&end, 1, 10000) == 1)
        #expect(Int32(end.revents) & POLLHUP != 0)
    }

    @Test func `a list that does not come is told`() async throws {
        let worker = try worker(Self.forever)
        let failure = await #expect(throws: PluginExaminer.Failure.self) {
            try await PluginExaminer.list(worker, patience: Self.short)
        }
        #expect(
            failure?.message
                == "\(worker.executable) list-plugins: no answer within 0.3 seconds; a plugin may hang when it is opened: "
                + "look at those that came last")
    }

    @Test func `so is a catalog`() async throws {
        let worker = try worker(Self.forever)
        let failure = await #expect(throws: CatalogReader.Failure.self) {
            try await CatalogReader.read(worker, patience: Self.short)
        }
        #expect(
            failure?.message
                == "\(worker.executable) describe: no answer within 0.3 seconds; a plugin may hang when it is opened: look "
                + "at those that came last")
    }

    @Test func `an answer that never ends is cut off`() async throws {
        let failure = await #expect(throws: PluginExaminer.Failure.self) {
            try await PluginExaminer.list(worker("exec yes"))
        }
        #expect(
            failure?.message
                == "\(folder.file("worker")) list-plugins: the answer is too long; reinstall both programs together")
    }

    @Test func `what is no finding is not passed over`() async throws {
        let failure = await #expect(throws: PluginExaminer.Failure.self) {
            try await PluginExaminer.check("libA.so", worker("echo nonsense"))
        }
        #expect(
            failure?.message
                == "\(folder.file("worker")) check-plugin: the answer is no list of findings; reinstall both programs "
                + "together")
    }

    @Test func `a crash is laid to the check that had begun`() async throws {
        let worker = try findings([.begins("opening")], then: "kill -SEGV $$")
        #expect(
            try await PluginExaminer.check("libA.so", worker)
                == [.broken("opening", how: "it crashes with signal 11")])
    }

    @Test func `folders and pins reach the worker whatever characters are in them`() async throws {
        var plugins = PluginConditions()
        plugins.folders = ["/plugins:a,b", "/with \"quotes\" and\nlines"]
        plugins.pins = [PluginConditions.Pin(file: "lib:A,B.so", sha256: "00")]
        plugins.isPinnedOnly = true
        let script = try worker("printf '%s' \"$\(PluginConditions.variable)\" > '\(folder.file("told"))'")
        let worker = WorkerCommand(executable: script.executable, plugins: plugins)
        _ = try? await PluginExaminer.list(worker)  // This worker answers nothing.
        let told = try String(contentsOfFile: folder.file("told"), encoding: .utf8)
        #expect(PluginConditions(text: told) == plugins)
    }
}
