import GRDB
package import JobModel

/// The record of one published output.
package struct OutputRecord: Hashable, Sendable {
    /// Absolute.
    package var path: String
    /// Absolute, as it is shown.
    package var input: String
    package var page: Int
    /// The index among the job's outputs.
    package var part: Int
    /// The input as it was read.
    package var source: FileFacts
    package var recipe: RecipeID
    /// The output as it was published.
    package var file: FileFacts
    package var width: Int
    package var height: Int
    /// Whether `penumbra adopt` accepted it. Then Penumbra did not make it.
    package var isAdopted: Bool
    /// Nil for adopted outputs, and for outputs of versions that did not record this.
    package var pixels: EncodedPixels?

    package init(
        path: String, input: String, page: Int, part: Int, source: FileFacts, recipe: RecipeID, file: FileFacts,
        width: Int, height: Int, isAdopted: Bool = false, pixels: EncodedPixels? = nil
    ) {
        self.pixels = pixels
        self.path = path
        self.input = input
        self.page = page
        self.part = part
        self.source = source
        self.recipe = recipe
        self.file = file
        self.width = width
        self.height = height
        self.isAdopted = isAdopted
    }
}

/// A picture that failed, and is not tried again while it is unchanged.
package struct BrokenRecord: Hashable, Sendable {
    package var input: String
    package var page: Int
    package var stamp: FileStamp
    package var recipe: RecipeID
    package var message: String
    /// Seconds since 1970.
    package var since: Int

    package init(input: String, page: Int, stamp: FileStamp, recipe: RecipeID, message: String, since: Int) {
        self.input = input
        self.page = page
        self.stamp = stamp
        self.recipe = recipe
        self.message = message
        self.since = since
    }
}

/// The number of a recipe's text.
package struct RecipeID: Hashable, Sendable {
    let number: Int64

    /// For a text that does not come from the database. Its index in another list.
    package init(index: Int) { number = Int64(index) }

    init(number: Int64) { self.number = number }
}

/// The number of a manifest's job.
package struct JobID: Hashable, Sendable {
    let number: Int64
}

/// The end of the part of an index that the database knows.
package struct IndexMark: Hashable, Sendable {
    package let inode: UInt64
    package let size: Int

    package init(inode: UInt64, size: Int) {
        self.inode = inode
        self.size = size
    }
}

/// A ``BrokenRecord`` that is copied from one database to another.
package struct BrokenTransfer: Hashable, Sendable, Codable {
    package var input: String
    package var page: Int
    package var inode: UInt64
    package var size: Int
    package var modified: Int64
    /// The text of its recipe.
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
        let texts = try recipes(of: job)
        return try broken(of: job).map { record in
            BrokenTransfer(
                input: record.input, page: record.page, inode: record.stamp.inode, size: record.stamp.size,
                modified: record.stamp.modified, recipe: texts[record.recipe] ?? "", message: record.message,
                since: record.since)
        }
    }
}

extension StoreWriter {
    package func put(_ broken: BrokenTransfer, job: JobID) throws {
        let stamp = FileStamp(device: 0, inode: broken.inode, size: broken.size, modified: broken.modified, changed: 0)
        try setBroken(
            BrokenRecord(
                input: broken.input, page: broken.page, stamp: stamp, recipe: try recipe(broken.recipe),
                message: broken.message, since: broken.since), job: job)
    }
}
