import Catalogs
import Engines
import ExamplePictures
import Foundation
import Geometry
import Glibc
import JobModel
import Pictures
import Raster
import TestSupport
import Testing
import WorkerProtocol

/// The maker with real worker processes, and real pictures.
@Suite struct RealWorkerTests {
    private let folder: TemporaryFolder
    /// A variable in the environment of this value's workers alone.
    private let mark = "PENUMBRA_PICTURE_TEST=\(UUID().uuidString)"
    private let maker: PictureMaker

    init() throws {
        folder = try TemporaryFolder()
        // As programs that run the farm do: a worker that ends is an error of the call that writes to it.
        signal(SIGPIPE, SIG_IGN)
        let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let parts = mark.split(separator: "=").map(String.init)
        let command = WorkerCommand(
            executable: program.deletingLastPathComponent().appending(path: "penumbra-worker").path,
            environment: [parts[0]: parts[1], "PENUMBRA_NICE": "19"])
        maker = PictureMaker(
            PictureMaker.Setup(folder: folder.file("thumbnails"), memory: 64 << 20) { _ in LocalEngine(command: command)
            })
    }

    /// Runs the maker while the body runs.
    private func run(_ body: () async throws -> Void) async throws {
        let maker = maker
        let running = Task { await maker.run() }
        do {
            try await body()
        } catch {
            running.cancel()
            await running.value
            throw error
        }
        running.cancel()
        await running.value
    }

    private func draw(_ name: String = "a.png", width: Int = 300, height: Int = 200) throws -> AnyRaster {
        try PictureFiles.write(Scene.eclipse(width: width, height: height), to: folder.file(name))
        return try PictureFiles.read(folder.file(name))
    }

    private func source(_ name: String = "a.png") throws -> PictureSource { try .file(folder.file(name)) }

    private func picture(_ bytes: [UInt8], as name: String) throws -> AnyRaster {
        try Data(bytes).write(to: URL(filePath: folder.file(name)))
        return try PictureFiles.read(folder.file(name))
    }

    // MARK: Pictures

