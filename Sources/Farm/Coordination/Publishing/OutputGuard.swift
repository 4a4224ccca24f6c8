import Glibc
package import JobModel
import Planning
import Runs
package import SafeFiles
import Synchronization

/// Notices if a folder of outputs is replaced during a run.
///
/// An output is published by its path. If somebody replaces a folder in the path by a link, the path may lead to an input
/// or a foreign file. So a run remembers the identities of the folders that it locked or writes in, the real paths of
/// folders at its begin, and the identities of its inputs. It checks them before each rename.
final class OutputGuard: Sendable {
    private let roots: LockedFolders
    /// The real paths of folders when the run began. Links that existed then are the user's own.
    private let ways: [PathKey: String]
    private let folders = Mutex<[PathKey: FileStamp.Identity]>([:])
    private let inputs: Set<FileStamp.Identity>

    /// - Parameters:
    ///   - folders: the folders of all outputs that the run may publish, whether or not they exist.
    ///   - inputs: the identities of the run's inputs.
    init(roots: LockedFolders, folders: Set<PathKey>, inputs: some Sequence<FileStamp.Identity>) {
        self.roots = roots
        self.inputs = Set(inputs)
        ways = Dictionary(uniqueKeysWithValues: folders.map { ($0, realPath($0.path)) })
    }

    /// Creates the folder of an output if it is missing, and remembers it, before a worker writes in it.
    ///
    /// - Throws: ``FileTrouble`` with `ESTALE`, which stops the run, if its path leads elsewhere than before.
    func begin(_ folder: String, in directory: RunClaim) throws(FileTrouble) {
        try checkWay(to: folder)
        try directory.makeFolder(folder)
        if let identity = FileSystem.stamp(folder)?.identity {
            folders.withLock { known in
                if known[PathKey(folder)] == nil { known[PathKey(folder)] = identity }
            }
        }
        // If the folder was replaced meanwhile, the wrong one was remembered.
        try checkWay(to: folder)
    }

    private func checkWay(to folder: String) throws(FileTrouble) {
        try roots.check(folder)
        if let way = ways[PathKey(folder)], PathKey(realPath(folder)) != PathKey(way) { throw .exchanged(folder) }
    }

    /// - Parameter folder: the open folder in which the output is renamed.
    /// - Throws: ``FileTrouble`` with `ESTALE`, which stops the run, if the folder was replaced since the run began, or an
    ///   input is at the output's path.
    func check(_ output: String, in folder: SafeFolder) throws(FileTrouble) {
        let path = PathText.folder(of: output)
        try checkWay(to: path)
        if let known = folders.withLock({ $0[PathKey(path)] }), FileStamp(try folder.status()).identity != known {
            throw .exchanged(path)
        }
        // Only this name counts, because a file may have several names.
        if let found = FileSystem.ownName(output), inputs.contains(found) {
            throw FileTrouble(
                path: output, code: ESTALE, action: "publish there",
                reason: "an input of this job is at that path now",
                remedy: "find out what changed the folders while the run went on, and run the job again")
        }
    }
}

/// The folders that contain all outputs of a job, by device and inode.
///
/// Outputs are published by their paths. During a run, somebody may replace such a folder by a link. So the run remembers
/// the folders that it has locked, and checks them before it creates, writes or renames anything.
package final class LockedFolders: Sendable {
    private let identities: [PathKey: FileStamp.Identity]

    /// - Parameter identities: the identities of the open folders that hold the locks.
    init(_ identities: [PathKey: FileStamp.Identity] = [:]) { self.identities = identities }

    /// For a job without locks: the present folders.
    package convenience init(of job: JobSpec) {
        var identities: [PathKey: FileStamp.Identity] = [:]
        for folder in OutputFolders.of(job) { identities[PathKey(folder)] = FileSystem.stamp(folder)?.identity }
        self.init(identities)
    }

    package var locked: Set<FileStamp.Identity> { Set(identities.values) }

    /// Whether all folders are still in their places.
    package var areInPlace: Bool {
        identities.allSatisfy { FileSystem.stamp($0.key.path)?.identity == $0.value }
    }

    /// - Parameter path: a folder or file that will be changed.
    /// - Throws: ``FileTrouble`` with `ESTALE`, which stops the run, if the path leads elsewhere than before.
    package func check(_ path: String, _ action: String = "publish there") throws(FileTrouble) {
        for (folder, identity) in identities
        where folder == PathKey(path) || PathNames.isBelow(path, folder.path) {
            guard FileSystem.stamp(folder.path)?.identity == identity else { throw .exchanged(folder.path, action) }
        }
    }

    /// Opens a locked folder. Names that are opened in it cannot be in another folder, even if the path changes meanwhile.
    ///
    /// - Parameter body: gets the open folder.
    /// - Throws: the errors of ``check(_:_:)`` and of `body`.
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
    /// A folder of outputs was replaced since the run began.
    static func exchanged(_ folder: String, _ action: String = "publish there") -> FileTrouble {
        FileTrouble(
            path: folder, code: ESTALE, action: action,
            reason: "the folder was replaced by another one, or by a link, while the run went on",
            remedy: "put the folder back, and run the job again")
    }
}
