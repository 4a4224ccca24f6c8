import GRDB
import Glibc
import JobModel

/// The SQLite database of a state folder: outputs, broken pictures, and runs.
///
/// Several processes may open it. It must not be on a network file system.
package final class JobStore: Sendable {
    private let path: String
    private let queue: DatabaseQueue

    /// Opens the database, or creates it.
    ///
    /// - Parameters:
    ///   - survivesPowerLoss: false for records that may be lost with the power, though not with a process. Then no write
    ///     waits for the disk.
    ///   - timeout: how long to wait for another process that writes, in seconds.
    ///   - settings: further settings of the connection, in SQL.
    package convenience init(
        path: String, survivesPowerLoss: Bool = true, timeout: Double = 60, settings: String = ""
    ) throws(StoreError) {
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

    /// Keeps other users from reading the names of pictures and the messages of workers. Failures are ignored, because
    /// SQLite reports what is wrong with the file.
    private static func keepPrivate(_ path: String) {
        // SQLite gives its other files the rights of this one. An existing file is never opened here, because closing it
        // would release SQLite's locks in this process.
        let new = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if new >= 0 { Glibc.close(new) }
        // An earlier version made them readable for everybody.
        for file in [path, path + "-wal", path + "-shm"] {
            var found = stat()
            guard lstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_mode & 0o077 != 0 else {
                continue
            }
            chmod(file, 0o600)
        }
    }

    /// Opens an existing database only for ``read(_:)``. The database is not changed, but for a transaction that a power
    /// loss has interrupted, which is taken back.
    package convenience init(readOnly path: String, timeout: Double = 60) throws(StoreError) {
        var configuration = Self.configuration
        configuration.busyMode = .timeout(timeout)
        try Self.takeBackInterruptedTransaction(path, configuration)
        configuration.readonly = true
        try self.init(path, configuration) { _ in }
    }

    /// Until a new database has the journal mode WAL, its transactions are kept in a file `-journal`. After a power loss at
    /// that time, the next connection has to take the transaction back. A connection that only reads cannot.
    private static func takeBackInterruptedTransaction(
        _ path: String, _ configuration: Configuration
    ) throws(StoreError) {
        guard access(path + "-journal", F_OK) == 0 else { return }
        do {
            // Any read takes it back, unless another process is in the middle of it.
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
            try queue.close()
        } catch {
            throw StoreError(path: path, error)
        }
    }

    /// Opens a database without migrating it or waiting for others. Nil if there is no database, or another process is
    /// creating it.
    ///
    /// - Parameter timeout: how long to wait for another process that writes, in seconds.
    package static func unmigrated(at path: String, timeout: Double = 60) throws(StoreError) -> JobStore? {
        guard access(path, F_OK) == 0 else { return nil }
        let store = try JobStore(readOnly: path, timeout: timeout)
        do {
            return try inspect(store.queue) { try $0.tableExists("jobs") } ? store : nil
        } catch {
            throw StoreError(path: path, error)
        }
    }

    /// Opens and migrates an existing database. Nil if there is none.
    package static func existing(at path: String) throws(StoreError) -> JobStore? {
        guard access(path, F_OK) == 0 else { return nil }
        let store = try JobStore(readOnly: path)
        do {
            if try inspect(store.queue, migrator.hasCompletedMigrations) { return store }
        } catch {
            throw StoreError(path: path, error)
        }
        return try JobStore(path: path)
    }

    private init(
        _ path: String, _ configuration: Configuration, prepare: (DatabaseQueue) throws -> Void
    ) throws(StoreError) {
        self.path = path
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try prepare(queue)
            let isKnown = try Self.inspect(queue, Self.migrator.hasBeenSuperseded) == false
            guard isKnown else {
                throw StoreError(path: path, reason: "a newer version of Penumbra wrote it; use that version")
            }
        } catch {
            throw (error as? StoreError) ?? StoreError(path: path, error)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        // Another process may be writing.
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
        migrator.registerMigration("6") { try Migration6.apply($0) }
        return migrator
    }

    /// Several processes may migrate at once. Migrations that another process has done are not repeated.
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

    /// The migrator needs several statements, which have to see one state. A read is a transaction, and its first statement
    /// that finds its table fixes the state.
    private static func inspect<Answer>(
        _ queue: DatabaseQueue, _ question: (Database) throws -> Answer
    ) throws -> Answer {
        try queue.read { database in
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
            return try question(database)
        }
    }

    /// Brings everything into the file itself, if no other process has it open, and closes it. Later reads and writes fail.
    ///
    /// If a program ends before, the last records may be in a `-wal` file beside the database. A copy of the database alone
    /// lacks them.
    package func close() {
        // The process that opens the file next does what fails here.
        try? queue.close()
    }

    package func read<Result>(_ body: (StoreReader) throws -> Result) throws(StoreError) -> Result {
        do {
            return try queue.read { try body(StoreReader(database: $0)) }
        } catch {
            throw StoreError(path: path, error)
        }
    }

    /// Writes in one transaction. After a power failure, all of it is there, or nothing.
    package func write<Result>(_ body: (StoreWriter) throws -> Result) throws(StoreError) -> Result {
        do {
            return try queue.write { try body(StoreWriter(database: $0)) }
        } catch {
            throw StoreError(path: path, error)
        }
    }
}

extension JobStore {
    package static func databasePath(state: String) -> String { "\(state)/penumbra.sqlite" }
}

/// An error of the database.
package struct StoreError: Error, Hashable, Sendable {
    package let path: String
    package let reason: String
    /// The file is not a database, or is damaged.
    package let isDamaged: Bool
    /// The disk was full.
    private let isFull: Bool
    /// This user may not write to the file, or the file system is read-only.
    private let isReadOnly: Bool

    init(path: String, _ error: any Error) {
        self.path = path
        let code = (error as? DatabaseError)?.resultCode
        // A value of another type than this version writes is damage.
        isDamaged = code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB || error is RowDecodingError
        isFull = code == .SQLITE_FULL || code == .SQLITE_IOERR || code == .SQLITE_CANTOPEN && !Self.hasRoom(path)
        isReadOnly = code == .SQLITE_READONLY
        reason = (error as? DatabaseError)?.message ?? "\(error)"
    }

    init(path: String, reason: String) {
        self.path = path
        self.reason = reason
        isDamaged = false
        isFull = false
        isReadOnly = false
    }

    /// Whether the file system has room for another file.
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
        let remedy =
            isFull
            ? "\n   = free some space or choose another place, then run it again"
            : isReadOnly
                ? "\n   = let this user write to it and to its folder, or choose another folder by --state-dir" : ""
        return "\(path): the database cannot be used: \(reason)\(remedy)"
    }
}

/// A lock for creating or migrating a database. Without it, SQLite would fail at once if two processes change a new file's
/// journal mode.
///
/// The lock is a file beside the database, which stays. The kernel releases it when the process ends.
struct OpeningLock: ~Copyable {
    private let descriptor: CInt

    /// Waits for at most a minute. If it cannot get the lock, it continues without it, and SQLite reports what is wrong.
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
