import JobModel
import JobStorage

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
        let path = ReceiptName.path(of: output)
        guard FileSystem.exists(path) else { return .nothing }
        // What cannot be read cannot be known to be ours.
        guard FileSystem.size(path) ?? .max < largest, let bytes = try? FileSystem.contents(of: path) else {
            return .foreign
        }
        return Receipt(bytes).map(Finding.receipt) ?? .foreign
    }

    /// A receipt has less than a hundred bytes for each 256 rows.
    private static let largest = 64 << 20

    /// Puts a receipt that was written aside at its place, unless something foreign is there.
    ///
    /// - Returns: false when it is not in its place; then it is nowhere.
    @discardableResult
    static func put(_ temporary: String, beside output: String) -> Bool {
        if case .foreign = look(beside: output) {
            FileSystem.remove(temporary)
            return false
        }
        do {
            try FileSystem.rename(temporary, to: ReceiptName.path(of: output))
            return true
        } catch {
            FileSystem.remove(temporary)
            return false
        }
    }

    /// Removes the receipt of an output that is no more, or has other bytes now.
    static func remove(beside output: String) {
        if case .receipt = look(beside: output) { FileSystem.remove(ReceiptName.path(of: output)) }
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
