import Dispatch
import Glibc
import JobModel
import JobStorage
import Planning
import Runs
import SafeFiles
import Scheduling
import Synchronization
import WorkerProtocol

/// Publishes the verified outputs of frames. Outputs that wait at the same time share one transaction of the ledger and one
/// sync of each folder.
///
/// If the process is killed at any moment, a final path holds its old file or the whole new output. The ledger knows which
/// outputs Penumbra published or was about to publish.
final class PublishQueue: Sendable {
    /// One output of a frame.
    struct Item: Sendable {
        let publication: Publication
        let rule: ReplacementRule
        /// The future record in the ledger, without the facts of the file. Nil for a run without a ledger.
        let record: OutputRecord?
        /// The file that is written beside the output; nil if the job wants no receipts.
        var receipt: Receipt?

        /// A sweep removes this file, because its name contains the run's name.
        fileprivate var temporaryReceipt: String { publication.receipt.path + "-receipt" }
    }

    private struct Request: Sendable {
        let items: [Item]
        let answer: CheckedContinuation<PublishFailure?, Never>
    }

    private struct State {
        var waiting: [Request] = []
        var isBusy = false
    }

    private let journal: Journal
    private let outputs: OutputGuard
    private let ledger: Ledger?
    private let durability: Durability
    private let calls: FileCalls
    private let state = Mutex(State())
    /// A queue of its own, because disks block and the threads of tasks are few.
    private let queue = DispatchQueue(label: "penumbra.publishing")
    private static let largestBatch = 256
    /// How long outputs wait for others, so that their file system is not synced for each of them.
    private static let batchDelay = DispatchTimeInterval.milliseconds(200)

    init(journal: Journal, outputs: OutputGuard, ledger: Ledger?, durability: Durability, calls: FileCalls) {
        self.journal = journal
        self.outputs = outputs
        self.ledger = ledger
        self.durability = durability
        self.calls = calls
    }

    /// Returns nil when all outputs of a frame are at their final paths, and otherwise why they are not. Outputs that were
    /// published before a failure stay, because they are verified.
    func publish(_ items: [Item]) async -> PublishFailure? {
        await withCheckedContinuation { answer in
            let begins = state.withLock { state in
                state.waiting.append(Request(items: items, answer: answer))
                defer { state.isBusy = true }
                return !state.isBusy
            }
            guard begins else { return }
            switch durability {
            case .file: queue.async { self.work() }
            case .batch: queue.asyncAfter(deadline: .now() + Self.batchDelay) { self.work() }
            }
        }
    }

    private func work() {
        while let requests = nextRequests() {
            let failures = publish(requests.map(\.items))
            for (request, failure) in zip(requests, failures) { request.answer.resume(returning: failure) }
        }
    }

    private func nextRequests() -> [Request]? {
        state.withLock { state in
            let requests = Array(state.waiting.prefix(Self.largestBatch))
            state.waiting.removeFirst(requests.count)
            state.isBusy = !requests.isEmpty
            return requests.isEmpty ? nil : requests
        }
    }

    /// - Returns: the failure of each frame, or nil.
    private func publish(_ frames: [[Item]]) -> [PublishFailure?] {
        // Without a ledger, a stamp is compared in full.
        var batch = PublishBatch(frames, journal, outputs, compare: ledger?.compare ?? .stamp, calls: calls)
        do {
            try batch.writeReceipts(syncs: durability == .file)
            if durability == .batch { try batch.syncFileSystems() }
            try ledger?.intend(batch.stamp())
            batch.rename()
            try ledger?.publish(batch.published)
        } catch {
            batch.discard()
            let reason: StopReason =
                switch error {
                case let error as FileError: StopReason(error)
                case let error as StoreError: StopReason(error)
                default: .storage("\(error)")
                }
            return frames.map { _ in .stop(reason) }
        }
        return batch.failures
    }
}

/// Outputs of several frames that are published together. No other code moves outputs to their final paths, except for pictures
/// that are changed in place.
private struct PublishBatch {
    private let frames: [[PublishQueue.Item]]
    private let journal: Journal
    private let outputs: OutputGuard
    /// How the job decides whether a file is unchanged.
    private let compare: ComparePolicy
    private let calls: FileCalls
    /// By frame.
    private(set) var failures: [PublishFailure?]
    /// The future records in the ledger, by temporary path.
    private var records: [PathKey: OutputRecord] = [:]
    /// The records of the outputs that are at their final paths.
    private(set) var published: [OutputRecord] = []

    init(
        _ frames: [[PublishQueue.Item]], _ journal: Journal, _ outputs: OutputGuard, compare: ComparePolicy,
        calls: FileCalls
    ) {
        self.frames = frames
        self.journal = journal
        self.outputs = outputs
        self.compare = compare
        self.calls = calls
        failures = frames.map { _ in nil }
    }

