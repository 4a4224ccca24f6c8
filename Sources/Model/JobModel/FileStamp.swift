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

/// An XXH3-128 digest, as 32 lower-case hexadecimal digits.
///
/// XXH3 finds damage, not malice: it is not cryptographic. <https://github.com/Cyan4973/xxHash>
public struct Digest: Hashable, Sendable, Codable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Nil when `hex` is not 32 hexadecimal digits.
    public init?(hex: String) {
        guard hex.utf8.count == 32, let high = UInt64(hex.prefix(16), radix: 16),
            let low = UInt64(hex.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    public var description: String { Self.padded(high) + Self.padded(low) }

    private static func padded(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    public init(from decoder: any Decoder) throws {
        let hex = try decoder.singleValueContainer().decode(String.self)
        guard let digest = Digest(hex: hex) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a digest has 32 hexadecimal digits"))
        }
        self = digest
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

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
