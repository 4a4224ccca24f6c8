import JobModel
import JobStorage

/// One line of a `.penumbra-index`: JSON, so that other programs can read it.
///
/// A job's line says whose lines follow, and the lines of recipes and encodings what their numbers mean from there on.
enum IndexLine: Hashable, Sendable, Codable {
    case job(name: String, manifest: String)
    case recipe(number: Int, text: String)
    case encoding(number: Int, made: OutputEncoding)
    case output(Output)
    case gone(path: String)

    struct Output: Hashable, Sendable, Codable {
        /// Below the index's folder.
        let path: String
        /// Absolute.
        let input: String
        let page: Int
        let part: Int
        let source: File
        let recipe: Int
        let file: File
        let width: Int
        let height: Int
        let adopted: Bool
        /// As in ``EncodedPixels``; both are missing where they are not known.
        let pixels: Digest?
        let encoding: Int?
    }

    struct File: Hashable, Sendable, Codable {
        let inode: UInt64
        let size: Int
        let modified: Int64
        let digest: Digest
    }
}

extension IndexLine.File {
    init(_ facts: FileFacts) {
        self.init(
            inode: facts.stamp.inode, size: facts.stamp.size, modified: facts.stamp.modified, digest: facts.digest)
    }

    var facts: FileFacts {
        FileFacts(
            stamp: FileStamp(device: 0, inode: inode, size: size, modified: modified, changed: 0), digest: digest)
    }
}

extension IndexLine.Output {
    init(_ record: OutputRecord, path: String, recipe: Int, encoding: Int?) {
        self.init(
            path: path, input: record.input, page: record.page, part: record.part, source: .init(record.source),
            recipe: recipe, file: .init(record.file), width: record.width, height: record.height,
            adopted: record.isAdopted, pixels: record.pixels?.digest, encoding: encoding)
    }

    /// - Parameter encodings: which ``encoding`` is a place in.
    func record(in folder: String, recipe: RecipeID, encodings: [OutputEncoding]) -> OutputRecord {
        let encoded = pixels.flatMap { digest in
            encoding.map { EncodedPixels(digest: digest, encoding: encodings[$0]) }
        }
        return OutputRecord(
            path: PathNames.joined(folder, path), input: input, page: page, part: part,
            source: source.facts, recipe: recipe, file: file.facts, width: width, height: height, isAdopted: adopted,
            pixels: encoded)
    }
}
