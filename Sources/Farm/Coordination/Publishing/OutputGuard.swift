import Glibc
import JobModel
import Planning
import SafeFiles
import Synchronization

/// Notices that a folder of outputs was exchanged for another one while a run goes on.
///
/// An output is published by its path. If somebody puts a link to the pictures in the place of the output folder, that
/// path leads to an input. So a run remembers by device and inode which folders it began to write in, and which files
/// are its inputs, and asks again before each rename.
final class OutputGuard: Sendable {
    private let folders = Mutex<[PathKey: FileStamp.Identity]>([:])
    private let inputs: Set<FileStamp.Identity>

    /// - Parameter inputs: of the run's inputs, as they were found.
    init(inputs: some Sequence<FileStamp.Identity>) { self.inputs = Set(inputs) }

    /// Remembers the folder of an output, before a worker writes in it.
    func begin(_ folder: String) {
        guard let identity = FileSystem.stamp(folder)?.identity else { return }
        folders.withLock { known in
            if known[PathKey(folder)] == nil { known[PathKey(folder)] = identity }
        }
    }

    /// - Throws: ``FileTrouble`` with `ESTALE`, which stops the run, if the output's folder is not the one that the run
    ///   began with, or an input is at the output's path.
    func check(_ output: String) throws(FileTrouble) {
        let folder = PathText.folder(of: output)
        if let known = folders.withLock({ $0[PathKey(folder)] }), FileSystem.stamp(folder)?.identity != known {
            throw FileTrouble(
                path: folder, code: ESTALE, action: "publish there",
                reason: "the folder was replaced by another one, or by a link, while the run went on",
                remedy: "put the folder back, and run the job again")
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
