import Coordination
import Foundation
import Glibc
import TestSupport
import Testing

/// Changes in folders, and news of them that were lost.
@Suite struct FolderWatchTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
    }

    /// An event as the kernel lays it out.
    private func event(_ mask: Int, watch: Int32 = -1, name: String = "") -> [UInt8] {
        let padded = name.isEmpty ? [] : Array(name.utf8) + [UInt8](repeating: 0, count: 16 - name.utf8.count % 16)
        let words = [UInt32(bitPattern: watch), UInt32(mask), 0, UInt32(padded.count)]
        return words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } } + padded
    }

    /// `IN_Q_OVERFLOW`
    private static let overflow = 0x4000

    @Test func `after an overflow folders are watched of which no news came`() async throws {
        let watch = try FolderWatch(reads: false)
        try makeFolder("photos/old")
        #expect(watch.add(folder.file("photos")))
        try makeFolder("photos/new/deeper")
        // The news of it are thrown away.
        watch.drop()
        #expect(watch.watched == [folder.file("photos"), folder.file("photos/old")])
        watch.handle(event(Self.overflow))
        #expect(
            watch.watched
                == ["photos", "photos/new", "photos/new/deeper", "photos/old"].map { folder.file($0) })
        // It counts as a change: nobody knows what has happened.
        #expect(await watch.changes.first { _ in true } != nil)
    }

    @Test func `a top folder that another takes the place of is watched on`() throws {
        let watch = try FolderWatch(reads: false)
        for name in ["photos", "fresh/inner"] { try makeFolder(name) }
        #expect(watch.add(folder.file("photos")))
        #expect(rename(folder.file("photos"), folder.file("former")) == 0)
        #expect(rename(folder.file("fresh"), folder.file("photos")) == 0)
        watch.read()
        #expect(watch.watched.contains(folder.file("photos/inner")))
        watch.drop()
        try Data().write(to: URL(filePath: folder.file("photos/inner/a.png")))
        #expect(watch.read())
    }

    private func link(_ name: String, to target: String) {
        #expect(symlink(target, folder.file(name)) == 0)
    }

    private func move(_ name: String, to other: String) {
        #expect(rename(folder.file(name), folder.file(other)) == 0)
    }

    /// Whether a file that is put there is told of.
    private func isTold(_ name: String, _ watch: FolderWatch) throws -> Bool {
        watch.drop()
        try Data().write(to: URL(filePath: folder.file(name)))
        return watch.read()
    }

    @Test func `the replacement of a link to a folder is reported, and followed`() throws {
        let watch = try FolderWatch(reads: false)
        for name in ["v1", "v2/inner"] { try makeFolder(name) }
        link("current", to: "v1")
        link("new", to: "v2")
        #expect(watch.add(folder.file("current")))
        watch.drop()
        move("new", to: "current")
        #expect(watch.read())
        #expect(try isTold("v2/inner/a.png", watch))
    }

    @Test func `a folder above the one that is watched may be another's place`() throws {
        let watch = try FolderWatch(reads: false)
        for name in ["data/deep/photos", "data2/deep/photos"] { try makeFolder(name) }
        #expect(watch.add(folder.file("data/deep/photos")))
        watch.drop()
        move("data", to: "olddata")
        #expect(watch.read())
        move("data2", to: "data")
        #expect(watch.read())
        #expect(try isTold("data/deep/photos/a.png", watch))
    }

    @Test func `a folder that comes back name by name is watched again`() throws {
        let watch = try FolderWatch(reads: false)
        try makeFolder("data/deep/photos")
        #expect(watch.add(folder.file("data/deep/photos")))
        try FileManager.default.removeItem(atPath: folder.file("data"))
        #expect(watch.read())
        for name in ["data", "data/deep", "data/deep/photos"] {
            try makeFolder(name)
            #expect(watch.read())
        }
        #expect(try isTold("data/deep/photos/a.png", watch))
    }

    @Test func `where a link leads may have its place taken, too`() throws {
        let watch = try FolderWatch(reads: false)
        for name in ["store/a/photos", "fresh/photos"] { try makeFolder(name) }
        link("store/latest", to: "a")
        link("current", to: "store/latest/photos")
        #expect(watch.add(folder.file("current")))
        watch.drop()
        move("store/a", to: "store/former")
        #expect(watch.read())
        move("fresh", to: "store/a")
        #expect(watch.read())
        #expect(try isTold("store/a/photos/a.png", watch))
    }

    @Test func `links that lead to one another end the way`() throws {
        let watch = try FolderWatch(reads: false)
        link("one", to: "two")
        link("two", to: "one")
        #expect(!watch.add(folder.file("one/photos")))
    }

    @Test func `what else happens beside a folder on the way is no news`() throws {
        let watch = try FolderWatch(reads: false)
        for name in ["data/photos", "other"] { try makeFolder(name) }
        #expect(watch.add(folder.file("data/photos")))
        #expect(try !isTold("data/notes.txt", watch))
        move("other", to: "another")
        #expect(!watch.read())
    }

    @Test func `a link to a file is reported if the link or its target changes`() throws {
        let watch = try FolderWatch(reads: false)
        try makeFolder("versions")
        for name in ["versions/1.yaml", "versions/2.yaml"] { try Data().write(to: URL(filePath: folder.file(name))) }
        link("job.yaml", to: "versions/1.yaml")
        watch.add(file: folder.file("job.yaml"))
        #expect(try isTold("versions/1.yaml", watch))
        #expect(try !isTold("versions/2.yaml", watch))
        link("new.yaml", to: "versions/2.yaml")
        move("new.yaml", to: "job.yaml")
        #expect(watch.read())
        #expect(try isTold("versions/2.yaml", watch))
        // What led there before is nobody's business now.
        #expect(try !isTold("versions/1.yaml", watch))
    }

    /// Seeded noise, and true events that are cut.
    @Test func `no event traps, however it is laid out`() throws {
        let watch = try FolderWatch(reads: false)
        try makeFolder("photos")
        watch.add(folder.file("photos"))
        var random = SplitMix64(seed: 7)
        for _ in 0..<2000 {
            var bytes = event(Int(random.next() & 0xffff), watch: Int32(random.next() % 4), name: "a.png")
            let place = Int(random.next() % UInt64(bytes.count))
            bytes[place] = UInt8(truncatingIfNeeded: random.next())
            watch.handle(Array(bytes.prefix(Int(random.next() % UInt64(bytes.count + 1)))))
        }
        #expect(watch.add(folder.file("photos")))
    }
}
