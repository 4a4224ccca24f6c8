import Catalogs
import Engines
import Foundation
import Glibc
import JobModel
import TestSupport
import Testing
import WorkerProtocol

/// Questions to worker programs. Shell scripts stand in for the workers.
@Suite struct WorkerQueryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // As penumbra does. Then writing to a worker that has ended is an error.
        signal(SIGPIPE, SIG_IGN)
    }

    private func worker(_ script: String) throws -> WorkerCommand {
        let path = folder.file("worker")
        try writeProgram("#!/bin/sh\n\(script)\n", to: path)
        return WorkerCommand(executable: path)
    }

    private static let advice = "if they have a plugin, try it with 'penumbra plugin check'"
    private static let nothing = ExaminedChains(filters: [], pictures: [])
    private static let picture = ExaminedChains.Picture(path: "/mask.png", maxPixels: 1)

    /// What a worker does in place of an answer, and the message.
    private static let failures: [(script: String, words: String)] = [
        ("kill -STOP $$", "no answer within 0.3 seconds; \(advice)"),
        ("kill -SEGV $$", "the worker died of signal 11; \(advice)"),
        ("exit 3", "the worker left with exit code 3; \(advice)"),
        ("echo 'libvips does not start' >&2; exit 69", "libvips does not start"),
        ("echo nonsense", "the worker's answer is no examination; reinstall both programs together"),
        (
            "echo '{\"filters\":[{\"works\":{}}],\"pictures\":[]}'",
            "the worker's answer is no examination; reinstall both programs together"
        ),
    ]

    @Test(arguments: failures)
    func `an examination that does not come is reported`(failing: (script: String, words: String)) async throws {
        let failure = await #expect(throws: WorkerQueryError.self) {
            // Only the worker that hangs comes near its limit.
            let timeout = failing.script.hasPrefix("kill -STOP") ? Duration.milliseconds(300) : .seconds(60)
            return try await worker(failing.script).examine(Self.nothing, timeout: timeout)
        }
        #expect(failure?.message == failing.words)
    }

    /// The question is longer than a pipe's buffer, and nobody reads it.
    @Test func `a worker that exits without reading the question is reported by its exit code`() async throws {
        let question = ExaminedChains(filters: [], pictures: Array(repeating: Self.picture, count: 10000))
        let failure = await #expect(throws: WorkerQueryError.self) {
            try await worker("exit 3").examine(question)
        }
        #expect(failure?.message == "the worker left with exit code 3; \(Self.advice)")
    }

    @Test func `the question reaches the worker, and its answer comes back`() async throws {
        let question = ExaminedChains(filters: [], pictures: [Self.picture])
        let answer = "{\"filters\":[],\"pictures\":[\"it is no picture\"]}"
        let worker = try worker("cat > '\(folder.file("question"))'; echo '\(answer)'")
        #expect(try await worker.examine(question).pictures == ["it is no picture"])
        let asked = try Data(contentsOf: URL(filePath: folder.file("question")))
        #expect(try FrameCodec.decode(ExaminedChains.self, from: asked) == question)
    }

    /// Two processes hold a pipe open. Its end shows that both have ended.
    @Test func `what hangs leaves no process behind`() async throws {
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        let worker = try worker("exec 3>'\(pipe)'; sh -c '\(Self.forever)' & \(Self.forever)")
        _ = try? await worker.examine(Self.nothing, timeout: .milliseconds(300))
        var end = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&end, 1, 10000) == 1)
        #expect(Int32(end.revents) & POLLHUP != 0)
    }

    @Test func `later workers learn which libraries the describing worker refused`() async throws {
        let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5)
        let refused = [RefusedLibrary(path: "/liba.so", stamp: stamp, reason: "hangs")]
        let greeting = Greeting(
            protocolVersion: Greeting.currentVersion, catalog: Catalog(versions: [:], filters: [], formats: []),
            refused: refused)
        let greetingText = String(decoding: try FrameCodec.json(greeting), as: UTF8.self)
        try greetingText.write(toFile: folder.file("greeting"), atomically: true, encoding: .utf8)
        let worker = try worker(
            "printf '%s' \"$\(PluginConditions.variable)\" > '\(folder.file("told"))'; cat '\(folder.file("greeting"))'"
        )
        for expected in [[], refused] {
            _ = try await worker.describe()
            let told = try String(contentsOfFile: folder.file("told"), encoding: .utf8)
            #expect(PluginConditions(text: told)?.refused == expected)
        }
    }

    @Test func `a catalog of another version is refused`() async throws {
        let greeting = Greeting(protocolVersion: 1, catalog: Catalog(versions: [:], filters: [], formats: []))
        let worker = try worker("echo '\(String(decoding: try FrameCodec.json(greeting), as: UTF8.self))'")
        let failure = await #expect(throws: WorkerQueryError.self) { try await worker.describe() }
        #expect(
            failure?.message
                == "\(worker.executable) describe: the answer is no catalog; reinstall both programs together")
    }

    /// A worker that prints findings, then does something else.
    private func findings(_ findings: [PluginFinding], then: String) throws -> WorkerCommand {
        let lines = try findings.map { String(decoding: try FrameCodec.json($0), as: UTF8.self) }
        try lines.map { $0 + "\n" }.joined().write(toFile: folder.file("lines"), atomically: true, encoding: .utf8)
        return try worker("cat '\(folder.file("lines"))'; \(then)")
    }

    /// A script that stops its process until it is killed. It uses no core.
    private static let forever = "kill -STOP $$"
    private static let short = Duration.milliseconds(300)

    @Test func `a check that hangs is broken, and those before it are what they were`() async throws {
        let worker = try findings([.begins("opening"), .kept("opening"), .begins("geometry")], then: Self.forever)
        let found = try await worker.check(plugin: "libA.so", timeout: Self.short)
        #expect(found == [.kept("opening"), .broken("geometry", how: "it hangs: it was not done within 0.3 seconds")])
    }

    @Test func `a worker that hangs after the last check is reported`() async throws {
        let worker = try findings([.begins("opening"), .kept("opening")], then: Self.forever)
        let found = try await worker.check(plugin: "libA.so", timeout: Self.short)
        #expect(found == [.kept("opening"), .broken("the end", how: "it hangs: it was not done within 0.3 seconds")])
    }

    @Test
    func `a check that crashes on a tile is broken, with the tile, what was printed, and a line for the debugger`()
        async throws
    {
        let said: [PluginFinding] = [
            .begins("opening"), .kept("opening"), .begins("tiles"), .crashed(on: "the tile x 0…6"),
        ]
        let worker = try findings(said, then: "echo why >&2; kill -SEGV $$")
        #expect(
            try await worker.check(plugin: "/p/libA.so") == [
                .kept("opening"),
                .broken(
                    "tiles",
                    how: "it crashes with signal 11 on the tile x 0…6; it printed 'why'\n   = to see where: gdb --args "
                        + "\(worker.executable) check-plugin /p/libA.so"),
            ])
        let left = try findings(said, then: "exit 3")
        #expect(
            try await left.check(plugin: "/p/libA.so").last
                == .broken("tiles", how: "it ends the process with exit code 3 on the tile x 0…6"))
    }

    @Test func `a list that does not come is reported`() async throws {
        let worker = try worker(Self.forever)
        let failure = await #expect(throws: WorkerQueryError.self) {
            try await worker.listPlugins(timeout: Self.short)
        }
        #expect(
            failure?.message
                == "\(worker.executable) list-plugins: no answer within 0.3 seconds; a plugin may hang when it is opened: "
                + "look at those that came last")
    }

    @Test func `a catalog that does not come is reported`() async throws {
        let worker = try worker(Self.forever)
        let failure = await #expect(throws: WorkerQueryError.self) {
            try await worker.describe(timeout: Self.short)
        }
        #expect(
            failure?.message
                == "\(worker.executable) describe: no answer within 0.3 seconds; a plugin may hang when it is opened: look "
                + "at those that came last")
    }

    @Test func `an answer that never ends is cut off`() async throws {
        let failure = await #expect(throws: WorkerQueryError.self) {
            try await worker("exec yes").listPlugins()
        }
        #expect(
            failure?.message
                == "\(folder.file("worker")) list-plugins: the answer has more than 1048576 bytes; reinstall both programs together"
        )
    }

    /// An answer with a text that is longer than any in a message.
    private func longText() throws -> WorkerCommand {
        let text = String(repeating: "x", count: 100_001)
        try "{\"name\":\"\(text)\"}\n".write(toFile: folder.file("answer"), atomically: true, encoding: .utf8)
        return try worker("cat '\(folder.file("answer"))'")
    }

    @Test func `an answer that exceeds a limit of messages is refused with that limit`() async throws {
        let worker = try longText()
        let words =
            "is a message with a text of 100001 bytes, which exceeds a limit of messages; reinstall both programs together"
        let described = await #expect(throws: WorkerQueryError.self) { try await worker.describe() }
        #expect(described?.message == "\(worker.executable) describe: the answer \(words)")
        let examined = await #expect(throws: WorkerQueryError.self) { try await worker.examine(Self.nothing) }
        #expect(examined?.message == "the worker's answer \(words)")
        let checked = await #expect(throws: WorkerQueryError.self) { try await worker.check(plugin: "libA.so") }
        #expect(checked?.message == "\(worker.executable) check-plugin: the answer \(words)")
        let listed = await #expect(throws: WorkerQueryError.self) { try await worker.listPlugins() }
        #expect(listed?.message == "\(worker.executable) list-plugins: the answer \(words)")
    }

    @Test func `a worker that refuses is reported in its own words, whatever it was asked`() async throws {
        let failing = try worker("printf 'libvips does\\033[1m not start' >&2; exit 69")
        let described = await #expect(throws: WorkerQueryError.self) { try await failing.describe() }
        let checked = await #expect(throws: WorkerQueryError.self) { try await failing.check(plugin: "libA.so") }
        let listed = await #expect(throws: WorkerQueryError.self) { try await failing.listPlugins() }
        for failure in [described, checked, listed] { #expect(failure?.message == #"libvips does\u{1b}[1m not start"#) }
    }

    @Test func `an answer that is no list of plugins is refused`() async throws {
        let odd = try worker("echo nonsense")
        let nonsense = await #expect(throws: WorkerQueryError.self) { try await odd.listPlugins() }
        #expect(
            nonsense?.message
                == "\(odd.executable) list-plugins: the answer is no list of plugins; reinstall both programs together")
    }

    @Test func `a line that is no finding is an error`() async throws {
        let failure = await #expect(throws: WorkerQueryError.self) {
            try await worker("echo nonsense").check(plugin: "libA.so")
        }
        #expect(
            failure?.message
                == "\(folder.file("worker")) check-plugin: the answer is no list of findings; reinstall both programs "
                + "together")
    }

    @Test func `a crash belongs to the check that had begun`() async throws {
        let worker = try findings([.begins("opening")], then: "kill -SEGV $$")
        #expect(
            try await worker.check(plugin: "libA.so")
                == [.broken("opening", how: "it crashes with signal 11")])
    }

    @Test func `folders and pins reach the worker whatever characters are in them`() async throws {
        var plugins = PluginConditions()
        plugins.folders = ["/plugins:a,b", "/with \"quotes\" and\nlines"]
        plugins.pins = [PluginConditions.Pin(file: "lib:A,B.so", sha256: "00")]
        plugins.isPinnedOnly = true
        let script = try worker("printf '%s' \"$\(PluginConditions.variable)\" > '\(folder.file("told"))'")
        let worker = WorkerCommand(executable: script.executable, plugins: plugins)
        _ = try? await worker.listPlugins()  // This worker answers nothing.
        let told = try String(contentsOfFile: folder.file("told"), encoding: .utf8)
        #expect(PluginConditions(text: told) == plugins)
    }
}
