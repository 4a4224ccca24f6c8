import Engines
import FarmTestSupport
import Foundation
import JobModel
import Pictures
import Scheduling
import Synchronization
import TestSupport
import Testing
import WorkerProtocol

/// The shell with an engine that has no processes.
@Suite struct PictureMakerTests {
    /// A maker that runs, and the engines that it has started.
    private final class Subject: Sendable {
        let folder: TemporaryFolder
        let clock = ManualClock()
        private let engines = Mutex<[(roots: [String]?, engine: FakeEngine)]>([])
        private let answer: @Sendable (Lease) -> FakeEngine.Answer
        let maker: PictureMaker

        init(_ answer: @escaping @Sendable (Lease) -> FakeEngine.Answer) throws {
            folder = try TemporaryFolder()
            self.answer = answer
            let box = Box()
            var setup = PictureMaker.Setup(folder: folder.file("thumbnails"), memory: 1 << 20) { folders in
                try box.make(folders.roots)
            }
            setup.clock = clock.clock
            maker = PictureMaker(setup)
            box.subject.withLock { $0 = Weak(subject: self) }
        }

        /// The setup needs the engines before there is a subject.
        private final class Box: Sendable {
            let subject = Mutex(Weak())

            func make(_ roots: [String]?) throws -> any Engine {
                try #require(subject.withLock { $0.subject }).newEngine(roots)
            }
        }

        private struct Weak { weak var subject: Subject? }

        private func newEngine(_ roots: [String]?) -> any Engine {
            let engine = FakeEngine(answer)
            engines.withLock { $0.append((roots, engine)) }
            return engine
        }

        var roots: [[String]?] { engines.withLock { $0.map(\.roots) } }
        var latest: FakeEngine? { engines.withLock { $0.last?.engine } }
        var leases: [Lease] { engines.withLock { $0.flatMap { $0.engine.leases } } }

        func file(_ name: String, roots: [String]? = nil) throws -> PictureOrder {
            let path = folder.file(name)
            if !FileManager.default.fileExists(atPath: path) { try Data(name.utf8).write(to: URL(filePath: path)) }
            return PictureOrder(try .file(path, roots: roots), .digest)
        }

