import Foundation
import Glibc
import JobModel
import Scheduling
import Shards
import TestSupport
import Testing
import WorkerProtocol

/// Files that others have put into a run's shared folder.
@Suite struct SharedFolderTests {
    private let place: TemporaryFolder
    private let folder: ShardFolder
    private let id = Shard.ID(run: "r", epoch: 1, number: 1)

    init() throws {
        place = try TemporaryFolder()
        folder = ShardFolder(place.file("penumbra-r"))
        try folder.create()
    }

    private var result: ShardResult { ShardResult(shard: id, attempt: "a", location: "n1", ends: []) }
    private var path: String { folder.result(id, "a") }
    private var found: ShardResult? { folder.read(ShardResult.self, from: path) }

    private func put(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }

    @Test func `a file of this user is read`() throws {
        try put(FrameCodec.json(result))
        #expect(found == result)
    }

    @Test func `a link is not followed, and neither is a link above it`() throws {
        let elsewhere = place.file("elsewhere")
        try Data(FrameCodec.json(result)).write(to: URL(filePath: elsewhere))
        #expect(symlink(elsewhere, path) == 0)
        #expect(found == nil)
        #expect(unlink(path) == 0 && rmdir(folder.results) == 0)
        let folders = place.file("folders")
        #expect(mkdir(folders, 0o755) == 0 && symlink(folders, folder.results) == 0)
        try put(FrameCodec.json(result))
        #expect(found == nil)
        #expect(folder.names(in: folder.results) == [])
    }

    @Test func `a pipe is not waited for`() {
        #expect(mkfifo(path, 0o644) == 0)
        #expect(found == nil)
    }

    @Test func `a file that is larger than any result is not read`() throws {
        try put(FrameCodec.json(result))
        #expect(truncate(path, (1 << 30) + 1) == 0)
        #expect(found == nil)
    }

    @Test(arguments: [100_000, 65]) func `a file of many levels is not decoded`(levels: Int) throws {
        let levels = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let json = String(decoding: try FrameCodec.json(result), as: UTF8.self)
        try put(Array((json.dropLast() + ",\"more\":\(levels)}").utf8))
        #expect(found == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "files of another user take root"))
    func `a file of another user is not read, and nothing is written to it`() throws {
        try put(FrameCodec.json(result))
        #expect(chown(path, 4242, 4242) == 0)
        #expect(found == nil)
        let log = folder.log(id, "a")
        try Data().write(to: URL(filePath: log))
        #expect(chown(log, 4242, 4242) == 0)
        let error = #expect(throws: ShardFolderError.self) {
            try folder.append(AttemptLine.begun(LeaseID(1)), to: log)
        }
        #expect(
            error?.message
                == "\(log): belongs to another user, and nothing is written to it\n   = remove it, and prepare the run again"
        )
        #expect(try Data(contentsOf: URL(filePath: log)).isEmpty)
    }

    @Test func `nothing is written through a link or into a pipe`() throws {
        let log = folder.log(id, "a")
        let elsewhere = place.file("elsewhere")
        try Data("mine".utf8).write(to: URL(filePath: elsewhere))
        #expect(symlink(elsewhere, log) == 0)
        let linked = #expect(throws: ShardFolderError.self) {
            try folder.append(AttemptLine.begun(LeaseID(1)), to: log)
        }
        #expect(linked?.message == "\(log): cannot write: Too many levels of symbolic links")
        #expect(try Data(contentsOf: URL(filePath: elsewhere)) == Data("mine".utf8))
        #expect(unlink(log) == 0 && mkfifo(log, 0o644) == 0)
        let piped = #expect(throws: ShardFolderError.self) {
            try folder.append(AttemptLine.begun(LeaseID(1)), to: log)
        }
        #expect(piped?.message == "\(log): cannot write: No such device or address")
    }
}
