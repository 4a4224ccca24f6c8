import Catalogs
import Coordination
import Engines
import FarmTestSupport
import Foundation
import Geometry
import Glibc
import JobModel
import Pictures
import SafeFiles
import Scheduling
import Synchronization
import TestSupport
import Testing
import WorkerProtocol

/// Large pictures, with engines that have no processes. Each file counts as a picture of 2000 × 10 pixels, which is large here.
@Suite struct PagePicturesTests {
    private final class Subject: Sendable {
        let folder: TemporaryFolder
        let clock = ManualClock()
        let pictures: PagePictures
        private let engines: Engines

        /// A second class, since the setup needs it before there is a subject.
        final class Engines: Sendable {
            private let all = Mutex<[(folders: PictureMaker.Folders, engine: FakeEngine)]>([])
            private let answer: @Sendable (Lease) -> FakeEngine.Answer
            private let words = Mutex<[String]>([])

            init(_ answer: @escaping @Sendable (Lease) -> FakeEngine.Answer) { self.answer = answer }

            func make(_ folders: PictureMaker.Folders) -> any Engine {
                let engine = FakeEngine(answer)
                all.withLock { $0.append((folders, engine)) }
                return engine
            }

            func note(_ text: String) { words.withLock { $0.append(text) } }

            var levelLeases: [Lease] { leases.filter { if case .frame = $0.spec { true } else { false } } }
            var leases: [Lease] { all.withLock { $0.flatMap(\.engine.leases) } }
            var folders: [PictureMaker.Folders] { all.withLock { $0.map(\.folders) } }
            var notes: [String] { words.withLock { $0 } }

            func reply(to lease: Lease, _ answer: FakeEngine.Answer) {
                // A worker has the same number in each engine, so only the engine that has the lease answers.
                let engine = all.withLock { $0.first { $0.engine.leases.contains(lease) }?.engine }
                engine?.reply(to: lease, answer)
            }
        }

        /// - Parameter isImpatient: whether answers wait only until levels are begun. Otherwise they wait as long as it takes.
        init(
            mostBytes: Int = 1 << 30, memory: Int = 1 << 24, isImpatient: Bool = false,
            _ answer: @escaping @Sendable (Lease) -> FakeEngine.Answer
        ) throws {
            folder = try TemporaryFolder()
            let engines = Engines(answer)
            self.engines = engines
            var setup = PictureMaker.Setup(folder: folder.file("thumbnails"), memory: memory) { engines.make($0) }
            let clock = clock.clock
            setup.clock = RunClock {
                clock.now
            } wait: { duration in
                guard isImpatient, duration == PagePictures.patience else {
                    return try await clock.sleep(for: duration)
                }
                while engines.levelLeases.isEmpty {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            setup.noted = { engines.note($0) }
            pictures = PagePictures(setup, leastArea: 20_000, mostBytes: mostBytes)
        }

        var levelLeases: [Lease] { engines.levelLeases }
        var partLeases: [Lease] { engines.leases.filter { if case .preview = $0.spec { true } else { false } } }
        var folders: [PictureMaker.Folders] { engines.folders }
        var notes: [String] { engines.notes }
        func reply(to lease: Lease, _ answer: FakeEngine.Answer) { engines.reply(to: lease, answer) }

        func source(_ name: String, roots: [String]? = nil) throws -> PictureSource {
            let path = folder.file(name)
            if !FileManager.default.fileExists(atPath: path) { try Data(name.utf8).write(to: URL(filePath: path)) }
            return try .file(path, roots: roots)
        }

        /// A part of the picture.
        func part(
            _ source: PictureSource, x: Int = 0, scale: Int = 2, format: String = "png",
            ofWidth width: Int = 2000, of owner: PictureOwner = .someone
        ) async throws(PictureError) -> [UInt8] {
            let facts = PictureFacts(width: width, height: 10, format: format, layout: "rgb", samples: "u8", frames: 1)
            let crop = try PictureCrop(
                PixelRect(x: x, y: 0, width: 20, height: 10), scale: scale, ofWidth: width, height: 10)
            return try await pictures.bytes(of: PictureOrder(source, .crop(crop)), whole: facts, for: owner)
        }

        /// The whole picture. It has levels of 2000 and of 1000 pixels.
        func thumbnail(
            _ source: PictureSource, width: Int = 480, format: String = "png"
        ) async throws(PictureError) -> [UInt8] {
            let facts = PictureFacts(width: 2000, height: 10, format: format, layout: "rgb", samples: "u8", frames: 1)
            return try await pictures.bytes(
                of: PictureOrder(source, .thumbnail(width: width)), whole: facts, for: .someone)
        }

        /// Asks until there is an answer.
        func finalPart(_ source: PictureSource) async throws -> [UInt8] {
            while true {
                do throws(PictureError) {
                    return try await part(source)
                } catch {
                    guard case .preparing = error else { throw error }
                }
            }
        }

        func run(_ body: @Sendable (Subject) async throws -> Void) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await self.pictures.run() }
                do {
                    try await body(self)
                } catch {
                    group.cancelAll()
                    throw error
                }
                group.cancelAll()
            }
        }

