import ContentNames
import FoundationEssentials
import Glibc
package import JobModel
import Planning
package import SafeFiles

/// A file's bytes, by which they are found and known.
package struct FileContent: Hashable, Sendable, Codable {
    package let digest: Digest
    package let bytes: Int

    package init(_ digest: Digest, bytes: Int) { (self.digest, self.bytes) = (digest, bytes) }

    package init(_ facts: FileFacts) { self.init(facts.digest, bytes: facts.stamp.size) }

    /// Of the file that holds such bytes in a store of an earlier version.
    var name: String { "\(digest)-\(bytes)" }
}

/// What is remembered of a picture that was blurred in place: all that is needed to put it back as it was.
///
/// It is written before the picture is replaced, and removed after the original is back: a picture that looks like its
/// original may have one, a blurred picture always has. It decides what a picture is by digests that this process has taken
/// itself (SHA-256). Those of workers (XXH3) are believed only where an earlier version has kept nothing else.
package struct KeptOriginal: Hashable, Sendable, Codable {
    /// The picture's real path; beside the picture, its name alone, so that their folder can move.
    private let path: String
    /// The same as the file system has it, where that is not UTF-8.
    private let pathBytes: Data?
    /// A picture that was edited and blurred once more has several; the latest has the highest.
    package let generation: Int
    package let original: FileContent
    /// The file that holds the original, named by its bytes' SHA-256. Earlier versions named it by ``original``, and wrote
    /// nothing here.
    private let object: String?
    package let attributes: FileAttributes
    package let blurred: FileContent
    /// Of the blurred picture's bytes. Earlier versions wrote none.
    private let blurredSHA256: String?
    /// The inode of the picture's folder. Earlier versions wrote none.
    let folder: UInt64?
    /// The mark of that folder's disk (``DiskMark``): roots of disks have one inode. Nil where the disk has none, and in records of
    /// earlier versions.
    let disk: String?
    /// The chain, as a command line has it.
    package let filters: String
    /// Seconds since 1970.
    package let time: Int

    package init(
        key: [UInt8], generation: Int, original: FileContent, object: String, attributes: FileAttributes,
        blurred: FileContent, blurredSHA256: String, folder: UInt64, disk: String? = nil, filters: String, time: Int
    ) {
        let text = String(validating: key, as: UTF8.self)
        path = text ?? InputFile(bytes: key, dir: "").path
        pathBytes = text == nil ? Data(key) : nil
        self.generation = generation
        self.original = original
        self.object = object == original.name ? nil : object
        self.attributes = attributes
        self.blurred = blurred
        self.blurredSHA256 = blurredSHA256
        self.folder = folder
        self.disk = disk
        self.filters = filters
        self.time = time
    }

    /// The path or name, as the file system has it.
    package var key: [UInt8] { pathBytes.map(Array.init) ?? Array(path.utf8) }

    /// Of the file that holds the original.
    var objectName: String { object ?? original.name }

    /// What was made of the picture has other bytes.
    var isChanged: Bool {
        if let blurredSHA256, let sha256 { return blurredSHA256 != sha256 }
        return blurred != original
    }

    /// The highest number that a later original of the picture may have.
    static let latestGeneration = 1_000_000

    /// Of its record: of the picture's name, the generation, a random part, and the original's name, so that a list of names
    /// tells which originals are needed. Nobody else's record has it, where locks keep nobody out either.
    func recordName(random: String) throws(FileTrouble) -> String {
        "\(try Self.name(of: key)).\(generation).\(random).\(objectName).json"
    }

    /// The picture's name in the names of its records.
    package static func name(of key: [UInt8]) throws(FileTrouble) -> String {
        guard var digest = SHA256Stream() else { throw PictureFolder.noDigest(InputFile(bytes: key, dir: "").path) }
        key.withUnsafeBytes { digest.update($0) }
        guard let name = digest.finish() else { throw PictureFolder.noDigest(InputFile(bytes: key, dir: "").path) }
        return name
    }

    /// The same in names that earlier versions gave.
    package static func formerName(of key: [UInt8]) -> String { FNV.name(of: key) }

    /// Whether the record may have this name: it is of the same picture, generation and original.
    func fits(_ name: RecordName) throws(FileTrouble) -> Bool {
        guard name.generation == "\(generation)", name.object == objectName else { return false }
        if name.picture == Self.formerName(of: key) { return true }
        return name.picture == (try Self.name(of: key))
    }

    /// The SHA-256 that the original's name promises; nil where an earlier version has named it.
    var sha256: String? { ObjectName(objectName)?.sha256 }

    /// What a record may say: its numbers are those of files, its time one that people have, and its original lies among the
    /// originals.
    var isPlausible: Bool {
        guard let name = ObjectName(objectName), !key.isEmpty, !key.contains(0) else { return false }
        if let blurredSHA256, ObjectName("\(blurredSHA256)-0")?.sha256 == nil { return false }
        return (1...Self.latestGeneration).contains(generation) && original.bytes >= 0 && blurred.bytes >= 0
            && (0...Self.latestTime).contains(time) && name.bytes == original.bytes
            && (name.sha256 != nil || objectName.hasPrefix(original.name))
    }

    /// The end of the year 9999.
    private static let latestTime = 253_402_300_799

    /// Whether a picture is what was made of the original.
    func isBlurred(_ picture: PictureContent) -> Bool {
        guard picture.bytes == blurred.bytes else { return false }
        guard let blurredSHA256 else { return picture.told == blurred }
        return picture.sha256 == blurredSHA256
    }

    /// Whether a picture is the original. Of records of earlier versions the caller compares the bytes, too.
    func isOriginal(_ picture: PictureContent) -> Bool {
        guard picture.bytes == original.bytes else { return false }
        guard let sha256 else { return picture.told == original }
        return picture.sha256 == sha256
    }

    /// Whether a picture of this size has to be read to tell.
    func mayBe(_ bytes: Int) -> Bool { bytes == blurred.bytes || bytes == original.bytes }
}

