import Glibc
import JobModel
import Scheduling
import WorkerProtocol

/// Puts verified outputs at their final paths. The only code that does.
struct Publisher: Sendable {
    let journal: Journal
    let existing: ExistingPolicy

    /// One after the other. What was published before a failure stays: it is verified, and as it would be.
    func publish(_ outputs: [Publication]) -> PublishProblem? {
        for (index, output) in outputs.enumerated() {
            if let problem = publish(output.receipt, to: output.path) {
                for rest in outputs[(index + 1)...] { FileSystem.remove(rest.receipt.path) }
                return problem
            }
        }
        return nil
    }

    /// The worker has synced the file. Its intent is recorded, it is renamed, and the folder is synced: at any moment
    /// the final path holds either what it held before or the whole new output.
    private func publish(_ receipt: OutputReceipt, to path: String) -> PublishProblem? {
        guard FileSystem.size(receipt.path) == receipt.bytes else {
            return .refused("\(path): the file that was written is gone or was cut before it could be published")
        }
        do {
            try journal.write(.publish(temporary: receipt.path, digest: receipt.digest, final: path))
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
            try FileSystem.syncFolder(folder) { () throws(FileTrouble) in try put(receipt.path, at: path) }
            return nil
        } catch {
            FileSystem.remove(receipt.path)
            return problem(error, path)
        }
    }

    private func put(_ temporary: String, at path: String) throws(FileTrouble) {
        switch existing {
        case .overwrite: try FileSystem.rename(temporary, to: path)
        case .skip, .error: try FileSystem.renameWithoutReplacing(temporary, to: path)
        }
    }

    private func problem(_ trouble: FileTrouble, _ path: String) -> PublishProblem {
        if trouble.isPlace { return .place(trouble.message) }
        if trouble.code == EEXIST { return .refused("\(path): appeared while it was rendered; left as it is") }
        if trouble.code == EISDIR { return .refused("\(path): a folder is in the way") }
        return .refused(trouble.message)
    }
}