        func wait(until condition: () -> Bool) async { while !condition() { await Task.yield() } }
    }

    /// What a worker that does everything answers.
    private static func right(_ lease: Lease) -> FakeEngine.Answer {
        switch lease.spec {
        case .frame(let task): levels(task)
        case .preview(let task): part(task)
        default: .silence
        }
    }

    private static func levels(_ task: FrameTask) -> FakeEngine.Answer {
        do {
            let half = task.outputs.lazy.compactMap { size(of: $0) }.first { $0.height == 5 }
            let receipts = try task.outputs.map { output in
                let path = try #require(output.temporaryPath)
                try Data(repeating: 3, count: 1000).write(to: URL(filePath: path))
                let (width, height) = size(of: output) ?? (half.map { 2 * $0.width } ?? 2000, 10)
                let image = ImageFacts(fileFormat: "tiff", width: width, height: height, layout: .rgb, format: .u8)
                return OutputReceipt(
                    path: path, digest: Digest(high: 1, low: 2), bytes: 1000, image: image,
                    bands: [BandReceipt(rows: 0..<height, digest: Digest(high: 3, low: 4))],
                    pixels: EncodedPixels(
                        digest: Digest(high: 5, low: 6),
                        encoding: OutputEncoding(
                            encoder: "libtiff 1", layout: .rgb, samples: .u8, frames: 1, shrink: 1, penumbra: "1")))
            }
            return .done(.outputs(receipts, of: FileFacts(stamp: .make(), digest: Digest(high: 7, low: 8))))
        } catch {
            return .failed(TaskFailure(.output, "\(error)"))
        }
    }

    /// Nil for the whole picture.
    private static func size(of output: FrameTask.Output) -> (width: Int, height: Int)? {
        guard case .size(.sides(let width?, let height?))? = output.spec.chain.first?.values["size"] else { return nil }
        return (width, height)
    }

    /// The bytes are the path of the file that was read.
    private static func part(_ task: PreviewTask) -> FakeEngine.Answer {
        do {
            try Data(task.input.path.utf8).write(to: URL(filePath: task.path))
        } catch {
            return .failed(TaskFailure(.output, "\(error)"))
        }
        let view = task.view
        let left = Int(view.x.pixels(of: view.width)) - view.width / 2
        let part = PixelRect(x: left, y: 0, width: view.width, height: view.height)
        let image = ImageFacts(
            fileFormat: task.fileFormat, width: view.width, height: view.height, layout: .rgb, format: .u8)
        return .done(
            .preview(
                PreviewReceipt(
                    panels: [.init(part: part, width: 2000, height: max(10, view.height))], image: image)))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Levels

    @Test func `a large picture is decoded once for all of its parts`() async throws {
        try await Subject(Self.right).run { subject in
            let source = try subject.source("a")
            for (scale, x) in [(1, 0), (2, 0), (2, 100), (1, 1900)] {
                let file = Self.text(try await subject.part(source, x: x, scale: scale))
                #expect(file.hasSuffix("/\(scale).tiff"))
            }
            #expect(subject.levelLeases.count == 1)
            #expect(subject.partLeases.count == 4)
        }
    }

    /// The rows of a picture of 4000 pixels take 4.6 MB, those of its half 6.9 MB more, and those of its quarter 7.9 MB. The worker for levels
    /// has twice the memory of the other one.
    @Test func `with little memory, the smallest size is made of the largest one`() async throws {
        try await Subject(memory: 6_500_000, Self.right).run { subject in
            let source = try subject.source("a")
            for scale in [4, 2, 1] {
                let file = Self.text(try await subject.part(source, scale: scale, ofWidth: 4000))
                #expect(file.hasSuffix("/\(scale).tiff"))
            }
            let inputs = subject.levelLeases.map { if case .frame(let task) = $0.spec { task.input.path } else { "" } }
            #expect(inputs.count == 2 && inputs.first == source.path && inputs.last?.hasSuffix("/work/1.tiff") == true)
        }
    }

    @Test func `a size for which the worker has not enough memory is made of the picture`() async throws {
        try await Subject(memory: 1_200_000, Self.right).run { subject in
            let source = try subject.source("a")
            #expect(Self.text(try await subject.part(source)) == source.path)
            #expect(subject.levelLeases.isEmpty)
            #expect(Self.text(try await subject.part(source, scale: 1)).hasSuffix("/1.tiff"))
            #expect(subject.levelLeases.count == 1)
        }
    }

    @Test func `if the smallest size fails, nothing is left of the others`() async throws {
        try await Subject(memory: 6_500_000) { lease in
            guard case .frame(let task) = lease.spec, task.input.path.hasSuffix(".tiff") else {
                return Self.right(lease)
            }
            return .died(.signal(11))
        }.run { subject in
            let source = try subject.source("a")
            #expect(Self.text(try await subject.part(source, scale: 4, ofWidth: 4000)) == source.path)
            #expect(subject.levelLeases.count == 2)
            #expect(
                !FileSystem.files(below: subject.folder.file("thumbnails/large")).contains { $0.hasSuffix(".tiff") })
        }
    }

    @Test func `thumbnails of a large picture are made of its levels`() async throws {
        try await Subject(Self.right).run { subject in
            let source = try subject.source("a")
            #expect(Self.text(try await subject.thumbnail(source, width: 480)).hasSuffix("/2.tiff"))
            #expect(Self.text(try await subject.thumbnail(source, width: 1000)).hasSuffix("/2.tiff"))
            #expect(Self.text(try await subject.thumbnail(source, width: 1001)).hasSuffix("/1.tiff"))
            #expect(subject.levelLeases.count == 1)
            // Not all bytes of a level are shown, and those of a profile are none of them.
            guard case .preview(let task) = try #require(subject.partLeases.first).spec else {
                Issue.record("a thumbnail is a preview")
                return
            }
            #expect(task.input.color == .srgb)
        }
    }

    @Test func `a decoder for JPEG reduces a picture itself, so its thumbnails need no levels`() async throws {
        try await Subject(Self.right).run { subject in
            let source = try subject.source("a")
            #expect(Self.text(try await subject.thumbnail(source, format: "jpeg")) == source.path)
            #expect(subject.levelLeases.isEmpty)
        }
    }

    @Test func `without room a thumbnail of a large picture is made by the second worker`() async throws {
        try await Subject(mostBytes: 1000, Self.right).run { subject in
            let source = try subject.source("a")
            for width in [480, 1000, 480] {
                #expect(Self.text(try await subject.thumbnail(source, width: width)) == source.path)
            }
            #expect(subject.partLeases.count == 2)
            #expect(subject.folders.allSatisfy { $0.work.contains("/large/making/") })
        }
    }

    @Test func `of two large pictures of which one fits, the other one is made of its file`() async throws {
        // The levels of one picture take 2 000 bytes, and are counted with 1 200 000.
        try await Subject(mostBytes: 3_500_000, Self.right).run { subject in
            let sources = try ["a", "b"].map { try subject.source($0) }
            for x in [0, 20, 40, 60] {
                for source in sources { _ = try await subject.part(source, x: x) }
            }
            // Neither throws out the other.
            #expect(subject.levelLeases.count <= 2)
        }
    }

    @Test func `a part that was made before needs no levels`() async throws {
        try await Subject(Self.right).run { subject in
            let source = try subject.source("a")
            let first = try await subject.part(source)
            #expect(try await subject.part(source) == first)
            #expect(subject.partLeases.count == 1)
        }
    }

    @Test func `parts of a level get no filter, because it is reduced already`() async throws {
        try await Subject(Self.right).run { subject in
            _ = try await subject.part(subject.source("a"))
            guard case .preview(let task) = subject.partLeases[0].spec else { return }
            #expect(task.chains == [[]])
            #expect(task.input.bytes == nil)
        }
    }

    @Test func `a small picture has no levels`() async throws {
        try await Subject(Self.right).run { subject in
            let source = try subject.source("a")
            let facts = PictureFacts(width: 1999, height: 10, format: "png", layout: "rgb", samples: "u8", frames: 1)
            let crop = try PictureCrop(
                PixelRect(x: 0, y: 0, width: 20, height: 10), scale: 1, ofWidth: 1999, height: 10)
            let bytes = try await subject.pictures.bytes(
                of: PictureOrder(source, .crop(crop)), whole: facts, for: .someone)
            #expect(Self.text(bytes) == source.path)
            #expect(subject.levelLeases.isEmpty)
        }
    }

    @Test func `exact pixels of a TIFF are read from the file, unless there are levels`() async throws {
        try await Subject(Self.right).run { subject in
            let source = try subject.source("a")
            #expect(Self.text(try await subject.part(source, scale: 1, format: "tiff")) == source.path)
            #expect(subject.levelLeases.isEmpty)
            _ = try await subject.part(source, scale: 2, format: "tiff")
            #expect(subject.levelLeases.count == 1)
            #expect(Self.text(try await subject.part(source, x: 40, scale: 1, format: "tiff")).hasSuffix("/1.tiff"))
        }
    }

    @Test func `a scale at which the picture would be tiny is made of the picture`() async throws {
        try await Subject(Self.right).run { subject in
            let source = try subject.source("a")
            #expect(Self.text(try await subject.part(source, scale: 4)) == source.path)
            #expect(subject.levelLeases.isEmpty)
        }
    }

    @Test func `the worker for parts may read the levels of its own roots, and neither worker writes there`()
        async throws
    {
        try await Subject(Self.right).run { subject in
            let file = Self.text(try await subject.part(subject.source("a", roots: ["/srv"])))
            let other = Self.text(try await subject.part(subject.source("b")))
            let confined = subject.folders.filter { $0.roots == ["/srv"] }
            let free = subject.folders.filter { $0.roots == nil }
            #expect(confined.count == 2 && free.count == 2)
            for folders in confined {
                let levels = try #require(folders.levels)
                #expect(file.hasPrefix(levels + "/") && !other.hasPrefix(levels + "/"))
            }
            for folders in subject.folders { #expect(!file.hasPrefix(folders.work + "/")) }
            #expect(Set(subject.folders.map(\.work)).count == 2)
        }
    }

    // MARK: Waiting

    @Test func `whoever waits too long is told how much is done, and gets the part when it is`() async throws {
        try await Subject(isImpatient: true) { lease in
            if case .frame = lease.spec { .silence } else { Self.right(lease) }
        }.run { subject in
            let source = try subject.source("a")
            for _ in 1...2 {
                await #expect(throws: PictureError.preparing(percent: 0)) { try await subject.part(source) }
            }
            let lease = try #require(subject.levelLeases.first)
            guard case .frame(let task) = lease.spec, let path = task.outputs[0].temporaryPath else { return }
            // A sparse file that is larger than all levels.
            try Data().write(to: URL(filePath: path))
            try #require(truncate(path, 1 << 30) == 0)
            await #expect(throws: PictureError.preparing(percent: 90)) { try await subject.part(source) }
            // It goes on although nobody waits.
            subject.reply(to: lease, Self.right(lease))
            #expect(Self.text(try await subject.finalPart(source)).hasSuffix("/2.tiff"))
            #expect(subject.levelLeases.count == 1)
        }
    }

    @Test func `a wait for levels is told in words`() {
        #expect(
            PictureError.preparing(percent: 40).message == """
                making this picture ready to look around: 40 %
                   = ask again in a second
                """)
        #expect(
            PictureError.preparing(percent: nil).message == """
                this picture is made ready to look around after another one
                   = ask again in some seconds
                """)
    }

    @Test func `levels of one picture are made after those of another one, and meanwhile thumbnails are made`()
        async throws
    {
        try await Subject(isImpatient: true) { lease in
            if case .frame = lease.spec { .silence } else { Self.right(lease) }
        }.run { subject in
            let first = try subject.source("a")
            await #expect(throws: PictureError.preparing(percent: 0)) { try await subject.part(first) }
            let other = try subject.source("b")
            await #expect(throws: PictureError.preparing(percent: nil)) {
                try await subject.part(other, of: PictureOwner("other"))
            }
            let thumbnail = PictureOrder(try subject.source("c"), .thumbnail(width: 10))
            let bytes = try await subject.pictures.parts.bytes(of: thumbnail, for: .someone)
            await #expect(throws: PictureError.preparing(percent: 0)) { try await subject.thumbnail(first) }
            #expect(Self.text(bytes) == subject.folder.file("c"))
            #expect(subject.levelLeases.count == 1)
        }
    }

    // MARK: Failures

    @Test func `without room the parts are made of the picture, which is reported once`() async throws {
        try await Subject(mostBytes: 1000, Self.right).run { subject in
            let source = try subject.source("a")
            for x in [0, 100] { #expect(Self.text(try await subject.part(source, x: x)) == source.path) }
            #expect(Self.text(try await subject.part(subject.source("b"))).hasSuffix("/b"))
            #expect(subject.levelLeases.isEmpty)
            #expect(subject.notes.count == 1)
            #expect(
                subject.notes.first?.hasPrefix("parts of large pictures are made slowly: the picture would take ")
                    == true)
        }
    }

    @Test(arguments: [TaskFailure.Kind.storage, .output, .data, .limit])
    func `levels that cannot be made are not begun again for each part`(kind: TaskFailure.Kind) async throws {
        try await Subject { lease in
            guard case .frame(let task) = lease.spec else { return Self.right(lease) }
            // Half of a file.
            if let path = task.outputs[0].temporaryPath { try? Data([1]).write(to: URL(filePath: path)) }
            return .failed(TaskFailure(kind, "no"))
        }.run { subject in
            let source = try subject.source("a")
            for x in [0, 100] { #expect(Self.text(try await subject.part(source, x: x)) == source.path) }
            #expect(subject.levelLeases.count == 1)
            // Nothing that is not whole is left, nor read.
            let left = FileSystem.files(below: subject.folder.file("thumbnails/large"))
            #expect(!left.contains { $0.hasSuffix(".tiff") })
        }
    }

    @Test func `parts that are made of the picture have the pixels of its levels`() async throws {
        try await Subject(mostBytes: 1000, Self.right).run { subject in
            _ = try await subject.part(subject.source("a"))
            guard case .preview(let task) = subject.partLeases[0].spec else { return }
            // No decoder reduces it.
            #expect(task.input.shrink == 1)
            #expect(task.chains.first?.map(\.filter) == ["thumbnail"])
        }
    }

    @Test func `a picture that changes while its levels are made has none`() async throws {
        try await Subject { lease in
            if case .frame = lease.spec { .silence } else { Self.right(lease) }
        }.run { subject in
            let source = try subject.source("a")
            async let bytes = subject.part(source)
            await subject.wait { subject.levelLeases.count == 1 }
            try Data("another content".utf8).write(to: URL(filePath: source.path))
            subject.reply(to: subject.levelLeases[0], Self.right(subject.levelLeases[0]))
            do {
                _ = try await bytes
                Issue.record("the picture has changed")
            } catch {
                #expect(error as? PictureError == .missing(PictureOrder.changed))
            }
            #expect(
                !FileSystem.files(below: subject.folder.file("thumbnails/large")).contains { $0.hasSuffix(".tiff") })
        }
    }

    @Test func `a picture that is removed is not shown from its levels`() async throws {
        try await Subject(Self.right).run { subject in
            let source = try subject.source("a")
            _ = try await subject.part(source)
            try FileManager.default.removeItem(atPath: source.path)
            await #expect(throws: PictureError.missing(PictureOrder.changed)) {
                _ = try await subject.part(source, x: 100)
            }
        }
    }

    @Test func `a level that cannot be read is removed, and the part is made of the picture`() async throws {
        try await Subject { lease in
            guard case .preview(let task) = lease.spec, task.input.path.hasSuffix(".tiff") else {
                return Self.right(lease)
            }
            return .failed(TaskFailure(.data, "damaged"))
        }.run { subject in
            let source = try subject.source("a")
            #expect(Self.text(try await subject.part(source)) == source.path)
            #expect(
                !FileSystem.files(below: subject.folder.file("thumbnails/large")).contains { $0.hasSuffix(".tiff") })
        }
    }

    @Test func `nothing is left of levels when the service stops`() async throws {
        let subject = try Subject(Self.right)
        try await subject.run { subject in _ = try await subject.part(subject.source("a")) }
        #expect(!FileSystem.exists(subject.folder.file("thumbnails/large")))
    }
}
