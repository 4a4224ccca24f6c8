import Glibc
import JobModel
import JobStorage
import SafeFiles

/// The receipts that lie beside outputs.
enum ReceiptFile {
    /// What lies at a receipt's path.
    enum Finding {
        case nothing
        case receipt(Receipt)
        /// Somebody else's, which stays.
        case foreign
    }

    /// - Parameter output: its path.
    static func look(beside output: String) -> Finding {
        do throws(FileTrouble) {
            return look(beside: output, in: try folder(of: output))
        } catch {
            return error.code == ENOENT || error.code == ENOTDIR ? .nothing : .foreign
        }
    }

    private static func folder(of output: String) throws(FileTrouble) -> SafeFolder {
        try SafeFolder(FileSystem.folder(of: output), trusting: .everybody)
    }

    private static func look(beside output: String, in folder: SafeFolder) -> Finding {
        do throws(FileTrouble) {
            guard let bytes = try folder.contents(of: name(beside: output), limit: largest) else { return .nothing }
            return Receipt(bytes).map(Finding.receipt) ?? .foreign
        } catch {
            // What cannot be read cannot be known to be ours.
            return .foreign
        }
    }

    private static func name(beside output: String) -> String { PathNames.last(of: ReceiptName.path(of: output)) }

    /// A receipt has less than a hundred bytes for each 256 rows.
    private static let largest = 64 << 20

    /// Puts a receipt that was written aside at its place, unless something foreign is there.
    ///
    /// - Returns: false when it is not in its place; then it is nowhere.
    static func put(_ temporary: String, beside output: String) -> Bool {
        do throws(FileTrouble) {
            return put(temporary, beside: output, in: try folder(of: output))
        } catch {
            FileSystem.remove(temporary)
            return false
        }
    }

    /// The same in a folder that is open.
    @discardableResult
    static func put(_ temporary: String, beside output: String, in folder: SafeFolder) -> Bool {
        // It was written beside the output, too.
        let temporary = PathNames.last(of: temporary)
        do throws(FileTrouble) {
            if case .foreign = look(beside: output, in: folder) {
                try folder.remove(temporary)
                return false
            }
            try folder.rename(temporary, as: name(beside: output))
            return true
        } catch {
            // By its name it is this run's: a sweep removes it where this cannot.
            try? folder.remove(temporary)
            return false
        }
    }

    /// Removes the receipt of an output that is no more, or has other bytes now.
    static func remove(beside output: String, in folder: SafeFolder) {
        // What stays tells of an output that is no more, or of other bytes; `verify` says so.
        if case .receipt = look(beside: output, in: folder) { try? folder.remove(name(beside: output)) }
    }

    /// What a receipt alone tells of an output.
    static func output(at path: String) -> RecordedOutput? {
        guard case .receipt(let receipt) = look(beside: path) else { return nil }
        return RecordedOutput(receipt.record(at: path), job: receipt.job.name, recipe: nil)
    }
}

extension Receipt {
    fileprivate func record(at path: String) -> OutputRecord {
        func facts(_ bytes: Int, _ digest: Digest) -> FileFacts {
            FileFacts(stamp: FileStamp(device: 0, inode: 0, size: bytes, modified: 0, changed: 0), digest: digest)
        }
        return OutputRecord(
            path: path, input: input.path, page: input.page, part: 0, source: facts(input.bytes, input.digest),
            recipe: RecipeID(place: 0), file: facts(output.bytes, output.digest), width: output.width,
            height: output.height)
    }
}