        /// Runs the maker while the body runs.
        func run(_ body: @Sendable (Subject) async throws -> Void) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await self.maker.run() }
                try await body(self)
                group.cancelAll()
            }
        }

        func wait(until condition: () -> Bool) async { while !condition() { await Task.yield() } }
    }

    private static let digest = Digest(high: 3, low: 4)

    private static let done = FakeEngine.Answer.done(
        .compare([FileFacts(stamp: .make(), digest: digest)]))

    @Test func `a picture is made once, and then comes from the cache`() async throws {
        try await Subject { _ in Self.done }.run { subject in
            let order = try subject.file("a")
            #expect(try await subject.maker.bytes(of: order, for: .someone) == Array("\(Self.digest)".utf8))
            #expect(try await subject.maker.bytes(of: order, for: .someone) == Array("\(Self.digest)".utf8))
            #expect(subject.leases.count == 1)
        }
    }

    @Test func `two who want one picture get it from one task`() async throws {
        try await Subject { _ in .silence }.run { subject in
            let order = try subject.file("a")
            async let one = subject.maker.bytes(of: order, for: .someone)
            await subject.wait { subject.leases.count == 1 }
            async let other = subject.maker.bytes(of: order, for: .someone)
            // A second order is behind the first one, so the other client has joined before it is begun.
            let last = try subject.file("b")
            async let third = subject.maker.bytes(of: last, for: .someone)
            await subject.wait { subject.maker.waiting == 1 && subject.maker.clients == 3 }
            subject.latest?.reply(to: subject.leases[0], Self.done)
            await subject.wait { subject.leases.count == 2 }
            subject.latest?.reply(to: subject.leases[1], Self.done)
            #expect(try await one == other)
            _ = try await third
            #expect(subject.leases.count == 2)
        }
    }

    @Test func `in a full queue, whoever asked for the oldest picture is told so at once`() async throws {
        try await Subject { _ in .silence }.run { subject in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let first = try subject.file("first")
                group.addTask { _ = try? await subject.maker.bytes(of: first, for: .someone) }
                await subject.wait { subject.leases.count == 1 }
                let oldest = try subject.file("oldest")
                let refused = Task { try await subject.maker.bytes(of: oldest, for: .someone) }
                await subject.wait { subject.maker.waiting == 1 }
                for number in 1...32 {
                    let order = try subject.file("\(number)")
                    group.addTask { _ = try? await subject.maker.bytes(of: order, for: .someone) }
                }
                await #expect(throws: PictureError.full) { try await refused.value }
                #expect(subject.maker.waiting == 32)
                group.cancelAll()
            }
            #expect(subject.maker.waiting == 0)
        }
    }

    @Test func `a picture of one owner waits for one picture of another owner at most`() async throws {
        try await Subject { _ in .silence }.run { subject in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...5 {
                    let order = try subject.file("many\(number)")
                    group.addTask { _ = try? await subject.maker.bytes(of: order, for: PictureOwner("many")) }
                }
                await subject.wait { subject.leases.count == 1 && subject.maker.waiting == 4 }
                let order = try subject.file("single")
                group.addTask { _ = try? await subject.maker.bytes(of: order, for: PictureOwner("few")) }
                await subject.wait { subject.maker.waiting == 5 }
                subject.latest?.reply(to: subject.leases[0], Self.done)
                await subject.wait { subject.leases.count == 2 }
                let files =
                    if case .compare(let task) = subject.leases[1].spec { task.files.map(\.path) } else { [String]() }
                #expect(files == [order.source.path])
                group.cancelAll()
            }
        }
    }

    @Test func `the order of a client that has gone is dropped`() async throws {
        try await Subject { _ in .silence }.run { subject in
            let (first, second) = (try subject.file("a"), try subject.file("b"))
            let one = Task { try await subject.maker.bytes(of: first, for: .someone) }
            await subject.wait { subject.leases.count == 1 }
            let gone = Task { try await subject.maker.bytes(of: second, for: .someone) }
            await subject.wait { subject.maker.waiting == 1 }
            gone.cancel()
            await #expect(throws: PictureError.cancelled) { try await gone.value }
            #expect(subject.maker.waiting == 0)
            subject.latest?.reply(to: subject.leases[0], Self.done)
            _ = try await one.value
            #expect(subject.leases.count == 1)
        }
    }

    @Test func `a picture that kills its worker fails alone, and is not tried again`() async throws {
        try await Subject { lease in
            guard case .compare(let task) = lease.spec, task.files[0].path.hasSuffix("bad") else { return Self.done }
            return .died(.signal(11))
        }.run { subject in
            let (bad, good) = (try subject.file("bad"), try subject.file("good"))
            for _ in 1...2 {
                let error = await #expect(throws: PictureError.self) {
                    _ = try await subject.maker.bytes(of: bad, for: .someone)
                }
                #expect(
                    error?.message == """
                        this picture cannot be shown: the worker died of signal 11
                           = it is tried again after some minutes; 'penumbra preview' shows more
                        """)
            }
            _ = try await subject.maker.bytes(of: good, for: .someone)
            #expect(subject.leases.count == 2)
        }
    }

    @Test func `a part that cannot be made says nothing of other parts`() async throws {
        try await Subject { lease in
            guard case .preview(let task) = lease.spec, task.view.width == 10 else { return Self.done }
            return .failed(TaskFailure(.limit, "too large"))
        }.run { subject in
            let source = try subject.file("a").source
            for _ in 1...2 {
                await #expect(throws: PictureError.broken("too large")) {
                    try await subject.maker.bytes(of: PictureOrder(source, .thumbnail(width: 10)), for: .someone)
                }
            }
            _ = try await subject.maker.bytes(of: PictureOrder(source, .digest), for: .someone)
            #expect(subject.leases.count == 2)
        }
    }

    @Test func `after a header that cannot be read, nothing is made of the file`() async throws {
        try await Subject { lease in
            guard case .probe = lease.spec else { return Self.done }
            return .failed(TaskFailure(.data, "cut off"))
        }.run { subject in
            let source = try subject.file("a").source
            for kind in [PictureOrder.Kind.facts, .digest, .thumbnail(width: 10)] {
                await #expect(throws: PictureError.broken("cut off")) {
                    try await subject.maker.bytes(of: PictureOrder(source, kind), for: .someone)
                }
            }
            #expect(subject.leases.count == 1)
        }
    }

    @Test func `pictures of other folders get another worker`() async throws {
        try await Subject { _ in Self.done }.run { subject in
            _ = try await subject.maker.bytes(of: subject.file("a"), for: .someone)
            _ = try await subject.maker.bytes(of: subject.file("b", roots: ["/srv/a"]), for: .someone)
            _ = try await subject.maker.bytes(of: subject.file("c", roots: ["/srv/a"]), for: .someone)
            _ = try await subject.maker.bytes(of: subject.file("d"), for: .someone)
            #expect(subject.roots == [nil, ["/srv/a"], nil])
        }
    }

    @Test func `a worker that has nothing to do ends, and another one starts when there is work`() async throws {
        try await Subject { _ in Self.done }.run { subject in
            _ = try await subject.maker.bytes(of: subject.file("a"), for: .someone)
            // The waits of an ended session are over.
            for _ in 1...31 { await subject.clock.advance(by: .seconds(1)) }
            await subject.wait { subject.latest?.workers == [] }
            _ = try await subject.maker.bytes(of: subject.file("b"), for: .someone)
            #expect(subject.roots.count == 2)
        }
    }

    @Test func `a file that changes while its picture is made gives none`() async throws {
        try await Subject { _ in .silence }.run { subject in
            let order = try subject.file("a")
            async let bytes = subject.maker.bytes(of: order, for: .someone)
            await subject.wait { subject.leases.count == 1 }
            try Data("another content".utf8).write(to: URL(filePath: order.source.path))
            subject.latest?.reply(to: subject.leases[0], Self.done)
            do {
                _ = try await bytes
                Issue.record("the file has changed")
            } catch {
                #expect(error as? PictureError == .missing(PictureOrder.changed))
            }
        }
    }

    @Test func `whoever waits is told that the service stops`() async throws {
        let subject = try Subject { _ in .silence }
        let (first, second) = (try subject.file("a"), try subject.file("b"))
        let maker = subject.maker
        let running = Task { await maker.run() }
        let waiting = [first, second].map { order in Task { try await maker.bytes(of: order, for: .someone) } }
        await subject.wait { subject.maker.clients == 2 && subject.leases.count == 1 }
        running.cancel()
        for task in waiting { await #expect(throws: PictureError.stopping) { try await task.value } }
        await running.value
        await #expect(throws: PictureError.stopping) { _ = try await maker.bytes(of: first, for: .someone) }
    }

    @Test func `an engine that cannot be made is told in words`() async throws {
        let folder = try TemporaryFolder()
        let maker = PictureMaker(
            PictureMaker.Setup(folder: folder.file("thumbnails"), memory: 1) { _ in throw NoEngine() })
        try Data("a".utf8).write(to: URL(filePath: folder.file("a")))
        let order = PictureOrder(try .file(folder.file("a")), .digest)
        let running = Task { await maker.run() }
        await #expect(throws: PictureError.unavailable("the worker for pictures cannot be started: no descriptors")) {
            _ = try await maker.bytes(of: order, for: .someone)
        }
        running.cancel()
        await running.value
    }

    private struct NoEngine: Error, CustomStringConvertible {
        var description: String { "no descriptors" }
    }
}
