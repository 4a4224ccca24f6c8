import FoundationEssentials
import Glibc
package import JobModel
package import JobStorage
import Planning
import SafeFiles
package import Scheduling

/// Reads the past and present runs of a state folder, or of a folder that several machines share.
///
/// Any program can use it while runs are active, because it takes no lock that a run needs.
package struct RunArchive: Sendable {
    /// The state folder, or the shared folder of runs.
    package let state: String
    /// Nil if nothing ever ran, and for shared runs, which no database knows.
    let store: JobStore?
    /// Nil for the runs of a database.
    private let shared: [RunFolder]?

    /// - Throws: ``FarmError`` if the state folder cannot be used. A missing one is no error, because nothing has run yet.
    package init(state: String) throws {
        try Self.refuseUnusable(state)
        self.state = state
        store = try JobStore.existing(at: JobStore.databasePath(state: state))
        shared = nil
    }

    /// Throws if the state folder is no folder, or cannot be read.
    package static func refuseUnusable(_ state: String) throws(FarmError) {
        var found = stat()
        let reason: String
        if stat(state, &found) == 0 {
            if found.st_mode & S_IFMT == S_IFDIR {
                guard access(state, R_OK | X_OK) != 0 else { return }
                reason = String(cString: strerror(errno))
            } else {
                reason = "it is no folder"
            }
        } else {
            guard errno != ENOENT else { return }
            reason = String(cString: strerror(errno))
        }
        throw FarmError(
            .storage,
            "\(PathText.visible(state)): the state folder cannot be used: \(reason)\n   = name a folder by --state-dir")
    }

    /// - Parameter folder: the folder of one run, or a folder that holds runs.
    package init(runFolder folder: String) throws(FarmError) {
        let found = RunFolder.find(folder)
        guard let first = found.first else { throw FarmError(.missingInput, Self.why(noRunIn: folder)) }
        (state, store, shared) = (first.state, nil, found)
    }

    private static func why(noRunIn folder: String) -> String {
        let shown = PathText.visible(folder)
        func has(_ name: String, in folder: String) -> Bool { FileSystem.exists("\(folder)/\(name)") }
        if has("submit.sh", in: folder) || has("submit.sh", in: PathText.folder(of: folder)) {
            return
                "\(shown): no run yet; it begins with 'sh submit.sh', when Slurm has begun prepare.sh; if that has failed, "
                + "'logs' beside submit.sh says why"
        }
        guard has("", in: folder) else { return "\(shown): no such folder" }
        let names = FileSystem.names(in: folder)
        if has("journal", in: folder) || names.contains(where: { $0.hasPrefix("penumbra-2") }) {
            return
                "\(shown): the work of a run that was neither detached nor prepared; 'penumbra status' lists it where it was "
                + "begun"
        }
        return "\(shown): no run; 'penumbra run --detach' and 'penumbra prepare' say where they keep theirs"
    }

    package var isShared: Bool { shared != nil }

    /// Whether other machines may resume the run.
    package func isShared(_ run: RunStatus) -> Bool { shared != nil || run.folder.state != state }
}

// MARK: Which run

extension RunArchive {
    /// All runs, the latest first. Copies the ends of detached runs to the database.
    ///
    /// - Parameter ended: how many of those that have ended. Nil for all. It looks into the folder of each run, so ten thousand
    ///   take a while.
    package func runs(ended: Int? = nil) throws -> [RunStatus] {
        if let shared {
            let runs = shared.compactMap { run in run.record.map { RunStatus($0, state: run.state) } }
                .sorted { $0.stored.started > $1.stored.started }
            return RunStatus.latest(of: runs, ended: ended)
        }
        DetachedEnds.take(into: state)
        return try readAgain { try $0.runs(ended: ended) }
    }

