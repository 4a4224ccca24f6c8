import CChannel
import Catalogs
import Confinement
import Engines
import Foundation
import Geometry
import Glibc
import JobModel
import TestSupport
import Testing
import WorkerProtocol

/// The sender of orders, and the other end of its socket in place of a worker.
@Suite struct OrderSenderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// What a worker would receive.
    private struct Received {
        var orders: [Order] = []
        /// Descriptors, which the test closes.
        var files: [Int32] = []
    }

    /// The worker's end of a socket.
    private final class WorkersEnd: Sendable {
        let socket: Int32

        init(_ socket: Int32) { self.socket = socket }

        deinit { close(socket) }

        /// Waits for a number of orders, or for the end of the stream.
        func receive(_ count: Int) throws -> Received {
            var (received, buffer) = (Received(), FrameBuffer())
            var bytes = [UInt8](repeating: 0, count: 65536)
            var files = [Int32](repeating: -1, count: Int(CHANNEL_MOST_FILES))
            while received.orders.count < count {
                var (fileCount, areMissing): (Int32, Int32) = (0, 0)
                let size = channel_receive(socket, &bytes, bytes.count, &files, &fileCount, &areMissing)
                guard size > 0 else { break }
                received.files += files[..<Int(fileCount)]
                buffer.append(bytes[..<Int(size)])
                while let body = try buffer.next() {
                    received.orders.append(try FrameCodec.decode(Order.self, from: body))
                }
            }
            return received
        }
    }

    private func pair(
        restrictThread: (@Sendable () throws -> Void)? = nil
    ) throws -> (OrderSender, WorkersEnd) {
        var ends: [Int32] = [-1, -1]
        try #require(channel_make_pair(&ends) == 0)
        let conditions = OrderSender.Conditions(temporaryFolder: folder.path, restrictThread: restrictThread)
        return (try OrderSender(ends[0], conditions), WorkersEnd(ends[1]))
    }

    private func write(_ text: String, to name: String) throws -> DigestTask.File {
        try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
        return DigestTask.File(path: folder.file(name))
    }

    private func content(_ file: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(file, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// A task that writes one file.
    private func tile(_ name: String) -> TaskSpec {
        let rect = PixelRect(x: 0, y: 0, width: 1, height: 1)
        return .tile(
            TileTask(
                canvas: CanvasReference(path: "/canvas", rect: rect, layout: .gray, format: .u8), chain: [], rect: rect,
                tilePath: folder.file(name)))
    }

    private func exists(_ name: String) -> Bool { access(folder.file(name), F_OK) == 0 }

    @Test func `orders come with their open files, in the order of their lists`() async throws {
        let (sender, worker) = try pair()
        let (a, b) = (try write("first", to: "a"), try write("second", to: "b"))
        let missing = DigestTask.File(path: folder.file("missing"))
        let specs = [[a, missing, b], [], [b]].map { TaskSpec.compare(DigestTask(files: $0)) }
        for (number, spec) in specs.enumerated() { sender.send(LeaseID(number + 1), spec) }
        let received = try worker.receive(3)
        defer { for file in received.files { close(file) } }
        let (first, second) = (TaskFile(a.path, .read), TaskFile(b.path, .read))
        #expect(
            received.orders == [
                .start(
                    LeaseID(1), specs[0],
                    [
                        SentFile(first, .handed), SentFile(TaskFile(missing.path, .read), .failed(code: ENOENT)),
                        SentFile(second, .handed),
                    ]),
                .start(LeaseID(2), specs[1], []), .start(LeaseID(3), specs[2], [SentFile(second, .handed)]),
            ])
        #expect(received.files.map(content) == ["first", "second", "second"])
        await sender.endOfProcess()
    }

    @Test(arguments: [200, 450]) func `hundreds of files come with one order`(count: Int) async throws {
        let (sender, worker) = try pair()
        let files = try (0..<count).map { try write("\($0)", to: "\($0)") }
        sender.send(LeaseID(1), .compare(DigestTask(files: files)))
        let received = try worker.receive(1)
        defer { for file in received.files { close(file) } }
        #expect(received.files.map(content) == files.indices.map { "\($0)" })
        await sender.endOfProcess()
    }

    @Test func `who reads the orders as plain bytes gets all of them`() async throws {
        let (sender, worker) = try pair()
        sender.send(LeaseID(1), .compare(DigestTask(files: [try write("text", to: "a")])))
        sender.finish()
        var (buffer, bytes) = (FrameBuffer(), [UInt8](repeating: 0, count: 1000))
        while case let count = read(worker.socket, &bytes, bytes.count), count > 0 { buffer.append(bytes[..<count]) }
        let body = try #require(try buffer.next())
        guard case .start(LeaseID(1), _, let sent, _) = try FrameCodec.decode(Order.self, from: body) else {
            Issue.record("it is another order")
            return
        }
        #expect(sent.map(\.outcome) == [.handed])
        await sender.endOfProcess()
    }

    @Test func `the files of an order that failed are gone when the failure is passed on`() async throws {
        let (sender, worker) = try pair()
        sender.send(LeaseID(1), tile("tile"))
        for file in try worker.receive(1).files { close(file) }
        #expect(exists("tile"))
        let isThere = await withCheckedContinuation { answer in
            sender.removeFiles { _ in answer.resume(returning: exists("tile")) }
        }
        #expect(!isThere)
        await sender.endOfProcess()
    }

    @Test func `the files of an order whose worker ends are removed, and those of earlier orders stay`() async throws {
        let (sender, worker) = try pair()
        sender.send(LeaseID(1), tile("done"))
        for file in try worker.receive(1).files { close(file) }
        await withCheckedContinuation { answer in sender.finishFiles { _ in answer.resume() } }
        sender.send(LeaseID(2), tile("begun"))
        for file in try worker.receive(1).files { close(file) }
        #expect(exists("begun"))
        await sender.endOfProcess()
        #expect(exists("done"))
        #expect(!exists("begun"))
    }

    private func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        return folder.file(name)
    }

    /// - Parameter target: where the order wants its output, which is a folder.
    private func pairForFolders(
        to target: String, format: String = "dzi"
    ) throws -> (OrderSender, WorkersEnd, TaskSpec) {
        var ends: [Int32] = [-1, -1]
        try #require(channel_make_pair(&ends) == 0)
        let conditions = OrderSender.Conditions(
            temporaryFolder: folder.path, folders: [try makeFolder("out/.penumbra-1-folders")])
        let sender = try OrderSender(ends[0], conditions)
        sender.setFolderFormats(["dzi", "iiif"])
        let task = FrameTask(
            input: InputSpec(path: try write("", to: "in.png").path, maxPixels: 1, color: .keep), chain: [],
            outputs: [
                FrameTask.Output(
                    OutputSpec(format: format, save: SaveOptions()), temporaryPath: folder.file(target), name: "a")
            ], tileMemory: 1, frameMemory: 1)
        return (sender, WorkersEnd(ends[1]), .frame(task))
    }

    @Test func `a folder that the worker created is where the order wanted it when its answer is passed on`()
        async throws
    {
        let (sender, worker, spec) = try pairForFolders(to: "out/.a")
        sender.send(LeaseID(1), spec)
        let received = try worker.receive(1)
        for file in received.files { close(file) }
        guard case .start(_, .frame(let task), _, _) = received.orders[0] else {
            Issue.record("it is another order")
            return
        }
        #expect(task.outputs[0].temporaryPath == folder.file("out/.penumbra-1-folders/.a"))
        _ = try makeFolder("out/.penumbra-1-folders/.a/a_files/0")
        for name in ["a.dzi", "a_files/0/0_0.jpg"] { _ = try write("", to: "out/.penumbra-1-folders/.a/\(name)") }
        let tile = folder.file("out/.penumbra-1-folders/.a/a_files/0/0_0.jpg")
        #expect(chmod(tile, 0o6777) == 0)
        let moved = await withCheckedContinuation { answer in sender.finishFiles { answer.resume(returning: $0) } }
        #expect(try moved.get().map(\.target) == [folder.file("out/.a")])
        var (made, usual) = (stat(), stat())
        #expect(stat(folder.file("out/.a/a_files/0/0_0.jpg"), &made) == 0)
        #expect(stat(try write("", to: "usual").path, &usual) == 0)
        #expect(made.st_mode == usual.st_mode)
        #expect(exists("out/.a") && !exists("out/.penumbra-1-folders/.a"))
        await sender.endOfProcess()
        #expect(exists("out/.a"))
    }

    @Test func `a folder that cannot be moved is a failure of its order, and is removed`() async throws {
        let (sender, worker, spec) = try pairForFolders(to: "out/missing/.a")
        sender.send(LeaseID(1), spec)
        for file in try worker.receive(1).files { close(file) }
        let source = try makeFolder("out/.penumbra-1-folders/.a")
        let moved = await withCheckedContinuation { answer in sender.finishFiles { answer.resume(returning: $0) } }
        #expect(
            moved
                == .failure(
                    TaskFailure(
                        .transient,
                        "\(folder.file("out/missing/.a")): cannot be moved there from \(source): No such file or directory"
                    ))
        )
        #expect(!exists("out/.penumbra-1-folders/.a"))
        await sender.endOfProcess()
    }

    @Test(arguments: [
        "shell.php", "a_files/index.html", "a_files/0/shell.php", "a_files/0/0_0.jpg/x", "a_files/0/1/0_0.jpg",
    ])
    func `a folder with anything but a picture in it is removed, and its name is told`(name: String) async throws {
        let (sender, worker, spec) = try pairForFolders(to: "out/.a")
        sender.send(LeaseID(1), spec)
        for file in try worker.receive(1).files { close(file) }
        _ = try makeFolder("out/.penumbra-1-folders/.a/a_files/0")
        _ = try makeFolder("out/.penumbra-1-folders/.a/\(PathNames.folder(of: name) ?? "")")
        _ = try write("", to: "out/.penumbra-1-folders/.a/\(name)")
        let moved = await withCheckedContinuation { answer in sender.finishFiles { answer.resume(returning: $0) } }
        guard case .failure(let failure) = moved else {
            Issue.record("it is taken for a picture")
            return
        }
        let told =
            name == "a_files/0/0_0.jpg/x" ? "a_files/0/0_0.jpg" : name == "a_files/0/1/0_0.jpg" ? "a_files/0/1" : name
        #expect(failure.kind == .transient)
        #expect(
            failure.message
                == "\(folder.file("out/.a")): the worker put '\(told)' into it, which is no part of a Deep Zoom picture"
        )
        #expect(!exists("out/.a") && !exists("out/.penumbra-1-folders/.a"))
        await sender.endOfProcess()
    }

    @Test(arguments: ["full/max/0/x.php", "full/max/1", "a.dzi", "0,0,8,8/8,8/0/default.jpg/x"])
    func `the same holds for a folder of IIIF`(name: String) async throws {
        let (sender, worker, spec) = try pairForFolders(to: "out/.a", format: "iiif")
        sender.send(LeaseID(1), spec)
        for file in try worker.receive(1).files { close(file) }
        for file in ["info.json", "full/max/0/default.jpg", name] {
            _ = try makeFolder("out/.penumbra-1-folders/.a/\(PathNames.folder(of: file) ?? "")")
            _ = try write("", to: "out/.penumbra-1-folders/.a/\(file)")
        }
        let moved = await withCheckedContinuation { answer in sender.finishFiles { answer.resume(returning: $0) } }
        guard case .failure(let failure) = moved else {
            Issue.record("it is taken for a picture")
            return
        }
        let told = name.hasSuffix(".jpg/x") ? PathNames.folder(of: name) ?? "" : name
        #expect(
            failure.message
                == "\(folder.file("out/.a")): the worker put '\(told)' into it, which is no part of a IIIF picture")
        await sender.endOfProcess()
    }

    @Test func `a folder of IIIF is where the order wanted it`() async throws {
        let (sender, worker, spec) = try pairForFolders(to: "out/.a", format: "iiif")
        sender.send(LeaseID(1), spec)
        for file in try worker.receive(1).files { close(file) }
        for file in ["info.json", "full/max/0/default.jpg", "0,0,8,8/4,4/0/default.jpg"] {
            _ = try makeFolder("out/.penumbra-1-folders/.a/\(PathNames.folder(of: file) ?? "")")
            _ = try write("", to: "out/.penumbra-1-folders/.a/\(file)")
        }
        let moved = await withCheckedContinuation { answer in sender.finishFiles { answer.resume(returning: $0) } }
        #expect(try moved.get().map(\.target) == [folder.file("out/.a")])
        #expect(exists("out/.a/0,0,8,8/4,4/0/default.jpg"))
        await sender.endOfProcess()
    }

    @Test func `a folder of an order that failed is removed, and its failure names the path that people know`()
        async throws
    {
        let (sender, worker, spec) = try pairForFolders(to: "out/.a")
        sender.send(LeaseID(1), spec)
        for file in try worker.receive(1).files { close(file) }
        _ = try makeFolder("out/.penumbra-1-folders/.a")
        let moves = await withCheckedContinuation { answer in sender.removeFiles { answer.resume(returning: $0) } }
        #expect(moves.map(\.target) == [folder.file("out/.a")])
        #expect(!exists("out/.penumbra-1-folders/.a"))
        await sender.endOfProcess()
    }

    @Test func `a worker that is let go may still answer its order`() async throws {
        let (sender, worker) = try pair()
        sender.send(LeaseID(1), tile("tile"))
        sender.finish()
        let received = try worker.receive(2)
        for file in received.files { close(file) }
        // The second order never comes: the stream has ended.
        #expect(received.orders.count == 1)
        await withCheckedContinuation { answer in sender.removeFiles { _ in answer.resume() } }
        #expect(!exists("tile"))
        await sender.endOfProcess()
    }

    @Test func `an order that nobody reads does not hold up the end of its process`() async throws {
        let (sender, worker) = try pair()
        let files = (0..<20_000).map { DigestTask.File(path: "/nowhere/\($0)/" + String(repeating: "x", count: 100)) }
        sender.send(LeaseID(1), .compare(DigestTask(files: files)))
        // The sending has begun.
        var byte: UInt8 = 0
        #expect(read(worker.socket, &byte, 1) == 1)
        await sender.endOfProcess()
    }

    /// Makes opening a file for writing wait, as a file server does that gives no answer. A lease of the file: `F_SETLEASE`.
    private static func hold(_ path: String) -> Int32? {
        signal(SIGIO, SIG_IGN)
        let file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0, fcntl(file, 1024, Int32(F_RDLCK)) == 0 else { return nil }
        return file
    }

    private static let canHold: Bool = {
        guard let folder = try? TemporaryFolder(), let file = hold(folder.file("held")) else { return false }
        close(file)
        return true
    }()

    @Test(.enabled(if: canHold)) func `a file server that does not answer does not hold up the end of its process`()
        async throws
    {
        let held = try #require(Self.hold(folder.file("out.png")))
        let (sender, worker) = try pair()
        let output = FrameTask.Output(
            OutputSpec(format: "png", save: SaveOptions()), temporaryPath: folder.file("out.png"), name: "out.png")
        let input = InputSpec(path: folder.file("missing"), maxPixels: 1, color: .keep)
        sender.send(
            LeaseID(1), .frame(FrameTask(input: input, chain: [], outputs: [output], tileMemory: 1, frameMemory: 1)))
        await sender.endOfProcess(patience: .milliseconds(1))
        // The thread is still waiting, and nothing was sent.
        #expect(exists("out.png"))
        #expect(try worker.receive(1).orders == [])
        close(held)
    }

    @Test func `a thread that cannot be restricted opens nothing`() async throws {
        let (sender, worker) = try pair { throw CancellationError() }
        let file = try write("secret", to: "a")
        sender.send(LeaseID(1), .compare(DigestTask(files: [file])))
        let received = try worker.receive(1)
        #expect(received.files == [])
        guard case .start(_, _, let sent, _) = try #require(received.orders.first) else { return }
        #expect(sent == [SentFile(TaskFile(file.path, .read), .failed(code: EACCES))])
        await sender.endOfProcess()
    }

    private static let hasLandlock = if case .version = Landlock.support { true } else { false }

    @Test(.enabled(if: hasLandlock)) func `files are opened on a thread that was confined before`() async throws {
        let inside = folder.file("inside")
        try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: false)
        let files = [try write("may be read", to: "inside/a"), try write("secret", to: "outside")]
        try FileManager.default.createSymbolicLink(atPath: "\(inside)/link", withDestinationPath: files[1].path)
        let (sender, worker) = try pair {
            try Confinement(readable: [Confinement.Place(RealPath.resolve(inside))]).restrictThread()
        }
        let spec = TaskSpec.compare(DigestTask(files: files + [DigestTask.File(path: "\(inside)/link")]))
        sender.send(LeaseID(1), spec)
        let received = try worker.receive(1)
        defer { for file in received.files { close(file) } }
        guard case .start(_, _, let sent, _) = try #require(received.orders.first) else { return }
        #expect(sent.map(\.outcome) == [.handed, .failed(code: EACCES), .failed(code: EACCES)])
        #expect(received.files.map(content) == ["may be read"])
        await sender.endOfProcess()
        // The other threads keep their rights.
        #expect(try String(contentsOfFile: files[1].path, encoding: .utf8) == "secret")
    }
}
