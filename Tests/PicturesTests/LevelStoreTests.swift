import Catalogs
import Coordination
import Filters
import Foundation
import Geometry
import Glibc
import JobModel
import Pictures
import Rendering
import SafeFiles
import Synchronization
import TestSupport
import Testing
import WorkerProtocol

@Suite struct PictureLevelsTests {
    private static func facts(
        _ width: Int, _ height: Int, layout: String = "rgb", samples: String = "u8"
    ) -> PictureFacts {
        PictureFacts(width: width, height: height, format: "png", layout: layout, samples: samples, frames: 1)
    }

    @Test(arguments: [
        (1024, 1024, [1]), (1025, 3, [1, 2]), (2048, 2048, [1, 2]), (2049, 10, [1, 2, 4]),
        (24_000, 25_000, [1, 2, 4, 8, 16, 32]),
    ])
    func `at the last scale a picture is no larger than one answer`(width: Int, height: Int, scales: [Int]) throws {
        let levels = try #require(PictureLevels(of: Self.facts(width, height), leastArea: 1, memory: 1 << 30))
        #expect(levels.scales == scales)
        let last = levels.size(at: try #require(scales.last))
        #expect(max(last.width, last.height) <= PictureCrop.longestSide)
    }

    @Test func `the longest picture has all scales`() throws {
        let levels = try #require(PictureLevels(of: Self.facts(1 << 27, 1), memory: 1 << 60))
        #expect(levels.scales.last == PictureCrop.largestScale)
    }

    @Test func `a size is rounded up, as that of a crop is`() throws {
        let levels = try #require(PictureLevels(of: Self.facts(4001, 3000), leastArea: 1, memory: 1 << 30))
        let crop = try PictureCrop(
            PixelRect(x: 0, y: 0, width: 100, height: 100), scale: 4, ofWidth: 4001, height: 3000)
        #expect(levels.size(at: 4) == (crop.width, crop.height))
    }

    @Test(arguments: [(480, 32), (750, 32), (782, 32), (783, 16), (1024, 16), (2048, 8), (30_000, 1)])
    func `a thumbnail is made of the smallest size that has as many pixels`(side: Int, scale: Int) throws {
        let levels = try #require(PictureLevels(of: Self.facts(24_000, 25_000), memory: 1 << 30))
        #expect(levels.scale(forSide: side) == scale)
    }

    @Test func `only pictures of 50 megapixels and more have levels`() {
        #expect(PictureLevels(of: Self.facts(10_000, 4999), memory: 1 << 30) == nil)
        #expect(PictureLevels(of: Self.facts(10_000, 5000), memory: 1 << 30) != nil)
    }

    @Test func `facts that make no sense give no levels`() {
        #expect(PictureLevels(of: Self.facts(0, 9), leastArea: 0, memory: 1 << 30) == nil)
        #expect(PictureLevels(of: Self.facts(9, 9, layout: "lab"), leastArea: 1, memory: 1 << 30) == nil)
        #expect(PictureLevels(of: Self.facts(9, 9, samples: "u32"), leastArea: 1, memory: 1 << 30) == nil)
    }

    @Test func `sizes that exceed the memory together are made one after the other`() throws {
        let facts = Self.facts(24_000, 25_000)
        func steps(_ megabytes: Int) -> [[Int]]? { PictureLevels(of: facts, memory: megabytes * 1_000_000)?.steps }
        #expect(steps(512) == [[1, 2, 4, 8, 16, 32]])
        #expect(steps(256) == [[1, 2, 4, 8], [16], [32]])
        #expect(steps(128) == [[1, 2, 4], [8]])
        #expect(steps(30) == [[1]])
        #expect(steps(20) == nil)
    }

    /// If the worker counted more, it would hold the whole picture.
    @Test(arguments: [(24_000, 25_000), (8001, 7003), (44_000, 44_000), (100_000, 6001), (9001, 60_000)])
    func `a worker counts no more rows for a size than the service expects`(width: Int, height: Int) throws {
        for layout in PixelLayout.allCases {
            for samples in SampleFormat.allCases {
                let facts = Self.facts(width, height, layout: layout.rawValue, samples: samples.rawValue)
                let levels = try #require(PictureLevels(of: facts, memory: 1 << 40))
                #expect(levels.steps.count == 1)
                guard
                    case .frame(let task) = PictureOrder(.make(), .levels(levels)).task(
                        writing: "", scratch: "/w", memory: 1 << 40)
                else { return }
                let rect = PixelRect(x: 0, y: 0, width: width, height: height)
                for (scale, output) in zip(levels.scales, task.outputs) {
                    let chain = try Chain(output.spec.chain, registry: .builtIn)
                    let plan = StreamPlan(
                        chain, chain.plan(input: rect, layout: layout), format: samples,
                        memoryBudget: 1 << 40)
                    let bytes = try #require(plan).bytes
                    let expected =
                        scale == 1
                        ? PictureLevels.decodedRows * width * layout.channels * samples.bytes
                        : PictureLevels.rowMemory(scale, width: width, height: height, layout, samples)
                    #expect(bytes <= expected, "\(scale)")
                }
            }
        }
    }

    @Test func `the bytes of all levels are a third more than those of the picture`() throws {
        let levels = try #require(PictureLevels(of: Self.facts(24_000, 25_000), memory: 1 << 30))
        let picture = 24_000 * 25_000 * 3
        #expect((picture * 4 / 3...picture * 7 / 5).contains(levels.bytes))
        let deep = try #require(
            PictureLevels(of: Self.facts(24_000, 25_000, layout: "rgba", samples: "u16"), memory: 1 << 30))
        #expect(deep.bytes > levels.bytes * 5 / 2)
    }
}

