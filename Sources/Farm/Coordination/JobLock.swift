package import JobModel
import Planning
package import Runs
import SafeFiles

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
            } catch let error as FileTrouble where FolderLock.unsupported.contains(error.code) {
                // The file system has no locks, so other runs are not excluded.
            }
            guard realPath(folder) == way else { throw FileTrouble.exchanged(folder, "lock it") }
        }
        return .taken(JobLock(own, locks, LockedFolders(roots)))
    }
}
