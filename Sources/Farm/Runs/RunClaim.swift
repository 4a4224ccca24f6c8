import FoundationEssentials
import Glibc
package import JobModel
import Planning
package import SafeFiles
import Synchronization

/// A coordinator's claim to a run: the lock of the run's folder, an epoch, and the journal.
///
/// A recorded run outlives its coordinator. The next coordinator claims its folder with a higher epoch.
package final class RunClaim: Sendable {
    /// How this coordinator got the run.
    package enum Origin: Hashable, Sendable {
        /// No other coordinator had it.
        case new
        case takenOver(epoch: Int)

        fileprivate var epoch: Int {
            switch self {
            case .new: 1
            case .takenOver(let epoch): epoch
            }
        }
    }

    package let folder: RunFolder
    package let scratch: String
    package let origin: Origin
    package var name: String { folder.name }
    package var path: String { folder.path }
    /// From 1. Each further coordinator adds one.
    package var epoch: Int { origin.epoch }
    /// The run's workers have it in their environment.
    package let token: CoordinatorToken
    package let journal: Journal
    /// The outputs that earlier coordinators were about to publish, and the time since which the run is active.
    package let published: (paths: Set<PathKey>, since: Int64)
    private let lastNote = Mutex<ContinuousClock.Instant?>(nil)
    private let lock: KernelLock
    private let createdFolders = Mutex<[String]>([])
    private let stagingFolders = Mutex<[String]>([])
    /// The folders that contain temporary files of this coordinator.
    private let temporaryFolders = Mutex<Set<PathKey>>([])
    /// The folders from which temporary files were removed.
    private let removedFrom = Mutex<Set<PathKey>>([])
    /// Whether temporary files may be left.
    private let hasStuck = Mutex(false)

    /// Creates and locks the folder.
    ///
    /// - Parameters:
    ///   - token: contains the run's name, which is unique on this machine.
    ///   - scratch: the folder for canvases and tiles; nil for the run's own folder.
    ///   - job: the job of the run; nil for a run that cannot be resumed.
    package init(
        state: String, token: CoordinatorToken, scratch: String?, job: JobSpec? = nil, calls: FileCalls = .kernel
    ) throws(FileError) {
        let name = token.run
        self.token = token
        folder = RunFolder(state: state, name: name)
        let path = folder.path
        published = ([], 0)
        origin = .new
        let missing = scratch.map { RunFolder.isForNodes($0, state) ? FileSystem.missingFolders($0) : [] } ?? []
        let (gate, runs) = try FileSystem.retrying(ENOENT) { () throws(FileError) in
            _ = try FileSystem.createFolders(state)
            // Without the gate, a run that ends could remove an empty folder.
            let gate = try RunFolder.gate(state)
            // A link there would lead the run's files elsewhere.
            return (gate, try SafeFolder(state, trusting: .everybody).makingFolder("runs"))
        }
        defer { withExtendedLifetime(gate) {} }
        _ = try runs.makingFolder(name, mode: 0o700)
        // The folder holds canvases and tiles of pictures that may be private.
        try FileSystem.makePrivate(path, trusting: .everybody)
        self.scratch = scratch.map { "\($0)/penumbra-\(name)" } ?? "\(path)/scratch"
        do throws(FileError) {
            guard let lock = try KernelLock.take("\(path)/lock") else {
                throw FileError(path: path, code: EEXIST, action: "create the run's folder")
            }
            self.lock = lock
            journal = try Journal("\(path)/journal", calls: calls)
            try journal.write(.scratch(self.scratch))
            for folder in missing { try journal.write(.folder(folder)) }
            createdFolders.withLock { $0 = missing }
            _ = try FileSystem.createFolders(self.scratch, mode: 0o700)
            try FileSystem.makePrivate(self.scratch, trusting: .everybody)
            if let job {
                // After a power failure, the folder still names its job.
                try FileSystem.append(Array(RunFolder.jobKey(of: job).utf8), to: "\(path)/job", syncs: true)
                try CoordinatorClaim.take(epoch: 1, as: token, in: path)
                for folder in [path, "\(state)/runs"] { try FileSystem.syncFolder(folder) }
            }
        } catch {
            FileSystem.removeTree(path)
            throw error
        }
    }

    /// For a run that has not started a worker yet.
    package convenience init(
        state: String, name: String, scratch: String?, job: JobSpec? = nil, calls: FileCalls = .kernel
    ) throws(FileError) {
        try self.init(state: state, token: CoordinatorToken(run: name), scratch: scratch, job: job, calls: calls)
    }

    /// Takes over a run from a coordinator that was killed, and ends its workers. Nil if the coordinator lives, or the
    /// folder is gone.
    ///
    /// - Parameter keepsRequests: whether requests to the last coordinator apply to this one, too. Otherwise only requests
    ///   count that came while the run had no coordinator.
    package init?(claiming folder: RunFolder, keepsRequests: Bool = false) throws(FileError) {
        self.folder = folder
        let (path, name, state) = (folder.path, folder.name, folder.state)
        let gate = try RunFolder.gate(state)
        defer { withExtendedLifetime(gate) {} }
        guard FileSystem.isFolder(path) else { return nil }
        try folder.refuseOthers()
        guard let lock = try KernelLock.take("\(path)/lock"), CoordinatorClaim.isQuiet(path)
        else { return nil }
        self.lock = lock
        let latest = CoordinatorClaim.latestEpoch(in: path)
        CoordinatorClaim.endWorkers(ofEpoch: latest, in: path)
        // A coordinator may have been killed before it claimed the run.
        origin = latest == 0 ? .new : .takenOver(epoch: latest + 1)
        token = CoordinatorToken(run: name)
        try CoordinatorClaim.take(epoch: origin.epoch, as: token, in: path)
        // The reason for the last stop does not apply any more.
        FileSystem.remove("\(path)/stopped")
        let isAsked = folder.isAsked(.detached) || keepsRequests
        for kind in RunFolder.Control.allCases where kind == .detached || !isAsked {
            FileSystem.removeTree("\(path)/\(kind)")
        }
        if !isAsked { FileSystem.removeTree("\(path)/workers") }
        let entries = Journal.read("\(path)/journal")
        journal = try Journal("\(path)/journal")
        try journal.endTornLine()
        var scratch = "\(path)/scratch"
        var paths: Set<PathKey> = []
        for entry in entries {
            switch entry {
            case .scratch(let folder) where self.folder.isScratch(folder): scratch = folder
            case .publish(_, _, let final): paths.insert(PathKey(final))
            case .replace(let old, let final) where folder.isOwn(old) && RunFolder.areBeside(old, final):
                try FileSystem.undoReplacement(old: old, final: final)
            case .scratch, .replace, .folder, .outputFolder, .temporary: break
            }
        }
        // The latest request may be to render everything again.
        let begin = FileSystem.stamp("\(path)/job")?.modified ?? .max
        published = (paths, max(begin, FileSystem.stamp("\(path)/run.json")?.modified ?? begin))
        self.scratch = scratch
        _ = try FileSystem.createFolders(scratch, mode: 0o700)
        // An earlier version may have made them readable for everybody.
        try FileSystem.makePrivate(path, trusting: .ownAndRoot)
        try RunFolder.refusing("remove what is there, and run again") { () throws(FileError) in
            try FileSystem.makePrivate(scratch, trusting: .ownAndRoot)
        }
    }

    /// Whether another coordinator has claimed the run. Locks may not prevent that on a shared file system.
    package var isSuperseded: Bool { CoordinatorClaim.exists(epoch: epoch + 1, in: path) }

    /// Creates a folder for outputs, with its parents. Created folders that stay empty are removed at the end.
    package func makeFolder(_ folder: String) throws(FileError) {
        guard !FileSystem.isFolder(folder) else { return }
        for missing in FileSystem.missingFolders(folder) { try journal.write(.folder(missing)) }
        let created = try FileSystem.createFolders(folder)
        createdFolders.withLock { $0 += created }
        // After a power failure, an output exists only if its folders do.
        for path in created { try FileSystem.syncFolder(PathText.folder(of: path)) }
    }

    /// Creates a folder beside outputs in which workers create those that are folders. It is removed at the end of the run.
    ///
    /// - Parameter folder: is created, too.
    package func makeStagingFolder(in folder: String) throws(FileError) -> String {
        try makeFolder(folder)
        let staging = PathNames.joined(folder, ".penumbra-\(name)-folders")
        try expectTemporary(staging)
        _ = try SafeFolder(folder, trusting: .everybody).makingFolder(PathNames.last(of: staging), mode: 0o700)
        stagingFolders.withLock { $0.append(staging) }
        return staging
    }

    /// Creates the folder of a frame's canvases and tiles.
    ///
    /// - Throws: ``FileError`` if a link is in its place, because workers would write to the link's target.
    package func makeFrameFolder(named name: String) throws(FileError) {
        _ = try SafeFolder(scratch, trusting: .everybody).makingFolder(name)
    }

    /// The same check for a folder that exists.
    package func refuseLinkedFolder(named name: String) throws(FileError) {
        guard FileSystem.isLink("\(scratch)/\(name)") else { return }
        try makeFrameFolder(named: name)
    }

    /// Records a temporary file in the journal, before a worker writes it beside outputs.
    package func expectTemporary(_ file: String) throws(FileError) {
        let folder = PathText.folder(of: file)
        if temporaryFolders.withLock({ $0.insert(PathKey(folder)).inserted }) {
            try journal.write(.outputFolder(folder))
            try journal.sync()
        }
        try journal.write(.temporary(file))
    }

    /// Removes the temporary file of a failed attempt.
    package func removeTemporary(_ file: String) {
        guard FileSystem.exists(file) else { return }
        FileSystem.removeTree(file)
        if FileSystem.exists(file) { hasStuck.withLock { $0 = true } }
        _ = removedFrom.withLock { $0.insert(PathKey(PathText.folder(of: file))) }
    }

    /// Records that workers of other coordinators write beside outputs, under names that begin like this run's. Their files
    /// are looked for at the end.
    package func expectForeignTemporaries() { hasStuck.withLock { $0 = true } }

    /// Keeps all folders for outputs, even empty ones.
    package func keepFolders() { createdFolders.withLock { $0 = [] } }

    /// Takes over the folders that another run created for this one.
    package func takeFolders(of other: RunClaim) {
        let taken = other.createdFolders.withLock { folders in
            defer { folders = [] }
            return folders
        }
        createdFolders.withLock { $0 += taken }
    }

    /// Lets another coordinator claim the run at once, on any machine.
    package func release() {
        // Otherwise it would wait for a minute.
        try? CoordinatorClaim.release(epoch: epoch, in: path)
    }

    /// Writes the number of open frames from time to time. Only `status --run-dir` reads it.
    package func note(left: () -> Int, at now: ContinuousClock.Instant) {
        let isDue = lastNote.withLock { last in
            if let last, last.duration(to: now) < CoordinatorClaim.heartbeat { return false }
            last = now
            return true
        }
        guard isDue, FileSystem.exists("\(path)/run.json") else { return }
        folder.note(left: left())
    }

    /// The path of a temporary file beside outputs. If this run is killed, the next run removes the file.
    package func temporaryPath(in folder: String, for purpose: String) throws -> String {
        let path = "\(folder == "/" ? "" : folder)/.penumbra-\(name)-\(purpose)"
        try expectTemporary(path)
        return path
    }

    /// Removes all files of the run except published outputs. Files that cannot be removed, on a read-only disk for
    /// instance, are removed by a later run.
    package func remove() {
        guard !isSuperseded else { return }
        // Nobody reads the log of a run that was not handed over.
        if folder.end == nil { folder.log.remove() }
        for staging in stagingFolders.withLock({ $0 }) { removeTemporary(staging) }
        guard origin == .new, !hasStuck.withLock({ $0 }) else { return folder.clean() }
        for folder in removedFrom.withLock({ $0 }) { RunFolder.syncRemovals(in: folder.path) }
        FileSystem.removeTree(scratch)
        let created = createdFolders.withLock { $0 }
        for folder in created.reversed() { FileSystem.removeIfEmpty(folder) }
        FileSystem.removeTree(path)
        if PathText.folder(of: scratch) == self.folder.state { RunFolder.tidy(self.folder.state, created) }
    }

    /// Replaces ``remove()`` if a folder of outputs is not in its place, so that temporary files in it cannot be found. The
    /// next run removes them and this folder. Nobody resumes the run.
    package func leaveToNextRun() { FileSystem.remove("\(path)/job") }
}

