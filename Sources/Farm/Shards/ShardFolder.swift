import FoundationEssentials
import Glibc
import JobModel
import SafeFiles
package import Scheduling
package import WorkerProtocol

/// A record in a shared folder, which other users may have written. Its numbers and durations are used in sums, so they are
/// checked.
package protocol SharedRecord: Decodable {
    var isPlausible: Bool { get }
    /// The limits of its JSON.
    static var limits: MessageLimits { get }
}

extension SharedRecord {
    package static var limits: MessageLimits { .reports }
}

/// Bounds that no run exceeds.
package enum StoredLimits {
    /// For shard numbers, epochs, and counts.
    package static let counts = 1...1_000_000_000
    package static let durations = Duration.zero...Duration.seconds(366 * 24 * 3600)
    /// In bytes, for names.
    package static let name = 1000
    /// In bytes, for sentences.
    package static let sentence = TaskFailure.longestMessage
}

/// Why a file or folder of a shared run folder cannot be written, or is not what it has to be.
package struct ShardFolderError: Error, Hashable, Sendable {
    /// One sentence that names the path. No name in it breaks its line: a scheduler may read it.
    package let message: String

    package init(message: String) { self.message = VisibleText.message(message) }
}

/// A run's folder on the file system that all nodes share.
///
///     FOLDER/{shards/K.json, results/{K.EPOCH-ATTEMPT.log,K.EPOCH.ATTEMPT.json}, submissions, canvases and tiles}
///
/// Files for other machines appear complete and synced, by a rename, or are logs of complete lines.
package struct ShardFolder: Hashable, Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    package var shards: String { "\(path)/shards" }
    package var results: String { "\(path)/results" }
    package var submissions: String { "\(path)/submissions" }
    package var coordinators: String { "\(path)/coordinators" }
    package var prepared: String { "\(path)/prepared.json" }

    package func shard(_ number: Int) -> String { "\(shards)/\(number).json" }
    package func log(_ shard: Shard.ID, _ attempt: String) -> String {
        "\(results)/\(shard.number).\(shard.epoch)-\(attempt).log"
    }
    package func result(_ shard: Shard.ID, _ attempt: String) -> String {
        "\(results)/\(shard.number).\(shard.epoch).\(attempt).json"
    }

    package func create() throws(ShardFolderError) {
        for folder in [path, shards, results] {
            try refuseLink(folder)
            try Self.make(folder)
        }
    }

    /// The run creates its folders itself. A link in place of one leads to foreign files.
    private func refuseLink(_ folder: String) throws(ShardFolderError) {
        var found = stat()
        guard folder == path || PathNames.isBelow(folder, path), lstat(folder, &found) == 0,
            found.st_mode & S_IFMT == S_IFLNK
        else { return }
        throw ShardFolderError(
            message:
                "\(folder): is a link, and nothing is written behind it\n   = remove the link, and prepare the run again"
        )
    }

    private func refuseLinks(above file: String) throws(ShardFolderError) {
        try refuseLink(path)
        try refuseLink(PathNames.folder(of: file) ?? "")
    }

    /// Creates a folder and its parents.
    package static func make(_ folder: String) throws(ShardFolderError) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw ShardFolderError(message: "\(folder): cannot create the folder on the shared file system: \(error)")
        }
    }

    /// Removes a folder with its contents. Files that cannot be removed stay.
    package static func remove(_ folder: String) { SafeFolder.removeTree(at: folder) }

    /// Removes the logs of elements after a success. Files that cannot be removed stay.
    package static func remove(logs folder: String) {
        remove(folder)
        // Also the folder of all runs' logs, if this was the last run.
        rmdir(PathNames.folder(of: folder) ?? "")
    }

    /// Removes the log folder if no element has printed anything.
    package static func removeIfEmpty(logs folder: String) {
        guard rmdir(folder) == 0 else { return }
        rmdir(PathNames.folder(of: folder) ?? "")
    }

    /// Writes a file in one step, so that readers on all nodes find the complete file or none.
    package func write(_ value: some Encodable, to path: String, by writer: String) throws(ShardFolderError) {
        do {
            try put(FrameCodec.json(value), at: path, by: writer)
        } catch let error as ShardFolderError {
            throw error
        } catch {
            throw ShardFolderError(message: "\(path): cannot be written: \(error)")
        }
    }

    package func write(text: String, to path: String, by writer: String) throws(ShardFolderError) {
        try put(Array(text.utf8), at: path, by: writer)
    }

    private func put(_ bytes: [UInt8], at path: String, by writer: String) throws(ShardFolderError) {
        let folder = PathNames.folder(of: path) ?? ""
        try refuseLinks(above: path)
        let temporary = "\(folder)/.\(PathNames.last(of: path)).\(writer)"
        do {
            try Self.check(Self.append(bytes, to: temporary, syncs: true), "write", temporary)
            try Self.check(rename(temporary, path) == 0 ? 0 : errno, "put in place", path)
        } catch {
            unlink(temporary)
            throw error
        }
        // Some file systems cannot sync folders. Their renames are as safe as possible.
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Adds a line to a log.
    package func append(_ value: some Encodable, to path: String, syncs: Bool = false) throws(ShardFolderError) {
        try refuseLinks(above: path)
        do {
            try Self.check(
                Self.append(FrameCodec.json(value) + [UInt8(ascii: "\n")], to: path, syncs: syncs), "write", path)
        } catch let error as ShardFolderError {
            throw error
        } catch {
            throw ShardFolderError(message: "\(path): cannot be written: \(error)")
        }
    }

    /// The content of a file. Nil if the file is missing, incomplete, implausible, or of another version.
    package func read<Value: SharedRecord>(_ type: Value.Type, from path: String) -> Value? {
        contents(of: path).flatMap { try? FrameCodec.decode(type, from: $0, within: type.limits) }
            .flatMap { $0.isPlausible ? $0 : nil }
    }

    /// The lines of a log. Torn and implausible lines are left out.
    package func lines<Value: SharedRecord>(_ type: Value.Type, of path: String) -> [Value] {
        guard let data = contents(of: path) else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap { line in
            (try? FrameCodec.decode(type, from: line, within: type.limits)).flatMap { $0.isPlausible ? $0 : nil }
        }
    }

    /// The run of the folder; nil if the folder's name does not contain it.
    package var run: String? {
        let name = PathNames.last(of: path)
        return name.hasPrefix("penumbra-") ? String(name.dropFirst("penumbra-".count)) : nil
    }

    /// Nil for a missing file, a file of another user, a link, a path with links, a pipe, and a file that is too large.
    private func contents(of file: String) -> [UInt8]? {
        guard let folder = opened(PathNames.folder(of: file) ?? "") else { return nil }
        return try? folder.contents(of: PathNames.last(of: file), limit: 1 << 30)
    }

    /// Below the run's own folder, links are not followed.
    private func opened(_ folder: String) -> SafeFolder? {
        guard let own = try? SafeFolder(path) else { return nil }
        if PathKey(folder) == PathKey(path) { return own }
        return PathNames.relative(folder, to: path).flatMap { try? own.folder(at: $0) }
    }

    /// The logs of all attempts at a shard.
    package func logs(of shard: Shard.ID) -> [AttemptLine] {
        names(in: results).filter { $0.hasPrefix("\(shard.number).\(shard.epoch)-") && $0.hasSuffix(".log") }
            .flatMap { lines(AttemptLine.self, of: "\(results)/\($0)") }
    }

    /// Opens the folder each time, so that network file systems read it again.
    package func names(in folder: String) -> [String] {
        ((try? opened(folder)?.names()) ?? []).sorted()
    }

    /// Whether the file exists with all its bytes. The size of a folder is the sum of its files.
    static func holds(_ file: TaskReceipt.File) -> Bool {
        var found = stat()
        guard lstat(file.path, &found) == 0 else { return false }
        guard let bytes = file.bytes else { return true }
        guard found.st_mode & S_IFMT == S_IFDIR else { return Int(found.st_size) == bytes }
        return size(of: file.path) == bytes
    }

    /// An input whose name is not UTF-8 counts as changed.
    static func isUntouched(_ input: InputSpec, since earlier: FileStamp?) -> Bool {
        var found = stat()
        guard let earlier, input.bytes == nil, stat(input.path, &found) == 0 else { return false }
        return Int(found.st_size) == earlier.size && UInt64(found.st_ino) == earlier.inode
            && earlier.modified == FileStamp.nanoseconds(seconds: found.st_mtim.tv_sec, and: found.st_mtim.tv_nsec)
    }

    private static func size(of folder: String) -> Int {
        // A folder that does not show yet has another size than its receipt says.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(0) { sum, name in
            var found = stat()
            guard lstat("\(folder)/\(name)", &found) == 0 else { return sum }
            return sum + (found.st_mode & S_IFMT == S_IFDIR ? size(of: "\(folder)/\(name)") : Int(found.st_size))
        }
    }

    private static func check(_ code: Int32, _ action: String, _ path: String) throws(ShardFolderError) {
        guard code != 0 else { return }
        guard code != foreignOwner else {
            throw ShardFolderError(
                message:
                    "\(path): belongs to another user, and nothing is written to it\n   = remove it, and prepare the run again"
            )
        }
        throw ShardFolderError(message: "\(path): cannot \(action): \(String(cString: strerror(code)))")
    }

    /// No error number of the system.
    private static let foreignOwner: Int32 = -1

    /// - Returns: 0, an error number, or ``foreignOwner``.
    private static func append(_ bytes: [UInt8], to path: String, syncs: Bool) -> Int32 {
        // Opening a pipe without a reader would block.
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
        guard file >= 0 else { return errno }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return ENXIO }
        // Its owner could change what is written, and no reader would trust it.
        guard found.st_uid == geteuid() || found.st_uid == 0 else { return foreignOwner }
        let code = FileCalls.kernel.writeAll(bytes[...], to: file)
        guard code == 0 else { return code }
        return !syncs || fdatasync(file) == 0 ? 0 : errno
    }
}

