/// A file as it was when all of it was read. Of a folder: all files in it.
public struct FileFacts: Hashable, Sendable, Codable {
    /// Its time is 0 when the file had been changed just before: a later change may not show in it.
    public let stamp: FileStamp
    /// Of its bytes.
    public let digest: Digest

    public init(stamp: FileStamp, digest: Digest) {
        self.stamp = stamp
        self.digest = digest
    }
}