    private var folders: Set<PathKey> {
        Set(frames.joined().map { PathKey(FileSystem.folder(of: $0.publication.path)) })
    }

    /// Writes the receipts to temporary files. A receipt that cannot be written does not affect its output: the end of the run
    /// tries again, and reports it.
    func writeReceipts(syncs: Bool) throws(FileError) {
        for item in frames.joined() {
            guard let receipt = item.receipt else { continue }
            FileSystem.remove(item.temporaryReceipt)
            do {
                try FileSystem.append(receipt.bytes, to: item.temporaryReceipt, syncs: syncs, calls: calls)
            } catch {
                // An incomplete receipt must not be published.
                FileSystem.remove(item.temporaryReceipt)
                if error.concernsStorage { throw error }
            }
        }
    }

    /// Waits until the disk has the data of all outputs. This comes before the first rename.
    func syncFileSystems() throws(FileError) {
        var seen: Set<UInt64> = []
        for folder in folders where seen.insert(FileSystem.stamp(folder.path)?.device ?? 0).inserted {
            try FileSystem.syncFileSystem(of: folder.path, calls: calls)
        }
    }

    /// Adds the files' stamps to the records. A rename does not change a stamp.
    ///
    /// - Returns: the records, which the ledger needs before the first rename.
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

    /// Renames all outputs to their final paths, and syncs each folder once.
    mutating func rename() {
        var folders: [PathKey: SafeFolder] = [:]
        for (index, items) in frames.enumerated() {
            for (number, item) in items.enumerated() {
                do throws(FileError) {
                    let folder = try folder(of: item, &folders)
                    failures[index] = put(item, in: folder)
                    if failures[index] == nil { putReceipt(of: item, in: folder) }
                } catch {
                    failures[index] = Self.failure(error, at: item.publication.path)
                }
                guard failures[index] == nil else {
                    for rest in items[number...] { discard(rest) }
                    break
                }
                if let record = records[PathKey(item.publication.receipt.path)] { published.append(record) }
            }
        }
        for folder in folders.values { sync(folder) }
    }

    /// Opens the folder of an output before the rename, so that a folder that cannot be read fails early.
    private func folder(
        of item: PublishQueue.Item, _ folders: inout [PathKey: SafeFolder]
    ) throws(FileError) -> SafeFolder {
        let path = FileSystem.folder(of: item.publication.path)
        if let open = folders[PathKey(path)] { return open }
        let folder = try SafeFolder(path, trusting: .everybody, calls: calls)
        folders[PathKey(path)] = folder
        return folder
    }

    /// Writes the intent to the journal, and renames the output.
    ///
    /// - Parameter folder: the open folder of the output and of its temporary file. Nothing is renamed by path, because a path
    ///   may lead elsewhere a moment after it was checked.
    private func put(_ item: PublishQueue.Item, in folder: SafeFolder) -> PublishFailure? {
        let (receipt, path) = (item.publication.receipt, item.publication.path)
        // A link would publish its target.
        guard FileSystem.isRegular(receipt.path) || FileSystem.isOwnFolder(receipt.path),
            FileSystem.treeSize(receipt.path) == receipt.bytes
        else {
            return .refused("\(path): the file that was written is gone or was cut before it could be published")
        }
        // After an exchange, the replaced folder is at this path.
        defer { FileSystem.removeTree(receipt.path) }
        do {
            try outputs.check(path, in: folder)
            try journal.write(.publish(temporary: receipt.path, digest: receipt.digest, final: path))
            if FileSystem.isOwnFolder(receipt.path) {
                try putFolder(receipt.path, at: path, item.rule, folder)
            } else {
                try putFile(receipt.path, at: path, item.rule, folder)
            }
            return nil
        } catch {
            return Self.failure(error, at: path)
        }
    }

    private func putFile(
        _ temporary: String, at path: String, _ rule: ReplacementRule, _ folder: SafeFolder
    ) throws(FileError) {
        try refuseChanged(path, rule, isFolder: false)
        let (from, name) = (PathNames.last(of: temporary), PathNames.last(of: path))
        switch rule {
        case .nothing: try folder.renameWithoutReplacing(from, to: folder, as: name)
        case .published where try folder.status(of: name) == nil:
            try folder.renameWithoutReplacing(from, to: folder, as: name)
        case .anything, .published: try folder.rename(from, as: name)
        }
    }

