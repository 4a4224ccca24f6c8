import Glibc
import JobModel
import JobStorage
import SafeFiles

/// Reads, writes and removes the receipt beside an output.
enum ReceiptFile {
    /// What is at a receipt's path.
    enum Finding {
        case nothing
        case receipt(Receipt)
        /// Another program's file, which is not changed.
        case foreign
    }

    /// - Parameter output: the path of the output.
    static func inspect(beside output: String) -> Finding {
        do throws(FileTrouble) {
            return inspect(beside: output, in: try folder(of: output))
        } catch {
            return error.code == ENOENT || error.code == ENOTDIR ? .nothing : .foreign
        }
    }

    private static func folder(of output: String) throws(FileTrouble) -> SafeFolder {
        try SafeFolder(FileSystem.folder(of: output), trusting: .everybody)
    }

    private static func inspect(beside output: String, in folder: SafeFolder) -> Finding {
        do throws(FileTrouble) {
            guard let bytes = try folder.contents(of: name(beside: output), limit: largest) else { return .nothing }
            return Receipt(bytes).map(Finding.receipt) ?? .foreign
        } catch {
            // A file that cannot be read may be another program's.
            return .foreign
        }
    }

    private static func name(beside output: String) -> String { PathNames.last(of: ReceiptName.path(of: output)) }

    /// The largest receipt that is read. A receipt has less than 100 bytes for each 256 rows.
    private static let largest = 64 << 20

    /// Renames a temporary file to the receipt's path, unless another program's file is there.
    ///
    /// - Returns: whether the receipt is in its place. If not, the temporary file was removed.
    static func put(_ temporary: String, beside output: String) -> Bool {
        do throws(FileTrouble) {
            return put(temporary, beside: output, in: try folder(of: output))
        } catch {
            FileSystem.remove(temporary)
            return false
        }
    }

    /// The same in an open folder.
    @discardableResult
    static func put(_ temporary: String, beside output: String, in folder: SafeFolder) -> Bool {
        // The temporary file is in the same folder.
        let temporary = PathNames.last(of: temporary)
        do throws(FileTrouble) {
            if case .foreign = inspect(beside: output, in: folder) {
                try folder.remove(temporary)
                return false
            }
            try folder.rename(temporary, as: name(beside: output))
            return true
        } catch {
            // A sweep removes the file later: its name has the name of this run.
            try? folder.remove(temporary)
            return false
        }
    }

    /// Removes the receipt of an output that was removed or replaced.
    static func remove(beside output: String, in folder: SafeFolder) {
        // If it cannot be removed, `verify` reports a receipt that does not fit its output.
        if case .receipt = inspect(beside: output, in: folder) { try? folder.remove(name(beside: output)) }
    }

    /// The record of an output of which only the receipt is known.
    static func output(at path: String) -> RecordedOutput? {
        guard case .receipt(let receipt) = inspect(beside: path) else { return nil }
        return RecordedOutput(record: receipt.record(at: path), job: receipt.job.name, recipe: nil)
    }
}

extension Receipt {
    fileprivate func record(at path: String) -> OutputRecord {
        func facts(_ bytes: Int, _ digest: Digest) -> FileFacts {
            FileFacts(stamp: FileStamp(device: 0, inode: 0, size: bytes, modified: 0, changed: 0), digest: digest)
        }
        return OutputRecord(
            path: path, input: input.path, page: input.page, part: 0, source: facts(input.bytes, input.digest),
            recipe: RecipeID(index: 0), file: facts(output.bytes, output.digest), width: output.width,
            height: output.height)
    }
}