    @Test func `facts are those of the file`() async throws {
        _ = try draw()
        try await run {
            let facts = try await maker.facts(of: source(), for: .someone)
            #expect(
                facts
                    == PictureFacts(width: 300, height: 200, format: "png", layout: "rgb", samples: "u8", frames: 1))
        }
    }

    @Test func `a thumbnail is the whole picture, small, as WebP`() async throws {
        _ = try draw()
        try await run {
            let bytes = try await maker.bytes(of: PictureOrder(source(), .thumbnail(width: 60)), for: .someone)
            let small = try picture(bytes, as: "small.webp")
            #expect(small.rect == PixelRect(x: 0, y: 0, width: 60, height: 40))
        }
    }

    @Test func `a thumbnail is never larger than its picture`() async throws {
        _ = try draw(width: 30, height: 20)
        try await run {
            let bytes = try await maker.bytes(of: PictureOrder(source(), .thumbnail(width: 480)), for: .someone)
            #expect(try picture(bytes, as: "small.webp").rect == PixelRect(x: 0, y: 0, width: 30, height: 20))
        }
    }

    @Test(arguments: [
        PixelRect(x: 0, y: 0, width: 300, height: 200), PixelRect(x: 37, y: 11, width: 65, height: 33),
        PixelRect(x: 299, y: 199, width: 64, height: 64),
    ])
    func `a crop has exactly the pixels of its picture`(rect: PixelRect) async throws {
        let whole = try draw()
        try await run {
            let crop = try PictureCrop(rect, scale: 1, ofWidth: 300, height: 200)
            let bytes = try await maker.bytes(of: PictureOrder(source(), .crop(crop)), for: .someone)
            let part = try picture(bytes, as: "part.png")
            let wanted = whole.cropped(to: crop.part).translated(x: -crop.part.x, y: -crop.part.y)
            #expect(part == wanted)
        }
    }

    @Test func `reduced crops fit together`() async throws {
        _ = try draw()
        try await run {
            func part(_ x: Int, _ width: Int, as name: String) async throws -> AnyRaster {
                let crop = try PictureCrop(
                    PixelRect(x: x, y: 0, width: width, height: 200), scale: 4, ofWidth: 300, height: 200)
                return try picture(
                    try await maker.bytes(of: PictureOrder(source(), .crop(crop)), for: .someone), as: name)
            }
            let whole = try await part(0, 300, as: "whole.png")
            #expect(whole.rect == PixelRect(x: 0, y: 0, width: 75, height: 50))
            var joined = AnyRaster(zeroed: whole.rect, layout: whole.layout, format: whole.format)
            joined.paste(try await part(0, 128, as: "left.png"))
            joined.paste(try await part(128, 172, as: "right.png").translated(x: 32, y: 0))
            #expect(joined == whole)
        }
    }

    // MARK: Bad pictures

    @Test func `a damaged picture is told in the worker's words, and the next one is made`() async throws {
        _ = try draw()
        let data = try Data(contentsOf: URL(filePath: folder.file("a.png")))
        try data.prefix(data.count / 2).write(to: URL(filePath: folder.file("cut.png")))
        try Data("<html>".utf8).write(to: URL(filePath: folder.file("page.png")))
        try await run {
            for name in ["cut.png", "page.png"] {
                let order = PictureOrder(try source(name), .thumbnail(width: 60))
                let error = await #expect(throws: PictureError.self) {
                    _ = try await maker.bytes(of: order, for: .someone)
                }
                guard case .broken(let message) = error else {
                    Issue.record("\(name) is broken, and not: \(String(describing: error))")
                    continue
                }
                #expect(message.hasPrefix(folder.file(name)))
            }
            _ = try await maker.bytes(of: PictureOrder(source(), .thumbnail(width: 60)), for: .someone)
        }
    }

    /// A header that promises 40,000 megapixels.
    @Test func `a picture that would unpack to too much is refused by its header`() async throws {
        var data = try {
            _ = try draw()
            return try Data(contentsOf: URL(filePath: folder.file("a.png")))
        }()
        // Width and height are the first values of the first chunk.
        for offset in [16, 20] { data.replaceSubrange(offset..<offset + 4, with: [0x00, 0x03, 0x0D, 0x40]) }
        data.replaceSubrange(29..<33, with: Self.checksum(of: data[12..<29]))
        try data.write(to: URL(filePath: folder.file("bomb.png")))
        try await run {
            let order = PictureOrder(try source("bomb.png"), .thumbnail(width: 60))
            let error = await #expect(throws: PictureError.self) { _ = try await maker.bytes(of: order, for: .someone) }
            guard case .broken(let message) = error else {
                Issue.record("it is broken, and not: \(String(describing: error))")
                return
            }
            #expect(message.contains("200000"), "\(message)")
        }
    }

    /// The CRC of a PNG chunk's type and data, big-endian.
    private static func checksum(of bytes: Data) -> [UInt8] {
        var crc: UInt32 = .max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: ~crc >> $0) }
    }

    // MARK: Processes

    /// Those of this value's workers. A process that has ended and was not reaped has no environment.
    private func workers() -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            let variables = FileHandle(forReadingAtPath: "/proc/\(process)/environ")?.readDataToEndOfFile() ?? Data()
            return variables.range(of: Data(mark.utf8)) != nil
        }
    }

    private func parent(of process: pid_t) -> pid_t? {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("PPid:") }
        return line.flatMap { $0.split(separator: "\t").last }.flatMap { pid_t($0) }
    }

    /// A sparse file of a terabyte, whose digest nobody lives to see.
    private func endless() throws -> PictureOrder {
        try Data().write(to: URL(filePath: folder.file("endless")))
        try #require(truncate(folder.file("endless"), 1 << 40) == 0)
        return PictureOrder(try source("endless"), .digest)
    }

    @Test func `a worker that is killed while it has nothing to do is replaced`() async throws {
        _ = try draw()
        try await run {
            _ = try await maker.facts(of: source(), for: .someone)
            for process in workers() { kill(process, SIGKILL) }
            _ = try await maker.bytes(of: PictureOrder(source(), .thumbnail(width: 60)), for: .someone)
        }
    }

    @Test func `a picture whose worker is killed twice fails alone`() async throws {
        _ = try draw()
        let order = try endless()
        try await run {
            async let bytes = maker.bytes(of: order, for: .someone)
            var killed: Set<pid_t> = []
            while killed.count < 2 {
                for process in workers() where isReading(process) && killed.insert(process).inserted {
                    kill(process, SIGKILL)
                }
                await Task.yield()
            }
            do {
                _ = try await bytes
                Issue.record("a terabyte was read")
            } catch {
                guard case .broken(let message) = error as? PictureError else {
                    Issue.record("it is broken, and not: \(error)")
                    return
                }
                #expect(message.hasPrefix("this picture cannot be shown: the worker was killed"))
            }
            _ = try await maker.facts(of: source(), for: .someone)
        }
    }

    /// Whether a process has the endless file open.
    private func isReading(_ process: pid_t) -> Bool {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
        return files.contains { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(name)")
            return target == folder.file("endless")
        }
    }

    @Test func `the worker has the lowest priority, and ends with the service`() async throws {
        _ = try draw()
        try await run {
            _ = try await maker.facts(of: source(), for: .someone)
            for process in workers() { #expect(getpriority(Int32(PRIO_PROCESS.rawValue), id_t(process)) == 19) }
            // A worker has started another process, which starts ffmpeg.
            let found = workers()
            #expect(found.count { process in parent(of: process).map { !found.contains($0) } ?? true } == 1)
        }
        #expect(workers() == [])
        // Nothing temporary is left.
        #expect(!FileManager.default.fileExists(atPath: PictureMaker.Setup.workFolder(in: folder.file("thumbnails"))))
    }
}
