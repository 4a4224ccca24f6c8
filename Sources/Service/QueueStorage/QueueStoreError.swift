import GRDB
import Glibc
import JobModel
package import Queueing
import SafeFiles

/// A row that this version cannot read. It is reported, and all other rows are read.
package struct UnreadableRow: Hashable, Sendable {
    /// What the row is: `job 17`, `token 'x7'`.
    package let subject: String
    /// The number of the job. Nil for other rows.
    package let job: JobID?
    /// What is wrong with it.
    package let words: String

    package init(subject: String, job: JobID? = nil, words: String) {
        self.subject = subject
        self.job = job
        self.words = words
    }

    /// One line that says what is wrong. A line that begins with `   = ` follows, and says what to do.
    package var message: String {
        let consequence = job == nil ? "it is ignored" : "it does not run"
        return
            "\(VisibleText.line(subject)) cannot be read, and \(consequence): \(VisibleText.line(words))\n   = use the "
            + "version of Penumbra that wrote it, or restore a backup"
    }
}

/// An error of the service's database.
package struct QueueStoreError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        /// The file is not a database, or is damaged.
        case damaged(String)
        /// The disk is full or fails.
        case full(String)
        /// This user may not write to the file, or the file system is read-only.
        case readOnly(String)
        /// Another program writes to it.
        case locked
        /// A later version of Penumbra wrote it.
        case laterVersion
        /// It was opened for reads, and an earlier version wrote it, or the service was killed while it created it.
        case notMigrated
        case unreadable(UnreadableRow)
        case unknownJob(JobID)
        /// The run of one job is stored as the run of another one.
        case runOfOther(run: String, job: JobID)
        /// A constraint of the database, which repeats a rule of the queue.
        case broken(rule: String)
        /// The value cannot be stored, or could not be read again.
        case notStorable(String)
        /// What has this name exists already: `schedule 'night'`.
        case nameIsUsed(String)
        /// There is none: `schedule 'night'`.
        case unknownName(String)
        case other(String)
    }

    package let path: String
    package let problem: Problem

    package init(path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }

    init(path: String, _ error: any Error) {
        self.path = path
        switch error {
        case let error as DatabaseError: problem = Self.problem(error, path)
        case let error as UnstorableText: problem = .notStorable(error.words)
        // A row on which everything else depends.
        case let error as RowProblem: problem = .damaged(error.words)
        case let error as RowDecodingError: problem = .damaged("\(error)")
        case let error as FileError: problem = .other(error.line)
        default: problem = .other("\(error)")
        }
    }

    private static func problem(_ error: DatabaseError, _ path: String) -> Problem {
        let words = error.message ?? "\(error)"
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .damaged(words)
        case .SQLITE_FULL, .SQLITE_IOERR: return .full(words)
        case .SQLITE_CANTOPEN where !hasRoom(path): return .full(words)
        case .SQLITE_READONLY: return .readOnly(words)
        case .SQLITE_CANTOPEN where access(path, F_OK) == 0 && access(path, R_OK | W_OK) != 0: return .readOnly(words)
        case .SQLITE_BUSY, .SQLITE_LOCKED: return .locked
        case .SQLITE_CONSTRAINT: return .broken(rule: words)
        default: return .other(words)
        }
    }

    /// Whether the file system has room for another file.
    private static func hasRoom(_ path: String) -> Bool {
        var status = statvfs()
        let folder = PathNames.folder(of: path) ?? "."
        guard statvfs(folder.isEmpty ? "/" : folder, &status) == 0 else { return true }
        // Some file systems count no inodes.
        return status.f_bavail > 0 && (status.f_files == 0 || status.f_favail > 0)
    }

    /// Whether the next try may succeed although nobody has done anything.
    package var isTransient: Bool { problem == .locked }

    /// One line that says where and what. Lines that begin with `   = ` follow, and say what to do.
    package var message: String {
        let unusable = "\(path): the database cannot be used"
        return switch problem {
        case .damaged(let words):
            "\(path): the database is damaged: \(VisibleText.line(words))\n   = stop the service, move the file away, and "
                + "put the newest file of 'backups' in its place"
        case .full(let words):
            "\(unusable): \(VisibleText.line(words))\n   = free some space on its disk, or move the service's folder"
        case .readOnly(let words):
            "\(unusable): \(VisibleText.line(words))\n   = let this user write to it and to its folder, or choose another "
                + "folder by --service-dir"
        case .locked: "\(unusable): another program writes to it\n   = stop the other program, or try again in a moment"
        case .laterVersion: "\(unusable): a later version of Penumbra wrote it\n   = use that version"
        case .notMigrated:
            "\(unusable): this version of the service has not been started on it\n   = start the service once"
        case .unreadable(let row): "\(path): \(row.message)"
        case .unknownJob(let id): "\(path): there is no \(id)\n   = 'penumbra queue --all' lists all jobs"
        case .runOfOther(let run, let job):
            "\(path): the run '\(VisibleText.line(run))' belongs to \(job)\n   = choose another name for the run"
        case .broken(let rule):
            "\(path): a record breaks a rule, and is not stored: \(VisibleText.line(rule))\n   = nothing has changed; this is "
                + "a fault of Penumbra: please report it"
        case .notStorable(let words):
            "\(path): the value cannot be stored: \(VisibleText.line(words))\n   = remove what is named, and try again"
        case .nameIsUsed(let what): "\(path): there is already a \(VisibleText.line(what))\n   = choose another name"
        case .unknownName(let what): "\(path): there is no \(VisibleText.line(what))\n   = list those that exist"
        case .other(let words): "\(unusable): \(VisibleText.line(words))\n   = look at the file with 'penumbra doctor'"
        }
    }
}
