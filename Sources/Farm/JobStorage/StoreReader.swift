import GRDB
import JobModel

/// Questions to the database, of one moment.
package struct StoreReader {
    let database: Database

    static let columns = """
        path, input, page, part, input_inode, input_size, input_modified, input_high, input_low, recipe, inode, size, \
        modified, high, low, width, height, adopted, pixels_high, pixels_low, encoding
        """

    /// For a database that nobody has brought up to date: who only looks does not.
    private static let oldColumns =
        columns.replacing("pixels_high, pixels_low, encoding", with: "NULL, NULL, NULL")

    /// What stands for ``columns`` in this database.
    func knownColumns() throws -> String {
        try database.tableExists("encodings") ? Self.columns : Self.oldColumns
    }

    /// Few texts, of many outputs.
    func encodings() throws -> [Int64: OutputEncoding] {
        guard try database.tableExists("encodings") else { return [:] }
        var result: [Int64: OutputEncoding] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT id, text FROM encodings")
        while let row = try rows.next() { result[try row.stored(0)] = OutputEncoding(text: try row.stored(1)) }
        return result
    }

    /// Nil for a job that never ran.
    package func job(manifest: String, name: String) throws -> JobID? {
        try Int64.fetchOne(
            database, sql: "SELECT id FROM jobs WHERE manifest = ? AND name = ?", arguments: [manifest, name]
        ).map(JobID.init(number:))
    }

    package func outputs(of job: JobID) throws -> [OutputRecord] { try records("outputs", of: job) }

    /// Outputs that a run was about to publish when it ended.
    package func intents(of job: JobID) throws -> [OutputRecord] { try records("intents", of: job) }

    private func records(_ table: String, of job: JobID) throws -> [OutputRecord] {
        let encodings = try encodings()
        let statement = try database.cachedStatement(
            sql: "SELECT \(try knownColumns()) FROM \(table) WHERE job = ?")
        var result: [OutputRecord] = []
        let rows = try Row.fetchCursor(statement, arguments: [job.number])
        while let row = try rows.next() { result.append(try OutputRecord(row, encodings)) }
        return result
    }

    /// Of all jobs that are known to have lines in an index.
    package func outputCount(indexedAt path: String) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM outputs WHERE job IN (SELECT job FROM indexes WHERE path = ?)",
            arguments: [path]) ?? 0
    }

    package func recipes() throws -> [RecipeID: String] {
        var result: [RecipeID: String] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT id, text FROM recipes")
        while let row = try rows.next() { result[RecipeID(number: try row.stored(0))] = try row.stored(1, String.self) }
        return result
    }

    package func broken(of job: JobID) throws -> [BrokenRecord] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT input, page, inode, size, modified, recipe, message, since FROM broken WHERE job = ?",
            arguments: [job.number])
        return try rows.map { row in
            try BrokenRecord(
                input: row.stored(0), page: row.stored(1),
                stamp: FileStamp(
                    device: 0, inode: row.storedBits(2), size: row.stored(3), modified: row.stored(4), changed: 0),
                recipe: RecipeID(number: row.stored(5)), message: row.stored(6), since: row.stored(7))
        }
    }

    package func indexMark(of job: JobID, at path: String) throws -> IndexMark? {
        try Row.fetchOne(
            database, sql: "SELECT inode, size FROM indexes WHERE job = ? AND path = ?",
            arguments: [job.number, path]
        ).map { try IndexMark(inode: $0.storedBits(0), size: $0.stored(1)) }
    }
}

extension OutputRecord {
    /// - Parameter row: of ``StoreReader/columns``.
    init(_ row: Row, _ encodings: [Int64: OutputEncoding]) throws {
        try self.init(
            path: row.stored(0), input: row.stored(1), page: row.stored(2), part: row.stored(3),
            source: FileFacts(
                stamp: FileStamp(
                    device: 0, inode: row.storedBits(4), size: row.stored(5), modified: row.stored(6), changed: 0),
                digest: Digest(high: row.storedBits(7), low: row.storedBits(8))),
            recipe: RecipeID(number: row.stored(9)),
            file: FileFacts(
                stamp: FileStamp(
                    device: 0, inode: row.storedBits(10), size: row.stored(11), modified: row.stored(12), changed: 0),
                digest: Digest(high: row.storedBits(13), low: row.storedBits(14))),
            width: row.stored(15), height: row.stored(16), isAdopted: row.stored(17),
            pixels: EncodedPixels(row, encodings))
    }

    /// - Parameter encoding: the number of ``pixels``' encoding.
    func arguments(encoding: Int64?) -> StatementArguments {
        [
            path, input, page, part, Int64(bitPattern: source.stamp.inode), source.stamp.size, source.stamp.modified,
            Int64(bitPattern: source.digest.high), Int64(bitPattern: source.digest.low), recipe.number,
            Int64(bitPattern: file.stamp.inode), file.stamp.size, file.stamp.modified,
            Int64(bitPattern: file.digest.high), Int64(bitPattern: file.digest.low), width, height, isAdopted,
            pixels.map { Int64(bitPattern: $0.digest.high) }, pixels.map { Int64(bitPattern: $0.digest.low) }, encoding,
        ]
    }
}

extension EncodedPixels {
    fileprivate init?(_ row: Row, _ encodings: [Int64: OutputEncoding]) throws {
        guard let high = try row.stored(18, Int64?.self), let low = try row.stored(19, Int64?.self),
            let number = try row.stored(20, Int64?.self), let encoding = encodings[number]
        else { return nil }
        self.init(
            digest: Digest(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low)), encoding: encoding)
    }
}
