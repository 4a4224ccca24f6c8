import SafeFiles
import JobModel
import Planning
import WorkerProtocol

/// An input that is known from a record, where paths stand as they are shown.
enum FoundInput {
    /// The path's bytes where they are not UTF-8 and the file is there; nil for any other.
    static func exactBytes(of path: String) -> [UInt8]? {
        guard let bytes = NonUTF8Name.possibleBytes(of: path), !FileSystem.exists(path), FileSystem.exists(bytes) else {
            return nil
        }
        return bytes
    }

    static func file(_ path: String) -> DigestTask.File { DigestTask.File(path: path, bytes: exactBytes(of: path)) }
}
