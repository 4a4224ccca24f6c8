import FoundationEssentials
package import JobModel
import Planning

/// A file's bytes, by which they are found and known.
package struct FileContent: Hashable, Sendable, Codable {
    package let digest: Digest
    package let bytes: Int

    package init(_ digest: Digest, bytes: Int) { (self.digest, self.bytes) = (digest, bytes) }

    package init(_ facts: FileFacts) { self.init(facts.digest, bytes: facts.stamp.size) }

    /// Of the file that holds such bytes.
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
    /// The file that holds the original, where another original has the name that its content gives.
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

    /// What a record may say: its numbers are those of files, and its original lies among the originals.
    var isPlausible: Bool {
        (1...1_000_000).contains(generation) && original.bytes >= 0 && blurred.bytes >= 0
            && OriginalStore.isObject(objectName) && objectName.hasPrefix(original.name)
    }
}
