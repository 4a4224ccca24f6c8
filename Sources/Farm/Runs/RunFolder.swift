import FoundationEssentials
import Glibc
package import JobModel
import JobStorage
import Planning
package import SafeFiles

/// The folder of one run: its lock, its journal and, unless told otherwise, its scratch space.
///
///     STATE/runs/20261121T213000Z-1a2b/{lock, journal, scratch/, job, coordinator.N, pause, cancel, detached}
///
/// Other machines may have to do with a run. Then `STATE` is a folder that all of them see, and no database knows the run,
/// since SQLite stays on local disks. The folder holds what a database would:
///
///     STATE/{runs/NAME/{run.json, left, stopped, …}, penumbra-NAME/{shards, results, …}, history/NAME/N, ended/NAME.json}
///
/// ``RunClaim`` is the hold of a coordinator on it.
package struct RunFolder: Hashable, Sendable {
    /// The name of the folder, beside outputs, that runs on a cluster keep theirs in.
    package static let sharedName = ".penumbra-slurm"

    /// The folder that holds `runs`: the state folder, or the folder that several machines see.
    package let state: String
    package let name: String

    package init(state: String, name: String) {
        self.state = state
        self.name = name
    }

    package var path: String { "\(state)/runs/\(name)" }
    package var log: RunLog { RunLog(state: state, name: name) }

    /// Of a text or a number that a coordinator notes.
    private static let largestNote = 1 << 16

    /// So many ends are remembered in one state folder.
    private static let mostEnds = 100
    /// And of so many what was done in them.
    private static let mostHistories = 30

    private var endPath: String { "\(state)/ended/\(name).json" }

    /// The runs in a folder that a person has given: that of one run, or one with runs in it, of which those that have ended
    /// are there as long as they are remembered.
    package static func find(_ folder: String) -> [RunFolder] {
        let inside = "\(folder)/\(RunFolder.sharedName)"
        if FileSystem.isFolder(inside) { return find(inside) }
        // As 'export --to slurm' makes it.
        let exported = "\(folder)/run"
        if FileSystem.exists("\(folder)/submit.sh"), FileSystem.isFolder(exported) { return find(exported) }
        let runs = PathText.folder(of: folder)
        if PathText.name(of: runs) == "runs" {
            let run = RunFolder(state: PathText.folder(of: runs), name: PathText.name(of: folder))
            if run.record != nil { return [run] }
        }
        let begun = FileSystem.names(in: "\(folder)/runs").map { RunFolder(state: folder, name: $0) }
            .filter { $0.record != nil }
        let ended = FileSystem.names(in: "\(folder)/ended").filter { $0.hasSuffix(".json") }
            .map { RunFolder(state: folder, name: String($0.dropLast(5))) }
        return Set(begun + ended).sorted { $0.name < $1.name }
    }

    /// Those that somebody means who names none: all that have not ended, and of the command that has begun last those that
    /// have.
    package static func meant(in folder: String) -> [RunFolder] { meant(of: find(folder)) }

    package static func meant(of runs: [RunFolder]) -> [RunFolder] {
        let all = runs.compactMap { run in
            run.record.map { (run: run, began: $0.started, command: $0.command ?? run.name, isEnded: $0.state.isEnded) }
        }
        let last = all.max { ($0.began, $0.run.name) < ($1.began, $1.run.name) }
        return all.filter { !$0.isEnded || $0.command == last?.command }.map(\.run)
    }

    /// Nil where there is no such run. The end of a run overrides what its coordinators wrote before.
    package var record: RunRecord? {
        if let ended { return ended }
        guard var own = read("\(path)/run.json"), !own.state.isEnded else { return nil }
        own.epoch = max(1, CoordinatorClaim.latestEpoch(in: path))
        return own
    }

    /// Nil until it has ended.
    private var ended: RunRecord? { read(endPath).flatMap { $0.state.isEnded ? $0 : nil } }

    package var end: RunRecord.End? { if case .ended(let end)? = ended?.state { end } else { nil } }

    /// Why its last coordinator left it before its end; nil where none has.
    package var lastStop: String? {
        SafeFolder.trustedContents("\(path)/stopped", limit: Self.largestNote).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    package func note(lastStop reason: String) throws(FileTrouble) {
        FileSystem.remove("\(path)/stopped")
        try FileSystem.append(Array(reason.utf8), to: "\(path)/stopped")
    }

    /// How many frames its coordinator had left to do when it last said so; nil where it has not.
    package var left: Int? {
        SafeFolder.trustedContents("\(path)/left", limit: Self.largestNote)
            .flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            .flatMap { StoredNumbers.counts.contains($0) ? $0 : nil }
    }

    /// What is lost of it is told again soon.
    package func note(left: Int) {
        try? AtomicFile.write(
            Array("\(left)".utf8), to: "\(path)/left", by: "\(path)/.left.\(CoordinatorClaim.temporarySuffix)")
    }

    package func write(_ record: RunRecord) throws(FileTrouble) {
        guard record.state.isEnded else {
            guard let own = try SafeFolder(state, trusting: .everybody).folder(at: "runs/\(name)") else {
                throw FileTrouble(path: path, code: ENOENT, action: "write to the run's folder")
            }
            return try Self.write(record, as: "run.json", in: own)
        }
        _ = try FileSystem.createFolders(state)
        let ended = try SafeFolder(state, trusting: .everybody).makingFolder("ended")
        try Self.write(record, as: "\(name).json", in: ended)
        forgetOldEnds(in: ended)
    }

    private func forgetOldEnds(in folder: SafeFolder) {
        let ends = ((try? folder.names()) ?? []).filter { $0.hasSuffix(".json") && $0 != "\(name).json" }
            .map { (name: $0, ended: (try? folder.status(of: $0)).map { FileStamp($0).modified } ?? 0) }
            .sorted { ($0.ended, $0.name) > ($1.ended, $1.name) }
        // What cannot be removed stays.
        for old in ends.dropFirst(Self.mostEnds - 1) { try? folder.remove(old.name) }
        for old in ends.dropFirst(Self.mostHistories - 1) {
            RunLog(state: state, name: String(old.name.dropLast(5))).remove()
        }
    }

    private func read(_ file: String) -> RunRecord? {
        // A file that is another user's, a link or a pipe says nothing of the run.
        guard let folder = try? SafeFolder(PathNames.folder(of: file) ?? ""),
            let bytes = try? folder.contents(of: PathNames.last(of: file)),
            var record = try? JSONDecoder().decode(RunRecord.self, from: Data(bytes))
        else { return nil }
        // The folder's name counts.
        record.name = name
        return record.isPlausible ? record : nil
    }

    private static func write(
        _ record: RunRecord, as name: String, in folder: SafeFolder
    ) throws(FileTrouble) {
        // Texts and whole numbers, which JSON always can.
        let bytes = (try? JSONEncoder().encode(record)).map(Array.init) ?? []
        let temporary = ".\(name).\(CoordinatorClaim.temporarySuffix)"
        folder.removeTree(temporary)
        try folder.create(temporary, bytes, syncs: true)
        try folder.rename(temporary, as: name)
        try folder.sync()
    }
}

// MARK: What others ask of it

extension RunFolder {
    /// What other commands ask of a run: files in its folder, which its coordinator looks for again and again.
    package enum Control: String, CaseIterable, Sendable {
        case pause
        case cancel
        /// Its coordinator has left it to others, none of whom has begun.
        case detached
    }

    package func isAsked(_ control: Control) -> Bool { FileSystem.exists("\(path)/\(control)") }

    /// The folder may be another user's, whose run root ends; but a link is not followed to it.
    private func openFolder() throws(FileTrouble) -> SafeFolder? {
        try SafeFolder(state, trusting: .everybody).folder(at: "runs/\(name)")
    }

    package func ask(_ control: Control) throws(FileTrouble) {
        guard let own = try openFolder() else {
            throw FileTrouble(path: path, code: ENOENT, action: "ask anything of the run")
        }
        do throws(FileTrouble) {
            try own.create("\(control)", [])
        } catch {
            // It was asked for already.
            guard error.code == EEXIST else { throw error }
        }
    }

    package func takeBack(_ control: Control) {
        // Nobody asks anything of a run that is not there.
        try? openFolder()?.removeTree("\(control)")
    }

    /// Its coordinator lives, or nobody can tell.
    package var isAlive: Bool { isLocked || !CoordinatorClaim.isQuiet(path) }

    /// Its coordinator lives where locks are seen, or nobody can tell.
    private var isLocked: Bool {
        guard FileSystem.exists("\(path)/lock") else { return false }
        do {
            let gate = try Self.gate(state)
            defer { withExtendedLifetime(gate) {} }
            return try KernelLock.take("\(path)/lock") == nil
        } catch {
            return true
        }
    }
}

// MARK: Finding and removing

extension RunFolder {
    private static func all(state: String) -> [RunFolder] {
        FileSystem.names(in: "\(state)/runs").map { RunFolder(state: state, name: $0) }
    }

    /// A job is its manifest's real path and its name. FNV-1a makes a file name of them.
    package static func jobKey(of job: JobSpec) -> String {
        let hash = FNV.hash("\(job.manifestPath)\0\(job.name)".utf8)
        return "\(job.name.prefix(100))-\(String(hash, radix: 16))"
    }

    /// The runs of a job whose coordinators may have been killed, the latest first.
    package static func unfinished(of job: JobSpec, state: String) -> [RunFolder] {
        let wanted = Array(jobKey(of: job).utf8)
        return all(state: state).sorted { $0.name > $1.name }.filter { run in
            // Of one that cannot be read nobody knows whose it is; it is swept away when it is old.
            SafeFolder.trustedContents("\(run.path)/job", limit: wanted.count) == wanted
        }
    }

    /// The scratch space of a run, whoever has it.
    package var scratch: String? {
        var scratch: String?
        for case .scratch(let folder) in Journal.read("\(path)/journal") where isScratch(folder) {
            scratch = folder
        }
        return scratch
    }

    /// The nodes of a cluster look for scratch space there, or other machines do.
    static func isForNodes(_ folder: String, _ state: String) -> Bool {
        folder == state || PathText.name(of: folder) == sharedName
    }

    /// Keeps a sweep away from a run folder between its making and its locking.
    static func gate(_ state: String) throws(FileTrouble) -> KernelLock {
        try KernelLock.wait("\(state)/runs.lock")
    }

    /// A run's folder says what is moved and removed: one that another user owns is not believed.
    func refuseOthers() throws(FileTrouble) {
        try Self.refusing("let the user who began the run go on with it") { () throws(FileTrouble) in
            _ = try SafeFolder(state).folder(at: "runs/\(name)")
        }
    }

    /// Says of a folder that is a link, or another user's, that the run is not gone on with.
    static func refusing(_ remedy: String, _ body: () throws(FileTrouble) -> Void) throws(FileTrouble) {
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
    func isScratch(_ folder: String) -> Bool {
        folder == "\(path)/scratch" || PathText.name(of: folder) == "penumbra-\(name)"
    }

    /// Files beside outputs that belong to a run have its name in theirs.
    package func isOwn(_ file: String) -> Bool {
        PathText.name(of: file).hasPrefix(".penumbra-\(name)-")
    }

    /// A folder that was moved aside stayed in its own folder.
    static func areBeside(_ old: String, _ final: String) -> Bool {
        PathKey(PathText.folder(of: old)) == PathKey(PathText.folder(of: final))
            && SafeFolder.isName(PathText.name(of: final))
    }

    /// Before the journal goes, which knows of files that a power failure would bring back.
    static func syncRemovals(in folder: String) {
        // Nothing but a stray file depends on it.
        try? FileSystem.syncFolder(folder)
    }

    /// Removes what runs that were killed have left: scratch space, temporary files, empty folders.
    /// Runs whose lock is held are alive and left alone; those that can be gone on with are kept for some days.
    package static func sweep(state: String) {
        // Nobody has to be heard of while a run waits in a cluster's queue: 'cancel' removes such.
        remove(state: state) {
            // A coordinator may have been killed between the end and the removal.
            $0.end != nil || $0.record == nil && !CoordinatorClaim.isTooRecent($0.path)
        }
        RunLog.sweep(state)
    }

    /// What ``remove()`` has come to.
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
    package func remove() -> Removal {
        let isTaken = Self.remove(state: state) { $0 == self }
        guard FileSystem.exists(path) else { return .complete }
        return isTaken ? .partial : .refused
    }

    /// - Returns: whether there was one of these that nobody has.
    @discardableResult
    private static func remove(state: String, where isWanted: (RunFolder) -> Bool) -> Bool {
        // Without a state folder there is nothing to sweep; the run that follows will say what is wrong with it.
        guard FileSystem.isFolder("\(state)/runs") else { return false }
        let dead = deadRuns(state, isWanted)
        for (run, lock) in dead { withExtendedLifetime(lock) { run.clean() } }
        return !dead.isEmpty
    }

    /// Locked; the gate is open again before gigabytes are removed.
    private static func deadRuns(
        _ state: String, _ isWanted: (RunFolder) -> Bool
    ) -> [(run: RunFolder, lock: KernelLock)] {
        // A state folder in which nothing can be locked is told of by the run that follows.
        guard let gate = try? gate(state) else { return [] }
        defer { withExtendedLifetime(gate) {} }
        return all(state: state).filter(isWanted).compactMap { run in
            // A folder that cannot be locked is left for a later run, and one of another user to that user.
            guard FileSystem.isOwnFolder(run.path), (try? SafeFolder(state).folder(at: "runs/\(run.name)")) != nil,
                let lock = try? KernelLock.take("\(run.path)/lock"), CoordinatorClaim.isQuiet(run.path)
            else { return nil }
            return (run, lock)
        }
    }

    /// Another user has put a folder in the place of a run's scratch space. It stays.
    private static func isForeign(_ scratch: String) -> Bool {
        FileSystem.isOwnFolder(scratch) && (try? SafeFolder.unlinked(scratch)) == nil
    }

    /// Whoever cleans has the lock.
    func clean() {
        let entries = Journal.read("\(path)/journal")
        // Made once, when the run began. A copy of a run's folder has a younger one.
        let begin = FileSystem.changed("\(path)/lock") ?? .max
        var isGone = true
        // What lies on a disk that is not mounted is not gone, though nobody sees it.
        let isPatient = !CoordinatorClaim.isForgotten(path)
        func remove(_ path: String) {
            FileSystem.removeTree(path)
            let isAway = isPatient && !FileSystem.isFolder(PathText.folder(of: path))
            if FileSystem.exists(path) || isAway { isGone = false }
        }
        for case .temporary(let file) in entries where isOwn(file) { remove(file) }
        for case .replace(let old, let final) in entries where isOwn(old) && Self.areBeside(old, final) {
            do {
                try FileSystem.undoReplacement(old: old, final: final)
            } catch {
                return  // the next run tries again: the journal stays
            }
        }
        // What a power failure took from the journal is found by its name.
        for case .outputFolder(let folder) in entries {
            for name in FileSystem.names(in: folder) where isOwn("\(folder)/\(name)") {
                remove("\(folder)/\(name)")
            }
            Self.syncRemovals(in: folder)
        }
        for case .scratch(let folder) in entries where isScratch(folder) && !Self.isForeign(folder) {
            remove(folder)
            if PathText.name(of: PathText.folder(of: folder)) == Self.sharedName {
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
        for case .scratch("\(state)/penumbra-\(name)") in entries {
            let folders = entries.compactMap { entry in if case .folder(let folder) = entry { folder } else { nil } }
            Self.tidy(state, folders, changedSince: begin)
        }
    }

    /// Removes a state folder that other machines see when nothing is left in it, and folders that were made for it.
    ///
    /// - Parameter begin: older folders stay; for a list of them that may be anybody's.
    static func tidy(_ state: String, _ created: [String], changedSince begin: Int64 = .min) {
        do {
            guard let gate = try? gate(state) else { return }
            defer { withExtendedLifetime(gate) {} }
            FileSystem.removeIfEmpty("\(state)/runs")
            guard !FileSystem.exists("\(state)/runs") else { return }
            FileSystem.remove("\(state)/runs.lock")
        }
        // On a network file system what is open stays in its folder until it is closed.
        FileSystem.removeIfEmpty(state)
        for folder in created.reversed() { FileSystem.removeIfEmpty(folder, changedSince: begin) }
    }
}

// MARK: Runs that were handed to a cluster

/// In a state folder `detached/NAME` holds the path of the folder that a run of this machine is in.
extension RunFolder {
    private static let detachedName = "detached"

    package static func detached(state: String) -> [RunFolder] {
        // Where the folder is another user's, or a link, nothing is known of such runs.
        guard let folder = try? SafeFolder(state).folder(detachedName), let names = try? folder.names() else {
            return []
        }
        return names.sorted().filter { !PathNames.isHidden($0) }.compactMap { name in
            guard let bytes = try? folder.contents(of: name, limit: largestPath) else { return nil }
            let path = String(decoding: bytes, as: UTF8.self)
            return path.utf8.first == PathNames.slash ? RunFolder(state: path, name: name) : nil
        }
    }

    private static let largestPath = 1 << 16

    package func remember(in state: String) throws(FileTrouble) {
        _ = try FileSystem.createFolders(state)
        let folder = try SafeFolder(state).makingFolder(Self.detachedName)
        let temporary = ".\(name).\(CoordinatorClaim.temporarySuffix)"
        try folder.create(temporary, Array(self.state.utf8), syncs: true)
        try folder.rename(temporary, as: name)
    }

    package func forget(in state: String) {
        // One that stays leads to a run that has ended, which is taken in and forgotten again.
        try? SafeFolder(state).folder(Self.detachedName)?.remove(name)
    }
}
