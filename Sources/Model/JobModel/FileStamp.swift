/// What a file system reports about a file without reading it. Stamps show whether a file was touched.
///
/// Times are in nanoseconds since 1970.
public struct FileStamp: Hashable, Sendable, Codable {
    public let device: UInt64
    public let inode: UInt64
    /// In bytes. The size of a folder is the sum of its files.
    public let size: Int
    /// When its bytes were last changed. Its owner can set this time.
    public let modified: Int64
    /// When it was last changed in any way. Nobody can set this time.
    public let changed: Int64

    public init(device: UInt64, inode: UInt64, size: Int, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    /// A time of a file, since 1970. Times before 1677 and after 2262 are clamped, because a stamp only has to be the same
    /// each time.
    public static func nanoseconds(seconds: Int, and rest: Int) -> Int64 {
        let (whole, isTooMuch) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isBeyond) = whole.addingReportingOverflow(Int64(rest))
        return isTooMuch || isBeyond ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whether it is the same file and was not written since. (Device numbers change when a machine restarts.)
    public func isUntouched(since earlier: FileStamp) -> Bool {
        size == earlier.size && modified == earlier.modified && inode == earlier.inode
    }

    /// Whether it is the same file and was not changed in any way since. Only for a short time between both stamps.
    public func isSameState(as other: FileStamp?) -> Bool {
        inode == other?.inode && size == other?.size && changed == other?.changed
    }

    /// The same test with the job's policy. `size` ignores inodes, which are not stable on some file systems.
    public func isUntouched(since earlier: FileStamp, by compare: ComparePolicy) -> Bool {
        size == earlier.size && modified == earlier.modified && (compare == .size || inode == earlier.inode)
    }

    /// Two paths whose stamps have the same identity name one file.
    public var identity: Identity { Identity(device: device, inode: inode) }

    public struct Identity: Hashable, Sendable {
        /// The number of the disk.
        package let device: UInt64
        let inode: UInt64
    }
}

/// The stamp and digest of a file that was read completely. For a folder: of all files in it.
public struct FileFacts: Hashable, Sendable, Codable {
    /// The time is 0 if the file had been changed just before, because a later change might not alter the time.
    public let stamp: FileStamp
    /// The digest of the bytes.
    public let digest: Digest

    public init(stamp: FileStamp, digest: Digest) {
        self.stamp = stamp
        self.digest = digest
    }
}

/// An XXH3-128 digest, as 32 lower-case hexadecimal digits.
///
/// XXH3 detects damage. It is not cryptographic. <https://github.com/Cyan4973/xxHash>
public struct Digest: Hashable, Sendable, Codable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Nil if `hex` is not 32 hexadecimal digits.
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

/// A library that crashed or blocked the process that opened it for a trial. Processes that start later do not try it again
/// while the file is the same.
public struct RefusedLibrary: Hashable, Sendable, Codable {
    public let path: String
    /// The stamp of the tested file.
    public let stamp: FileStamp
    /// Follows the path in a sentence, and says what to do.
    public let reason: String

    public init(path: String, stamp: FileStamp, reason: String) {
        self.path = path
        self.stamp = stamp
        self.reason = reason
    }
}
