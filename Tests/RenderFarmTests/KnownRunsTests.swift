import Coordination
import ExamplePictures
import Foundation
import JobModel
import RenderFarm
import Runs
import Subprocess
import Synchronization
import SystemPackage
import Testing
import TestSupport

/// What an embedding program does with runs that have begun before, by the facade alone.
@Suite struct KnownRunsTests {
    let folder: TemporaryFolder
    let farm: Farm

    init() throws {
        folder = try TemporaryFolder()
        farm = try Farm(stateFolder: folder.file("state"), workers: 1, folder: folder.path)
        // A worker that ends is an error of the call that writes to it.
        signal(SIGPIPE, SIG_IGN)
    }

    private func draw(_ count: Int) throws {
        try FileManager.default.createDirectory(atPath: folder.file("photos"), withIntermediateDirectories: true)
        for number in 0..<count { try draw(picture: number) }
    }

    private func draw(picture number: Int) throws {
        try PictureFiles.write(
            Scene.eclipse(width: 60 + number, height: 40), to: folder.file("photos/\(number).png"))
    }

    private let manifest = """
        job: test
        inputs: photos/*
        filters: [{gaussian: {radius: 4}}]
        output: out/{stem}.png

        """

    private var request: Farm.Request {
        Farm.Request(manifests: [Farm.Request.Manifest(path: "job.yaml", text: manifest)], folder: folder.path)
    }

