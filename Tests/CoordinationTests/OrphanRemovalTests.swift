import Coordination
import Foundation
import JobModel
import JobStorage
import TestSupport
import Testing
import WorkerProtocol

@Suite struct OrphanRemovalTests {
    let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: place.file(name)) }

    /// A published output.
    private func orphan(_ name: String = "a.webp", isAdopted: Bool = false) throws -> OutputRecord {
        try write("pixels", to: place.file(name))
        let found = try #require(stamp(at: place.file(name)))
        return .make(place.file(name), file: FileFacts(stamp: found, digest: .make(6)), isAdopted: isAdopted)
    }

    private func folder(_ name: String = "zoom") throws -> OutputRecord {
        try write("<Image/>", to: place.file("\(name)/\(name).dzi"))
        try write("tile", to: place.file("\(name)/\(name)_files/0/0_0.jpg"))
        let found = try #require(stamp(at: place.file(name), isFolder: true))
        return .make(place.file(name), file: FileFacts(stamp: found, digest: .make(6)))
    }

    private func findings(_ record: OutputRecord, _ digest: Digest?) -> Freshness.Findings {
        [DigestTask.File(path: record.path): digest.map { FileFacts(stamp: record.file.stamp, digest: $0) }]
    }

    private func touch(_ record: OutputRecord) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: record.path)
    }

    @Test(arguments: [
        (0, 0, false), (0, 5, false), (1, 10, false), (1, 9, true), (2, 11, true), (10, 100, false), (11, 100, true),
        (1, 1, true),
    ])
    func `over a tenth of a job's outputs is too much`(orphans: Int, outputs: Int, isTooMuch: Bool) {
        #expect(OrphanRemoval.isTooMuch(orphans, of: outputs) == isTooMuch)
    }

    @Test func `an unchanged output is removed, and nothing beside it`() throws {
        let orphan = try orphan()
        try write("mine", to: place.file("a.webp.xmp"))
        #expect(OrphanRemoval.touched([orphan]) == [])
        let removal = OrphanRemoval([orphan], below: [place.path], findings: [:])
        #expect(removal.removed == [orphan.path])
        #expect(removal.kept.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["a.webp.xmp"])
    }

    @Test func `a touched output is read and removed`() throws {
        let orphan = try orphan()
        try touch(orphan)
        #expect(OrphanRemoval.touched([orphan]) == [DigestTask.File(path: orphan.path)])
        #expect(
            OrphanRemoval([orphan], below: [place.path], findings: findings(orphan, .make(6))).removed == [orphan.path])
        #expect(!exists("a.webp"))
    }

    @Test func `edited and unreadable outputs stay`() throws {
        let orphan = try orphan()
        try touch(orphan)
        for findings in [findings(orphan, .make(9)), findings(orphan, nil), [:]] {
            let removal = OrphanRemoval([orphan], below: [place.path], findings: findings)
            #expect(removal.removed == [])
            #expect(removal.kept.map(\.path) == [orphan.path])
            #expect(removal.kept.map(\.reason) == ["was edited"])
            #expect(exists("a.webp"))
        }
    }

    @Test func `an adopted output stays and is not read`() throws {
        let orphan = try orphan(isAdopted: true)
        try touch(orphan)
        #expect(OrphanRemoval.touched([orphan]) == [])
        let removal = OrphanRemoval([orphan], below: [place.path], findings: findings(orphan, .make(6)))
        #expect(removal.kept.map(\.reason) == ["was adopted, not published by Penumbra"])
        #expect(exists("a.webp"))
    }

    @Test func `a link to an output stays`() throws {
        let orphan = try orphan()
        try FileManager.default.moveItem(atPath: orphan.path, toPath: place.file("elsewhere.webp"))
        try FileManager.default.createSymbolicLink(
            atPath: orphan.path, withDestinationPath: place.file("elsewhere.webp"))
        let removal = OrphanRemoval([orphan], below: [place.path], findings: findings(orphan, .make(6)))
        #expect(removal.removed == [])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: orphan.path) == place.file("elsewhere.webp"))
        #expect(exists("elsewhere.webp"))
    }

    @Test func `a folder is removed as a whole`() throws {
        let zoom = try folder()
        #expect(OrphanRemoval([zoom], below: [place.path], findings: [:]).removed == [zoom.path])
        #expect(!exists("zoom"))
    }

    @Test func `a folder with any other file stays as a whole`() throws {
        let zoom = try folder()
        try write("mine", to: place.file("zoom/notes.txt"))
        let removal = OrphanRemoval([zoom], below: [place.path], findings: findings(zoom, .make(6)))
        #expect(removal.removed == [])
        #expect(removal.kept.map(\.reason) == ["could not be removed"])
        #expect(exists("zoom/notes.txt"))
        #expect(exists("zoom/zoom_files/0/0_0.jpg"))
        #expect(OrphanRemoval([zoom], below: [place.path], findings: [:]).kept.map(\.reason) == ["was edited"])
    }

    @Test func `a link in place of a folder stays, and so does its target`() throws {
        let zoom = try folder()
        try FileManager.default.moveItem(atPath: zoom.path, toPath: place.file("elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: zoom.path, withDestinationPath: place.file("elsewhere"))
        #expect(OrphanRemoval([zoom], below: [place.path], findings: [:]).removed == [])
        #expect(exists("elsewhere/zoom.dzi"))
        #expect(exists("zoom/zoom.dzi"))
    }

    /// A combining mark appears on the slash before it.
    @Test func `a folder whose name begins with a combining mark is removed as others are`() throws {
        let orphan = try folder("\u{301}zoom")
        #expect(OrphanRemoval([orphan], below: [place.path], findings: [:]).removed == [orphan.path])
        #expect(!exists("\u{301}zoom"))
    }

    @Test func `a folder with files of a name that only looks the same stays`() throws {
        try write("<Image/>", to: place.file("caf\u{E9}/caf\u{E9}.dzi"))
        try write("tile", to: place.file("caf\u{E9}/cafe\u{301}_files/0/0_0.jpg"))
        let found = try #require(stamp(at: place.file("caf\u{E9}"), isFolder: true))
        let record = OutputRecord.make(
            place.file("caf\u{E9}"), file: FileFacts(stamp: found, digest: .make(6)))
        #expect(OrphanRemoval([record], below: [place.path], findings: [:]).removed == [])
        #expect(exists("caf\u{E9}"))
    }

    @Test(arguments: ["link", "a/link"])
    func `nothing is removed through a link below the outputs' folder`(link: String) throws {
        let victim = try orphan("elsewhere/diary.webp")
        try FileManager.default.createDirectory(atPath: place.file("out/a"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: place.file("out/\(link)"), withDestinationPath: place.file("elsewhere"))
        let lie = OutputRecord.make(place.file("out/\(link)/diary.webp"), file: victim.file)

        let removal = OrphanRemoval([lie], below: [place.file("out")], findings: [:])
        #expect(removal.removed == [])
        #expect(removal.kept.map(\.reason) == ["lies behind a link, which nothing is removed through"])
        #expect(exists("elsewhere/diary.webp"))
    }
}
