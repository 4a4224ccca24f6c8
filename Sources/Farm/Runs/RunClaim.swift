import FoundationEssentials
import Glibc
package import JobModel
import Planning
package import SafeFiles
import Synchronization

/// A coordinator's hold on a run: the lock of the run's folder, an epoch, and the journal.
///
/// A run of a job that is remembered outlives its coordinator: the next one claims its folder with a higher epoch.
package final class RunClaim: Sendable {
    /// How this coordinator came by the run.
    package enum Origin: Hashable, Sendable {
        /// No coordinator had it before.
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
    /// From 1, one more for each coordinator that has had the run.
    package var epoch: Int { origin.epoch }
    /// The run's workers have it in their environment.
    package let token: CoordinatorToken
    package let journal: Journal
    /// What earlier coordinators were about to publish, and since when the run goes on.
    package let published: (paths: Set<PathKey>, since: Int64)
    private let lastBeat = Mutex<ContinuousClock.Instant?>(nil)
    private let lock: KernelLock
    private let createdFolders = Mutex<[String]>([])
    /// Folders in which this coordinator's temporary files are.
    private let temporaryFolders = Mutex<Set<PathKey>>([])
    /// Folders in which temporary files were removed.
    private let removedFrom = Mutex<Set<PathKey>>([])
    /// There may be temporary files that were not removed.
    private let hasStuck = Mutex(false)

    /// Creates and locks the folder.
    ///
    /// - Parameters:
    ///   - token: holds the run's name, which is unique on this machine.
    ///   - scratch: where canvases and tiles go; nil for the run's own folder.
    ///   - job: whose run this is; nil for one that is not gone on with when it is killed.
    package init(
        state: String, token: CoordinatorToken, scratch: String?, job: JobSpec? = nil, calls: FileCalls = .kernel
    ) throws(FileTrouble) {
        let name = token.run
        self.token = token
        folder = RunFolder(state: state, name: name)
        let path = folder.path
        published = ([], 0)
        origin = .new
        let missing = scratch.map { RunFolder.isForNodes($0, state) ? FileSystem.missingFolders($0) : [] } ?? []
        let (gate, runs) = try FileSystem.retrying(ENOENT) { () throws(FileTrouble) in
            _ = try FileSystem.createFolders(state)
            // Before that, a run that ends may remove what is empty.
            let gate = try RunFolder.gate(state)
            // A link there would lead the run's files to where it points.
            return (gate, try SafeFolder(state, trusting: .everybody).makingFolder("runs"))
        }
        defer { withExtendedLifetime(gate) {} }
        _ = try runs.makingFolder(name, mode: 0o700)
        // Canvases and tiles of pictures that only their owner may see lie in them.
        try FileSystem.makePrivate(path, trusting: .everybody)
        self.scratch = scratch.map { "\($0)/penumbra-\(name)" } ?? "\(path)/scratch"
        do throws(FileTrouble) {
            guard let lock = try KernelLock.take("\(path)/lock") else {
                throw FileTrouble(path: path, code: EEXIST, action: "create the run's folder")
            }
            self.lock = lock
            journal = try Journal("\(path)/journal", calls: calls)
            try journal.write(.scratch(self.scratch))
            for folder in missing { try journal.write(.folder(folder)) }
            createdFolders.withLock { $0 = missing }
            _ = try FileSystem.createFolders(self.scratch, mode: 0o700)
            try FileSystem.makePrivate(self.scratch, trusting: .everybody)
            if let job {
                // Whoever finds the folder after a power failure knows whose it is.
                try FileSystem.append(Array(RunFolder.jobKey(of: job).utf8), to: "\(path)/job", syncs: true)
                try CoordinatorClaim.take(epoch: 1, as: token, in: path)
                for folder in [path, "\(state)/runs"] { try FileSystem.syncFolder(folder) }
            }
        } catch {
            FileSystem.removeTree(path)
            throw error
        }
    }

    /// For a run of which no worker has been started yet.
    package convenience init(
        state: String, name: String, scratch: String?, job: JobSpec? = nil, calls: FileCalls = .kernel
    ) throws(FileTrouble) {
        try self.init(state: state, token: CoordinatorToken(run: name), scratch: scratch, job: job, calls: calls)
    }

    /// Takes over the run of a coordinator that was killed, and ends workers that outlived it. Nil when its coordinator
    /// lives, or the folder is gone.
    ///
    /// - Parameter keepsRequests: for a coordinator that goes on by itself: what was asked of the last one is asked of it. Else only
    ///   what was asked while there was none.
    package init?(claiming folder: RunFolder, keepsRequests: Bool = false) throws(FileTrouble) {
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
        // A coordinator may have been killed before it had the run.
        origin = latest == 0 ? .new : .takenOver(epoch: latest + 1)
        token = CoordinatorToken(run: name)
        try CoordinatorClaim.take(epoch: origin.epoch, as: token, in: path)
        // Why the last one has left it is over.
        FileSystem.remove("\(path)/stopped")
        let isAsked = folder.isAsked(.detached) || keepsRequests
        for kind in RunFolder.Control.allCases where kind == .detached || !isAsked {
            FileSystem.removeTree("\(path)/\(kind)")
        }
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
        // What was asked for last may be that all is made again.
        let begin = FileSystem.stamp("\(path)/job")?.modified ?? .max
        published = (paths, max(begin, FileSystem.stamp("\(path)/run.json")?.modified ?? begin))
        self.scratch = scratch
        _ = try FileSystem.createFolders(scratch, mode: 0o700)
        // An earlier version may have made them readable by all.
        try FileSystem.makePrivate(path, trusting: .ownAndRoot)
        try RunFolder.refusing("remove what is there, and run again") { () throws(FileTrouble) in
            try FileSystem.makePrivate(scratch, trusting: .ownAndRoot)
        }
    }

    /// Another coordinator has claimed the run: on a shared file system locks may not have kept it away.
    package var isSuperseded: Bool { CoordinatorClaim.exists(epoch: epoch + 1, in: path) }

    /// Creates a folder for outputs, with its parents; what is created and stays empty is removed at the end.
    package func makeFolder(_ folder: String) throws(FileTrouble) {
        guard !FileSystem.isFolder(folder) else { return }
        for missing in FileSystem.missingFolders(folder) { try journal.write(.folder(missing)) }
        let created = try FileSystem.createFolders(folder)
        createdFolders.withLock { $0 += created }
        // An output lasts no longer than the names of its folders.
        for path in created { try FileSystem.syncFolder(PathText.folder(of: path)) }
    }

    /// Creates the folder of a frame's canvases and tiles.
    ///
    /// - Throws: ``FileTrouble`` where a link is in its place: workers would write to where that leads.
    package func makeFrameFolder(named name: String) throws(FileTrouble) {
        _ = try SafeFolder(scratch, trusting: .everybody).makingFolder(name)
    }

    /// The same of a folder that is there already.
    package func refuseLinkedFolder(named name: String) throws(FileTrouble) {
        guard FileSystem.isLink("\(scratch)/\(name)") else { return }
        try makeFrameFolder(named: name)
    }

    /// Before a worker writes a file beside outputs.
    package func expectTemporary(_ file: String) throws(FileTrouble) {
        let folder = PathText.folder(of: file)
        if temporaryFolders.withLock({ $0.insert(PathKey(folder)).inserted }) {
            try journal.write(.outputFolder(folder))
            try journal.sync()
        }
        try journal.write(.temporary(file))
    }

    /// What an attempt has left that came to nothing.
    package func removeTemporary(_ file: String) {
        guard FileSystem.exists(file) else { return }
        FileSystem.removeTree(file)
        if FileSystem.exists(file) { hasStuck.withLock { $0 = true } }
        _ = removedFrom.withLock { $0.insert(PathKey(PathText.folder(of: file))) }
    }

    /// Others than this coordinator's workers write beside outputs, under names that begin like the run's: what they
    /// leave is looked for at the end.
    package func expectForeignTemporaries() { hasStuck.withLock { $0 = true } }

    /// Folders for outputs stay, whether or not anything was published in them.
    package func keepFolders() { createdFolders.withLock { $0 = [] } }

    /// Another run's, which made them for this one.
    package func takeFolders(of other: RunClaim) {
        let taken = other.createdFolders.withLock { folders in
            defer { folders = [] }
            return folders
        }
        createdFolders.withLock { $0 += taken }
    }

    /// Lets another coordinator have the run at once, wherever it is.
    package func release() {
        // Else it waits for a minute.
        try? CoordinatorClaim.release(epoch: epoch, in: path)
    }

    /// From time to time, for whoever cannot see this coordinator's lock.
    ///
    /// - Parameter left: frames that are to be done yet.
    package func beat(at now: ContinuousClock.Instant, left: () -> Int) {
        let isDue = lastBeat.withLock { last in
            if let last, last.duration(to: now) < CoordinatorClaim.heartbeat { return false }
            last = now
            return true
        }
        guard isDue else { return }
        CoordinatorClaim.beat(epoch: epoch, in: path)
        // Only `status --run-dir` reads it.
        guard FileSystem.exists("\(path)/run.json") else { return }
        folder.note(left: left())
    }

    /// A path beside outputs, for a file that is written aside; removed by the next run if this one is killed.
    package func temporaryPath(in folder: String, for purpose: String) throws -> String {
        let path = "\(folder == "/" ? "" : folder)/.penumbra-\(name)-\(purpose)"
        try expectTemporary(path)
        return path
    }

    /// Removes all that the run kept. Outputs that were published stay. What cannot be removed now, on a disk that has become
    /// read-only, is removed by a later run.
    package func remove() {
        guard !isSuperseded else { return }
        // Nobody ever hears of a run that was not handed over.
        if folder.end == nil { folder.log.remove() }
        guard origin == .new, !hasStuck.withLock({ $0 }) else { return folder.clean() }
        for folder in removedFrom.withLock({ $0 }) { RunFolder.syncRemovals(in: folder.path) }
        FileSystem.removeTree(scratch)
        let created = createdFolders.withLock { $0 }
        for folder in created.reversed() { FileSystem.removeIfEmpty(folder) }
        FileSystem.removeTree(path)
        if PathText.folder(of: scratch) == self.folder.state { RunFolder.tidy(self.folder.state, created) }
    }

    /// In place of ``remove()``, where a folder of outputs is not at its place: what the run has written aside in it cannot be
    /// found. The next run removes that, and this folder; nobody goes on with it.
    package func leaveToNextRun() { FileSystem.remove("\(path)/job") }
}

/// What a run is about to do to files outside its own folder, written down before it does it.
///
/// A run that was killed leaves its journal behind; the next run reads it and removes what was not published.
package final class Journal: Sendable {
    package enum Entry: Hashable, Sendable, Codable {
        /// Canvases and tiles are kept in this folder.
        case scratch(String)
        /// This folder will be created for outputs.
        case folder(String)
        /// Files with this run's name in theirs will be written in this folder. Synced, so that a power failure leaves
        /// none of them for ever.
        case outputFolder(String)
        /// A worker will write this file, which is no output yet.
        case temporary(String)
        /// The temporary file, with this digest, will be renamed to the final path. A sweep needs only to know the
        /// temporary one; this is for whoever has to find out what happened.
        case publish(temporary: String, digest: Digest, final: String)
        /// The folder at the final path will be moved temporary, and the new one put in its place: where file systems cannot
        /// exchange them.
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

    init(_ path: String, calls: FileCalls = .kernel) throws(FileTrouble) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = calls.open(AT_FDCWD, path, flags, 0o666)
        guard file >= 0 else { throw FileTrouble(path: path, code: errno, action: "create the journal") }
        descriptor = Mutex(file)
        self.path = path
        self.calls = calls
    }

    deinit { descriptor.withLock { _ = close($0) } }

    /// One write call, so that a kill leaves whole lines, or at worst one torn last line.
    package func write(_ entry: Entry) throws(FileTrouble) {
        // Entries hold strings alone, which JSON always can.
        guard let json = try? JSONEncoder().encode(entry) else {
            throw FileTrouble(path: path, code: EINVAL, action: "write the journal")
        }
        let line = Array(json) + [UInt8(ascii: "\n")]
        let written = descriptor.withLock { file in line.withUnsafeBytes { calls.write(file, $0.baseAddress, $0.count) }
        }
        guard written == line.count else {
            throw FileTrouble(path: path, code: written < 0 ? errno : ENOSPC, action: "write the journal")
        }
    }

    /// After a coordinator that was killed.
    func endTornLine() throws(FileTrouble) { try FileSystem.append([UInt8(ascii: "\n")], to: path) }

    /// What was written stays, whatever becomes of the power.
    package func sync() throws(FileTrouble) {
        guard descriptor.withLock({ calls.sync($0) }) == 0 else {
            throw FileTrouble(path: path, code: errno, action: "sync the journal")
        }
        try FileSystem.syncFolder(PathText.folder(of: path), calls: calls)
    }

    /// All whole entries; a torn last line was never acted on.
    package static func read(_ path: String) -> [Entry] {
        // A run that was killed before it had a journal has left nothing outside its folder. A journal that somebody else
        // has put there is not believed.
        guard let folder = try? SafeFolder(PathNames.folder(of: path) ?? ""),
            let data = try? folder.contents(of: PathNames.last(of: path), limit: 1 << 30)
        else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(Entry.self, from: Data($0))
        }
    }
}
