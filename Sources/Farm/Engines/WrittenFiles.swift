import Glibc
import JobModel
import SafeFiles
import WorkerProtocol

/// What the worker writes for one order.
struct WrittenFiles {
    var files: [WrittenFile] = []
    var folders: [FolderMove] = []

    /// Removes all of it. What cannot be removed is in the run's journal.
    func remove() {
        for file in files { file.remove() }
        for folder in folders { FileSystem.removeTree(folder.source) }
    }

    /// - Returns: why one of them cannot be moved.
    func moveFolders() -> TaskFailure? {
        for folder in folders where rename(folder.source, folder.target) != 0 {
            return TaskFailure(moving: folder, code: errno)
        }
        return nil
    }
}

extension TaskFailure {
    fileprivate init(moving folder: FolderMove, code: Int32) {
        if code == EXDEV {
            self.init(
                .value,
                "\(folder.target): is on another disk than \(PathNames.folder(of: folder.source) ?? "/"), where Deep Zoom outputs of "
                    + "the job are made; begin the job's 'output' with the folder of one disk")
        } else {
            let concernsStorage = [ENOSPC, EDQUOT, EROFS, EIO].contains(code)
            self.init(
                concernsStorage ? .storage : .transient,
                "\(folder.target): cannot be moved there from \(folder.source): \(String(cString: strerror(code)))")
        }
    }
}
