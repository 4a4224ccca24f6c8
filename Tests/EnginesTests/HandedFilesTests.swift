import CChannel
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

/// Real workers, with the files that they are handed.
@Suite struct HandedFilesTests {
    private let folder: TemporaryFolder
    private let worker: String

    init() throws {
        folder = try TemporaryFolder()
        worker =
            URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent().appending(path: "penumbra-worker").path
        signal(SIGPIPE, SIG_IGN)
    }

    /// A picture of two pixels.
    private static let picture = Array("P6 2 1 255\n".utf8) + [255, 0, 0, 0, 0, 255]

    private func write(_ bytes: [UInt8], to path: [UInt8]) throws {
        let file = open(path.map { CChar(bitPattern: $0) } + [0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        try #require(file >= 0)
        #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
        close(file)
    }

    private func frame(_ input: InputSpec, to names: [String], opening: FrameTask.Opening? = nil) -> TaskSpec {
        .frame(
            FrameTask(
                input: input, chain: [],
                outputs: names.map {
                    .init(
                        OutputSpec(format: String($0.split(separator: ".").last ?? ""), save: SaveOptions()),
                        temporaryPath: folder.file($0), name: $0)
                }, tileMemory: 1 << 20, frameMemory: 1 << 20, opening: opening, syncs: false))
    }

    private func input(_ name: String, bytes: [UInt8]? = nil) -> InputSpec {
        InputSpec(path: folder.file(name), bytes: bytes, maxPixels: 1000, color: .keep, scratchFolder: folder.path)
    }

    /// How a worker answers a task.
    private func answer(to spec: TaskSpec) async throws -> Report {
        let talk = Conversation(with: LocalEngine(command: WorkerCommand(executable: worker)))
        let ready = try await talk.readyWorker()
        let lease = talk.lease(spec, to: ready)
        let report = try await talk.until("the task was answered") { events in
            for case .report(ready, let report) in events {
                switch report {
                case .finished(lease.id, _), .failed(lease.id, _): return report
                default: continue
                }
            }
            return nil as Report?
        }
        await talk.end()
        return report
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func `a picture whose name is no UTF-8 becomes two outputs`() async throws {
        let path = Array(folder.file("a").utf8) + [0xff]
        try write(Self.picture, to: path)
        let spec = frame(input("a?", bytes: path), to: ["a.png", "a.tiff"])
        guard case .finished(_, .outputs(let outputs, of: .some(let source))) = try await answer(to: spec) else {
            Issue.record("the task failed")
            return
        }
        #expect(source.stamp.size == Self.picture.count)
        #expect(outputs.map(\.path) == ["a.png", "a.tiff"].map { folder.file($0) })
        for output in outputs {
            let size = try FileManager.default.attributesOfItem(atPath: output.path)[.size] as? Int
            #expect(size == output.bytes)
        }
    }

    @Test func `the files of a picture that is probed, and then not rendered, are removed`() async throws {
        try write(Self.picture, to: Array(folder.file("a.ppm").utf8))
        func spec(_ name: String, mostSeconds: Double) -> TaskSpec {
            frame(input("a.ppm"), to: [name], opening: FrameTask.Opening(tile: .auto, mostSeconds: mostSeconds))
        }
        guard case .finished(_, .opened(_, let outputs, of: _)) = try await answer(to: spec("a.png", mostSeconds: 1)),
            case .finished(_, .probe) = try await answer(to: spec("b.png", mostSeconds: 0))
        else {
            Issue.record("a task failed")
            return
        }
        #expect(outputs.map(\.path) == [folder.file("a.png")])
        #expect(try names() == ["a.png", "a.ppm"])
    }

    /// Its library opens files by names.
    @Test func `a worker reads OpenEXR, though it may open no file for writing`() async throws {
        let pixel: [Float] = [0.25, 0.5, 0.75, 1]
        let picture = OpenEXRBuilder(width: 8, rgba: Array(repeating: pixel, count: 64)).build()
        try write(picture, to: Array(folder.file("a.exr").utf8))
        guard
            case .finished(_, .outputs(let outputs, of: _)) = try await answer(
                to: frame(input("a.exr"), to: ["a.tiff"]))
        else {
            Issue.record("the task failed")
            return
        }
        #expect(outputs.map(\.image.format) == [.f32])
        #expect(try names() == ["a.exr", "a.tiff"])
    }

    @Test(arguments: [
        ("missing.ppm", "no such file", TaskFailure.Kind.input),
        ("text.ppm", "not a picture that Penumbra reads ('penumbra formats' lists them)", .data),
        ("folder.ppm", "is no regular file", .input),
    ])
    func `a task that fails leaves no file, and says what it said before`(
        name: String, words: String, kind: TaskFailure.Kind
    ) async throws {
        try write(Array("only text".utf8), to: Array(folder.file("text.ppm").utf8))
        try FileManager.default.createDirectory(atPath: folder.file("folder.ppm"), withIntermediateDirectories: false)
        let before = try names()
        let report = try await answer(to: frame(input(name), to: ["a.png", "b.png"]))
        guard case .failed(_, let failure) = report else {
            Issue.record("it was answered by \(report)")
            return
        }
        #expect(failure == TaskFailure(kind, "\(folder.file(name)): \(words)"))
        #expect(try names() == before)
    }

    @Test func `an output that cannot be created is told by its path, and the other one is removed`() async throws {
        try write(Self.picture, to: Array(folder.file("a.ppm").utf8))
        let report = try await answer(to: frame(input("a.ppm"), to: ["a.png", "nowhere/b.png"]))
        guard case .failed(_, let failure) = report else {
            Issue.record("it was answered by \(report)")
            return
        }
        #expect(
            failure.message == "\(folder.file("nowhere/b.png")): cannot be created: no such file or directory")
        #expect(try names() == ["a.ppm"])
    }

    /// A worker that gets bytes as they are.
    private func exitCode(of order: Order, standardInput: FileHandle, _ end: Int32) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: worker)
        process.standardInput = standardInput
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        try standardInput.close()
        let bytes = try FrameCodec.encode(order)
        #expect(channel_send(end, bytes, bytes.count, nil, 0) == bytes.count)
        shutdown(end, Int32(SHUT_WR))
        process.waitUntilExit()
        close(end)
        return process.terminationStatus
    }

