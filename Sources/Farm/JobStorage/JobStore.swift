import GRDB
import Glibc
import JobModel

/// What Penumbra knows of jobs' outputs, in a SQLite database.
///
/// Several processes may have it open. Never on a network filesystem.
package final class JobStore: Sendable {
    private let path: String
    private let queue: DatabaseQueue

    /// Opens the database, or creates it.
    ///
    /// - Parameters:
    ///   - survivesPowerLoss: false for what may be lost with the power, though never with a process: no write waits for the disk then.
    ///   - timeout: how long to wait for a process that writes, in seconds.
    ///   - settings: further settings of the connection, in SQL.
    package convenience init(
        path: String, survivesPowerLoss: Bool = true, timeout: Double = 60, settings: String = ""
    ) throws(StoreProblem) {
        var configuration = Self.configuration
        configuration.busyMode = .timeout(timeout)
        let synchronous = survivesPowerLoss ? "FULL" : "NORMAL"
        configuration.prepareDatabase { database in
            try database.execute(
                sql:
                    "PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous); PRAGMA cache_size = -32000; \(settings)"
            )
        }
        let lock = OpeningLock(ofDatabase: path)
        Self.keepPrivate(path)
        try self.init(path, configuration, prepare: Self.migrate)
        extendLifetime(lock)
    }

    /// Keeps others from reading the names of a user's pictures, and what workers have said. What cannot be done is left: SQLite
    /// says what is wrong with the file.
    private static func keepPrivate(_ path: String) {
        // SQLite gives its other files the rights of this one. One that is there is never opened here: closing it would take
        // this process's locks from SQLite.
        let new = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if new >= 0 { close(new) }
        // An earlier version made them readable by all.
        for file in [path, path + "-wal", path + "-shm"] {
            var found = stat()
            guard lstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_mode & 0o077 != 0 else {
                continue
            }
            chmod(file, 0o600)
        }
    }

    /// Only for ``read(_:)``; the database stays as it is, and has to be there.
    package convenience init(readOnly path: String, timeout: Double = 60) throws(StoreProblem) {
        var configuration = Self.configuration
        configuration.busyMode = .timeout(timeout)
        configuration.readonly = true
        try self.init(path, configuration) { _ in }
    }

    /// For those who only look and wait for nobody: as it is, be it of an older version. Nil where there is no database, or
    /// somebody has just begun to make it.
    ///
    /// - Parameter timeout: how long to wait for a process that writes, in seconds.
    package static func unmigrated(at path: String, timeout: Double = 60) throws(StoreProblem) -> JobStore? {
        guard access(path, F_OK) == 0 else { return nil }
        let store = try JobStore(readOnly: path, timeout: timeout)
        do {
            return try inspect(store.queue) { try $0.tableExists("jobs") } ? store : nil
        } catch {
            throw StoreProblem(path: path, error)
        }
    }

    /// Nil where there is no database. One of an older version is brought up to date first.
    package static func existing(at path: String) throws(StoreProblem) -> JobStore? {
        guard access(path, F_OK) == 0 else { return nil }
        let store = try JobStore(readOnly: path)
        do {
            if try inspect(store.queue, migrator.hasCompletedMigrations) { return store }
        } catch {
            throw StoreProblem(path: path, error)
        }
        return try JobStore(path: path)
    }

    private init(
        _ path: String, _ configuration: Configuration, prepare: (DatabaseQueue) throws -> Void
    ) throws(StoreProblem) {
        self.path = path
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try prepare(queue)
            let isKnown = try Self.inspect(queue, Self.migrator.hasBeenSuperseded) == false
            guard isKnown else {
                throw StoreProblem(path: path, reason: "a newer version of Penumbra wrote it; use that version")
            }
        } catch {
            throw (error as? StoreProblem) ?? StoreProblem(path: path, error)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        // Another job's process may be writing.
        configuration.busyMode = .timeout(60)
        return configuration
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try Migration1.apply($0) }
        migrator.registerMigration("2") { try Migration2.apply($0) }
        migrator.registerMigration("3") { try Migration3.apply($0) }
        migrator.registerMigration("4") { try Migration4.apply($0) }
        migrator.registerMigration("5") { try Migration5.apply($0) }
        return migrator
    }

    /// Several processes may begin at once: what another one has done meanwhile is not done again.
    private static func migrate(_ queue: DatabaseQueue) throws {
        let migrator = migrator
        while try !inspect(queue, migrator.hasCompletedMigrations) {
            let before = try inspect(queue, migrator.appliedIdentifiers)
            do {
                try migrator.migrate(queue)
            } catch {
                guard try inspect(queue, migrator.appliedIdentifiers).count > before.count else { throw error }
            }
        }
    }

    /// What the migrator asks takes several statements. They see one state, whatever others write in between: a read is a
    /// transaction, whose state is fixed by the first statement that finds its table.
    private static func inspect<Answer>(
        _ queue: DatabaseQueue, _ question: (Database) throws -> Answer
    ) throws -> Answer {
        try queue.read { database in
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
            return try question(database)
        }
    }

    package func read<Result>(_ body: (StoreReader) throws -> Result) throws(StoreProblem) -> Result {
        do {
            return try queue.read { try body(StoreReader(database: $0)) }
        } catch {
            throw StoreProblem(path: path, error)
        }
    }

    /// One transaction: all of it is there after a power failure, or nothing.
    package func write<Result>(_ body: (StoreWriter) throws -> Result) throws(StoreProblem) -> Result {
        do {
            return try queue.write { try body(StoreWriter(database: $0)) }
        } catch {
            throw StoreProblem(path: path, error)
        }
    }
}

