import Glibc
import GRDB

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
