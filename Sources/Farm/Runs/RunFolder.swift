import FoundationEssentials
import Glibc
package import JobModel
import JobStorage
import Planning
package import SafeFiles

/// The folder of one run: its lock, its journal and, by default, its scratch space.
///
///     STATE/runs/20261121T213000Z-1a2b/{lock, journal, scratch/, job, coordinator.N, pause, cancel, detached}
///
/// If other machines may resume a run, `STATE` is a folder that all of them see. No database knows the run, because SQLite
/// stays on local disks. The folder contains the records instead:
///
///     STATE/{runs/NAME/{run.json, left, stopped, …}, penumbra-NAME/{shards, results, …}, history/NAME/N, ended/NAME.json}
///
/// ``RunClaim`` is a coordinator's claim to it.
package struct RunFolder: Hashable, Sendable {
    /// The name of the folder beside outputs for runs on a cluster.
    package static let sharedName = ".penumbra-slurm"

    /// The folder that holds `runs`: the state folder, or a folder that several machines see.
    package let state: String
    package let name: String

    package init(state: String, name: String) {
        self.state = state
        self.name = name
    }

    package var path: String { "\(state)/runs/\(name)" }
    package var log: RunLog { RunLog(state: state, name: name) }

    /// The largest text or number that a coordinator writes, in bytes.
    private static let largestNote = 1 << 16
    /// In bytes.
    private static let largestNumber = 20

    /// The number of ends that a state folder keeps.
    private static let mostEnds = 100
    /// The number of histories that a state folder keeps.
    private static let mostHistories = 30

    private var endPath: String { "\(state)/ended/\(name).json" }

    /// The runs in a folder that a person has given: the folder of one run, or a folder that holds runs, including recorded
    /// runs that have ended.
    package static func find(_ folder: String) -> [RunFolder] {
        let inside = "\(folder)/\(RunFolder.sharedName)"
        if FileSystem.isFolder(inside) { return find(inside) }
        // The layout of 'export --to slurm'.
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

    /// The runs that are meant if no run is named: all that have not ended, and the ended runs of the latest command.
    package static func meant(in folder: String) -> [RunFolder] { meant(of: find(folder)) }

    package static func meant(of runs: [RunFolder]) -> [RunFolder] {
        let all = runs.compactMap { run in
            run.record.map { (run: run, began: $0.started, command: $0.command ?? run.name, isEnded: $0.state.isEnded) }
        }
        let last = all.max { ($0.began, $0.run.name) < ($1.began, $1.run.name) }
        return all.filter { !$0.isEnded || $0.command == last?.command }.map(\.run)
    }

    /// Nil if there is no such run. The end of a run overrides its coordinators' earlier records.
    package var record: RunRecord? {
        if let ended { return ended }
        guard var own = read("\(path)/run.json"), !own.state.isEnded else { return nil }
        own.epoch = max(1, CoordinatorClaim.latestEpoch(in: path))
        return own
    }

    /// Nil if it has not ended.
    private var ended: RunRecord? { read(endPath).flatMap { $0.state.isEnded ? $0 : nil } }

    package var end: RunRecord.End? { if case .ended(let end)? = ended?.state { end } else { nil } }

    /// Why its last coordinator left the run before its end; nil if none did.
    package var lastStop: String? {
        SafeFolder.trustedContents("\(path)/stopped", limit: Self.largestNote).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    package func note(lastStop reason: String) throws(FileError) {
        FileSystem.remove("\(path)/stopped")
        try FileSystem.append(Array(reason.utf8), to: "\(path)/stopped")
    }

    /// The number of open frames that its coordinator wrote last; nil if there is none.
    package var left: Int? {
        SafeFolder.trustedContents("\(path)/left", limit: Self.largestNote)
            .flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            .flatMap { StoredNumbers.counts.contains($0) ? $0 : nil }
    }

    /// A lost number is soon written again.
    package func note(left: Int) {
        try? AtomicFile.write(
            Array("\(left)".utf8), to: "\(path)/left", by: "\(path)/.left.\(CoordinatorClaim.temporarySuffix)")
    }

    package func write(_ record: RunRecord) throws(FileError) {
        guard record.state.isEnded else {
            guard let own = try SafeFolder(state, trusting: .everybody).folder(at: "runs/\(name)") else {
                throw FileError(path: path, code: ENOENT, action: "write to the run's folder")
            }
            return try Self.write(record, as: "run.json", in: own)
        }
        _ = try FileSystem.createFolders(state)
        let ended = try SafeFolder(state, trusting: .everybody).makingFolder("ended")
        try Self.write(record, as: "\(name).json", in: ended)
        forgetOldEnds(in: ended)
    }

    private func forgetOldEnds(in folder: SafeFolder) {
        // If the folder cannot be listed, the old ends stay until a later run removes them.
        let ends = ((try? folder.names()) ?? []).filter { $0.hasSuffix(".json") && $0 != "\(name).json" }
            .map { (name: $0, ended: (try? folder.status(of: $0)).map { FileStamp($0).modified } ?? 0) }
            .sorted { ($0.ended, $0.name) > ($1.ended, $1.name) }
        // Folders that cannot be removed stay.
        for old in ends.dropFirst(Self.mostEnds - 1) { try? folder.remove(old.name) }
        for old in ends.dropFirst(Self.mostHistories - 1) {
            RunLog(state: state, name: String(old.name.dropLast(5))).remove()
        }
    }

    private func read(_ file: String) -> RunRecord? {
        // Files of other users, links and pipes are ignored.
        guard let folder = try? SafeFolder(PathNames.folder(of: file) ?? ""),
            let bytes = try? folder.contents(of: PathNames.last(of: file)),
            var record = try? JSONDecoder().decode(RunRecord.self, from: Data(bytes))
        else { return nil }
        // The name of the folder overrides the stored name.
        record.name = name
        return record.isPlausible ? record : nil
    }

    private static func write(
        _ record: RunRecord, as name: String, in folder: SafeFolder
    ) throws(FileError) {
        // Texts and integers can always be encoded.
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
    /// Requests of other commands: files in the run's folder, which its coordinator polls.
    package enum Control: String, CaseIterable, Sendable {
        case pause
        case cancel
        /// Its coordinator has handed it over, and no other coordinator has begun.
        case detached
    }

    package func isAsked(_ control: Control) -> Bool { FileSystem.exists("\(path)/\(control)") }

    /// The folder may belong to another user, whose run root ends. Links to it are not followed.
    private func openFolder() throws(FileError) -> SafeFolder? {
        try SafeFolder(state, trusting: .everybody).folder(at: "runs/\(name)")
    }

    package func ask(_ control: Control) throws(FileError) {
        guard let own = try openFolder() else {
            throw FileError(path: path, code: ENOENT, action: "send a request to the run")
        }
        do throws(FileError) {
            try own.create("\(control)", [])
        } catch {
            // The request exists already.
            guard error.code == EEXIST else { throw error }
        }
    }

    /// For how long a worker limit holds, in nanoseconds. Who limits a run renews the limit, so that a program that was killed holds
    /// no run back.
    private static let limitTime: Int64 = 30_000_000_000

    /// The most tasks that may run at a time, by the request of another program; nil for as many as there are workers. With 0 nothing
    /// new begins.
    ///
    /// - Parameter now: in nanoseconds since 1970.
    package func workerLimit(at now: Int64) -> Int? {
        let path = "\(path)/workers"
        guard let written = FileSystem.stamp(path)?.modified,
            now.subtractingReportingOverflow(written).partialValue.magnitude < Self.limitTime
        else { return nil }
        return SafeFolder.trustedContents(path, limit: Self.largestNumber)
            .flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            .flatMap { StoredNumbers.counts.contains($0) ? $0 : nil }
    }

    /// Asks that at most so many tasks run at a time. The request holds for half a minute.
    package func limitWorkers(to count: Int) throws(FileError) {
        guard let own = try openFolder() else {
            throw FileError(path: path, code: ENOENT, action: "send a request to the run")
        }
        let temporary = ".workers.\(CoordinatorClaim.temporarySuffix)"
        own.removeTree(temporary)
        try own.create(temporary, Array("\(count)".utf8))
        try own.rename(temporary, as: "workers")
    }

    /// A limit that cannot be removed ends by itself, after half a minute.
    package func removeWorkerLimit() { try? openFolder()?.removeTree("workers") }

    package func takeBack(_ control: Control) {
        // A missing run has no requests.
        try? openFolder()?.removeTree("\(control)")
    }

    /// Whether its coordinator lives. True if that is unknown.
    package var isAlive: Bool { isLocked || !CoordinatorClaim.isQuiet(path) }

    /// Whether a living coordinator holds the lock. True if that is unknown.
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

    /// The file name for a job: its name, and the FNV-1a hash of its manifest's real path and its name.
    package static func jobKey(of job: JobSpec) -> String {
        let hash = FNV.hash("\(job.manifestPath)\0\(job.name)".utf8)
        return "\(job.name.prefix(100))-\(String(hash, radix: 16))"
    }

    /// The runs of a job whose coordinators may have been killed, the latest first.
    package static func unfinished(of job: JobSpec, state: String) -> [RunFolder] {
        let wanted = Array(jobKey(of: job).utf8)
        return all(state: state).sorted { $0.name > $1.name }.filter { run in
            // The job of an unreadable run is unknown. A sweep removes the run when it is old.
            SafeFolder.trustedContents("\(run.path)/job", limit: wanted.count) == wanted
        }
    }

    /// The scratch space of a run, whichever coordinator has it.
    package var scratch: String? {
        var scratch: String?
        for case .scratch(let folder) in Journal.read("\(path)/journal") where isScratch(folder) {
            scratch = folder
        }
        return scratch
    }

    /// Whether nodes of a cluster, or other machines, use the scratch space.
    static func isForNodes(_ folder: String, _ state: String) -> Bool {
        folder == state || PathText.name(of: folder) == sharedName
    }

    /// Keeps a sweep from removing a run's folder between its creation and its locking.
    static func gate(_ state: String) throws(FileError) -> KernelLock {
        try KernelLock.wait("\(state)/runs.lock")
    }

    /// A run's folder decides what is moved and removed, so the folder of another user is not trusted.
    func refuseOthers() throws(FileError) {
        try Self.refusing("let the user who began the run resume it") { () throws(FileError) in
            _ = try SafeFolder(state).folder(at: "runs/\(name)")
        }
    }

    /// Adds to an error about a link, or another user's folder, that the run is not resumed.
    static func refusing(_ remedy: String, _ body: () throws(FileError) -> Void) throws(FileError) {
        do {
            try body()
        } catch {
            guard error.code == FileError.refusal, error.reason != nil else { throw error }
            throw FileError(
                path: error.path, code: error.code, action: "resume this run", reason: error.reason,
                remedy: remedy)
        }
    }

    /// Folders with this name are removed with their contents. The journal alone does not decide: only scratch space that
    /// this run makes for itself counts.
    func isScratch(_ folder: String) -> Bool {
        folder == "\(path)/scratch" || PathText.name(of: folder) == "penumbra-\(name)"
    }

    /// Whether a file beside outputs belongs to the run, by its name.
    package func isOwn(_ file: String) -> Bool {
        PathText.name(of: file).hasPrefix(".penumbra-\(name)-")
    }

    /// Whether a replaced folder is beside its final path.
    static func areBeside(_ old: String, _ final: String) -> Bool {
        PathKey(PathText.folder(of: old)) == PathKey(PathText.folder(of: final))
            && SafeFolder.isName(PathText.name(of: final))
    }

    /// Syncs a folder before the journal is removed. Otherwise files could come back after a power failure.
    static func syncRemovals(in folder: String) {
        // If it fails, only a stray file may be left.
        try? FileSystem.syncFolder(folder)
    }

    /// Removes the files of killed runs: scratch space, temporary files, empty folders. Runs whose lock is held are alive
    /// and stay. Runs that can be resumed stay for some days.
    package static func sweep(state: String) {
        // A run that waits in a cluster's queue gives no signs of life. 'cancel' removes it.
        remove(state: state) {
            // A coordinator may have been killed between the end of the run and the removal of its folder.
            $0.end != nil || $0.record == nil && !CoordinatorClaim.isTooRecent($0.path)
        }
        RunLog.sweep(state)
    }

    /// The result of ``remove()``.
    package enum Removal: Sendable {
        case complete
        /// Nobody resumes the run. Some of its files are on a missing disk, or may not be removed. Later runs try again.
        case partial
        /// Its coordinator lives.
        case refused
    }

    /// Removes a run whose coordinator was killed, with all its files.
    @discardableResult
    package func remove() -> Removal {
        let isTaken = Self.remove(state: state) { $0 == self }
        guard FileSystem.exists(path) else { return .complete }
        return isTaken ? .partial : .refused
    }

    /// - Returns: whether a wanted run without a coordinator was found.
    @discardableResult
    private static func remove(state: String, where isWanted: (RunFolder) -> Bool) -> Bool {
        // Without a state folder there is nothing to sweep. The run that follows reports errors of the folder.
        guard FileSystem.isFolder("\(state)/runs") else { return false }
        let dead = deadRuns(state, isWanted)
        for (run, lock) in dead { withExtendedLifetime(lock) { run.clean() } }
        return !dead.isEmpty
    }

    /// The returned runs are locked. The gate is open again before gigabytes are removed.
    private static func deadRuns(
        _ state: String, _ isWanted: (RunFolder) -> Bool
    ) -> [(run: RunFolder, lock: KernelLock)] {
        // The run that follows reports a state folder that cannot be locked.
        guard let gate = try? gate(state) else { return [] }
        defer { withExtendedLifetime(gate) {} }
        return all(state: state).filter(isWanted).compactMap { run in
            // A later run removes a folder that cannot be locked now. Folders of other users stay.
            guard FileSystem.isOwnFolder(run.path), (try? SafeFolder(state).folder(at: "runs/\(run.name)")) != nil,
                let lock = try? KernelLock.take("\(run.path)/lock"), CoordinatorClaim.isQuiet(run.path)
            else { return nil }
            return (run, lock)
        }
    }

    /// Whether another user has replaced the run's scratch space. Such a folder stays.
    private static func isForeign(_ scratch: String) -> Bool {
        FileSystem.isOwnFolder(scratch) && (try? SafeFolder.unlinked(scratch)) == nil
    }

    /// The caller has the lock.
    func clean() {
        let entries = Journal.read("\(path)/journal")
        // The lock was created when the run began. The lock in a copy of the folder is younger.
        let begin = FileSystem.changed("\(path)/lock") ?? .max
        var isGone = true
        // Files on a disk that is not mounted still exist.
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
        // Files that the journal lost in a power failure are found by their names.
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
        // A foreign journal may name any folder of the user. Folders that the run created are not older than its lock.
        for case .folder(let folder) in entries.reversed() {
            FileSystem.removeIfEmpty(folder, changedSince: begin)
        }
        // The journal stays for the next run, which tries to remove the rest. Nobody resumes this run.
        guard isGone else { return FileSystem.remove("\(path)/job") }
        FileSystem.removeTree(path)
        for case .scratch("\(state)/penumbra-\(name)") in entries {
            let folders = entries.compactMap { entry in if case .folder(let folder) = entry { folder } else { nil } }
            Self.tidy(state, folders, changedSince: begin)
        }
    }

    /// Removes a shared state folder that is empty, and the folders that were created for it.
    ///
    /// - Parameter begin: older folders stay. For lists that may be foreign.
    static func tidy(_ state: String, _ created: [String], changedSince begin: Int64 = .min) {
        do {
            guard let gate = try? gate(state) else { return }
            defer { withExtendedLifetime(gate) {} }
            FileSystem.removeIfEmpty("\(state)/runs")
            guard !FileSystem.exists("\(state)/runs") else { return }
            FileSystem.remove("\(state)/runs.lock")
        }
        // On a network file system, an open file stays in its folder until it is closed.
        FileSystem.removeIfEmpty(state)
        for folder in created.reversed() { FileSystem.removeIfEmpty(folder, changedSince: begin) }
    }
}

// MARK: Runs that were handed to a cluster

/// In a state folder, `detached/NAME` contains the path of a folder with a run of this machine.
extension RunFolder {
    private static let detachedName = "detached"

    package static func detached(state: String) -> [RunFolder] {
        // If the folder belongs to another user or is a link, no such runs are known.
        guard let folder = try? SafeFolder(state).folder(detachedName), let names = try? folder.names() else {
            return []
        }
        return names.sorted().filter { !PathNames.isHidden($0) }.compactMap { name in
            // A file of another user, or one that is gone by now, names no run.
            guard let bytes = try? folder.contents(of: name, limit: largestPath) else { return nil }
            let path = String(decoding: bytes, as: UTF8.self)
            return path.utf8.first == PathNames.slash ? RunFolder(state: path, name: name) : nil
        }
    }

    private static let largestPath = 1 << 16

    package func remember(in state: String) throws(FileError) {
        _ = try FileSystem.createFolders(state)
        let folder = try SafeFolder(state).makingFolder(Self.detachedName)
        let temporary = ".\(name).\(CoordinatorClaim.temporarySuffix)"
        try folder.create(temporary, Array(self.state.utf8), syncs: true)
        try folder.rename(temporary, as: name)
    }

    package func forget(in state: String) {
        // If it stays, the run's end is copied and forgotten again later.
        try? SafeFolder(state).folder(Self.detachedName)?.remove(name)
    }
}
