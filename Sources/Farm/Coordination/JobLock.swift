import Glibc
package import JobModel
import Planning
package import Runs
package import SafeFiles

/// Keeps two runs of one job from running at the same time, and two jobs from writing to one folder at the same time.
package final class JobLock: Sendable {
    /// Who holds a lock that a job needs.
    package enum Holder: Hashable, Sendable {
        /// Another run of the job.
        case run
        /// A run that writes to this folder.
        case folder(String)
    }

    package enum Outcome: Sendable {
        case taken(JobLock)
        case busy(Holder)
    }

    private let own: KernelLock
    private let folders: [FolderLock]
    /// The folders of the job's outputs, as they were when they were locked.
    package let roots: LockedFolders

    private init(_ own: KernelLock, _ folders: [FolderLock], _ roots: LockedFolders) {
        (self.own, self.folders, self.roots) = (own, folders, roots)
    }

    /// - Parameters:
    ///   - folders: the folders of the job's outputs. Missing folders are created.
    ///   - held: the folders that this process has locked for other jobs.
    ///   - directory: the run's claim, which removes folders that stay empty.
    ///   - wait: how long to wait for other runs to end.
    package static func take(
        for job: JobSpec, folders: [String], held: Set<FileStamp.Identity>, directory: RunClaim, state: String,
        wait: Duration
    ) async throws -> Outcome {
        let end = ContinuousClock.now + wait
        _ = try FileSystem.createFolders("\(state)/locks")
        guard let own = try await KernelLock.take("\(state)/locks/\(RunFolder.jobKey(of: job))", until: end)
        else {
            return .busy(.run)
        }
        var locks: [FolderLock] = []
        var seen = held
        var roots: [PathKey: FileStamp.Identity] = [:]
        for folder in folders.sorted() {
            // The real path before the lock. If it is another one after the lock, somebody has replaced a folder meanwhile.
            let way = realPath(folder)
            try directory.makeFolder(folder)
            // Two paths may lead to one folder.
            let identity = FileSystem.stamp(folder)?.identity
            roots[PathKey(folder)] = identity
            if let identity, !seen.insert(identity).inserted { continue }
            do {
                guard let lock = try await FolderLock.take(folder, until: end) else {
                    return .busy(.folder(folder))
                }
                locks.append(lock)
                // The folder may have been replaced while the lock was awaited.
                if let identity = lock.identity {
                    roots[PathKey(folder)] = identity
                    seen.insert(identity)
                }
            } catch let error as FileError where FolderLock.unsupported.contains(error.code) {
                // The file system has no locks, so other runs are not excluded.
            }
            guard realPath(folder) == way else { throw FileError.exchanged(folder, "lock it") }
        }
        return .taken(JobLock(own, locks, LockedFolders(roots)))
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
    /// - Throws: ``FileError`` with `ESTALE`, which stops the run, if the path leads elsewhere than before.
    package func check(_ path: String, _ action: String = "publish there") throws(FileError) {
        for (folder, identity) in identities
        where folder == PathKey(path) || PathNames.isBelow(path, folder.path) {
            guard FileSystem.stamp(folder.path)?.identity == identity else {
                throw .exchanged(folder.path, action, locked: identity)
            }
        }
    }

    /// Opens a locked folder. Names that are opened in it cannot be in another folder, even if the path changes meanwhile.
    ///
    /// - Parameter body: gets the open folder.
    /// - Throws: the errors of ``check(_:_:)`` and of `body`.
    func opening<Result>(
        _ path: String, _ action: String, _ body: (Int32) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            let code = errno
            let isExchanged = identities[PathKey(path)] != nil && [ENOENT, ENOTDIR].contains(code)
            throw isExchanged
                ? .exchanged(path, action, locked: identities[PathKey(path)])
                : FileError(path: path, code: code, action: action)
        }
        defer { close(folder) }
        var found = stat()
        guard fstat(folder, &found) == 0 else { throw FileError(path: path, code: errno, action: action) }
        if let locked = identities[PathKey(path)], locked != FileStamp(found).identity {
            throw .exchanged(path, action, locked: locked)
        }
        return try body(folder)
    }
}

extension FileError {
    /// A folder of outputs was replaced since the run began, or its disk was unmounted.
    ///
    /// - Parameter locked: the identity of the folder when the run began.
    static func exchanged(
        _ folder: String, _ action: String = "publish there", locked: FileStamp.Identity? = nil
    ) -> FileError {
        if let locked, let device = disk(of: folder), device != locked.device {
            return FileError(
                path: folder, code: ESTALE, action: action,
                reason: "its disk was unmounted, or another one was mounted, while the run went on",
                remedy: "mount the disk, and run the job again")
        }
        return FileError(
            path: folder, code: ESTALE, action: action,
            reason: "the folder was replaced by another one, or by a link, while the run went on",
            remedy: "put the folder back, and run the job again")
    }

    /// The disk of a folder, or of the nearest folder above it that exists.
    private static func disk(of folder: String) -> UInt64? {
        var path = folder
        while true {
            if let stamp = FileSystem.stamp(path) { return stamp.identity.device }
            guard path != "/" else { return nil }
            path = PathText.folder(of: path)
        }
    }
}