    /// An output that was edited while the new one was rendered stays.
    private func refuseChanged(_ path: String, _ rule: ReplacementRule, isFolder: Bool) throws(FileError) {
        guard case .published(let stamp) = rule else { return }
        // The stamp of a folder has the number of its files in place of an inode.
        let compare = isFolder ? .stamp : compare
        guard FileSystem.outputStamp(path, isFolder: isFolder)?.isUntouched(since: stamp, by: compare) ?? true else {
            throw FileError(path: path, code: EEXIST, action: "publish")
        }
    }

    /// Replaces only a folder that contains nothing but files of an output with this name. One that Penumbra published may have lost
    /// the file that describes its picture.
    private func putFolder(
        _ temporary: String, at path: String, _ rule: ReplacementRule, _ folder: SafeFolder
    ) throws(FileError) {
        let (from, name) = (PathNames.last(of: temporary), PathNames.last(of: path))
        guard FileSystem.exists(path), !FileSystem.isEmptyFolder(path) else {
            return try folder.rename(from, as: name)
        }
        try refuseChanged(path, rule, isFolder: true)
        guard rule != .nothing else { throw FileError(path: path, code: EEXIST, action: "publish") }
        guard FileSystem.isOwnFolder(path) else { throw FileError(path: path, code: ENOTDIR, action: "publish") }
        let isPublished = if case .published = rule { true } else { false }
        let isOurs = isPublished || FileSystem.isOutput(path) || FileSystem.isEmptyFolder(path)
        guard isOurs, FolderOutput(at: path).holds(all: FileSystem.files(below: path)) else {
            throw FileError(path: path, code: ENOTEMPTY, action: "publish")
        }
        if folder.exchange(from, name) { return }
        let old = temporary + "-old"
        try journal.write(.replace(old: old, final: path))
        try folder.rename(name, as: PathNames.last(of: old))
        do {
            try folder.rename(from, as: name)
        } catch {
            try FileSystem.undoReplacement(old: old, final: path)
            throw error
        }
        FileSystem.removeTree(old)
    }

    private static func failure(_ error: FileError, at path: String) -> PublishFailure {
        if error.concernsStorage { return .stop(StopReason(error)) }
        return switch error.code {
        case EEXIST: .refused("\(path): appeared or was changed while it was rendered; left as it is")
        case ENOTEMPTY: .refused("\(path): a folder with other things in it is in the way; it is left as it is")
        case ENOTDIR: .refused("\(path): something that is no folder is in the way")
        case EISDIR: .refused("\(path): a folder is in the way")
        default: .refused(error.message)
        }
    }

    /// A receipt that cannot be renamed is written again at the end of the run.
    private func putReceipt(of item: PublishQueue.Item, in folder: SafeFolder) {
        if item.receipt != nil {
            ReceiptFile.put(item.temporaryReceipt, beside: item.publication.path, in: folder)
        } else {
            // The receipt of an earlier run describes other bytes.
            ReceiptFile.remove(beside: item.publication.path, in: folder)
        }
    }

    private mutating func sync(_ folder: SafeFolder) {
        do {
            try folder.sync()
        } catch {
            for (index, items) in frames.enumerated()
            where items.contains(where: { PathKey(FileSystem.folder(of: $0.publication.path)) == PathKey(folder.path) })
            {
                failures[index] = failures[index] ?? .stop(StopReason(error))
            }
        }
    }

    /// Removes the temporary files of all outputs.
    func discard() {
        for item in frames.joined() { discard(item) }
    }

    private func discard(_ item: PublishQueue.Item) {
        FileSystem.removeTree(item.publication.receipt.path)
        FileSystem.remove(item.temporaryReceipt)
    }
}

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
    /// - Throws: ``FileError`` with `ESTALE`, which stops the run, if its path leads elsewhere than before.
    func begin(_ folder: String, in directory: RunClaim) throws(FileError) {
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

    private func checkWay(to folder: String) throws(FileError) {
        try roots.check(folder)
        if let way = ways[PathKey(folder)], PathKey(realPath(folder)) != PathKey(way) { throw .exchanged(folder) }
    }

    /// - Parameter folder: the open folder in which the output is renamed.
    /// - Throws: ``FileError`` with `ESTALE`, which stops the run, if the folder was replaced since the run began, or an
    ///   input is at the output's path.
    func check(_ output: String, in folder: SafeFolder) throws(FileError) {
        let path = PathText.folder(of: output)
        try checkWay(to: path)
        if let known = folders.withLock({ $0[PathKey(path)] }), FileStamp(try folder.status()).identity != known {
            throw .exchanged(path, locked: known)
        }
        // Only this name counts, because a file may have several names.
        if let found = FileSystem.ownName(output), inputs.contains(found) {
            throw FileError(
                path: output, code: ESTALE, action: "publish there",
                reason: "an input of this job is at that path now",
                remedy: "find out what changed the folders while the run went on, and run the job again")
        }
    }
}
