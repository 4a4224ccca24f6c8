import Engines
import Foundation
import Glibc
import TestSupport
import Testing
import WorkerProtocol

@Suite struct OpenedTaskFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
    }

    private func open(
        _ files: [TaskFile], temporaryFolder: String? = nil,
        nameless: ((UnsafePointer<CChar>) -> Int32)? = nil
    ) -> OpenedTaskFiles {
        var spare = nameless.map { SpareScratchFile(nameless: $0) } ?? SpareScratchFile()
        return OpenedTaskFiles(files, temporaryFolder: temporaryFolder ?? folder.path, spare: &spare)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func `files are opened for what they are used for, and a failure is told by its code`() throws {
        try write("input", to: "in")
        try write("earlier", to: "out")
        try write("there", to: "canvas")
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.file("in"))
        let wanted = [
            TaskFile(folder.file("in"), .read), TaskFile(folder.file("missing"), .read),
            TaskFile(folder.file("out"), .create), TaskFile(folder.file("link"), .create),
            TaskFile(folder.file("canvas"), .createNew), TaskFile(folder.file("tile"), .createNew),
            TaskFile(folder.path, .scratch), TaskFile(folder.file("nowhere"), .scratch),
        ]
        let files = open(wanted)
        #expect(files.sent.map(\.file) == wanted)
        #expect(
            files.sent.map(\.outcome) == [
                .handed, .failed(code: ENOENT), .handed, .failed(code: ELOOP), .failed(code: EEXIST), .handed, .handed,
                .failed(code: ENOENT),
            ])
        #expect(files.descriptors.count == 4)
        #expect(files.written.map(\.path) == [folder.file("out"), folder.file("tile")].map { Array($0.utf8) })
        #expect(try Data(contentsOf: URL(filePath: folder.file("out"))).isEmpty)
        #expect(try String(contentsOfFile: folder.file("in"), encoding: .utf8) == "input")
        #expect(try names() == ["canvas", "in", "link", "out", "tile"])
    }

    @Test func `a named pipe is opened without waiting for who writes to it`() throws {
        try #require(mkfifo(folder.file("pipe"), 0o600) == 0)
        let files = open([TaskFile(folder.file("pipe"), .read)])
        #expect(files.sent.map(\.outcome) == [.handed])
    }

    @Test(arguments: [EOPNOTSUPP, EISDIR, EINVAL])
    func `where no file can be without a name, the name is removed at once`(code: Int32) throws {
        let files = open([TaskFile("", .scratch)]) { _ in -code }
        #expect(files.sent == [SentFile(TaskFile(folder.path, .scratch), .handed)])
        #expect(try names() == [])
        let file = try #require(files.descriptors.first)
        #expect(Glibc.write(file, "x", 1) == 1)
        #expect(fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `a scratch file for which the disk has no room is not tried twice`() throws {
        let files = open([TaskFile(folder.path, .scratch)], temporaryFolder: "/") { _ in -ENOSPC }
        #expect(files.sent.map(\.outcome) == [.failed(code: ENOSPC)])
    }

    /// The inode of the scratch file of one order.
    private func scratch(_ path: String, _ spare: inout SpareScratchFile, writing byteCount: Int = 0) throws -> UInt {
        let files = OpenedTaskFiles([TaskFile(path, .scratch)], temporaryFolder: "/", spare: &spare)
        let file = try #require(files.descriptors.first)
        var found = stat()
        #expect(fstat(file, &found) == 0 && found.st_size == 0 && found.st_nlink == 0)
        #expect(ftruncate(file, off_t(byteCount)) == 0)
        return UInt(found.st_ino)
    }

    @Test func `an order gets the scratch file of the order before, as long as that is empty`() throws {
        var spare = SpareScratchFile()
        // Holds the first file's number, which a new file could have otherwise.
        let kept = OpenedTaskFiles([TaskFile(folder.path, .scratch)], temporaryFolder: "/", spare: &spare)
        let first = try scratch(folder.path, &spare)
        #expect(try scratch(folder.path, &spare, writing: 1) == first)
        let second = try scratch(folder.path, &spare)
        #expect(second != first)
        #expect(try scratch(folder.path, &spare) == second)
        #expect(kept.descriptors.count == 1)
    }

    @Test func `a scratch file in another folder is another file`() throws {
        var spare = SpareScratchFile()
        let other = try TemporaryFolder()
        let kept = OpenedTaskFiles([TaskFile(folder.path, .scratch)], temporaryFolder: "/", spare: &spare)
        let first = try scratch(folder.path, &spare)
        let moved = try scratch(other.path, &spare)
        #expect(moved != first)
        #expect(try scratch(folder.path, &spare) != first)
        #expect(kept.descriptors.count == 1)
    }

    @Test func `a scratch file that cannot be created is tried again by the next order`() throws {
        var isFull = true
        var spare = SpareScratchFile { _ in isFull ? -ENOSPC : -EOPNOTSUPP }
        let files = OpenedTaskFiles([TaskFile(folder.path, .scratch)], temporaryFolder: "/", spare: &spare)
        #expect(files.sent.map(\.outcome) == [.failed(code: ENOSPC)])
        isFull = false
        _ = try scratch(folder.path, &spare)
    }

    @Test func `only the file that was created is removed, and no other one that has its path by now`() throws {
        let wanted = ["a", "b", "c"].map { TaskFile(folder.file($0), .create) }
        let files = open(wanted)
        // Somebody else's file takes a path, and another path has none any more.
        try write("other", to: "new")
        try #require(rename(folder.file("new"), folder.file("b")) == 0)
        try FileManager.default.removeItem(atPath: folder.file("c"))
        for file in files.written { file.remove() }
        #expect(try names() == ["b"])
    }

    @Test func `a device is never removed`() throws {
        let files = open([TaskFile("/dev/null", .create)])
        #expect(files.sent.map(\.outcome) == [.handed])
        #expect(files.written == [])
    }
}