@Suite struct LevelStoreTests {
    private let folder: TemporaryFolder
    private let clock = TestClock()

    /// A clock on which nobody waits.
    private final class TestClock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        func advance(by duration: Duration) { time.withLock { $0 += duration } }

        var clock: RunClock {
            RunClock {
                self.time.withLock { $0 }
            } wait: { _ in
                throw CancellationError()
            }
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
    }

    private var work: String { folder.file("work") }
    private var large: String { folder.file("large") }

    private func store(mostBytes: Int = 1 << 30, free: Int? = 1 << 40) throws -> LevelStore {
        let store = LevelStore(large, mostBytes: mostBytes, clock: clock.clock) { _ in free }
        try store.open()
        return store
    }

    /// With the scales 1 and 2.
    private func order(_ path: String = "/srv/a.png", stamp: FileStamp = .make(), roots: [String]? = nil) throws
        -> PictureOrder
    {
        let facts = PictureFacts(width: 2000, height: 10, format: "png", layout: "rgb", samples: "u8", frames: 1)
        return PictureOrder(
            .make(path, stamp: stamp, roots: roots),
            .levels(try #require(PictureLevels(of: facts, leastArea: 1, memory: 1 << 30))))
    }

    /// Writes what a worker writes.
    private func write(bytes: Int = 100) throws {
        for name in ["1.tiff", "2.tiff"] {
            try Data(repeating: 1, count: bytes / 2).write(to: URL(filePath: "\(work)/\(name)"))
        }
    }

    private func add(_ order: PictureOrder, to store: LevelStore, bytes: Int = 100) throws {
        _ = try store.folder(for: order.source.roots)
        try write(bytes: bytes)
        try store.adopt(order, from: work)
    }

    private var files: [String] { FileSystem.files(below: large) }

    @Test func `a store hands out the file of each scale`() throws {
        let (store, order) = (try store(), try order())
        #expect(store.file(of: order, scale: 1) == nil)
        try add(order, to: store)
        #expect(store.holds(order))
        for scale in [1, 2] {
            let file = try #require(store.file(of: order, scale: scale))
            #expect(file.hasSuffix("/\(scale).tiff"))
            #expect(try Data(contentsOf: URL(filePath: file)).count == 50)
        }
        #expect(store.file(of: order, scale: 4) == nil)
        #expect(FileSystem.names(in: work) == [])
    }

    @Test func `only this user can enter the folders`() throws {
        let (store, order) = (try store(), try order())
        try add(order, to: store)
        let file = try #require(store.file(of: order, scale: 1))
        var path = PathNames.folder(of: file) ?? ""
        while path != folder.path, !path.isEmpty {
            var found = stat()
            #expect(lstat(path, &found) == 0 && found.st_mode & 0o777 == 0o700, "\(path)")
            path = PathNames.folder(of: path) ?? ""
        }
    }

    @Test func `a picture that has changed has other levels`() throws {
        let store = try store()
        try add(order(), to: store)
        #expect(try store.file(of: order(stamp: .make(changed: 9)), scale: 1) == nil)
        #expect(try store.file(of: order("/srv/b.png"), scale: 1) == nil)
    }

    @Test func `a worker of other folders gets another place`() throws {
        let (store, roots) = (try store(), [nil, [], ["/a"], ["/a", "/b"], ["/a\n2 /b"], ["all"]] as [[String]?])
        let places = try roots.map { try store.folder(for: $0) }
        #expect(Set(places).count == roots.count)
        for (place, roots) in zip(places, roots) {
            let order = try order(roots: roots)
            try add(order, to: store)
            #expect(try #require(store.file(of: order, scale: 1)).hasPrefix(place + "/"))
        }
    }

    @Test func `nothing is left of an earlier service, whole or not`() throws {
        let order = try order()
        let store = try store()
        try add(order, to: store)
        try FileManager.default.createDirectory(
            atPath: "\(store.folder(for: nil))/\(String(repeating: "a", count: 64)).new",
            withIntermediateDirectories: true)
        let later = try self.store()
        #expect(later.file(of: order, scale: 1) == nil)
        #expect(FileSystem.names(in: large) == [])
    }

    @Test func `a closed store has removed its files`() throws {
        let (store, order) = (try store(), try order())
        try add(order, to: store)
        store.close()
        #expect(!FileSystem.exists(large))
        #expect(store.file(of: order, scale: 1) == nil)
    }

    @Test(arguments: ["missing", "link", "linked", "folder"])
    func `a set of files that is not whole is not used`(damage: String) throws {
        let (store, order) = (try store(), try order())
        _ = try store.folder(for: nil)
        try write()
        let (file, elsewhere) = ("\(work)/2.tiff", folder.file("elsewhere"))
        switch damage {
        case "missing": unlink(file)
        case "linked": try #require(link(file, elsewhere) == 0)
        default:
            unlink(file)
            try Data([7]).write(to: URL(filePath: elsewhere))
            if damage == "link" {
                try #require(symlink(elsewhere, file) == 0)
            } else {
                try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
            }
        }
        #expect(throws: FileError.self) { try store.adopt(order, from: work) }
        #expect(!store.holds(order))
        #expect(files == [])
        if damage != "missing" && damage != "folder" { #expect(FileSystem.exists(elsewhere)) }
        // Another worker may do better.
        try? FileManager.default.removeItem(atPath: file)
        try add(order, to: store)
        #expect(store.holds(order))
    }

    @Test func `levels whose file somebody has removed are made again`() throws {
        let (store, order) = (try store(), try order())
        try add(order, to: store)
        unlink(try #require(store.file(of: order, scale: 1)))
        #expect(store.file(of: order, scale: 1) == nil)
        #expect(!store.holds(order))
        #expect(files == [])
    }

    // MARK: Room

    @Test func `levels that were not looked at for the longest time make room`() throws {
        let store = try store(mostBytes: 300)
        let orders = try (1...4).map { try order("/\($0)") }
        for order in orders[..<3] {
            try store.makeRoom(for: 100)
            try add(order, to: store)
        }
        #expect(store.file(of: orders[0], scale: 2) != nil)
        clock.advance(by: LevelStore.rest)
        try store.makeRoom(for: 100)
        #expect(orders.map(store.holds) == [true, false, true, false])
        try add(orders[3], to: store)
        #expect(orders.map(store.holds) == [true, false, true, true])
        #expect(files.count == 6)
    }

    @Test func `there is no room for a picture that is larger than the limit, and the others stay`() throws {
        let (store, order) = (try store(mostBytes: 100_000_000), try order())
        try add(order, to: store)
        #expect(
            error { () throws(PictureError) in try store.makeRoom(for: 200_000_000) }
                == .unavailable(
                    """
                    the picture would take 200 MB there, and 100 MB are allowed
                       = a quarter of the disk's free space, and at most 100 MB, are used
                    """))
        #expect(store.holds(order))
    }

    @Test func `levels take a quarter of the space that would be free without them`() throws {
        let store = try store(free: 300)
        let first = try order("/1")
        try store.makeRoom(for: 75)
        try add(first, to: store, bytes: 60)
        clock.advance(by: LevelStore.rest)
        // 360 bytes would be free, and 90 of them are for levels.
        try store.makeRoom(for: 30)
        #expect(store.holds(first))
        try store.makeRoom(for: 31)
        #expect(!store.holds(first))
        #expect(throws: PictureError.self) { try store.makeRoom(for: 76) }
    }

    @Test func `levels that somebody has just looked at stay, and others get no room`() throws {
        let store = try store(mostBytes: 250)
        let orders = try (1...2).map { try order("/\($0)") }
        for order in orders { try add(order, to: store) }
        clock.advance(by: LevelStore.rest - .seconds(1))
        #expect(store.file(of: orders[0], scale: 1) != nil)
        #expect(
            error { () throws(PictureError) in try store.makeRoom(for: 200) }
                == .unavailable("somebody looks at other large pictures, and there is no room for more"))
        #expect(orders.map(store.holds) == [true, true])
        clock.advance(by: .seconds(1))
        try store.makeRoom(for: 150)
        #expect(orders.map(store.holds) == [true, false])
    }

    @Test func `a folder that somebody has removed is not made again behind the worker that may read it`() throws {
        let (store, order) = (try store(), try order())
        _ = try store.folder(for: nil)
        FileSystem.removeTree(try store.folder(for: nil))
        try write()
        #expect(throws: FileError.self) { try store.adopt(order, from: work) }
        #expect(!store.holds(order))
        // The next worker gets a new one.
        try add(order, to: store)
        #expect(store.holds(order))
    }

    @Test func `on a disk whose free space is unknown, only the limit counts`() throws {
        let store = try store(mostBytes: 100, free: nil)
        try store.makeRoom(for: 100)
        #expect(throws: PictureError.self) { try store.makeRoom(for: 101) }
    }
}
