import Dispatch
import Glibc
import JobModel
import JobStorage
import Runs
import SafeFiles
import Scheduling
import Synchronization
import WorkerProtocol

/// Publishes the outputs of frames, those together that wait together: one transaction of the ledger, one sync of a folder.
///
/// At any moment, whatever is killed: a final path holds what it held or the whole new output, and the ledger knows
/// which outputs Penumbra published or was about to.
final class PublishQueue: Sendable {
    /// One output of a frame.
    struct Item: Sendable {
        let publication: Publication
        let rule: ReplacementRule
        /// What the ledger will know of it, but for the file itself; nil for a run without one.
        let record: OutputRecord?
        /// What is written beside it; nil where the job wants no receipts.
        var receipt: Receipt?
    }

    private struct Request: Sendable {
        let items: [Item]
        let answer: CheckedContinuation<PublishFailure?, Never>
    }

    private struct State {
        var waiting: [Request] = []
        var isBusy = false
    }

    private let publisher: Publisher
    private let ledger: Ledger?
    private let durability: Durability
    private let calls: FileCalls
    private let state = Mutex(State())
    /// Disks block; the threads of tasks are few.
    private let queue = DispatchQueue(label: "penumbra.publishing")
    private static let largestBatch = 256
    /// How long outputs wait for others, so that their file system is not synced for each.
    private static let batchDelay = DispatchTimeInterval.milliseconds(200)

    init(publisher: Publisher, ledger: Ledger?, durability: Durability, calls: FileCalls) {
        var publisher = publisher
        // Only what a ledger knows is replaced by its stamp.
        if let ledger { publisher.compare = ledger.compare }
        self.publisher = publisher
        self.ledger = ledger
        self.durability = durability
        self.calls = calls
    }

    /// Returns when the frame's outputs are in place, or why they are not. What was published before a failure stays: it
    /// is verified, and as it would be.
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
        while let batch = nextBatch() {
            let problems = publish(batch.map(\.items))
            for (request, problem) in zip(batch, problems) { request.answer.resume(returning: problem) }
        }
    }

    private func nextBatch() -> [Request]? {
        state.withLock { state in
            let batch = Array(state.waiting.prefix(Self.largestBatch))
            state.waiting.removeFirst(batch.count)
            state.isBusy = !batch.isEmpty
            return batch.isEmpty ? nil : batch
        }
    }

    /// - Returns: one problem, or none, for each frame.
    private func publish(_ frames: [[Item]]) -> [PublishFailure?] {
        var batch = PublishBatch(frames: frames, calls: calls)
        do {
            try batch.writeReceipts(syncs: durability == .file)
            if durability == .batch { try batch.syncFileSystems() }
            let records = batch.stamp()
            try ledger?.intend(records)
            batch.put(by: publisher)
            try ledger?.publish(batch.published)
        } catch {
            batch.discard()
            let problem = problem(error)
            return frames.map { _ in problem }
        }
        return batch.problems
    }

    private func problem(_ error: any Error) -> PublishFailure {
        switch error {
        case let trouble as FileTrouble: PublishFailure(trouble)
        case let problem as StoreProblem: PublishFailure(problem)
        default: .storage("\(error)")
        }
    }
}

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

/// Puts verified outputs at their final paths. The only code that does. (Pictures that are blurred in place are none.)
struct Publisher: Sendable {
    let journal: Journal
    let outputs: OutputGuard
    /// How the job tells that a file is what it was.
    var compare = ComparePolicy.stamp

    /// The file is on the disk. Its intent is recorded, and it is renamed: at any moment the final path holds either what
    /// it held before or the whole new output.
    ///
    /// - Parameter folder: the output's, opened. The file was written in it, too, and nothing is renamed by a path: that may
    ///   lead somewhere else a moment after it was looked at.
    func publish(_ publication: Publication, _ rule: ReplacementRule, in folder: SafeFolder) -> PublishFailure? {
        let (receipt, path) = (publication.receipt, publication.path)
        // A link would publish what it leads to.
        guard FileSystem.isRegular(receipt.path) || FileSystem.isOwnFolder(receipt.path),
            FileSystem.treeSize(receipt.path) == receipt.bytes
        else {
            return .refused("\(path): the file that was written is gone or was cut before it could be published")
        }
        do {
            try outputs.check(path, in: folder)
            try journal.write(.publish(temporary: receipt.path, digest: receipt.digest, final: path))
            if FileSystem.isOwnFolder(receipt.path) {
                try putFolder(receipt.path, at: path, rule, folder)
            } else {
                try put(receipt.path, at: path, rule, folder)
            }
            // What an exchange has left there is the folder that was replaced.
            FileSystem.removeTree(receipt.path)
            return nil
        } catch {
            FileSystem.removeTree(receipt.path)
            return Self.problem(error, path)
        }
    }