    @Test func `a worker ends if fewer files come over a socket than its order lists`() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(channel_make_pair(&ends) == 0)
        let files = [SentFile(TaskFile("/etc/hostname", .read), .handed)]
        let order = Order.start(LeaseID(1), .compare(DigestTask(files: [.init(path: "/etc/hostname")])), files)
        #expect(try await exitCode(of: order, standardInput: FileHandle(fileDescriptor: ends[1]), ends[0]) == 70)
    }

    @Test func `a worker that gets its orders from a pipe opens the files by their paths`() async throws {
        let path = Array(folder.file("a.ppm").utf8)
        try write(Self.picture, to: path)
        let files = [
            SentFile(TaskFile(path: path, .read), .handed), SentFile(TaskFile(folder.path, .scratch), .handed),
            SentFile(TaskFile(folder.file("a.png"), .create), .handed),
        ]
        let (process, orders, reports) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: worker)
        process.standardInput = orders
        process.standardOutput = reports
        try process.run()
        let order = Order.start(LeaseID(1), frame(input("a.ppm"), to: ["a.png"]), files)
        orders.fileHandleForWriting.write(Data(try FrameCodec.encode(order)))
        var buffer = FrameBuffer()
        var answer: Report?
        while answer == nil {
            let bytes = reports.fileHandleForReading.availableData
            guard !bytes.isEmpty else { break }
            buffer.append(bytes)
            while let body = try buffer.next() {
                let report = try FrameCodec.decode(Report.self, from: body)
                if case .finished = report { answer = report }
                if case .failed = report { answer = report }
            }
        }
        try orders.fileHandleForWriting.close()
        process.waitUntilExit()
        guard case .finished(_, .outputs(let outputs, of: _)) = answer else {
            Issue.record("it was answered by \(String(describing: answer))")
            return
        }
        #expect(outputs.map(\.path) == [folder.file("a.png")])
    }
}
