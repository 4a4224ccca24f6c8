package import JobModel

/// What is known of one published output.
package struct OutputRecord: Hashable, Sendable {
    /// Absolute.
    package var path: String
    /// Absolute, as it is shown to people.
    package var input: String
    package var page: Int
    /// Its place among the job's outputs.
    package var part: Int
    /// The input as it was read.
    package var source: FileFacts
    package var recipe: RecipeID
    /// The output as it was published.
    package var file: FileFacts
    package var width: Int
    package var height: Int
    /// Accepted by `penumbra adopt`, not made by Penumbra.
    package var isAdopted: Bool
    /// Nil for outputs that were adopted, or published before this was recorded.
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

/// A picture that failed, and need not be tried again while it is the same.
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

/// A text that says how an output is made.
package struct RecipeID: Hashable, Sendable {
    let number: Int64

    /// Of a text that comes from elsewhere than the database.
    package init(index: Int) { number = Int64(index) }

    init(number: Int64) { self.number = number }
}

/// A manifest's job.
package struct JobID: Hashable, Sendable {
    let number: Int64
}

/// Where a file's known part ends.
package struct IndexMark: Hashable, Sendable {
    package let inode: UInt64
    package let size: Int

    package init(inode: UInt64, size: Int) {
        self.inode = inode
        self.size = size
    }
}
