import JobModel
import Planning
import SafeFiles

/// Changes if a file below some folders is added, removed or changed.
///
/// Names that begin with a dot do not count, and neither do the times of folders: runs write hidden files into the
/// folders of their outputs. Links to folders are not followed.
struct FolderSignature: Hashable, Sendable {
    /// The latest change of a file, in nanoseconds since 1970. Nobody can set that time.
    private(set) var newest: Int64 = 0
    /// A sum, so that the order of names does not count. It differs between processes.
    private var sum = 0

    /// - Parameter file: another file that counts.
    init(of folders: [String], and file: String?) {
        for folder in folders { add(folder) }
        if let file { add(file: file) }
    }

    /// Whether there is a file below the folder that counts.
    static func holdsFiles(in folder: String) -> Bool {
        FileSystem.names(in: folder).contains { name in
            guard !PathNames.isHidden(name) else { return false }
            let path = PathNames.joined(folder, name)
            return FileSystem.isOwnFolder(path) ? holdsFiles(in: path) : true
        }
    }

    private mutating func add(_ folder: String) {
        for name in FileSystem.names(in: folder) where !PathNames.isHidden(name) {
            let path = PathNames.joined(folder, name)
            if FileSystem.isOwnFolder(path) {
                sum &+= path.hashValue
                add(path)
            } else {
                add(file: path)
            }
        }
    }

    private mutating func add(file path: String) {
        guard let stamp = FileStamp(of: path) else { return }
        newest = max(newest, stamp.changed)
        var hasher = Hasher()
        hasher.combine(path)
        hasher.combine(stamp)
        sum &+= hasher.finalize()
    }
}
