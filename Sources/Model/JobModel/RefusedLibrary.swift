/// A library that took down the process that opened it for a try, or kept it from going on. Processes that are started
/// later need not find that out again while the file is the same.
public struct RefusedLibrary: Hashable, Sendable, Codable {
    public let path: String
    /// Of the file that was tried.
    public let stamp: FileStamp
    /// Follows the path in a sentence, and says what to do.
    public let reason: String

    public init(path: String, stamp: FileStamp, reason: String) {
        self.path = path
        self.stamp = stamp
        self.reason = reason
    }
}
