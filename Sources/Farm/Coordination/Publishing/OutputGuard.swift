import Glibc
package import JobModel
import Planning
import Runs
package import SafeFiles
import Synchronization

/// Notices that a folder of outputs was exchanged for another one while a run goes on.
///
/// An output is published by its path. If somebody puts a link to the pictures in the place of a folder on the way to it,
/// that path leads to an input, or to a file of somebody else. So a run remembers by device and inode which folders it
/// locked and in which it began to write, where their paths led when it began, and which files are its inputs. It asks
/// again before each rename.
final class OutputGuard: Sendable {
    private let roots: LockedFolders
    /// Where the paths of folders led when the run began. Links that were there then are the user's own.
    private let ways: [PathKey: String]
    private let folders = Mutex<[PathKey: FileStamp.Identity]>([:])
    private let inputs: Set<FileStamp.Identity>

    /// - Parameters:
    ///   - folders: those of all outputs that the run may publish, whether they are there or not.
    ///   - inputs: of the run's inputs, as they were found.
    init(roots: LockedFolders, folders: Set<PathKey>, inputs: some Sequence<FileStamp.Identity>) {
        self.roots = roots
        self.inputs = Set(inputs)
        ways = Dictionary(uniqueKeysWithValues: folders.map { ($0, realPath($0.path)) })
    }

    /// Makes the folder of an output, unless it is there, and remembers it, before a worker writes in it.
    ///
    /// - Throws: ``FileTrouble`` with `ESTALE`, which stops the run, if its path leads somewhere else than it did.
    func begin(_ folder: String, in directory: RunClaim) throws(FileTrouble) {
        try checkWay(to: folder)
        try directory.makeFolder(folder)
        if let identity = FileSystem.stamp(folder)?.identity {
            folders.withLock { known in
                if known[PathKey(folder)] == nil { known[PathKey(folder)] = identity }
            }
        }
        // It may have been exchanged meanwhile: then the wrong folder was remembered.
        try checkWay(to: folder)
    }

    private func checkWay(to folder: String) throws(FileTrouble) {
        try roots.check(folder)
        if let way = ways[PathKey(folder)], PathKey(realPath(folder)) != PathKey(way) { throw .exchanged(folder) }
    }

    /// - Parameter folder: the open folder of the output, in which it is renamed.
    /// - Throws: ``FileTrouble`` with `ESTALE`, which stops the run, if the folder is not the one that the run began with,
    ///   or an input is at the output's path.
    func check(_ output: String, in folder: SafeFolder) throws(FileTrouble) {
        let path = PathText.folder(of: output)
        try checkWay(to: path)
        if let known = folders.withLock({ $0[PathKey(path)] }), FileStamp(try folder.status()).identity != known {
            throw .exchanged(path)
        }
        // Of a file with several names the one at this path may be a name of its own.
        if let found = FileSystem.ownName(output), inputs.contains(found) {
            throw FileTrouble(
                path: output, code: ESTALE, action: "publish there",
                reason: "an input of this job is at that path now",
                remedy: "find out what changed the folders while the run went on, and run the job again")
        }
    }
}

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
