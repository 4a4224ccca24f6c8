import FoundationEssentials
import Glibc
package import JobModel
import Planning
package import SafeFiles
import Synchronization

/// The folder of one run: its lock, its journal and, unless told otherwise, its scratch space.
///
///     STATE/runs/20261121T213000Z-1a2b/{lock,journal,scratch/,job,coordinator.1}
///
/// A run of a job that is remembered outlives its coordinator: the next one claims it with a higher epoch.
package final class RunFolder: Sendable {
    package let name: String
    let path: String
    package let scratch: String
    /// From 1, one more for each coordinator that has had the run.
    package let epoch: Int
    /// The run's workers have it in their environment.
    package let token: CoordinatorToken
    let journal: Journal
    /// The folder that holds `runs`: the state folder, or the place of a run that other machines see.
    let state: String
    /// What earlier coordinators were about to publish, and since when the run goes on.
    let published: (paths: Set<PathKey>, since: Int64)
    let lastBeat = Mutex<ContinuousClock.Instant?>(nil)
    private let lock: KernelLock
    private let createdFolders = Mutex<[String]>([])
    /// Folders in which this coordinator's temporary files are.
    private let places = Mutex<Set<PathKey>>([])
    /// Folders in which temporary files were removed.
    private let removedFrom = Mutex<Set<PathKey>>([])
    /// There may be temporary files that were not removed.
    private let hasStuck = Mutex(false)

    /// The name of the folder, beside outputs, that runs on a cluster keep theirs in.
    package static let sharedName = ".penumbra-slurm"

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
        self.name = name
        self.token = token
        self.state = state
        path = "\(state)/runs/\(name)"
        published = ([], 0)
        epoch = 1
        let missing = scratch.map { Self.isForNodes($0, state) ? FileSystem.missingFolders($0) : [] } ?? []
        let (gate, runs) = try FileSystem.retrying(ENOENT) { () throws(FileTrouble) in
            _ = try FileSystem.createFolders(state)
            // Before that, a run that ends may remove what is empty.
            let gate = try Self.gate(state)
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
                try FileSystem.append(Array(JobLock.name(of: job).utf8), to: "\(path)/job", syncs: true)
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
    package init?(claiming name: String, state: String, keepsRequests: Bool = false) throws(FileTrouble) {
        path = "\(state)/runs/\(name)"
        self.name = name
        self.state = state
        let gate = try Self.gate(state)
        defer { withExtendedLifetime(gate) {} }
        guard FileSystem.isFolder(path) else { return nil }
        try Self.refuseOthers(state, name)
        guard let lock = try KernelLock.take("\(path)/lock"), CoordinatorClaim.isQuiet(path)
        else { return nil }
        self.lock = lock
        let latest = CoordinatorClaim.latestEpoch(in: path)
        CoordinatorClaim.endWorkers(ofEpoch: latest, in: path)
        epoch = latest + 1
        token = CoordinatorToken(run: name)
        try CoordinatorClaim.take(epoch: epoch, as: token, in: path)
        // Why the last one has left it is over.
        FileSystem.remove("\(path)/stopped")
        let isAsked = ControlFiles(of: path).isDetached || keepsRequests
        for kind in ControlFiles.Kind.allCases where kind == .detached || !isAsked {
            FileSystem.removeTree("\(path)/\(kind)")
        }
        let entries = Journal.read("\(path)/journal")
        journal = try Journal("\(path)/journal")
        try journal.endTornLine()
        var scratch = "\(path)/scratch"
        var paths: Set<PathKey> = []
        for entry in entries {
            switch entry {
            case .scratch(let folder) where Self.isScratch(folder, of: name, path): scratch = folder
            case .publish(_, _, let final): paths.insert(PathKey(final))
            case .replace(let aside, let final) where Self.isOwn(aside, name) && Self.areBeside(aside, final):
                try Publisher.undoReplacement(aside: aside, final: final)
            case .scratch, .replace, .folder, .place, .temporary: break
            }
        }
        // What was asked for last may be that all is made again.
        let begin = FileSystem.stamp("\(path)/job")?.modified ?? .max
        published = (paths, max(begin, FileSystem.stamp("\(path)/run.json")?.modified ?? begin))
        self.scratch = scratch
        _ = try FileSystem.createFolders(scratch, mode: 0o700)
        // An earlier version may have made them readable by all.
        try FileSystem.makePrivate(path, trusting: .ownAndRoot)
        try Self.refusing("remove what is there, and run again") { () throws(FileTrouble) in
            try FileSystem.makePrivate(scratch, trusting: .ownAndRoot)
        }
    }

    /// A run's folder says what is moved and removed: one that another user owns is not believed.
    private static func refuseOthers(_ state: String, _ name: String) throws(FileTrouble) {
        try refusing("let the user who began the run go on with it") { () throws(FileTrouble) in
            _ = try SafeFolder(state).folder(at: "runs/\(name)")
        }
    }

    /// Says of a folder that is a link, or another user's, that the run is not gone on with.
    private static func refusing(_ remedy: String, _ body: () throws(FileTrouble) -> Void) throws(FileTrouble) {
        do {
            try body()
        } catch {
            guard error.code == FileTrouble.refusal, error.reason != nil else { throw error }
            throw FileTrouble(
                path: error.path, code: error.code, action: "go on with this run", reason: error.reason,
                remedy: remedy)
        }
    }

    /// Folders of this name are removed with all that they hold. So the journal does not decide alone: only the scratch
    /// space that a run of this name makes for itself is its own.
    static func isScratch(_ folder: String, of run: String, _ path: String) -> Bool {
        folder == "\(path)/scratch" || PathText.name(of: folder) == "penumbra-\(run)"
    }

    /// Files beside outputs that belong to a run have its name in theirs.
    private static func isOwn(_ path: String, _ run: String) -> Bool {
        PathText.name(of: path).hasPrefix(".penumbra-\(run)-")
    }

    /// A folder that was moved aside stayed in its own folder.
    private static func areBeside(_ aside: String, _ final: String) -> Bool {
        PathKey(PathText.folder(of: aside)) == PathKey(PathText.folder(of: final))
            && SafeFolder.isName(PathText.name(of: final))
    }

    /// Another coordinator has claimed the run: on a shared file system locks may not have kept it away.
    var isSuperseded: Bool { CoordinatorClaim.exists(epoch: epoch + 1, in: path) }

    /// What `penumbra pause` and `penumbra cancel` have asked for.
    var requests: ControlFiles { ControlFiles(of: path) }

    /// Keeps a sweep away from a run folder between its making and its locking.
    static func gate(_ state: String) throws(FileTrouble) -> KernelLock {
        try KernelLock.wait("\(state)/runs.lock")
    }

    /// Creates a folder for outputs, with its parents; what is created and stays empty is removed at the end.
    func makeFolder(_ folder: String) throws(FileTrouble) {
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
    func makeFrameFolder(named name: String) throws(FileTrouble) {
        _ = try SafeFolder(scratch, trusting: .everybody).makingFolder(name)
    }

    /// The same of a folder that is there already.
    func refuseLinkedFolder(named name: String) throws(FileTrouble) {
        guard FileSystem.isLink("\(scratch)/\(name)") else { return }
        try makeFrameFolder(named: name)
    }

    /// Before a worker writes a file beside outputs.
    func expectTemporary(_ file: String) throws(FileTrouble) {
        let folder = PathText.folder(of: file)
        if places.withLock({ $0.insert(PathKey(folder)).inserted }) {
            try journal.write(.place(folder))
            try journal.sync()
        }
        try journal.write(.temporary(file))
    }

    /// What an attempt has left that came to nothing.
    func removeTemporary(_ file: String) {
        guard FileSystem.exists(file) else { return }
        FileSystem.removeTree(file)
        if FileSystem.exists(file) { hasStuck.withLock { $0 = true } }
        _ = removedFrom.withLock { $0.insert(PathKey(PathText.folder(of: file))) }
    }

    /// Others than this coordinator's workers write beside outputs, under names that begin like the run's: what they
    /// leave is looked for at the end.
    package func expectStrangers() { hasStuck.withLock { $0 = true } }

    /// Before the journal goes, which knows of files that a power failure would bring back.
    private static func syncRemovals(in folder: String) {
        // Nothing but a stray file depends on it.
        try? FileSystem.syncFolder(folder)
    }

    /// Folders for outputs stay, whether or not anything was published in them.
    package func keepFolders() { createdFolders.withLock { $0 = [] } }

    /// Another run's, which made them for this one.
    package func takeFolders(of other: RunFolder) {
        let taken = other.createdFolders.withLock { folders in
            defer { folders = [] }
            return folders
        }
        createdFolders.withLock { $0 += taken }
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
        if shared.end == nil { shared.history.remove() }
        guard epoch == 1, !hasStuck.withLock({ $0 }) else { return Self.clean(path, run: name) }
        for folder in removedFrom.withLock({ $0 }) { Self.syncRemovals(in: folder.path) }
        FileSystem.removeTree(scratch)
        let created = createdFolders.withLock { $0 }
        for folder in created.reversed() { FileSystem.removeIfEmpty(folder) }
        FileSystem.removeTree(path)
        if PathText.folder(of: scratch) == state { Self.tidy(state, created) }
    }

    /// In place of ``remove()``, where a folder of outputs is not at its place: what the run has written aside in it cannot be
    /// found. The next run removes that, and this folder; nobody goes on with it.
    package func leaveToNextRun() { FileSystem.remove("\(path)/job") }

    /// Removes what runs that were killed have left: scratch space, temporary files, empty folders.
    /// Runs whose lock is held are alive and left alone; those that can be gone on with are kept for some days.
    package static func sweep(state: String) {
        // Nobody has to be heard of while a run waits in a cluster's queue: 'cancel' removes such.
        remove(state: state) {
            let run = SharedRun(place: state, name: $0)
            // A coordinator may have been killed between the end and the removal.
            return run.end != nil || run.record == nil && !CoordinatorClaim.isYoung(run.folder)
        }
        SharedHistory.sweep(state)
    }

    /// What ``remove(_:state:)`` has come to.
    package enum Removal: Sendable {
        case complete
        /// Nobody goes on with the run. Some of what it left is on a disk that is not there, or may not be removed: later
        /// runs try again.
        case partial
        /// Its coordinator lives.
        case refused
    }

    /// Removes a run whose coordinator was killed, and all that it left.
    @discardableResult
    package static func remove(_ name: String, state: String) -> Removal {
        let isTaken = remove(state: state) { $0 == name }
        guard FileSystem.exists("\(state)/runs/\(name)") else { return .complete }
        return isTaken ? .partial : .refused
    }

    /// - Returns: whether there was one of these that nobody has.
    @discardableResult
    private static func remove(state: String, where isWanted: (String) -> Bool) -> Bool {
        let runs = "\(state)/runs"
        // Without a state folder there is nothing to sweep; the run that follows will say what is wrong with it.
        guard FileSystem.isFolder(runs) else { return false }
        let dead = deadRuns(in: runs, state, isWanted)
        for (name, lock) in dead {
            withExtendedLifetime(lock) { clean("\(runs)/\(name)", run: name) }
        }
        return !dead.isEmpty
    }

    /// Locked; the gate is open again before gigabytes are removed.
    private static func deadRuns(
        in runs: String, _ state: String, _ isWanted: (String) -> Bool
    ) -> [(name: String, lock: KernelLock)] {
        // A state folder in which nothing can be locked is told of by the run that follows.
        guard let gate = try? gate(state) else { return [] }
        defer { withExtendedLifetime(gate) {} }
        return FileSystem.names(in: runs).filter(isWanted).compactMap { name in
            let path = "\(runs)/\(name)"
            // A folder that cannot be locked is left for a later run, and one of another user to that user.
            guard FileSystem.isOwnFolder(path), (try? SafeFolder(state).folder(at: "runs/\(name)")) != nil,
                let lock = try? KernelLock.take("\(path)/lock"), CoordinatorClaim.isQuiet(path)
            else { return nil }
            return (name, lock)
        }
    }

    /// Another user has put a folder in the place of a run's scratch space. It stays.
    private static func isForeign(_ scratch: String) -> Bool {
        FileSystem.isOwnFolder(scratch) && (try? SafeFolder.unlinked(scratch)) == nil
    }

    private static func clean(_ path: String, run: String) {
        let entries = Journal.read("\(path)/journal")
        // Made once, when the run began. A copy of a run's folder has a younger one.
        let begin = FileSystem.changed("\(path)/lock") ?? .max
        // By its last name: folders are removed with all that they hold.
        func isOwn(_ path: String) -> Bool { Self.isOwn(path, run) }
        var isGone = true
        // What lies on a disk that is not mounted is not gone, though nobody sees it.
        let isPatient = !CoordinatorClaim.isForgotten(path)
        func remove(_ path: String) {
            FileSystem.removeTree(path)
            let isAway = isPatient && !FileSystem.isFolder(PathText.folder(of: path))
            if FileSystem.exists(path) || isAway { isGone = false }
        }
        for case .temporary(let file) in entries where isOwn(file) { remove(file) }
        for case .replace(let aside, let final) in entries where isOwn(aside) && areBeside(aside, final) {
            do {
                try Publisher.undoReplacement(aside: aside, final: final)
            } catch {
                return  // the next run tries again: the journal stays
            }
        }
        // What a power failure took from the journal is found by its name.
        for case .place(let folder) in entries {
            for name in FileSystem.names(in: folder) where isOwn("\(folder)/\(name)") {
                remove("\(folder)/\(name)")
            }
            syncRemovals(in: folder)
        }
        for case .scratch(let folder) in entries where isScratch(folder, of: run, path) && !isForeign(folder) {
            remove(folder)
            if PathText.name(of: PathText.folder(of: folder)) == sharedName {
                FileSystem.removeIfEmpty(PathText.folder(of: folder))
            }
        }
        // A journal that was brought from elsewhere may name any folder of the user: one that the run has made is not older.
        for case .folder(let folder) in entries.reversed() {
            FileSystem.removeIfEmpty(folder, changedSince: begin)
        }
        // The journal of what could not be removed is for whichever run comes next; nobody goes on with this one.
        guard isGone else { return FileSystem.remove("\(path)/job") }
        FileSystem.removeTree(path)
        let place = PathText.folder(of: PathText.folder(of: path))
        for case .scratch("\(place)/penumbra-\(run)") in entries {
            let folders = entries.compactMap { entry in if case .folder(let folder) = entry { folder } else { nil } }
            tidy(place, folders, changedSince: begin)
        }
    }
}