    /// The runs with these names, as far as there are any. The latest first.
    package func runs(named names: [String]) throws -> [RunStatus] {
        guard !isShared else {
            let names = Set(names)
            return try runs().filter { names.contains($0.stored.name) }
        }
        DetachedEnds.take(into: state)
        return try readAgain { try $0.runs(named: names) }
    }

    /// A run may have ended after its row was read and before its lock was checked. Then the rows are read once more.
    private func readAgain(_ records: (StoreReader) throws -> [RunRecord]) throws -> [RunStatus] {
        func read() throws -> [RunStatus] {
            let detached = RunFolder.detached(state: state)
            return try store?.read(records).map { RunStatus($0, state: state, detached: detached) } ?? []
        }
        let runs = try read()
        return runs.contains { $0.condition == .interrupted } ? try read() : runs
    }

    /// The runs of a shared folder that are meant if no run is named, the latest first: see ``RunFolder/meant(in:)``.
    package func meantRuns() throws -> [RunStatus] {
        let names = Set(RunFolder.meant(of: shared ?? []).map(\.name))
        return try runs().filter { names.contains($0.stored.name) }
    }

    /// The present state of the run.
    package func renewed(_ run: RunStatus) throws -> RunStatus {
        guard shared != nil else { return try self.run(exactly: run.stored.name) }
        return run.folder.record.map { RunStatus($0, state: run.folder.state) } ?? run
    }

    /// - Parameter name: a run's name or its unique beginning, or a job's name for its latest run; nil for the latest run
    ///   of all.
    package func run(_ name: String?) throws -> RunStatus { try finder(among: runs()).run(name) }

    private func finder(among runs: [RunStatus]) -> RunFinder<RunStatus> {
        let listing = shared == nil ? "penumbra status" : "penumbra status --run-dir \(state)"
        return RunFinder(runs, listing: listing, folder: isShared ? state : nil) { run in
            RunFinder.Facts(name: run.stored.name, job: run.stored.job, isEnded: run.condition.isEnded)
        }
    }

    /// The run with this whole name. Reads no other one.
    package func run(exactly name: String) throws -> RunStatus {
        let found: RunStatus?
        if isShared {
            found = try runs().first { $0.stored.name == name }
        } else {
            DetachedEnds.take(into: state)
            found = try readAgain { try $0.run(named: name).map { [$0] } ?? [] }.first
        }
        guard let found else {
            throw FarmError(
                .missingInput, "no run is called '\(PathText.visible(name))'\n   = 'penumbra status' lists the runs")
        }
        return found
    }

    /// Like ``run(_:)``, for actions that cannot be undone. If several runs have not ended, a name is needed.
    ///
    /// - Returns: nil if no name was given, and all runs have ended.
    package func run(toEnd name: String?) throws -> RunStatus? {
        // In a shared folder, the caller says how the latest run has ended.
        let finder = finder(among: try runs())
        return try finder.run(toEnd: name) ?? (isShared ? finder.run(nil) : nil)
    }

    /// Like ``run(_:)``. For a job, retries are passed over.
    package func run(toRepeat name: String?) throws -> RunStatus {
        let found = try run(name)
        guard found.isRetry, name.map({ !found.stored.name.hasPrefix($0) }) ?? true else { return found }
        let others = try runs().filter {
            $0.stored.job == found.stored.job && $0.stored.manifest == found.stored.manifest
        }
        return others.first { !$0.isRetry } ?? found
    }

    /// Whether the run's command would continue with the frames that the run left: see ``FullRerun``.
    ///
    /// - Parameter now: nanoseconds since 1970.
    package func isContinuedByItsCommand(_ run: RunStatus, now: Int64) throws -> Bool {
        guard let rerun = run.counts.rerun else { return false }
        let others = try runs().map(\.stored).filter { $0.job == run.stored.job && $0.manifest == run.stored.manifest }
        return rerun.begin(in: others, now: now) != nil
    }
}

// MARK: What a run has done