/// Records what a run is about to do to files outside its own folder.
///
/// A killed run leaves its journal behind. The next run reads it and removes the files that were not published.
package final class Journal: Sendable {
    package enum Entry: Hashable, Sendable, Codable {
        /// Canvases and tiles are in this folder.
        case scratch(String)
        /// This folder will be created for outputs.
        case folder(String)
        /// Files whose names contain the run's name will be written in this folder. The entry is synced, so that they can
        /// be removed after a power failure.
        case outputFolder(String)
        /// A worker will write this temporary file.
        case temporary(String)
        /// The temporary file with this digest will be renamed to the final path. A sweep needs only the temporary path.
        /// The rest helps to find out what happened.
        case publish(temporary: String, digest: Digest, final: String)
        /// The folder at the final path will be renamed to `old`, and the new one put in its place. Only for file systems
        /// that cannot exchange them.
        case replace(old: String, final: String)

        /// These names are stored.
        private enum CodingKeys: String, CodingKey {
            case scratch, folder, temporary, publish, replace
            case outputFolder = "place"
        }

        private enum ReplaceCodingKeys: String, CodingKey {
            case old = "aside"
            case final
        }
    }

    private let descriptor: Mutex<Int32>
    private let path: String
    private let calls: FileCalls

    init(_ path: String, calls: FileCalls = .kernel) throws(FileError) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = calls.open(AT_FDCWD, path, flags, 0o666)
        guard file >= 0 else { throw FileError(path: path, code: errno, action: "create the journal") }
        descriptor = Mutex(file)
        self.path = path
        self.calls = calls
    }

    deinit { descriptor.withLock { _ = close($0) } }

    /// One write call, so that a kill leaves complete lines, or at worst one torn last line.
    package func write(_ entry: Entry) throws(FileError) {
        // Entries contain only strings, which can always be encoded.
        guard let json = try? JSONEncoder().encode(entry) else {
            throw FileError(path: path, code: EINVAL, action: "write the journal")
        }
        let line = Array(json) + [UInt8(ascii: "\n")]
        let written = descriptor.withLock { file in line.withUnsafeBytes { calls.write(file, $0.baseAddress, $0.count) }
        }
        guard written == line.count else {
            throw FileError(path: path, code: written < 0 ? errno : ENOSPC, action: "write the journal")
        }
    }

    /// Ends the torn line of a coordinator that was killed.
    func endTornLine() throws(FileError) { try FileSystem.append([UInt8(ascii: "\n")], to: path) }

    /// Makes the entries survive a power failure.
    package func sync() throws(FileError) {
        guard descriptor.withLock({ calls.sync($0) }) == 0 else {
            throw FileError(path: path, code: errno, action: "sync the journal")
        }
        try FileSystem.syncFolder(PathText.folder(of: path), calls: calls)
    }

    /// All complete entries. A torn last line had no effect.
    package static func read(_ path: String) -> [Entry] {
        // A run without a journal has left nothing outside its folder. A journal of another user is not trusted.
        guard let folder = try? SafeFolder(PathNames.folder(of: path) ?? ""),
            let data = try? folder.contents(of: PathNames.last(of: path), limit: 1 << 30)
        else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap {
            // The end of a killed coordinator may have torn its last line.
            try? JSONDecoder().decode(Entry.self, from: Data($0))
        }
    }
}