/// Reads the result files as they appear.
package struct ShardResults: Sendable {
    private let folder: ShardFolder
    private let run: String
    private let epoch: Int
    private let grace: Duration
    /// Results that name files which are not visible yet, and since when.
    private var early: [String: Timestamp] = [:]

    /// - Parameters:
    ///   - run: the run whose results are read. Only the coordinator with this epoch counts.
    ///   - grace: how long the file system may take to show a file.
    package init(folder: ShardFolder, run: String, epoch: Int, grace: Duration) {
        self.folder = folder
        self.run = run
        self.epoch = epoch
        self.grace = grace
    }

    /// If an element runs twice, the first result counts.
    ///
    /// - Parameter log: the log file of a shard's element.
    package mutating func take(of shards: Set<Int>, at now: Timestamp, log: (Int) -> String) -> [ShardResult] {
        var taken: [ShardResult] = []
        var rest = shards
        for name in folder.names(in: folder.results) where name.hasSuffix(".json") {
            guard let number = name.split(separator: ".").first.flatMap({ Int($0) }), rest.contains(number),
                let result = folder.read(ShardResult.self, from: "\(folder.results)/\(name)"),
                result.shard == Shard.ID(run: run, epoch: epoch, number: number)
            else { continue }
            let since = early[name] ?? now
            if result.ends.allSatisfy(Self.filesExist) {
                taken.append(result)
            } else if result.refusal != nil || now.elapsed - since.elapsed >= grace {
                // A refusal stops the run, so nothing is waited for.
                taken.append(withoutMissing(result, log: log(number)))
            } else {
                early[name] = since
                continue
            }
            early[name] = nil
            rest.remove(number)
        }
        return taken
    }

    /// Whether the files that a receipt names exist, with all their bytes.
    package static func filesExist(of end: TaskEnd) -> Bool {
        guard case .done(let receipt) = end.outcome else { return true }
        return receipt.files.allSatisfy(ShardFolder.holds)
    }

    private func withoutMissing(_ result: ShardResult, log: String) -> ShardResult {
        let ends = result.ends.map { end in
            guard case .done(let receipt) = end.outcome,
                let file = receipt.files.first(where: { !ShardFolder.holds($0) })
            else { return end }
            let message =
                "\(file.path): written by \(result.location), and does not show here whole after "
                + "\(grace.components.seconds) s; raise 'grace' under 'slurm', or look after the shared file system; see "
                + log
            return TaskEnd(end.lease, .failed(TaskFailure(.transient, message)))
        }
        return ShardResult(
            shard: result.shard, attempt: result.attempt, location: result.location, ends: ends,
            refusal: result.refusal,
            sandbox: result.sandbox)
    }
}

