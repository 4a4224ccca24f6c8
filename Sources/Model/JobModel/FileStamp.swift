/// What a file system says of a file without its being read: enough to tell that it was not touched.
///
/// Times are in nanoseconds since 1970.
public struct FileStamp: Hashable, Sendable, Codable {
    public let device: UInt64
    public let inode: UInt64
    /// In bytes. Of a folder: of all files in it.
    public let size: Int
    /// When its bytes were last changed, as its owner likes to have it.
    public let modified: Int64
    /// When it was last changed in any way, which nobody can set.
    public let changed: Int64

    public init(device: UInt64, inode: UInt64, size: Int, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    /// A time of a file, since 1970. Times before 1677 and after 2262, which file systems have, are the first and the last that fit:
    /// a stamp need only be the same each time.
    public static func nanoseconds(seconds: Int, and rest: Int) -> Int64 {
        let (whole, isTooMuch) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isBeyond) = whole.addingReportingOverflow(Int64(rest))
        return isTooMuch || isBeyond ? (seconds < 0 ? .min : .max) : sum
    }

    /// The same file, and not written since. (Numbers of devices change when a machine starts again.)
    public func isUntouched(since earlier: FileStamp) -> Bool {
        size == earlier.size && modified == earlier.modified && inode == earlier.inode
    }

    /// The same file, and not changed in any way between the two looks, which were not long ago.
    public func isSameState(as other: FileStamp?) -> Bool {
        inode == other?.inode && size == other?.size && changed == other?.changed
    }

    /// The same by what a job trusts of its file systems' stamps: where inodes wander they are of no account.
    public func isUntouched(since earlier: FileStamp, by compare: ComparePolicy) -> Bool {
        size == earlier.size && modified == earlier.modified && (compare == .size || inode == earlier.inode)
    }

    /// Two paths with stamps of one identity name one file.
    public var identity: Identity { Identity(device: device, inode: inode) }

    public struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }
}
