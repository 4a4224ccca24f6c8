import FoundationEssentials
package import JobModel
import Planning

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
/// original may have one, a blurred picture always has.
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
    /// The chain, as a command line has it.
    package let filters: String
    /// Seconds since 1970.
    package let time: Int

    package init(
        key: [UInt8], generation: Int, original: FileContent, object: String, attributes: FileAttributes,
        blurred: FileContent,
        filters: String, time: Int
    ) {
        let text = String(validating: key, as: UTF8.self)
        path = text ?? InputFile(bytes: key, dir: "").path
        pathBytes = text == nil ? Data(key) : nil
        self.generation = generation
        self.original = original
        self.object = object == original.name ? nil : object
        self.attributes = attributes
        self.blurred = blurred
        self.filters = filters
        self.time = time
    }

    /// The path or name, as the file system has it.
    package var key: [UInt8] { pathBytes.map(Array.init) ?? Array(path.utf8) }

    /// Of the file that holds the original.
    var objectName: String { object ?? original.name }

    /// What was made of the picture has other bytes.
    var isChanged: Bool { blurred != original }

    /// Of its record. The original is named here, so that a list of names tells which originals are needed.
    var name: String { "\(FNV.name(of: key)).\(generation).\(objectName).json" }

    /// The SHA-256 that the original's name promises; nil where an earlier version has named it.
    var sha256: String? { ObjectName(objectName)?.sha256 }

    /// What a record may say: its numbers are those of files, its time one that people have, and its original lies among the
    /// originals.
    var isPlausible: Bool {
        guard let name = ObjectName(objectName), !key.isEmpty, !key.contains(0) else { return false }
        return (1...1_000_000).contains(generation) && original.bytes >= 0 && blurred.bytes >= 0
            && (0...Self.latestTime).contains(time) && name.bytes == original.bytes
            && (name.sha256 != nil || objectName.hasPrefix(original.name))
    }

    /// The end of the year 9999.
    private static let latestTime = 253_402_300_799
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
