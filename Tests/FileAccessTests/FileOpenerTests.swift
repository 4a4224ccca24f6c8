import FileAccess
import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct FileOpenerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func bytes(_ name: String) -> [UInt8] { Array(folder.file(name).utf8) }

    /// An open file that belongs to nobody yet.
    private func file(_ name: String, _ content: String = "") throws -> Int32 {
        try Data(content.utf8).write(to: URL(filePath: folder.file(name)))
        let file = open(folder.file(name), O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        return file
    }

    private func content(_ file: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(file, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Whether a descriptor refers to the file. A test that runs at the same time may use its number after it is closed.
    private func isOpen(_ descriptor: Int32, as name: String) -> Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && stat(folder.file(name), &named) == 0 && own.st_dev == named.st_dev
            && own.st_ino == named.st_ino
    }

    @Test func `a file that was handed over is the one that was open, whatever its path has now`() throws {
        let handed = try file("a", "old")
        let opener = FileOpener(read: [bytes("a"): .descriptor(handed)], created: [:], scratch: nil)
        try FileManager.default.removeItem(atPath: folder.file("a"))
        try Data("new".utf8).write(to: URL(filePath: folder.file("a")))
        let opened = try opener.open(folder.file("a"), O_RDONLY)
        defer { close(opened.descriptor) }
        #expect(opened.isHanded)
        #expect(content(opened.descriptor) == "old")
        #expect(opened.descriptor != handed)
    }

    @Test func `a file that was not handed over is opened by its path`() throws {
        close(try file("a", "by its path"))
        let opened = try FileOpener().open(folder.file("a"), O_RDONLY)
        defer { close(opened.descriptor) }
        #expect(!opened.isHanded)
        #expect(content(opened.descriptor) == "by its path")
        #expect(fcntl(opened.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `a file that the coordinator could not open fails with its reason`() throws {
        close(try file("a"))
        let opener = FileOpener(read: [bytes("a"): .failed(ESTALE)], created: [:], scratch: nil)
        let failure = #expect(throws: FileOpener.Failure.self) { try opener.open(folder.file("a"), O_RDONLY) }
        #expect(failure?.code == ESTALE)
    }

    @Test func `a path that is no UTF-8 is found by its bytes`() throws {
        let handed = try file("a", "odd")
        let path = bytes("a") + [0xff]
        let opener = FileOpener(read: [path: .descriptor(handed)], created: [:], scratch: nil)
        let opened = try opener.open(path, O_RDONLY)
        defer { close(opened.descriptor) }
        #expect(content(opened.descriptor) == "odd")
    }

    @Test func `a file that the task writes can be read again, and an input is never written`() throws {
        let (input, output) = (try file("in", "input"), try file("out"))
        let opener = FileOpener(
            read: [bytes("in"): .descriptor(input)], created: [bytes("out"): .descriptor(output)], scratch: nil)
        try opener.write(Array("output".utf8), to: folder.file("out"))
        let again = try opener.open(folder.file("out"), O_RDONLY)
        defer { close(again.descriptor) }
        #expect(again.isHanded)
        #expect(content(again.descriptor) == "output")
        let other = try opener.open(folder.file("in"), O_RDWR | O_CREAT, mode: 0o600)
        defer { close(other.descriptor) }
        #expect(!other.isHanded)
    }

    @Test func `where descriptors cannot be handed over, a new file is there already, and is not removed`() throws {
        close(try file("new"))
        let opener = FileOpener(read: [:], created: [bytes("new"): .existing], scratch: .existing)
        let opened = try opener.open(folder.file("new"), O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        defer { close(opened.descriptor) }
        #expect(opened.isHanded)
        #expect(try opener.takeScratch(10) == nil)
    }

    @Test func `the name of an own descriptor gives the same open file`() throws {
        let own = try file("a", "own")
        defer { close(own) }
        try FileManager.default.removeItem(atPath: folder.file("a"))
        let opened = try FileOpener().open("/proc/self/fd/\(own)", O_RDONLY)
        defer { close(opened.descriptor) }
        #expect(content(opened.descriptor) == "own")
        let failure = #expect(throws: FileOpener.Failure.self) {
            try FileOpener().open("/proc/self/fd/987654", O_RDONLY)
        }
        #expect(failure?.code == EBADF)
    }

    @Test func `the end of a task closes what was handed over, but no other file of the same number`() throws {
        let (kept, lost) = (try file("kept"), try file("lost"))
        let opener = FileOpener(
            read: [bytes("kept"): .descriptor(kept), bytes("lost"): .descriptor(lost)], created: [:], scratch: nil)
        // As foreign code does.
        let foreign = try file("foreign")
        dup2(foreign, lost)
        close(foreign)
        #expect(isOpen(kept, as: "kept"))
        opener.close()
        #expect(!isOpen(kept, as: "kept"))
        #expect(isOpen(lost, as: "foreign"))
        close(lost)
    }

    @Test func `what is written replaces all that a file has`() throws {
        close(try file("a", "something longer"))
        try FileOpener().write(Array("short".utf8), to: folder.file("a"))
        #expect(try String(contentsOfFile: folder.file("a"), encoding: .utf8) == "short")
    }

    @Test func `users of a scratch file get parts that do not overlap, and can be mapped`() throws {
        let scratch = try file("scratch")
        let opener = FileOpener(read: [:], created: [:], scratch: .descriptor(scratch))
        let first = try #require(try opener.takeScratch(100_000))
        let second = try #require(try opener.takeScratch(5))
        defer { for part in [first, second] { close(part.descriptor) } }
        #expect(first.range.count == 100_000 && second.range.count == 5)
        #expect(!first.range.overlaps(second.range))
        #expect([first, second].allSatisfy { $0.range.lowerBound % Int(getpagesize()) == 0 })
        var found = stat()
        #expect(fstat(second.descriptor, &found) == 0 && Int(found.st_size) == second.range.upperBound)
        // The last part that is given back is the next one that is taken.
        opener.giveBackScratch(second.range)
        let third = try #require(try opener.takeScratch(70_000))
        defer { close(third.descriptor) }
        #expect(third.range.lowerBound == second.range.lowerBound)
    }

    @Test func `a scratch file that cannot be had is an error only for who needs it`() throws {
        let opener = FileOpener(read: [:], created: [:], scratch: .failed(EROFS))
        let failure = #expect(throws: FileOpener.Failure.self) { try opener.takeScratch(1) }
        #expect(failure?.code == EROFS)
        #expect(try FileOpener().takeScratch(1) == nil)
    }
}
