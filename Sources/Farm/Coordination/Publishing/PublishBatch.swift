import JobModel
import JobStorage
import SafeFiles
import Scheduling
import WorkerProtocol

/// Outputs of several frames that are published together.
struct PublishBatch {
    private let frames: [[PublishQueue.Item]]
    private let calls: FileCalls
    private(set) var problems: [PublishFailure?]
    /// By temporary path, as the ledger is to know it.
    private var records: [PathKey: OutputRecord] = [:]
    /// Those that are at their final paths.
    private(set) var published: [OutputRecord] = []

    init(frames: [[PublishQueue.Item]], calls: FileCalls) {
        self.frames = frames
        self.calls = calls
        problems = frames.map { _ in nil }
    }

    private var folders: Set<PathKey> {
        Set(frames.joined().map { PathKey(FileSystem.folder(of: $0.publication.path)) })
    }

    /// Aside, as the outputs are. One that cannot be written costs no output: the end of the run tries again, and tells.
    func writeReceipts(syncs: Bool) throws(FileTrouble) {
        for item in frames.joined() {
            guard let receipt = item.receipt else { continue }
            FileSystem.remove(item.temporaryReceipt)
            do {
                try FileSystem.append(receipt.bytes, to: item.temporaryReceipt, syncs: syncs, calls: calls)
            } catch {
                // Half of one must not be put in its place.
                FileSystem.remove(item.temporaryReceipt)
                if error.concernsStorage { throw error }
            }
        }
    }

    /// No rename comes before its data are safe.
    func syncFileSystems() throws(FileTrouble) {
        var seen: Set<UInt64> = []
        for folder in folders where seen.insert(FileSystem.stamp(folder.path)?.device ?? 0).inserted {
            try FileSystem.syncFileSystem(of: folder.path, calls: calls)
        }
    }

    /// A file keeps its stamp when it is renamed.
    ///
    /// - Returns: what the ledger has to know before that.
    mutating func stamp() -> [OutputRecord] {
        for item in frames.joined() {
            let receipt = item.publication.receipt
            guard var record = item.record, let stamp = FileSystem.outputStamp(receipt.path, isFolder: true) else {
                continue
            }
            record.file = FileFacts(stamp: stamp, digest: receipt.digest)
            records[PathKey(receipt.path)] = record
        }
        return Array(records.values)
    }

    /// Renames all, and syncs each folder once.
    mutating func put(by publisher: Publisher) {
        var folders: [PathKey: SafeFolder] = [:]
        for (index, items) in frames.enumerated() {
            for (number, item) in items.enumerated() {
                do throws(FileTrouble) {
                    let folder = try folder(of: item, &folders)
                    problems[index] = publisher.publish(item.publication, item.rule, in: folder)
                    if problems[index] == nil { putReceipt(of: item, in: folder) }
                } catch {
                    problems[index] = Publisher.problem(error, item.publication.path)
                }
                guard problems[index] == nil else {
                    for rest in items[number...] { discard(rest) }
                    break
                }
                if let record = records[PathKey(item.publication.receipt.path)] { published.append(record) }
            }
        }
        for folder in folders.values { sync(folder) }
    }

    /// A receipt that cannot be put there is written, and told of, at the end of the run.
    private func putReceipt(of item: PublishQueue.Item, in folder: SafeFolder) {
        if item.receipt != nil {
            ReceiptFile.put(item.temporaryReceipt, beside: item.publication.path, in: folder)
        } else {
            // One that an earlier run wrote tells of other bytes.
            ReceiptFile.remove(beside: item.publication.path, in: folder)
        }
    }

    /// Opened before the rename, so that a folder that may not be read is no surprise afterwards.
    private func folder(
        of item: PublishQueue.Item, _ folders: inout [PathKey: SafeFolder]
    ) throws(FileTrouble) -> SafeFolder {
        let path = FileSystem.folder(of: item.publication.path)
        if let open = folders[PathKey(path)] { return open }
        let folder = try SafeFolder(path, trusting: .everybody, calls: calls)
        folders[PathKey(path)] = folder
        return folder
    }

    private mutating func sync(_ folder: SafeFolder) {
        do {
            try folder.sync()
        } catch {
            for (index, items) in frames.enumerated()
            where items.contains(where: { PathKey(FileSystem.folder(of: $0.publication.path)) == PathKey(folder.path) })
            {
                problems[index] = problems[index] ?? PublishFailure(error)
            }
        }
    }

    /// Removes what was not published.
    func discard() {
        for item in frames.joined() { discard(item) }
    }

    private func discard(_ item: PublishQueue.Item) {
        FileSystem.removeTree(item.publication.receipt.path)
        FileSystem.remove(item.temporaryReceipt)
    }
}

extension PublishQueue.Item {
    /// In the same folder, and by its name this run's: a sweep removes it.
    fileprivate var temporaryReceipt: String { publication.receipt.path + "-receipt" }
}