extension JobStore {
    package static func databasePath(state: String) -> String { "\(state)/penumbra.sqlite" }
}

/// Why the database could not be read or written.
package struct StoreProblem: Error, Hashable, Sendable {
    package let path: String
    package let reason: String
    /// Its content is no database, or damaged.
    package let isDamaged: Bool
    /// There was no room for it.
    private let isFull: Bool

    init(path: String, _ error: any Error) {
        self.path = path
        let code = (error as? DatabaseError)?.resultCode
        // A value of another type than this version writes is damage, whoever finds it.
        isDamaged = code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB || error is RowDecodingError
        isFull = code == .SQLITE_FULL || code == .SQLITE_IOERR || code == .SQLITE_CANTOPEN && !Self.hasRoom(path)
        reason = (error as? DatabaseError)?.message ?? "\(error)"
    }

    init(path: String, reason: String) {
        self.path = path
        self.reason = reason
        isDamaged = false
        isFull = false
    }

    /// Whether its file system can hold another file.
    private static func hasRoom(_ path: String) -> Bool {
        var status = statvfs()
        let folder = PathNames.folder(of: path) ?? "."
        guard statvfs(folder.isEmpty ? "/" : folder, &status) == 0 else { return true }
        // Some file systems count no inodes.
        return status.f_bavail > 0 && (status.f_files == 0 || status.f_favail > 0)
    }

    package var message: String {
        if isDamaged {
            return
                "\(path): the database is damaged: \(reason)\n   = move it away and run again: what it knew of outputs is "
                + "read from the '.penumbra-index' files beside them, and nothing is rendered again"
        }
        let remedy = isFull ? "\n   = free some space or choose another place, then run it again" : ""
        return "\(path): the database cannot be used: \(reason)\(remedy)"
    }
}

/// Held while a database is made or brought up to date, so that others wait with opening it: SQLite answers with an error,
/// and does not wait, where two want to change a new file's journal mode.
///
/// A file beside the database, which stays. The kernel takes the lock away from a process that ends.
struct OpeningLock: ~Copyable {
    private let descriptor: CInt

    /// Waits for the lock for a minute; goes on without it then, as where there can be none: SQLite tells what is wrong.
    init(ofDatabase path: String) {
        descriptor = open("\(path)-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return }
        for _ in 0..<6000 {
            guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR else { return }
            usleep(10_000)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
