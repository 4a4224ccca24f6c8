package import JobModel
import WorkerProtocol

/// A frame's files as they are before a run.
package struct FrameFiles: Hashable, Sendable {
    package struct Output: Hashable, Sendable {
        package let path: String
        /// Nil when nothing is there.
        package let stamp: FileStamp?
        /// What is there can be an output.
        package let isOutput: Bool
        /// How it would be made now.
        package let recipe: RecipeKey

        package init(path: String, stamp: FileStamp?, isOutput: Bool? = nil, recipe: RecipeKey) {
            self.isOutput = isOutput ?? (stamp != nil)
            self.path = path
            self.stamp = stamp
            self.recipe = recipe
        }
    }

    /// For people.
    package let input: String
    /// The path, where it is not UTF-8.
    package let inputBytes: [UInt8]?
    package let page: Int
    /// Nil when it is gone.
    package let stamp: FileStamp?
    package let outputs: [Output]

    package init(input: String, inputBytes: [UInt8]?, page: Int, stamp: FileStamp?, outputs: [Output]) {
        self.input = input
        self.inputBytes = inputBytes
        self.page = page
        self.stamp = stamp
        self.outputs = outputs
    }

    var inputFile: DigestTask.File { DigestTask.File(path: input, bytes: inputBytes) }
}

/// One of the recipes that a run knows, by its place in their list.
package struct RecipeKey: Hashable, Sendable {
    let index: Int
}
