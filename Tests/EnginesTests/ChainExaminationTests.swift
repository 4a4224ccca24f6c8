import Catalogs
import Engines
import Foundation
import Glibc
import JobModel
import TestSupport
import Testing
import WorkerProtocol

/// What is asked of workers before anything starts: scripts stand in for them.
@Suite struct ChainExaminationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // As penumbra does: a worker that leaves is an error of the call that writes to it.
        signal(SIGPIPE, SIG_IGN)
    }

    private func worker(_ script: String) throws -> WorkerCommand {
        let path = folder.file("worker")
        try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return WorkerCommand(executable: path)
    }

    private static let advice = "if they have a plugin, try it with 'penumbra plugin check'"
    private static let nothing = ExaminedChains(filters: [], pictures: [])
    private static let picture = ExaminedChains.Picture(path: "/mask.png", maxPixels: 1)

    /// What a worker does in place of an answer, and what is said.
    private static let troubles: [(script: String, words: String)] = [
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

    @Test(arguments: troubles)
    func `an examination that does not come is told`(trouble: (script: String, words: String)) async throws {
        let failure = await #expect(throws: ChainExamination.Failure.self) {
            // None but the one that hangs comes near to its limit.
            let patience = trouble.script.hasPrefix("kill -STOP") ? Duration.milliseconds(300) : .seconds(60)
            return try await ChainExamination.ask(Self.nothing, worker(trouble.script), patience: patience)
        }
        #expect(failure?.message == trouble.words)
    }

    /// The question is longer than a pipe holds, and read by nobody.
    @Test func `a worker that leaves without reading the question is told by its exit code`() async throws {
        let question = ExaminedChains(filters: [], pictures: Array(repeating: Self.picture, count: 10000))
        let failure = await #expect(throws: ChainExamination.Failure.self) {
            try await ChainExamination.ask(question, worker("exit 3"))
        }
        #expect(failure?.message == "the worker left with exit code 3; \(Self.advice)")
    }

    @Test func `the question reaches the worker, and its answer comes back`() async throws {
        let question = ExaminedChains(filters: [], pictures: [Self.picture])
        let answer = "{\"filters\":[],\"pictures\":[\"it is no picture\"]}"
        let worker = try worker("cat > '\(folder.file("question"))'; echo '\(answer)'")
        #expect(try await ChainExamination.ask(question, worker).pictures == ["it is no picture"])
        let asked = try Data(contentsOf: URL(filePath: folder.file("question")))
        #expect(try FrameCodec.decode(ExaminedChains.self, from: asked) == question)
    }

    /// Two processes hold a pipe open that is read here: its end is the end of both.
    @Test func `what hangs leaves no process behind`() async throws {
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        let forever = "kill -STOP $$"
        let worker = try worker("exec 3>'\(pipe)'; sh -c '\(forever)' & \(forever)")
        _ = try? await ChainExamination.ask(Self.nothing, worker, patience: .milliseconds(300))
        var end = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&end, 1, 10000) == 1)
        #expect(Int32(end.revents) & POLLHUP != 0)
    }

    @Test func `what was refused when the catalog was asked for is told to the workers that follow`() async throws {
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
            _ = try await CatalogReader.read(worker)
            let told = try String(contentsOfFile: folder.file("told"), encoding: .utf8)
            #expect(PluginConditions(text: told)?.refused == expected)
        }
    }

    @Test func `a catalog of another version is refused`() async throws {
        let greeting = Greeting(protocolVersion: 1, catalog: Catalog(versions: [:], filters: [], formats: []))
        let worker = try worker("echo '\(String(decoding: try FrameCodec.json(greeting), as: UTF8.self))'")
        let failure = await #expect(throws: CatalogReader.Failure.self) { try await CatalogReader.read(worker) }
        #expect(
            failure?.message
                == "\(worker.executable) describe: the answer is no catalog; reinstall both programs together")
    }
}
