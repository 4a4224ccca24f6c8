import Foundation
import Glibc
import InPlace
import JobModel
import SafeFiles
import TestSupport
import Testing

/// Originals of pictures where locks do not work. Two instances of a store stand for two commands.
@Suite struct OriginalStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store() -> OriginalStore { OriginalStore(shared: folder.file("store")) }

    private func files(in part: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.file("store/\(part)"))) ?? []).sorted()
    }

    /// - Returns: the name of the file with the original.
    private func keep(in store: OriginalStore, digit: Character = "a") throws -> String {
        try store.create(for: geteuid())
        let (copy, _) = try store.copy(0) { (folder, name) throws(FileError) in
            try folder.create(name, Array("original".utf8))
            return ((), sha256: String(repeating: digit, count: 64))
        }
        return try store.keep(copy, as: FileContent(Digest(high: 1, low: 2), bytes: 8))
    }

    private func record(_ key: String, _ object: String, generation: Int = 1) throws -> KeptOriginal {
        let file = open(folder.path, O_RDONLY)
        defer { close(file) }
        return KeptOriginal(
            key: Array(key.utf8), generation: generation, original: FileContent(Digest(high: 1, low: 2), bytes: 8),
            object: object, attributes: try FileAttributes(of: file, path: folder.path),
            blurred: FileContent(Digest(high: 3, low: 4), bytes: 9), blurredSHA256: String(repeating: "b", count: 64),
            folder: 1, filters: "invert", time: 0)
    }

    @Test func `a missing original is noticed after its record is written`() throws {
        let (one, other) = (store(), store())
        let object = try keep(in: one)
        #expect(try one.isKept(object))

        #expect(other.removeUnneeded() == 1)

        _ = try one.write(record("/a.png", object))
        #expect(try !one.isKept(object))
    }

    @Test func `an original with another command's record is needed`() throws {
        let (one, other) = (store(), store())
        // The other command has listed the records before.
        #expect(try other.originals(of: Array("/a.png".utf8)).records.isEmpty)
        let object = try keep(in: one)
        _ = try one.write(record("/a.png", object))

        #expect(other.removeUnneeded() == 0)
        #expect(try one.isKept(object))
    }

    @Test func `an original that a killed command has renamed can be read, and gets its name back`() throws {
        let store = store()
        let object = try keep(in: store)
        let record = try record("/a.png", object)
        _ = try store.write(record)
        let objects = folder.file("store/objects")
        rename("\(objects)/\(object)", "\(objects)/\(object)~1f")
        func isThere() throws -> Bool {
            let found = try store.original(of: record)
            return found != nil
        }
        #expect(try isThere())
        #expect(try !store.isKept(object))

        #expect(store.removeUnneeded() == 0)
        #expect(files(in: "objects") == [object])
    }

    @Test func `an original of another size is not used, also if a killed command has renamed it`() throws {
        let store = store()
        let object = try keep(in: store)
        let record = try record("/a.png", object)
        let objects = folder.file("store/objects")
        func isThere() throws -> Bool {
            let found = try store.original(of: record)
            return found != nil
        }
        for name in [object, "\(object)~1f"] {
            try? FileManager.default.removeItem(atPath: "\(objects)/\(object)")
            try Data("original and more".utf8).write(to: URL(filePath: "\(objects)/\(name)"))
            #expect(try !isThere())
        }
        try Data("original".utf8).write(to: URL(filePath: "\(objects)/\(object)~1f"))
        #expect(try isThere())
    }

    @Test func `an unneeded original that a killed command has renamed is removed`() throws {
        let store = store()
        let object = try keep(in: store)
        let objects = folder.file("store/objects")
        rename("\(objects)/\(object)", "\(objects)/\(object)~1f")
        try Data("mine".utf8).write(to: URL(filePath: "\(objects)/thesis~1f"))

        #expect(store.removeUnneeded() == 1)
        #expect(files(in: "objects") == ["thesis~1f"])
    }

    @Test func `two commands that keep the same original have two records`() throws {
        let (one, other) = (store(), store())
        let object = try keep(in: one)
        #expect(try keep(in: other) == object)
        let (own, foreign) = (try one.write(record("/a.png", object)), try other.write(record("/a.png", object)))
        #expect(own != foreign)

        try one.remove(own)
        #expect(files(in: "records") == [foreign])
        #expect(one.removeUnneeded() == 0)
    }

    @Test func `a record under the name of another picture is not trusted`() throws {
        let store = store()
        let object = try keep(in: store)
        let file = try store.write(record("/a.png", object))
        let other = try KeptOriginal.name(of: Array("/b.png".utf8))
        let name = other + file.drop { $0 != "." }
        rename(folder.file("store/records/\(file)"), folder.file("store/records/\(name)"))

        let found = try self.store().originals(of: Array("/b.png".utf8))
        #expect(found.records.isEmpty)
        #expect(found.distrusted.map(\.code) == [EBADMSG])
    }

    @Test func `a record that an earlier version has named is found`() throws {
        let store = store()
        let object = try keep(in: store)
        let file = try store.write(record("/a.png", object))
        let former = "\(KeptOriginal.formerName(of: Array("/a.png".utf8))).1.\(object).json"
        rename(folder.file("store/records/\(file)"), folder.file("store/records/\(former)"))

        #expect(try self.store().originals(of: Array("/a.png".utf8)).records.map(\.file) == [former])
    }

    @Test func `an original that was restored elsewhere is kept, and its record is marked`() throws {
        let store = store()
        let object = try keep(in: store)
        let file = try store.write(record("/a.png", object))

        try store.markRestored(file)

        let found = try self.store().originals(of: Array("/a.png".utf8)).records
        #expect(found.map(\.isRestored) == [true])
        #expect(try store.originals(of: Array("/a.png".utf8)).records.map(\.file) == found.map(\.file))
        #expect(store.removeUnneeded() == 0)
        #expect(try store.isKept(object))
    }

    @Test func `a written record is found by the size of its blurred picture`() throws {
        let store = store()
        let object = try keep(in: store)
        #expect(try store.keys(ofSize: 9) == [])
        _ = try store.write(record("/a.png", object))
        #expect(try store.keys(ofSize: 9) == [Array("/a.png".utf8)])
    }

    @Test(.enabled(if: geteuid() == 0, "owners take root"))
    func `another user's copy stays for a day`() throws {
        let store = store()
        try store.create(for: geteuid())
        let path = folder.file("store/incoming/0-ab")
        try Data("copy".utf8).write(to: URL(filePath: path))
        chown(path, 12345, 12345)
        _ = store.removeUnneeded()
        #expect(files(in: "incoming") == ["0-ab"])

        var found = stat()
        #expect(stat(path, &found) == 0)
        let before = timespec(tv_sec: found.st_mtim.tv_sec - 90_000, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path, [before, before], 0) == 0)
        _ = store.removeUnneeded()
        #expect(files(in: "incoming") == [])
    }

    @Test func `a record is read once, however often a command searches its folder`() throws {
        let readings = RecordReadings()
        let store = OriginalStore(beside: folder.path, readings: readings)
        let object = try keep(in: store)
        let first = try store.write(record("a.png", object))
        #expect(try OriginalStore(beside: folder.path, readings: readings).keys(ofSize: 9) == [Array("a.png".utf8)])
        // A record that cannot be read any more is still in the cache.
        try Data().write(to: URL(filePath: folder.file(".penumbra-originals/records/\(first)")))
        _ = try store.write(record("b.png", object))
        let both: Set = [Array("a.png".utf8), Array("b.png".utf8)]
        #expect(try OriginalStore(beside: folder.path, readings: readings).keys(ofSize: 9) == both)
        #expect(try OriginalStore(beside: folder.path).keys(ofSize: 9) == [Array("b.png".utf8)])
        // A removed record is forgotten.
        try store.remove(first)
        #expect(try OriginalStore(beside: folder.path, readings: readings).keys(ofSize: 9) == [Array("b.png".utf8)])
    }

    @Test func `the store beside pictures is locked and unlocked`() throws {
        let (one, other) = (OriginalStore(beside: folder.path), OriginalStore(beside: folder.path))
        try one.create(for: geteuid())
        #expect(try !other.takeLock())
        #expect(throws: FileError.self) { try other.create(for: geteuid()) }
        #expect(other.removeUnneeded() == 0)

        one.removeIfEmpty()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        try other.create(for: geteuid())
        other.unlock()
        #expect(try one.takeLock())
    }
}