extension RunArchive {
    package struct Details: Sendable {
        package fileprivate(set) var frames: [StoredFrame] = []
        package fileprivate(set) var attempts: [StoredAttempt] = []
        fileprivate var publications: [StoredPublication] = []

        /// When the last output of each frame was published, in nanoseconds since 1970.
        package var publicationTimes: [FrameID: Int64] {
            RunArchive.times(of: publications)
        }
    }

    /// The folder of a shared run overrides the database.
    package func details(of run: RunStatus) throws -> Details {
        let own = try store?.read { reader in
            Details(
                frames: try reader.frames(of: run.stored.id), attempts: try reader.attempts(of: run.stored.id),
                publications: try reader.publications(of: run.stored.id))
        }
        guard isShared(run) else { return own ?? Details() }
        let history = try run.folder.log.contents()
        let frames = Dictionary(((own?.frames ?? []) + history.frames).map { ($0.id, $0) }) { $1 }
        return Details(
            frames: frames.values.sorted { $0.id < $1.id }, attempts: history.attempts,
            publications: history.publications)
    }

    package func frames(of run: RunStatus) throws -> [StoredFrame] {
        guard !isShared(run) else { return try details(of: run).frames }
        return try store?.read { try $0.frames(of: run.stored.id) } ?? []
    }

    /// The number of concluded frames.
    package func concluded(of run: RunStatus) throws -> Int {
        let shared = run.folder
        if isShared(run), let left = shared.left { return max(0, run.counts.work - left) }
        return try store?.read { try $0.concluded(of: run.stored.id) } ?? 0
    }

    /// What the run is doing; nil if no coordinator has it, or if that is not known.
    package func live(of run: RunStatus) -> LiveRun? {
        run.condition == .running || run.condition == .paused ? LiveRun(in: run.folder) : nil
    }

    /// The states of all frames of a run; nil if they are not known.
    package func map(of run: RunStatus) throws -> FrameMap? {
        guard !run.condition.isEnded else {
            return try store?.read { try $0.map(of: run.stored.id) }.flatMap(FrameMap.init(text:))
        }
        return SafeFolder.trustedContents("\(run.folder.path)/map", limit: FrameMap.largestSize).flatMap(
            FrameMap.init(file:))
    }

    /// The inputs of concluded frames. If the run was a retry of frames that another run left, the inputs of that run are
    /// included. Empty if the run is not recorded any more.
    package func concludedInputs(ofRun name: String) throws -> Set<PathKey> {
        var others = Dictionary(try runs().map { ($0.stored.name, $0) }) { first, _ in first }
        var (inputs, next): (Set<PathKey>, String?) = ([], name)
        while let name = next, let run = others.removeValue(forKey: name) {
            let frames = try frames(of: run)
            let open = frames.filter { $0.state == .left || $0.state == .open }
            inputs.formUnion(Set(frames.map { PathKey($0.input) }).subtracting(open.map { PathKey($0.input) }))
            next = RunRequest(text: run.stored.request)?.leftOf
        }
        return inputs
    }

    /// Pictures of the run's job that failed because of their data, and have not changed.
    package func broken(of run: RunStatus) throws -> [BrokenRecord] {
        try store?.read { reader in
            try reader.job(manifest: run.stored.manifest, name: run.stored.job).map { try reader.broken(of: $0) } ?? []
        } ?? []
    }

    /// Pictures of the run's job that were broken before the run began, and that the run did not try; sorted. If the run
    /// had only some of the job's pictures, the list may contain others. Pictures that are gone are left out.
    package func stillBroken(in run: RunStatus, _ details: Details) throws -> [BrokenRecord] {
        guard run.counts.stillBroken > 0 else { return [] }
        let tried = Set(details.frames.map { PathKey($0.input) })
        return try broken(of: run).filter {
            Int64($0.since) <= run.stored.started / 1_000_000_000 && !tried.contains(PathKey($0.input))
                && Self.isThere($0.input)
        }.sorted { (PathKey($0.input), $0.page) < (PathKey($1.input), $1.page) }
    }
}

