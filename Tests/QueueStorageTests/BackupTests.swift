import Foundation
import QueueStorage
import Queueing
import TestSupport
import Testing

@Suite struct BackupTests {
    let stored: StoredQueue
    let backups: String

    init() throws {
        stored = try StoredQueue()
        backups = QueueStore.backupFolder(of: stored.folder.path)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: backups).sorted() }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `a backup is the whole database at one moment`() throws {
        let first = try stored.submit(key: "k")
        let path = try stored.store.backup(to: backups, at: .noon)
        #expect(path == "\(backups)/service-20261125T120000Z.sqlite")
        let later = try stored.submit()

        let other = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: path, toPath: other.file(QueueStore.fileName))
        let restored = try QueueStore(folder: other.path)
        #expect(try restored.load().queue.jobs == [first])
        #expect(try restored.checkIntegrity() == [])
        #expect(try stored.store.load().queue.jobs == [first, later])
    }

    @Test func `other users cannot read backups`() throws {
        let path = try stored.store.backup(to: backups, at: .noon)
        #expect(try mode(backups) == 0o700)
        #expect(try mode(path) == 0o600)
    }

    @Test func `the newest backups are kept, and other files stay`() throws {
        try stored.store.backup(to: backups, keeping: 2, at: .noon)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(backups)/notes.txt"))
        // What a killed service left.
        try Data("part".utf8).write(to: URL(fileURLWithPath: "\(backups)/.service-20261101T000000Z.sqlite.part"))
        for day in 1...3 { try stored.store.backup(to: backups, keeping: 2, at: .noon(plusDays: day)) }
        #expect(
            try names == ["notes.txt", "service-20261127T120000Z.sqlite", "service-20261128T120000Z.sqlite"])
        // The same moment again replaces its backup.
        try stored.store.backup(to: backups, keeping: 2, at: .noon(plusDays: 3))
        #expect(try names.count == 3)
    }

    @Test func `a backup that fails leaves the earlier ones, and no part of itself`() throws {
        try stored.store.backup(to: backups, at: .noon)
        let before = try names
        // SQLite cannot write over a folder.
        try FileManager.default.createDirectory(
            atPath: "\(backups)/.service-20261126T120000Z.sqlite.part/x", withIntermediateDirectories: true)
        #expect(throws: QueueStoreError.self) { try stored.store.backup(to: backups, at: .noon(plusDays: 1)) }
        try FileManager.default.removeItem(atPath: "\(backups)/.service-20261126T120000Z.sqlite.part")
        #expect(try names == before)
    }

    @Test func `jobs that come while a backup is made are not held up by it`() throws {
        for _ in 0..<20 { try stored.submit() }
        let reader = try QueueStore(readOnly: stored.folder.path)
        try reader.backup(to: backups, at: .noon)
        #expect(try stored.submit().id == 21)
    }

    @Test func `a sound database has no problems, and a damaged one is told of`() throws {
        try stored.end()
        try stored.submit(needs: [Need(1)])
        #expect(try stored.store.checkIntegrity() == [])
        try stored.change("PRAGMA foreign_keys = OFF; DELETE FROM submissions WHERE id = 1")
        let problems = try stored.store.checkIntegrity()
        #expect(problems.count == 2, "of 'needs' and of 'runs'")
        #expect(problems.allSatisfy { $0.contains("refers to a job that does not exist") })
    }

    @Test func `the newest backup is known by its time, and other files are none`() throws {
        let folder = stored.folder.file("copies")
        #expect(QueueStore.lastBackup(in: folder) == nil)
        let later = WallTime(seconds: WallTime.noon.seconds + 90_000)
        for time in [later, .noon] { _ = try stored.store.backup(to: folder, at: time) }
        for name in [
            "service-2.sqlite", "service-99999999T999999Z.sqlite", "service-20991231T000000Z.sqlite.part", "x",
        ] {
            try Data().write(to: URL(filePath: "\(folder)/\(name)"))
        }
        #expect(QueueStore.lastBackup(in: folder)?.text == later.text)
    }
}
