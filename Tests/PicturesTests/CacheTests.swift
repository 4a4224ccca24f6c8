import Foundation
import Glibc
import Pictures
import SafeFiles
import TestSupport
import Testing

@Suite struct CacheTests {
    private let folder: TemporaryFolder
    private let cache: PictureCache
    private let order = PictureOrder.make()

    init() throws {
        folder = try TemporaryFolder()
        cache = PictureCache(folder.file("thumbnails"))
        try cache.open()
    }

    private func path(_ order: PictureOrder) throws -> String { folder.file("thumbnails/\(try #require(order.name))") }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.file("thumbnails")).sorted()) ?? []
    }

    @Test func `a picture is kept under its key, for the service's user alone`() throws {
        #expect(cache.bytes(of: order) == nil)
        try cache.store([1, 2, 3], of: order)
        #expect(cache.bytes(of: order) == [1, 2, 3])
        #expect(cache.bytes(of: .make("/srv/b.png")) == nil)
        var found = stat()
        #expect(lstat(folder.file("thumbnails"), &found) == 0 && found.st_mode & 0o777 == 0o700)
        #expect(lstat(try path(order), &found) == 0 && found.st_mode & 0o777 == 0o600)
    }

    @Test func `a later service finds the pictures, and removes what was being written`() throws {
        try cache.store([1, 2, 3], of: order)
        try Data([1]).write(to: URL(filePath: try path(order) + ".new"))
        let later = PictureCache(folder.file("thumbnails"))
        try later.open()
        #expect(later.bytes(of: order) == [1, 2, 3])
        #expect(names == [try #require(order.name)])
    }

    @Test(arguments: ["empty", "cut", "changed", "other", "link", "folder"])
    func `a damaged or foreign file is ignored, and replaced`(damage: String) throws {
        try cache.store([1, 2, 3], of: order)
        let (path, other) = (try path(order), PictureOrder.make("/srv/b.png"))
        var bytes = try Data(contentsOf: URL(filePath: path))
        try FileManager.default.removeItem(atPath: path)
        switch damage {
        case "empty": bytes = Data()
        case "cut": bytes.removeLast()
        case "changed": bytes[bytes.count - 1] ^= 1
        case "other":
            try cache.store([1, 2, 3], of: other)
            bytes = try Data(contentsOf: URL(filePath: try self.path(other)))
        default: break
        }
        switch damage {
        case "link":
            try bytes.write(to: URL(filePath: folder.file("elsewhere")))
            try #require(symlink(folder.file("elsewhere"), path) == 0)
        case "folder":
            try FileManager.default.createDirectory(atPath: path + "/inner", withIntermediateDirectories: true)
        default: try bytes.write(to: URL(filePath: path))
        }
        #expect(cache.bytes(of: order) == nil)
        try cache.store([4, 5], of: order)
        #expect(cache.bytes(of: order) == [4, 5])
        if damage == "link" { #expect(try Data(contentsOf: URL(filePath: folder.file("elsewhere"))) == bytes) }
    }

    @Test func `files with other names are left alone`() throws {
        try Data([1]).write(to: URL(filePath: folder.file("thumbnails/notes.txt")))
        let small = PictureCache(folder.file("thumbnails"), mostBytes: 1)
        try small.open()
        try small.store([1], of: order)
        #expect(names == ["notes.txt"])
    }

    @Test func `pictures that were not looked at for the longest time go first`() throws {
        let small = PictureCache(folder.file("thumbnails"), mostBytes: 3 * (84 + 100))
        try small.open()
        let orders = (1...4).map { PictureOrder.make("/\($0)") }
        let bytes = [UInt8](repeating: 1, count: 100)
        for order in orders[..<3] { try small.store(bytes, of: order) }
        #expect(small.bytes(of: orders[0]) == bytes)
        try small.store(bytes, of: orders[3])
        #expect(orders.map { small.bytes(of: $0) != nil } == [true, false, true, true])
        #expect(names.count == 3)
    }

    @Test func `a picture that is too large is not kept`() throws {
        try cache.store([UInt8](repeating: 0, count: PictureCache.largestPicture + 1), of: order)
        #expect(names.isEmpty)
    }
}

@Suite struct CacheIndexTests {
    @Test func `a replaced file counts once`() {
        var index = CacheIndex(mostBytes: 100)
        #expect(index.add("a", bytes: 60) == [])
        #expect(index.add("a", bytes: 70) == [])
        #expect(index.bytes == 70)
        #expect(index.add("b", bytes: 40) == ["a"])
        #expect(index.bytes == 40)
    }

    @Test func `a file that is larger than all together removes itself, too`() {
        var index = CacheIndex(mostBytes: 100)
        _ = index.add("a", bytes: 60)
        #expect(index.add("b", bytes: 200) == ["a", "b"])
        #expect(index.count == 0)
    }
}