/// What a picture holds.
struct PictureContent: Hashable, Sendable {
    let bytes: Int
    /// Whose it is now.
    let user: UInt32
    /// As this process has read it; nil where no record has a picture of its size.
    let sha256: String?
    /// As a worker says. It decides nothing but for records of earlier versions, which lack a SHA-256.
    let told: FileContent
}

/// The parts of a record's name: `PICTURE.GENERATION.RANDOM.SHA256-SIZE.json`, with `restored` before the original's name once
/// the original was put back under another name. Earlier versions wrote no random part.
struct RecordName {
    let picture: Substring
    let generation: Substring
    /// Of the file that holds the original.
    let object: Substring
    let isRestored: Bool

    /// Nil for what is no record.
    init?(_ name: String) {
        guard name.hasSuffix(Self.ending) else { return nil }
        let parts = name.dropLast(Self.ending.count).split(separator: ".", omittingEmptySubsequences: false)
        guard (3...5).contains(parts.count) else { return nil }
        (picture, generation, object) = (parts[0], parts[1], parts[parts.count - 1])
        isRestored = parts.dropFirst(2).dropLast().contains(Self.restored)
    }

    static let ending = ".json"
    private static let restored: Substring = "restored"

    /// The same record's name once its original was put back under another name.
    static func restored(_ name: String, _ parts: RecordName) -> String {
        parts.isRestored
            ? name : "\(name.dropLast(parts.object.count + ending.count))\(restored).\(parts.object)\(ending)"
    }
}

/// The name of a file that holds an original: `SHA256-SIZE`, or as earlier versions named it, `XXH3-SIZE`. Where another
/// original has the name already a number follows: `SHA256-SIZE-2`.
struct ObjectName {
    /// Nil for a name of an earlier version.
    let sha256: String?
    let bytes: Int

    /// Nil for what Penumbra does not give as a name.
    init?(_ name: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), [32, 64].contains(parts[0].utf8.count),
            parts[0].utf8.allSatisfy(Self.isHexDigit),
            parts.dropFirst().allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let bytes = Int(parts[1]), parts.count < 3 || Int(parts[2]) != nil
        else { return nil }
        self.bytes = bytes
        sha256 = parts[0].utf8.count == 64 ? String(parts[0]) : nil
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) || (97...102).contains(byte) }

    static func text(sha256: String, bytes: Int, number: Int) -> String {
        number == 1 ? "\(sha256)-\(bytes)" : "\(sha256)-\(bytes)-\(number)"
    }
}
