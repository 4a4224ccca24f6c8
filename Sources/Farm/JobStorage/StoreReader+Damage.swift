import GRDB

extension StoreReader {
    /// Looks through the whole database: a second for some hundred thousand outputs.
    ///
    /// - Throws: the first damage that is found.
    package func refuseDamage() throws {
        let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? ""
        guard finding == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding) }
    }
}
