import Catalogs
import Engines
import FarmTestSupport
import Foundation
import Glibc
import JobModel
import Scheduling
import TestSupport
import Testing
import WorkerProtocol

/// The local engine with real worker processes.
@Suite struct LocalEngineTests {
    private struct Subject: EngineUnderTest {
        let folder: TemporaryFolder
        /// A variable in the environment of this value's workers alone.
        let mark = "PENUMBRA_ENGINE_TEST=\(UUID().uuidString)"

        init() throws {
            folder = try TemporaryFolder()
            // As programs that run the farm do: a worker that ends is an error of the call that writes to it.
            signal(SIGPIPE, SIG_IGN)
        }

        var command: WorkerCommand {
            get throws {
                let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
                let parts = mark.split(separator: "=").map(String.init)
                return WorkerCommand(
                    executable: program.deletingLastPathComponent().appending(path: "penumbra-worker").path,
                    environment: [parts[0]: parts[1]])
            }
        }

        func makeEngine() throws -> any Engine { LocalEngine(command: try command) }

        func quickTask() throws -> TaskSpec {
            let path = folder.file("quick")
            if !FileManager.default.fileExists(atPath: path) { try Data("quick".utf8).write(to: URL(filePath: path)) }
            return .compare(DigestTask(files: [DigestTask.File(path: path)]))
        }

        /// A sparse file of a terabyte.
        func endlessTask() throws -> TaskSpec {
            let path = folder.file("endless")
            if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(filePath: path)) }
            guard truncate(path, 1 << 40) == 0 else { throw Breach("no file of a terabyte: error \(errno)") }
            return .compare(DigestTask(files: [DigestTask.File(path: path)]))
        }

        func killWorkers() throws { for process in try processes() { kill(process, SIGKILL) } }

        func living() throws -> [String] { try processes().map { "process \($0)" } }

        /// A process that has ended and was not reaped has no environment.
        private func processes() throws -> [pid_t] {
            let wanted = Data(mark.utf8)
            return try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter {
                process in
                Self.environment(of: process).range(of: wanted) != nil
            }
        }

        /// Files of /proc have no size, so they are read to their end.
        private static func environment(of process: pid_t) -> Data {
            let file = open("/proc/\(process)/environ", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return Data() }
            defer { close(file) }
            var (result, buffer) = (Data(), [UInt8](repeating: 0, count: 1 << 14))
            while true {
                let count = read(file, &buffer, buffer.count)
                guard count > 0 else { return result }
                result.append(contentsOf: buffer[..<count])
            }
        }
    }

    @Test(arguments: EngineContract.allCases) func `the local engine keeps the contract`(check: EngineContract)
        async throws
    {
        try await check(Subject())
    }

    @Test func `the worker that was introduced first is the one that works`() async throws {
        let subject = try Subject()
        let engine = LocalEngine(command: try subject.command)
        let catalog = await engine.introduce()
        #expect(catalog?.formats.isEmpty == false)
        // Without ffmpeg, the worker offers no videos.
        let videos = Set(catalog?.formats.filter { $0.isVideo && $0.canWrite }.map(\.name) ?? [])
        #expect(videos.isEmpty || videos == FrameOrder.videoFormats, "the scheduler knows them by name")
        #expect(try subject.living().count == 1)
        let talk = Conversation(with: engine)
        let worker = try await talk.readyWorker()
        #expect(worker.number == 1)
        let lease = talk.lease(try subject.quickTask(), to: worker)
        #expect(try await talk.receipt(of: lease).sizes == [5])
        await talk.end()
        #expect(try subject.living().isEmpty)
    }

    @Test func `a program that cannot be started is reported lost, by its name`() async throws {
        let talk = Conversation(with: LocalEngine(command: WorkerCommand(executable: "/nowhere/penumbra-worker")))
        let death = try await talk.loss(of: WorkerID(1))
        await talk.end()
        guard case .failedToStart(let words) = death.manner else {
            Issue.record("it was told as \(death.manner)")
            return
        }
        #expect(words.contains("/nowhere/penumbra-worker"))
    }

    @Test func `what a worker writes without end waits in little room, and how much was dropped is said`() async {
        let script = "head -c 10000000 /dev/zero | tr '\\000' x >&2"
        let engine = LocalEngine(command: WorkerCommand(executable: "/bin/sh", arguments: ["-c", script]))
        let queue = EventQueue()
        let (losses, loss) = AsyncStream.makeStream(of: Void.self)
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        async let run: Void = engine.run(commands) { event in
            queue.post(event)
            if case .workerLost = event { loss.yield() }
        }
        // Nobody reads meanwhile.
        for await _ in losses { break }
        command.finish()
        await run
        var text = ""
        while let event = queue.next() {
            if case .words(let worker, let words) = event, worker.number == 1 { text += words }
        }
        #expect(text.hasPrefix("["))
        #expect(text.contains(" bytes of what it wrote were dropped]\nxxx"))
        #expect(text.utf8.count < EventQueue.longestWords + 100)
    }

    @Test func `a program that is no worker is reported lost`() async throws {
        let talk = Conversation(
            with: LocalEngine(command: WorkerCommand(executable: "/bin/echo", arguments: ["hello"])))
        let death = try await talk.loss(of: WorkerID(1))
        await talk.end()
        #expect(talk.events.ready.isEmpty)
        #expect(death.manner != .byOrder)
    }
}

extension TaskReceipt {
    fileprivate var sizes: [Int?] { if case .compare(let files) = self { files.map { $0?.stamp.size } } else { [] } }
}