extension RunArchive {
    /// - Parameter input: a path as it is shown. The name of the file may not be UTF-8.
    private static func isThere(_ input: String) -> Bool {
        FileSystem.exists(input) || NonUTF8Name.possibleBytes(of: input).map { FileSystem.exists($0) } ?? false
    }
}

// MARK: Abandoning a run

extension RunArchive {
    /// Ends a run without a coordinator, and removes its files.
    ///
    /// - Parameters:
    ///   - outcome: the outcome that is stored.
    ///   - now: nanoseconds since 1970.
    /// - Returns: `.refused` if a coordinator has the run. Then nothing was done.
    package func abandon(
        _ run: RunStatus, reason: String, outcome: RunOutcome = .killed, now: Int64
    ) throws -> RunFolder.Removal {
        let exitCode = outcome.number
        let folder = run.folder
        // A run with an unreadable history can be abandoned, too.
        let counts = (try? countsSoFar(of: run)) ?? run.counts
        let record = folder.record
        let removal = folder.remove()
        guard removal != .refused else { return .refused }
        if var record {
            (record.counts, record.epoch) = (counts, run.stored.epoch)
            record.state = .ended(at: now, exitCode: exitCode, reason: reason)
            try folder.write(record)
        }
        if shared == nil {
            DetachedEnds.take(into: state)
            try StoredRuns.abandon(
                run.stored, state: state, exitCode: exitCode, reason: reason, counts: counts, at: now)
        }
        return removal
    }

    /// The counts according to the records of its coordinators before they were killed.
    private func countsSoFar(of run: RunStatus) throws -> RunCounts {
        var counts = run.counts
        let frames = try frames(of: run)
        let begun = frames.filter(\.wasBegun)
        let states = frames.map(\.state.kind)
        counts.published = states.count { $0 == .published }
        counts.failed = states.count { $0 == .failed }
        // Frames that needed no work are not listed.
        let others = frames.count - begun.count + counts.work + counts.kept + counts.stillBroken
        counts.skipped = max(0, counts.frames - others) + states.count { $0 == .skipped }
        counts.left = max(0, counts.work - begun.count { ![.open, .left].contains($0.state.kind) })
        return counts
    }
}

/// The ends of runs that other machines finished.
package enum DetachedEnds {
    /// Copies each end from the run's folder to the database. If that fails, a later call copies it.
    package static func take(into state: String) {
        for run in RunFolder.detached(state: state) {
            guard let record = run.record, case .ended(let end) = record.state,
                (try? StoredRuns.end(run, record, end, state: state)) != nil
            else { continue }
            run.forget(in: state)
        }
    }
}

