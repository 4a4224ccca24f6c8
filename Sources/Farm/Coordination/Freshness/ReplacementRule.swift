package import JobModel

/// What an output may take the place of.
package enum ReplacementRule: Hashable, Sendable {
    /// Of nothing: what appears while it is rendered stays.
    case nothing
    /// Of the file that has this stamp: Penumbra published it.
    case published(FileStamp)
    /// Of any file.
    case anything
}
