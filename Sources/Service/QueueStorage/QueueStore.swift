import GRDB
import Glibc
import Queueing
import SafeFiles

/// The SQLite database of the service: jobs, tokens, sessions, schedules, messages to send, and who changed what.
///
/// One service writes to it. Reads do not wait for writes. Every call blocks its thread until the disk has answered, so
/// calls belong on threads of their own. The database must not be on a network file system.
package final class QueueStore: Sendable {
    package let path: String
    private let pool: DatabasePool

    package static let fileName = "service.sqlite"

    /// Opens the database of a folder, or creates it.
    ///
    /// - Parameters:
    ///   - folder: An existing folder that belongs to this user.
    ///   - timeout: How long to wait for another program that writes, in seconds.
    ///   - settings: Further settings of the writing connection, in SQL.
    package convenience init(folder: String, timeout: Double = 2, settings: String = "") throws(QueueStoreError) {
        let path = "\(folder)/\(Self.fileName)"
        let isNew = Self.keepPrivate(path)
        try self.init(path, Self.configuration(timeout)) { pool in
            // The library sets NORMAL for its pools. A job that was accepted survives a power failure only with FULL.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL; \(settings)") }
            try Self.refuseLaterVersion(pool, path)
            try Self.migrator.migrate(pool)
            // SQLite has synced the file, but not its name.
            if isNew { try FileSystem.syncFolder(folder) }
        }
    }

    /// Opens an existing database for reads alone. The database is not migrated, and other calls fail.
    package convenience init(readOnly folder: String, timeout: Double = 2) throws(QueueStoreError) {
        var configuration = Self.configuration(timeout)
        configuration.readonly = true
        let path = "\(folder)/\(Self.fileName)"
        try self.init(path, configuration) { pool in
            try Self.refuseLaterVersion(pool, path)
            guard try pool.read(Self.migrator.hasCompletedMigrations) else {
                throw QueueStoreError(path: path, .notMigrated)
            }
        }
    }

    private init(
        _ path: String, _ configuration: Configuration, prepare: (DatabasePool) throws -> Void
    ) throws(QueueStoreError) {
        self.path = path
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            try prepare(pool)
        } catch {
            throw (error as? QueueStoreError) ?? QueueStoreError(path: path, error)
        }
    }

    private static func configuration(_ timeout: Double) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(timeout)
        configuration.maximumReaderCount = 3
        return configuration
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        // The names differ from those of the other database, so that neither is taken for the other.
        migrator.registerMigration("service 1") { try Migration1.apply($0) }
        migrator.registerMigration("service 2") { try Migration2.apply($0) }
        migrator.registerMigration("service 3") { try Migration3.apply($0) }
        migrator.registerMigration("service 4") { try Migration4.apply($0) }
        migrator.registerMigration("service 5") { try Migration5.apply($0) }
        return migrator
    }

    private static func refuseLaterVersion(_ pool: DatabasePool, _ path: String) throws {
        if try pool.read(migrator.hasBeenSuperseded) { throw QueueStoreError(path: path, .laterVersion) }
    }

    /// Keeps other users from reading manifests and the digests of tokens. Failures are ignored, because SQLite reports
    /// what is wrong with the file.
    ///
    /// - Returns: Whether it has created the file.
    private static func keepPrivate(_ path: String) -> Bool {
        // SQLite gives its other files the rights of this one. An existing file is never opened here, because closing
        // it would release SQLite's locks in this process.
        let new = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if new >= 0 { Glibc.close(new) }
        for file in [path, path + "-wal", path + "-shm"] {
            var found = stat()
            guard lstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_mode & 0o077 != 0 else {
                continue
            }
            chmod(file, 0o600)
        }
        return new >= 0
    }

    /// Brings everything into the file itself, and closes it. Later calls fail.
    package func close() {
        // The pool closes its readers last, and they would leave the latest changes in the file '-wal'. The process that opens the file
        // next does what fails here.
        _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try? pool.close()
    }

    /// Reads at one moment.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try translating { try pool.read(body) }
    }

    /// Writes in one transaction. After a power failure, all of it is there, or nothing.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try translating { try pool.write(body) }
    }

    /// Errors of callers' closures pass unchanged.
    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            switch error {
            case is DatabaseError, is RowProblem, is RowDecodingError, is UnstorableText:
                throw QueueStoreError(path: path, error)
            default: throw error
            }
        }
    }

    func error(_ problem: QueueStoreError.Problem) -> QueueStoreError { QueueStoreError(path: path, problem) }
}

extension Database {
    /// Runs a statement that is kept for the next time.
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [Row] {
        try Row.fetchAll(try cachedStatement(sql: sql), arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(try cachedStatement(sql: sql), arguments: arguments)
    }
}