/// Changes runs in the database of a state folder without coordinating them.
package enum StoredRuns {
    /// The latest run of a job whose coordinator was killed, if it can be resumed. Its other unfinished runs are removed.
    ///
    /// - Throws: an error if the database cannot be read.
    package static func unfinished(of job: JobSpec, state: String) throws -> RunFolder? {
        let runs = RunFolder.unfinished(of: job, state: state)
        guard !runs.isEmpty else { return nil }
        let path = JobStore.databasePath(state: state)
        let store = FileSystem.exists(path) ? try JobStore(path: path) : nil
        let known = try runs.filter { run in try store?.read { try $0.run(named: run.name) }?.state.isEnded == false }
        for run in runs where run != known.first { run.remove() }
        return known.first
    }

    /// Gives up the unfinished runs of a job, but one: their files are removed. The next run of the job records their ends.
    package static func removeUnfinished(of job: JobSpec, but name: String, state: String) {
        for run in RunFolder.unfinished(of: job, state: state) where run.name != name { run.remove() }
    }

    /// Nil if no run has had the name.
    package static func run(named name: String, state: String) throws -> RunRecord? {
        let path = JobStore.databasePath(state: state)
        guard FileSystem.exists(path) else { return nil }
        return try JobStore(path: path).read { try $0.run(named: name) }
    }

    /// When a run of the job has ended with exit code 0 last, in nanoseconds since 1970. Nil if none has.
    package static func latestSuccess(ofJob name: String, state: String) throws -> Int64? {
        let path = JobStore.databasePath(state: state)
        guard FileSystem.exists(path) else { return nil }
        return try JobStore(path: path).read { try $0.latestSuccess(ofJob: name) }
    }

    /// The first failed frames of a run.
    package static func failedFrames(of run: RunRecord, state: String, limit: Int) throws -> [StoredFrame] {
        try JobStore(path: JobStore.databasePath(state: state)).read { try $0.failedFrames(of: run.id, limit: limit) }
    }

    /// Ends a run that nobody will resume.
    package static func abandon(
        _ run: RunRecord, state: String, exitCode: Int, reason: String, counts: RunCounts, at time: Int64
    ) throws(StoreError) {
        let store = try JobStore(path: JobStore.databasePath(state: state))
        try store.write { writer in
            try writer.set(run.id, counts: counts.json)
            try writer.end(run.id, at: time, exitCode: exitCode, reason: reason)
        }
    }

    /// Ends a run that other machines have finished, and copies its records.
    package static func end(
        _ shared: RunFolder, _ record: RunRecord, _ end: RunRecord.End, state: String
    ) throws {
        let store = try JobStore(path: JobStore.databasePath(state: state))
        guard let run = try store.read({ try $0.run(named: shared.name) }), !run.state.isEnded else { return }
        // The records come before the end, because nobody looks for them after the end.
        try shared.log.read { lines in try store.write { try $0.put(lines, run: run.id) } }
        let (failures, broken) = (Dictionary(grouping: end.failures ?? [], by: \.input), shared.log.broken(.found))
        try store.write { writer in
            let job = try writer.job(manifest: run.manifest, name: run.job)
            for one in broken { try writer.put(one, job: job) }
            try writer.forgetRunning(of: run.id)
            for frame in try writer.reader.frames(of: run.id) where [.open, .left].contains(frame.state) {
                try writer.put(Self.final(of: frame, end, failures[frame.input] ?? []), run: run.id)
            }
            try writer.claim(
                run.id, epoch: record.epoch, at: end.time, workers: run.workers, request: run.request,
                counts: record.counts.json)
            try writer.end(run.id, at: end.time, exitCode: end.exitCode, reason: end.reason)
            try writer.prune(jobOf: run.id)
        }
    }

    /// The final record of a frame that no coordinator concluded.
    private static func final(
        of open: StoredFrame, _ end: RunRecord.End, _ failures: [RunRecord.Failure]
    ) -> StoredFrame {
        var frame = open
        // An output that is kept has an empty path.
        let wanted = Set(frame.outputs.filter { !$0.isEmpty })
        if let failure = failures.first(where: { wanted.isSubset(of: $0.outputs) }) {
            frame.state = .failed(cause: failure.cause, message: failure.message)
        } else if end.reason == nil, end.hasMoreFailures != true {
            frame.state = .published
        }
        return frame
    }

    package static func prune(keeping runs: Int, state: String) throws(StoreError) {
        let store = try JobStore(path: JobStore.databasePath(state: state))
        try store.write { writer in
            try writer.prune(runs: runs)
            try writer.pruneRecipes()
        }
    }
}

extension StoreWriter {
    fileprivate func put(_ lines: [RunLog.Line], run: RunID) throws {
        for line in lines {
            switch line {
            case .attempt(let attempt): try put(attempt, run: run)
            case .frame(let frame): try put(frame, run: run)
            case .publication(let publication): try put(publication, run: run)
            }
        }
    }
}

