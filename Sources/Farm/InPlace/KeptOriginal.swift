import ContentNames
import FoundationEssentials
import Glibc
package import JobModel
import Planning
package import SafeFiles

/// The digest and the size of a file's bytes. They identify a picture and its original.
package struct FileContent: Hashable, Sendable, Codable {
    package let digest: Digest
    package let bytes: Int

    package init(_ digest: Digest, bytes: Int) { (self.digest, self.bytes) = (digest, bytes) }

    package init(_ facts: FileFacts) { self.init(facts.digest, bytes: facts.stamp.size) }

    /// The name of a file with these bytes in a store of an earlier version.
    var name: String { "\(digest)-\(bytes)" }
}

/// The record of a picture that was blurred in place. It has all that is needed to restore the picture.
///
/// The record is written before the picture is replaced, and removed after the original is restored. A blurred
/// picture always has a record, and an original may have one. Digests that this process took itself (SHA-256)
/// decide what a picture is. Digests of workers (XXH3) decide only for records of earlier versions, which have
/// no others.
package struct KeptOriginal: Hashable, Sendable, Codable {
    /// The real path of the picture. In a store beside the picture it is only the name, so that the folder can
    /// move.
    private let path: String
    /// The same in bytes if it is not UTF-8.
    private let pathBytes: Data?
    /// A picture that was edited and blurred again has several. The latest has the highest number.
    package let generation: Int
    package let original: FileContent
    /// The name of the file with the original: the SHA-256 of its bytes. Earlier versions used the name of
    /// ``original``, and wrote nothing here.
    private let object: String?
    package let attributes: FileAttributes
    package let blurred: FileContent
    /// The SHA-256 of the blurred picture. Earlier versions wrote none.
    private let blurredSHA256: String?
    /// The inode of the picture's folder. Earlier versions wrote none.
    let folder: UInt64?
    /// The mark of that folder's disk (``DiskMark``), because the roots of all disks have the same inode. Nil
    /// if the disk has none, and in records of earlier versions.
    let disk: String?
    /// The chain as it is on a command line.
    package let filters: String
    /// In seconds since 1970.
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

    /// The path or name in bytes.
    package var key: [UInt8] { pathBytes.map(Array.init) ?? Array(path.utf8) }

    /// Of the file that holds the original.
    var objectName: String { object ?? original.name }

    /// Whether the blurred picture has other bytes than the original.
    var isChanged: Bool {
        if let blurredSHA256, let sha256 { return blurredSHA256 != sha256 }
        return blurred != original
    }

    /// The highest generation.
    static let latestGeneration = 1_000_000

    /// The name of its record. It has the picture's name, the generation, a random part and the original's
    /// name, so that a list of names tells which originals are needed. The random part makes the name unique
    /// where locks do not work.
    func recordName(random: String) throws(FileError) -> String {
        "\(try Self.name(of: key)).\(generation).\(random).\(objectName).json"
    }

    /// The part of a record's name that stands for the picture.
    package static func name(of key: [UInt8]) throws(FileError) -> String {
        guard var digest = SHA256Stream() else { throw PictureFolder.noDigest(InputFile(bytes: key, dir: "").path) }
        key.withUnsafeBytes { digest.update($0) }
        guard let name = digest.finish() else { throw PictureFolder.noDigest(InputFile(bytes: key, dir: "").path) }
        return name
    }

    /// The same part in names of earlier versions.
    package static func formerName(of key: [UInt8]) -> String { FNV.name(of: key) }

    /// Whether the name is of the same picture, generation and original.
    func fits(_ name: RecordName) throws(FileError) -> Bool {
        guard name.generation == "\(generation)", name.object == objectName else { return false }
        if name.picture == Self.formerName(of: key) { return true }
        return name.picture == (try Self.name(of: key))
    }

    /// The SHA-256 in the original's name; nil if an earlier version named it.
    var sha256: String? { ObjectName(objectName)?.sha256 }

    /// Whether its numbers are possible for files, its time is in a human era, and its original lies among the
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

    /// Whether a picture is the blurred one.
    func isBlurred(_ picture: PictureContent) -> Bool {
        guard picture.bytes == blurred.bytes else { return false }
        guard let blurredSHA256 else { return picture.reported == blurred }
        return picture.sha256 == blurredSHA256
    }

    /// Whether a picture is the original. For records of earlier versions the caller compares the bytes, too.
    func isOriginal(_ picture: PictureContent) -> Bool {
        guard picture.bytes == original.bytes else { return false }
        guard let sha256 else { return picture.reported == original }
        return picture.sha256 == sha256
    }

    /// Whether a picture of this size has to be read to decide what it is.
    func mayBe(_ bytes: Int) -> Bool { bytes == blurred.bytes || bytes == original.bytes }
}

/// The content of a picture.
struct PictureContent: Hashable, Sendable {
    let bytes: Int
    /// The present owner.
    let user: UInt32
    /// As this process read it; nil if no record has a picture of this size.
    let sha256: String?
    /// As a worker reported it. Used only for records of earlier versions, which lack a SHA-256.
    let reported: FileContent
}

/// The parts of a record's name: `PICTURE.GENERATION.RANDOM.SHA256-SIZE.json`. If the original was restored
/// under another name, `restored` stands before its name. Earlier versions wrote no random part.
struct RecordName {
    let picture: Substring
    let generation: Substring
    /// Of the file that holds the original.
    let object: Substring
    let isRestored: Bool

    /// Nil if it is not the name of a record.
    init?(_ name: String) {
        guard name.hasSuffix(Self.ending) else { return nil }
        let parts = name.dropLast(Self.ending.count).split(separator: ".", omittingEmptySubsequences: false)
        guard (3...5).contains(parts.count) else { return nil }
        (picture, generation, object) = (parts[0], parts[1], parts[parts.count - 1])
        isRestored = parts.dropFirst(2).dropLast().contains(Self.restored)
    }

    static let ending = ".json"
    private static let restored: Substring = "restored"

    /// The name of the record after its original was restored under another name.
    static func restored(_ name: String, _ parts: RecordName) -> String {
        parts.isRestored
            ? name : "\(name.dropLast(parts.object.count + ending.count))\(restored).\(parts.object)\(ending)"
    }
}

/// The name of a file with an original: `SHA256-SIZE`, or `XXH3-SIZE` in earlier versions. If another original
/// has this name, a number follows: `SHA256-SIZE-2`.
struct ObjectName {
    /// Nil for a name of an earlier version.
    let sha256: String?
    let bytes: Int

    /// Nil if Penumbra does not give such names.
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
