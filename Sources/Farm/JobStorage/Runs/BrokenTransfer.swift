import GRDB
import JobModel

/// A ``BrokenRecord`` that goes from one database to another.
package struct BrokenTransfer: Hashable, Sendable, Codable {
    package var input: String
    package var page: Int
    package var inode: UInt64
    package var size: Int
    package var modified: Int64
    /// How its outputs would be made.
    package var recipe: String
    package var message: String
    package var since: Int

    package init(
        input: String, page: Int, inode: UInt64, size: Int, modified: Int64, recipe: String, message: String, since: Int
    ) {
        self.input = input
        self.page = page
        self.inode = inode
        self.size = size
        self.modified = modified
        self.recipe = recipe
        self.message = message
        self.since = since
    }
}

extension BrokenTransfer {
    package var isPlausible: Bool { [page, size, since].allSatisfy { (0...Int.max / 2).contains($0) } }
}

extension StoreReader {
    package func brokenTransfers(of job: JobID) throws -> [BrokenTransfer] {
        let texts = try recipes()
        return try broken(of: job).map { record in
            BrokenTransfer(
                input: record.input, page: record.page, inode: record.stamp.inode, size: record.stamp.size,
                modified: record.stamp.modified, recipe: texts[record.recipe] ?? "", message: record.message,
                since: record.since)
        }
    }
}

extension StoreWriter {
    package func put(_ told: BrokenTransfer, job: JobID) throws {
        let stamp = FileStamp(device: 0, inode: told.inode, size: told.size, modified: told.modified, changed: 0)
        try setBroken(
            BrokenRecord(
                input: told.input, page: told.page, stamp: stamp, recipe: try recipe(told.recipe),
                message: told.message, since: told.since), job: job)
    }
}