/// A run and its present state, from the database or `run.json` and from the run's folder.
package struct RunStatus: Sendable {
    package let stored: RunRecord
    package let condition: Condition
    package var counts: RunCounts { stored.counts }

    package enum Condition: String, Sendable {
        case running
        case paused
        /// Its coordinator was killed. The run can be resumed.
        case interrupted
        /// A cluster or another scheduler has it. It has no living coordinator.
        case detached
        case done
        /// All frames were tried, and some failed.
        case failed
        /// It ended before all its frames were tried.
        case stopped

        /// Whether it is active, or will be.
        package var isGoingOn: Bool { self == .running || self == .paused || self == .detached }
        package var isEnded: Bool { self == .done || self == .failed || self == .stopped }
        package var canBeResumed: Bool { self == .interrupted || self == .paused }
    }

    /// Whether it repeats some frames of another run.
    package var isRetry: Bool { RunRequest(text: stored.request)?.isRetry ?? false }

    /// The run's folder if other machines see it; nil for a run of this machine alone.
    package let sharedFolder: String?
    package let folder: RunFolder

    /// ``RunOutcome/number``; nil if it has not ended.
    package let exitCode: Int?
    package let reason: String?
    /// Nanoseconds since 1970.
    package let ended: Int64?

    /// Reads the run's folder.
    ///
    /// - Parameters:
    ///   - detached: the runs whose folders are outside the state folder.
    ///   - isHandedOver: whether this process has just handed the run over and still holds its lock.
    package init(_ stored: RunRecord, state: String, detached: [RunFolder] = [], isHandedOver: Bool = false) {
        self.stored = stored
        let shared = detached.first { $0.name == stored.name }
        folder = shared ?? RunFolder(state: state, name: stored.name)
        sharedFolder = shared != nil || folder.record != nil ? folder.path : nil
        guard case .ended(let end) = stored.state else {
            (exitCode, ended) = (nil, nil)
            condition = isHandedOver ? .detached : Self.condition(of: folder)
            reason = condition.isGoingOn ? nil : folder.lastStop
            return
        }
        (exitCode, reason, ended) = (end.exitCode, end.reason ?? stored.counts.trouble?.reason, end.time)
        condition = end.reason != nil ? .stopped : end.exitCode == 0 ? .done : .failed
    }

    /// All runs that have not ended, and the latest ones that have.
    ///
    /// - Parameters:
    ///   - runs: the latest first.
    ///   - ended: how many of those that have ended; nil for all.
    package static func latest(of runs: [RunStatus], ended: Int?) -> [RunStatus] {
        guard let ended else { return runs }
        var left = ended
        return runs.filter { run in
            guard run.condition.isEnded else { return true }
            left -= 1
            return left >= 0
        }
    }

    private static func condition(of folder: RunFolder) -> Condition {
        if folder.isAlive { return folder.isAsked(.pause) ? .paused : .running }
        return folder.isAsked(.detached) ? .detached : .interrupted
    }
}

extension StoredFrame {
    package var id: FrameID { FrameID(number, page: page) }
}

extension FullRerun {
    /// After this time without continuation, a new command renders everything again. In nanoseconds.
    private static let memory: Int64 = 7 * 86_400 * 1_000_000_000

    /// When the first part began, in nanoseconds since 1970. Nil unless the latest part left frames at its deadline.
    ///
    /// - Parameter runs: the runs of the job, the latest first.
    package func begin(in runs: [RunRecord], now: Int64) -> Int64? {
        var begin: Int64?
        for run in runs where run.counts.rerun == self {
            guard case .ended(let end) = run.state else { continue }
            switch RunOutcome(number: end.exitCode) {
            case .workLeft where (begin ?? now) - end.time < Self.memory: begin = run.started
            // A run that was completed, or that a person ended, leaves nothing to continue.
            case .workLeft, .done, .someFailed, .interrupted: return begin
            // After a full disk or a power failure, the next part continues.
            default: continue
            }
        }
        return begin
    }
}
