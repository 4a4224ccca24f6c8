import Foundation
import GRDB
import QueueStorage
import Queueing
import TestSupport
import Testing

@Suite struct OpeningTests {
    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `other users cannot read the database`() throws {
        let stored = try StoredQueue()
        try stored.submit()
        for end in ["", "-wal", "-shm"] { #expect(try mode(stored.path + end) == 0o600) }
        stored.store.close()
        chmod(stored.path, 0o644)
        let again = try QueueStore(folder: stored.folder.path)
        #expect(try mode(stored.path) == 0o600)
        again.close()
    }

    @Test func `a closed database is one file, which a copy of it alone shows`() throws {
        let stored = try StoredQueue()
        try stored.submit()
        stored.store.close()
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: stored.path, toPath: copy.file("service.sqlite"))
        let again = try QueueStore(folder: copy.path)
        #expect(try again.load().queue.jobs.map(\.id) == [1])
        again.close()
    }

    @Test func `a job that was accepted survives a power failure`() throws {
        let stored = try StoredQueue(settings: "CREATE TABLE seen AS SELECT synchronous FROM pragma_synchronous")
        let raw = try DatabaseQueue(path: stored.path)
        let (synchronous, journal) = try raw.read { database in
            (
                try Int.fetchOne(database, sql: "SELECT synchronous FROM seen"),
                try String.fetchOne(database, sql: "PRAGMA journal_mode")
            )
        }
        #expect(synchronous == 2, "FULL")
        #expect(journal == "wal")
    }

    @Test func `two stores on one file see each other's jobs, and give different numbers`() throws {
        let stored = try StoredQueue()
        let other = try QueueStore(folder: stored.folder.path)
        let first = try stored.submit()
        let second = try other.insert(JobRequest(owner: .user(1), key: nil, digest: "d"), at: .noon) { id, known in
            try Submission(
                id: id, owner: .user(1), digest: "d", name: "b", manifest: .file, at: .noon, known: known)
        }.job
        #expect((first.id, second.id) == (1, 2))
        #expect(try stored.store.load().queue.jobs == [first, second])
        #expect(try other.load().queue.jobs == [first, second])
    }

    @Test func `a database that another program writes to is reported, and nothing changes`() throws {
        let stored = try StoredQueue()
        let impatient = try QueueStore(folder: stored.folder.path, timeout: 0.01)
        let raw = try DatabaseQueue(path: stored.path)
        let found = try raw.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            defer { try? database.execute(sql: "ROLLBACK") }
            // Reads go on meanwhile.
            #expect(try impatient.load().queue.jobs == [])
            return message { try impatient.set(.drained, to: "yes") }
        }
        #expect(
            found
                == "\(stored.path): the database cannot be used: another program writes to it\n   = stop the other program, or "
                + "try again in a moment")
        try impatient.set(.drained, to: "yes")
        #expect(try stored.store[.drained] == "yes")
    }

    @Test func `a file that is no database is damage, and is not changed`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("service.sqlite")
        let text = Data(String(repeating: "no database ", count: 100).utf8)
        try text.write(to: URL(fileURLWithPath: path))
        #expect(
            message { _ = try QueueStore(folder: folder.path) }
                == "\(path): the database is damaged: file is not a database\n   = stop the service, move the file away, and "
                + "put the newest file of 'backups' in its place")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
    }

    @Test func `the database of a later version is refused, and is not migrated`() throws {
        let stored = try StoredQueue()
        try stored.change("INSERT INTO grdb_migrations (identifier) VALUES ('service 99')")
        let expected =
            "\(stored.path): the database cannot be used: a later version of Penumbra wrote it\n   = use that version"
        #expect(message { _ = try QueueStore(folder: stored.folder.path) } == expected)
        #expect(message { _ = try QueueStore(readOnly: stored.folder.path) } == expected)
    }

    @Test func `the database of a state folder is not taken for one of a service`() throws {
        let folder = try TemporaryFolder()
        let raw = try DatabaseQueue(path: folder.file("service.sqlite"))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: "CREATE TABLE jobs (id INTEGER PRIMARY KEY)") }
        try migrator.migrate(raw)
        try raw.close()
        #expect(problem { _ = try QueueStore(folder: folder.path) } == .laterVersion)
    }

    @Test func `a full disk refuses a job as a whole, and the queue stays readable`() throws {
        let stored = try StoredQueue()
        let first = try stored.submit()
        stored.store.close()
        let full = try QueueStore(folder: stored.folder.path, settings: "PRAGMA max_page_count = 1")
        let text = String(repeating: "x", count: 200_000)
        let found = message {
            _ = try full.insert(JobRequest(owner: .user(1), key: nil, digest: "d"), at: .noon) { id, known in
                try Submission(
                    id: id, owner: .user(1), digest: "d", name: "b",
                    manifest: ManifestSource(.uploaded(text: text, folder: "/srv"), digest: "m"), at: .noon,
                    known: known)
            }
        }
        #expect(
            found
                == "\(stored.path): the database cannot be used: database or disk is full\n   = free some space on its disk, or "
                + "move the service's folder")
        #expect(try full.load().queue.jobs == [first])
    }

    @Test func `a database that is opened for reads is not written to`() throws {
        let stored = try StoredQueue()
        let job = try stored.submit()
        let reader = try QueueStore(readOnly: stored.folder.path)
        #expect(try reader.load().queue.jobs == [job])
        #expect(
            message { try reader.set(.drained, to: "yes") }
                == "\(stored.path): the database cannot be used: attempt to write a readonly database\n   = let this user write "
                + "to it and to its folder, or choose another folder by --service-dir")
    }

    @Test func `a database that does not exist is not created by a reader`() throws {
        let folder = try TemporaryFolder()
        #expect(
            message { _ = try QueueStore(readOnly: folder.path) }
                == "\(folder.path)/service.sqlite: the database cannot be used: unable to open database file\n   = look at the "
                + "file with 'penumbra doctor'")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `a database that is not complete is not read`() throws {
        let stored = try StoredQueue()
        try stored.change("DELETE FROM grdb_migrations")
        #expect(
            message { _ = try QueueStore(readOnly: stored.folder.path) }
                == "\(stored.path): the database cannot be used: this version of the service has not been started on it\n   = "
                + "start the service once")
    }

    @Test func `only a locked database is worth another try`() throws {
        #expect(QueueStoreError(path: "/p", .locked).isTransient)
        #expect(!QueueStoreError(path: "/p", .full("x")).isTransient)
    }
}
