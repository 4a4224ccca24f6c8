import Glibc
package import JobModel
import Planning
package import SafeFiles

/// The folders that all outputs of a job are below, by device and inode.
///
/// Outputs are published by their paths. While a run goes on, somebody may put a link to the pictures in the place of such
/// a folder. So the run remembers which folders it has locked, and asks again before it makes, writes or renames anything.
package final class LockedFolders: Sendable {
    private let identities: [PathKey: FileStamp.Identity]

    /// - Parameter identities: of the open folders that hold the locks.
    init(_ identities: [PathKey: FileStamp.Identity] = [:]) { self.identities = identities }

    /// Of a job that locks nothing: the folders that are there now.
    package convenience init(of job: JobSpec) {
        var identities: [PathKey: FileStamp.Identity] = [:]
        for folder in OutputFolders.of(job) { identities[PathKey(folder)] = FileSystem.stamp(folder)?.identity }
        self.init(identities)
    }

    package var locked: Set<FileStamp.Identity> { Set(identities.values) }

    /// Whether each of them is still where it was.
    package var areInPlace: Bool {
        identities.allSatisfy { FileSystem.stamp($0.key.path)?.identity == $0.value }
    }

    /// - Parameter path: of a folder or a file that is to be changed.
    /// - Throws: ``FileTrouble`` with `ESTALE`, which stops the run, if the path leads somewhere else now than it did.
    package func check(_ path: String, _ action: String = "publish there") throws(FileTrouble) {
        for (folder, identity) in identities
        where folder == PathKey(path) || PathNames.isBelow(path, folder.path) {
            guard FileSystem.stamp(folder.path)?.identity == identity else { throw .exchanged(folder.path, action) }
        }
    }

    /// Opens one of the folders, as it was locked. What is opened in it by name cannot be in another folder, whatever
    /// becomes of the path meanwhile.
    ///
    /// - Parameter body: takes the open folder.
    /// - Throws: as ``check(_:_:)``, and what `body` throws.
    func opening<Result>(
        _ path: String, _ action: String, _ body: (Int32) throws(FileTrouble) -> Result
    ) throws(FileTrouble) -> Result {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            let code = errno
            let isExchanged = identities[PathKey(path)] != nil && [ENOENT, ENOTDIR].contains(code)
            throw isExchanged ? .exchanged(path, action) : FileTrouble(path: path, code: code, action: action)
        }
        defer { close(folder) }
        var found = stat()
        guard fstat(folder, &found) == 0 else { throw FileTrouble(path: path, code: errno, action: action) }
        if let locked = identities[PathKey(path)], locked != FileStamp(found).identity {
            throw .exchanged(path, action)
        }
        return try body(folder)
    }
}

extension FileTrouble {
    /// A folder of outputs is another one than the run began with.
    static func exchanged(_ folder: String, _ action: String = "publish there") -> FileTrouble {
        FileTrouble(
            path: folder, code: ESTALE, action: action,
            reason: "the folder was replaced by another one, or by a link, while the run went on",
            remedy: "put the folder back, and run the job again")
    }
}
