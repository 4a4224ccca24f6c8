import GRDB
import Glibc
package import Queueing
import SafeFiles

extension QueueStore {
    /// The folder of the backups, in the service's folder.
    package static func backupFolder(of folder: String) -> String { "\(folder)/backups" }

    /// Copies the database as it is now into a file of its own, which is a whole database.
    ///
    /// It reads with a connection of its own, so neither reads nor writes wait for it. A backup that is interrupted
    /// leaves the earlier ones as they are.
    ///
    /// - Parameters:
    ///   - folder: Is created if it does not exist. Other users cannot read it.
    ///   - count: So many backups are kept: the newest ones by their names.
    /// - Returns: The path of the backup.
    /// - Throws: ``QueueStoreError`` or `FileError`.
    @discardableResult
    package func backup(to folder: String, keeping count: Int = 7, at now: WallTime) throws -> String {
        _ = try FileSystem.createFolders(folder, mode: 0o700)
        try FileSystem.makePrivate(folder, trusting: .ownAndRoot)
        let name = Self.prefix + now.backupStamp + Self.suffix
        let path = "\(folder)/\(name)"
        let part = "\(folder)/.\(name).part"
        for old in FileSystem.names(in: folder) where old.hasPrefix(".\(Self.prefix)") && old.hasSuffix(".part") {
            // The service that wrote it was killed.
            FileSystem.remove("\(folder)/\(old)")
        }
        do {
            try copy(to: part)
            try sync(".\(name).part", of: folder)
            try FileSystem.rename(part, to: path)
            try FileSystem.syncFolder(folder)
        } catch {
            FileSystem.remove(part)
            throw error
        }
        let backups = FileSystem.names(in: folder).filter { $0.hasPrefix(Self.prefix) && $0.hasSuffix(Self.suffix) }
        for old in backups.sorted().dropLast(max(1, count)) { FileSystem.remove("\(folder)/\(old)") }
        return path
    }

    /// When the newest backup in a folder was made. Nil if there is none.
    package static func lastBackup(in folder: String) -> WallTime? {
        FileSystem.names(in: folder).filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
            .compactMap { WallTime(backupStamp: $0.dropFirst(prefix.count).dropLast(suffix.count)) }.max()
    }

    private static let prefix = "service-"
    private static let suffix = ".sqlite"

    private func copy(to part: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        do {
            let connection = try DatabaseQueue(path: path, configuration: configuration)
            try connection.vacuum(into: part)
            try connection.close()
        } catch {
            throw QueueStoreError(path: part, error)
        }
        chmod(part, 0o600)
    }

    private func sync(_ name: String, of folder: String) throws {
        guard let file = try SafeFolder(folder).file(name) else {
            throw FileError(path: "\(folder)/\(name)", code: ENOENT, action: "sync")
        }
        try file.sync()
    }

    /// What is wrong with the database: damage of the file, and rows that cannot be read. Empty if nothing is. It reads
    /// the whole file.
    package func checkIntegrity() throws -> [String] {
        try read { database in
            // More lines would say the same.
            let lines = try String.fetchAll(database, sql: "PRAGMA quick_check(20)")
            var problems = lines == ["ok"] ? [] : lines.map { error(.damaged($0)).message }
            for row in try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(20) {
                let table = try row.stored("table", String.self)
                let other = table == "sessions" ? "token" : "job"
                problems.append(
                    error(.damaged("a row of '\(table)' refers to a \(other) that does not exist")).message)
            }
            return problems + (try unreadableRows(database).map(\.message))
        }
    }

    private func unreadableRows(_ database: Database) throws -> [UnreadableRow] {
        var unreadable: [UnreadableRow] = []
        let reader = JobReader(database: database, store: self)
        let jobs = try Row.fetchCursor(database, sql: "SELECT \(SubmissionRow.columns) FROM submissions ORDER BY id")
        while let row = try jobs.next() { _ = try reader.jobs([row], &unreadable) }
        /// - Parameter column: Names a row in messages.
        func check(_ sql: String, _ subject: String, _ column: String, _ decode: (Row) throws -> Void) throws {
            let rows = try Row.fetchCursor(database, sql: sql)
            while let row = try rows.next() {
                do {
                    try decode(row)
                } catch let problem as RowProblem {
                    let name = try row.decode(DatabaseValue.self, forColumn: column)
                    unreadable.append(UnreadableRow(subject: "\(subject) \(name)", words: problem.words))
                }
            }
        }
        try check("SELECT * FROM tokens", "token", "id") { _ = try Self.token($0) }
        try check("SELECT token, created, expires, digest FROM sessions", "session of the token", "token") {
            _ = try Self.session($0)
        }
        try check("SELECT * FROM schedules", "schedule", "name") { _ = try Self.schedule($0) }
        try check("SELECT * FROM outbox WHERE done IS NULL", "message", "event") { _ = try Self.entry($0) }
        try check("SELECT * FROM audit", "audit entry", "id") { _ = try Self.auditEntry($0) }
        return unreadable
    }
}

extension WallTime {
    /// `20261126T020000Z`: names in this form sort by time.
    fileprivate var backupStamp: String {
        WallTime(seconds: seconds).text.filter { $0 != "-" && $0 != ":" }
    }

    /// Nil if the text is no ``backupStamp``.
    fileprivate init?(backupStamp text: Substring) {
        let characters = Array(text)
        guard characters.count == 16 else { return nil }
        func part(_ range: Range<Int>) -> String { String(characters[range]) }
        self.init(
            text: "\(part(0..<4))-\(part(4..<6))-\(part(6..<11)):\(part(11..<13)):\(part(13..<16))")
    }
}
