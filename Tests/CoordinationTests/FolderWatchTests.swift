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
        watch.hear(event(Self.overflow))
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
            watch.hear(Array(bytes.prefix(Int(random.next() % UInt64(bytes.count + 1)))))
        }
        #expect(watch.add(folder.file("photos")))
    }
}