    private var outputs: Set<String> {
        get throws {
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).filter { !$0.hasPrefix(".") })
        }
    }

    private func names(_ count: Int) -> Set<String> { Set((0..<count).map { "\($0).png" }) }

    private var program: URL {
        get throws {
            URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
                .deletingLastPathComponent().appending(path: "penumbra")
        }
    }

    /// What the command prints.
    private func commandLine(_ arguments: String...) async throws -> String {
        let result = try await Subprocess.run(
            .path(FilePath(try program.path)),
            arguments: Arguments(arguments + ["--state-dir", folder.file("state")]),
            workingDirectory: "/", output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        return (result.standardOutput + result.standardError)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Kills a coordinator of its own process after its first output, and waits for its workers to leave.
    private func killRun() throws {
        try Data(manifest.utf8).write(to: URL(filePath: folder.file("job.yaml")))
        let process = Process()
        process.executableURL = try program
        process.arguments = [
            "run", "job.yaml", "--workers", "1", "--quiet", "--state-dir", folder.file("state"),
        ]
        process.currentDirectoryURL = URL(filePath: folder.path)
        try process.run()
        let first = folder.file("out/0.png")
        while !FileManager.default.fileExists(atPath: first), process.isRunning { usleep(1000) }
        let workers = children(of: process.processIdentifier)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        while workers.contains(where: isAlive) { usleep(1000) }
    }

    @Test func `a run whose process was killed is resumed under its name, and gives all outputs`() async throws {
        try draw(300)
        try killRun()
        let killed = try #require(try farm.runs().first)
        #expect(killed.state == "interrupted")
        #expect(try outputs.count < 300)
        #expect(try await farm.resume(killed.name) { _ in } == .done)
        #expect(try outputs == names(300))
        #expect(try farm.runs().map(\.name) == [killed.name])
        #expect(try farm.runs().map(\.state) == ["done"])
    }

    @Test func `a run whose process was killed is given up by cancel`() async throws {
        try draw(300)
        try killRun()
        let killed = try #require(try farm.runs().first)
        let messages = try await farm.cancel(killed.name)
        #expect(messages.map(\.text) == ["\(killed.name): given up, and its files are removed"])
        #expect(try farm.runs().map(\.state) == ["stopped"])
    }

    @Test func `what a run left whose task was cancelled is done by retry, and resume says so`() async throws {
        try draw(300)
        let (frames, frame) = AsyncStream.makeStream(of: Void.self)
        let (farm, request) = (farm, request)
        let run = Task {
            try await farm.run(request) { event in if case .frame = event { frame.yield() } }
        }
        for await _ in frames { break }
        run.cancel()
        #expect(try await run.value == .interrupted)
        #expect(try outputs.count < 300)
        let cut = try #require(try farm.runs().first)

        let error = await #expect(throws: Farm.Failure.self) { _ = try await farm.resume(cut.name) { _ in } }
        let refusal = try #require(error)
        #expect(refusal.outcome == .busy)
        #expect(refusal.message.contains("'penumbra retry \(cut.name) --state left'"))
        #expect(try await commandLine("resume", cut.name) == refusal.message)

        #expect(try await farm.retry(cut.name, .left) { _ in } == .done)
        #expect(try outputs == names(300))
        #expect(try farm.runs().map(\.state) == ["done", "stopped"])
    }

    @Test func `a failed picture that was fixed is retried, and the frames of both runs are listed`() async throws {
        try draw(3)
        try Data("no picture".utf8).write(to: URL(filePath: folder.file("photos/1.png")))
        #expect(try await farm.run(request) { _ in } == .someFailed)
        let failed = try #require(try farm.runs().first)
        let frames = try farm.frames(ofRun: failed.name)
        #expect(frames.map(\.number) == [1, 2, 3])
        #expect(frames.map { URL(filePath: $0.input).lastPathComponent } == ["0.png", "1.png", "2.png"])
        #expect(frames.map { $0.state == .published } == [true, false, true])
        #expect(frames.first?.outputs == [folder.file("out/0.png")])
        guard case .failed(let reason) = frames.dropFirst().first?.state else {
            Issue.record("the broken picture has not failed")
            return
        }
        #expect(!reason.isEmpty)

        try draw(picture: 1)
        let retried = Mutex<[Farm.Frame]>([])
        let outcome = try await farm.retry(failed.name) { event in
            if case .frame(_, let frame) = event, frame.state == .published { retried.withLock { $0.append(frame) } }
        }
        #expect(outcome == .done)
        #expect(
            retried.withLock { $0.map { URL(filePath: $0.input).lastPathComponent } } == ["1.png"])
        #expect(try outputs == names(3))
        let retry = try #require(try farm.runs().first)
        #expect(retry.name != failed.name)
        #expect(
            try farm.frames(ofRun: retry.name).map { URL(filePath: $0.input).lastPathComponent } == ["1.png"])
    }

    @Test func `frames are chosen by their numbers, and numbers that no frame has are refused`() async throws {
        try draw(2)
        #expect(try await farm.run(request) { _ in } == .done)
        let run = try #require(try farm.runs().first)
        try FileManager.default.removeItem(atPath: folder.file("out/1.png"))
        #expect(try await farm.retry(run.name, .numbers([2])) { _ in } == .done)
        #expect(try outputs == names(2))
        let error = await #expect(throws: Farm.Failure.self) {
            _ = try await farm.retry(run.name, .numbers([7])) { _ in }
        }
        #expect(error?.outcome == .missingInput)
        #expect(error?.message == "\(run.name): no such frames were begun: it has 2 frames")
        #expect(try await commandLine("retry", run.name, "--frames", "7") == error?.message)
    }

    @Test func `a run without failed frames is not retried, and a message says so`() async throws {
        try draw(1)
        #expect(try await farm.run(request) { _ in } == .done)
        let run = try #require(try farm.runs().first)
        let messages = Mutex<[String]>([])
        let outcome = try await farm.retry(run.name) { event in
            if case .message(let message) = event { messages.withLock { $0.append(message.text) } }
        }
        #expect(outcome == .done)
        #expect(messages.withLock { $0 } == ["\(run.name): no frame failed"])
        #expect(try farm.runs().count == 1)
    }

    @Test func `a run that does not exist is refused in the words of the command line`() async throws {
        let resumed = await #expect(throws: Farm.Failure.self) { _ = try await farm.resume("gone") { _ in } }
        let retried = await #expect(throws: Farm.Failure.self) { _ = try await farm.retry("gone") { _ in } }
        let cancelled = await #expect(throws: Farm.Failure.self) { _ = try await farm.cancel("gone") }
        let listed = #expect(throws: Farm.Failure.self) { _ = try farm.frames(ofRun: "gone") }
        for error in [resumed, retried, cancelled, listed] {
            #expect(error?.outcome == .missingInput)
            #expect(error?.message == "no run or job is called 'gone'\n   = 'penumbra status' lists them")
        }
        #expect(try await commandLine("resume", "gone") == resumed?.message)
    }

    @Test func `a run that goes on is neither resumed nor retried, and ends when it is cancelled by its name`()
        async throws
    {
        try draw(20)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let control = Farm.Control()
        control.pause()
        let (farm, request) = (farm, request)
        async let outcome = farm.run(request, control: control) { event in if case .began = event { begin.yield() } }
        for await _ in begins { break }
        let run = try #require(try farm.runs().first)
        #expect(run.state == "running")

        let resumed = await #expect(throws: Farm.Failure.self) { _ = try await farm.resume(run.name) { _ in } }
        #expect(resumed?.outcome == .busy)
        #expect(resumed?.message == "\(run.name): is running; there is nothing to resume")
        #expect(try await commandLine("resume", run.name) == resumed?.message)
        let retried = await #expect(throws: Farm.Failure.self) { _ = try await farm.retry(run.name) { _ in } }
        #expect(retried?.outcome == .busy)
        #expect(try await commandLine("retry", run.name) == retried?.message)

        let messages = try await farm.cancel(run.name)
        #expect(
            messages.map(\.text) == [
                "\(run.name): its coordinator was asked to end it; 'penumbra wait' waits for the end"
            ])
        #expect(try await outcome == .interrupted)
        #expect(try farm.runs().map(\.state) == ["stopped"])
        #expect(try await farm.cancel(run.name).map(\.text) == ["\(run.name): has ended already"])
    }
}
