import Glibc
import GRDB
import JobModel

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
