import GRDB

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
        isDamaged = code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
        isFull = code == .SQLITE_FULL || code == .SQLITE_IOERR
        reason = (error as? DatabaseError)?.message ?? "\(error)"
    }

    init(path: String, reason: String) {
        self.path = path
        self.reason = reason
        isDamaged = false
        isFull = false
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