/// The results of shards of earlier coordinators. A result is used if the run asks for the same task again.
package struct PriorResults: Sendable {
    private var receipts: [TaskSpec: TaskReceipt] = [:]
    /// The last shard number of earlier coordinators; 0 for none.
    package private(set) var lastShard = 0

    package init(of folder: ShardFolder) {
        // The logs by shard number and epoch.
        let logs = Dictionary(grouping: folder.names(in: folder.results).filter { $0.hasSuffix(".log") }) {
            $0.prefix { $0 != "-" }
        }
        for name in folder.names(in: folder.shards) {
            guard name.hasSuffix(".json"), let number = Int(name.dropLast(5)),
                StoredLimits.counts.contains(number),
                let shard = folder.read(Shard.self, from: folder.shard(number)), shard.isOf(folder, as: number)
            else { continue }
            lastShard = max(lastShard, number)
            take(shard, logs["\(number).\(shard.id.epoch)"] ?? [], in: folder)
        }
    }

    private mutating func take(_ shard: Shard, _ logs: [String], in folder: ShardFolder) {
        let specs = Dictionary(shard.tasks.map { ($0.lease, $0.spec) }) { $1 }
        let lines = logs.flatMap { folder.lines(AttemptLine.self, of: "\(folder.results)/\($0)") }
        for case .ended(let end) in lines {
            guard let spec = specs[end.lease], case .done(let receipt) = end.outcome else { continue }
            receipts[spec.withoutNames] = receipt
        }
    }

    /// The result of the same task, if its files exist and its input is unchanged. Each result is returned once.
    package mutating func take(_ spec: TaskSpec) -> TaskReceipt? {
        guard !receipts.isEmpty, let receipt = receipts.removeValue(forKey: spec.withoutNames),
            spec.objection(to: receipt, by: .earlierWorker) == nil,
            receipt.files.allSatisfy(ShardFolder.holds), Self.isSame(spec, receipt)
        else { return nil }
        return receipt
    }

    private static func isSame(_ spec: TaskSpec, _ receipt: TaskReceipt) -> Bool {
        switch (spec, receipt) {
        case (.frame(let task), .outputs(_, let source?)): ShardFolder.isUntouched(task.input, since: source.stamp)
        case (.probe(let task), .probe(let probe)): ShardFolder.isUntouched(task.input, since: probe.stamp)
        case (.canvas(let task), .canvas(let canvas)): ShardFolder.isUntouched(task.input, since: canvas.source.stamp)
        // These tasks read only files of the run, by their digests.
        case (.tile, .tile), (.stitch, .outputs): true
        default: false
        }
    }
}