    private func put(
        _ temporary: String, at path: String, _ rule: ReplacementRule, _ folder: SafeFolder
    ) throws(FileTrouble) {
        try refuseChanged(path, rule, isFolder: false)
        let (from, name) = (PathNames.last(of: temporary), PathNames.last(of: path))
        switch rule {
        case .nothing: try folder.renameWithoutReplacing(from, to: folder, as: name)
        case .published where try folder.status(of: name) == nil:
            try folder.renameWithoutReplacing(from, to: folder, as: name)
        case .anything, .published: try folder.rename(from, as: name)
        }
    }

    /// What was edited while the output was rendered stays.
    private func refuseChanged(_ path: String, _ rule: ReplacementRule, isFolder: Bool) throws(FileTrouble) {
        guard case .published(let stamp) = rule else { return }
        // A folder's stamp has no inode: it has the number of its files there.
        let compare = isFolder ? .stamp : compare
        guard FileSystem.outputStamp(path, isFolder: isFolder)?.isUntouched(since: stamp, by: compare) ?? true else {
            throw FileTrouble(path: path, code: EEXIST, action: "publish")
        }
    }

    /// Replaces only a folder that holds what an output of this name holds, and nothing else.
    private func putFolder(
        _ temporary: String, at path: String, _ rule: ReplacementRule, _ folder: SafeFolder
    ) throws(FileTrouble) {
        let (from, name) = (PathNames.last(of: temporary), PathNames.last(of: path))
        guard FileSystem.exists(path), !FileSystem.isEmptyFolder(path) else {
            return try folder.rename(from, as: name)
        }
        try refuseChanged(path, rule, isFolder: true)
        guard rule != .nothing else { throw FileTrouble(path: path, code: EEXIST, action: "publish") }
        guard FileSystem.isOwnFolder(path) else { throw FileTrouble(path: path, code: ENOTDIR, action: "publish") }
        let isOurs = FileSystem.isOutput(path) || FileSystem.isEmptyFolder(path)
        guard isOurs, DeepZoomNames(of: path).all(FileSystem.files(below: path)) else {
            throw FileTrouble(path: path, code: ENOTEMPTY, action: "publish")
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

    static func problem(_ trouble: FileTrouble, _ path: String) -> PublishFailure {
        if trouble.concernsStorage { return PublishFailure(trouble) }
        if trouble.code == EEXIST {
            return .refused("\(path): appeared or was changed while it was rendered; left as it is")
        }
        if trouble.code == ENOTEMPTY {
            return .refused("\(path): a folder with other things in it is in the way; it is left as it is")
        }
        if trouble.code == ENOTDIR { return .refused("\(path): something that is no folder is in the way") }
        if trouble.code == EISDIR { return .refused("\(path): a folder is in the way") }
        return .refused(trouble.message)
    }
}

/// What the files of a Deep Zoom folder are called: `a.dzi`, `a_files/12/3_4.jpg`.
struct DeepZoomNames {
    private let name: String

    init(of folder: String) {
        name = PathNames.last(of: folder)
    }

    func all(_ files: [String]) -> Bool { files.allSatisfy(isOne) }

    private func isOne(_ file: String) -> Bool {
        if PathKey(file) == PathKey("\(name).dzi") { return true }
        let parts = PathNames.all(in: file)
        guard parts.count == 3, PathKey(String(parts[0])) == PathKey("\(name)_files"), isNumber(parts[1]),
            let dot = parts[2].lastIndex(of: "."),
            ["jpg", "png", "webp"].contains(parts[2][parts[2].index(after: dot)...])
        else { return false }
        let numbers = parts[2][..<dot].split(separator: "_", omittingEmptySubsequences: false)
        return numbers.count == 2 && numbers.allSatisfy(isNumber)
    }

    private func isNumber(_ text: Substring) -> Bool { !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber } }
}
