import Coordination
import Dispatching
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Scheduling

/// The runs that a state folder knows, past and present.
struct RunArchive {
    /// Or the place of runs that several machines see, which no database knows.
    let state: String
    /// Nil where nothing ever ran.
    private let store: JobStore?
    /// Nil for those of the database.
    private let shared: [SharedRun]?

    init(state: String) throws {
        self.state = state
        let path = Ledger.databasePath(state: state)
        store = try JobStore.looking(at: path)
        shared = nil
    }

    /// - Parameter folder: of one run, or one that holds runs.
    init(runFolder folder: String) throws(CommandError) {
        let found = SharedRun.find(folder)
        guard let first = found.first else { throw CommandError(.missingInput, Self.why(noRunIn: folder)) }
        (state, store, shared) = (first.place, nil, found)
    }

    private static func why(noRunIn folder: String) -> String {
        func has(_ name: String, in folder: String) -> Bool {
            FileManager.default.fileExists(atPath: "\(folder)/\(name)")
        }
        if has("submit.sh", in: folder) || has("submit.sh", in: PathText.folder(of: folder)) {
            return
                "\(PathText.visible(folder)): no run yet; it begins with 'sh submit.sh', when Slurm has begun prepare.sh; if that has failed, "
                + "'logs' beside submit.sh says why"
        }
        guard has("", in: folder) else { return "\(PathText.visible(folder)): no such folder" }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        if has("journal", in: folder) || names.contains(where: { $0.hasPrefix("penumbra-2") }) {
            return
                "\(PathText.visible(folder)): the work of a run that was neither detached nor prepared; 'penumbra status' lists it where it was "
                + "begun"
        }
        return
            "\(PathText.visible(folder)): no run; 'penumbra run --detach' and 'penumbra prepare' say where they keep theirs"
    }

    var isShared: Bool { shared != nil }

    /// Those of a folder that are meant where none is named, see ``SharedRun/meant(in:)``; the latest ones first.
    func meantRuns() throws -> [KnownRun] {
        let names = Set(SharedRun.meant(of: shared ?? []).map(\.name))
        return try runs().filter { names.contains($0.stored.name) }
    }

    /// The latest ones first.
    func runs() throws -> [KnownRun] {
        if let shared {
            return shared.compactMap { run in run.stored.map { KnownRun($0, state: run.place) } }
                .sorted { $0.stored.started > $1.stored.started }
        }
        DetachedEnds.take(into: state)
        let runs = try read { try $0.runs() } ?? []
        // One may have ended since its row was read.
        return runs.contains { $0.condition == .interrupted } ? try read { try $0.runs() } ?? [] : runs
    }

    /// The run as it is now.
    func renewed(_ run: KnownRun) throws -> KnownRun {
        guard shared != nil else { return try self.run(run.stored.name) }
        return SharedRun(place: run.place, name: run.stored.name).stored.map { KnownRun($0, state: run.place) } ?? run
    }

    /// - Parameter name: a run's, or the beginning of one that no other run has, or a job's, whose latest run is meant;
    ///   nil for the latest run of all.
    func run(_ name: String?) throws -> KnownRun {
        let all = try runs()
        guard let name else {
            guard let latest = all.first else { throw CommandError(.missingInput, "nothing has run yet") }
            return latest
        }
        if let exact = all.first(where: { $0.stored.name == name }) { return exact }
        let matches = all.filter { $0.stored.name.hasPrefix(name) }
        if matches.count == 1 { return matches[0] }
        if let latest = all.first(where: { $0.stored.job == name }) { return latest }
        let place = shared == nil ? "" : " --run-dir \(state)"
        throw CommandError(
            .missingInput,
            matches.isEmpty
                ? "no run or job is called '\(PathText.visible(name))'; 'penumbra status\(place)' lists them"
                : "\(matches.count) runs begin with '\(PathText.visible(name))'; give more of the name")
    }

    /// As ``run(_:)``, for what cannot be undone: of several runs that have not ended one has to be named.
    ///
    /// - Returns: nil where none was named, and all have ended.
    func run(toEnd name: String?) throws -> KnownRun? {
        guard name == nil else { return try run(name) }
        let open = try runs().filter { !$0.condition.isEnded }
        guard open.count > 1 else {
            // What ran last in a folder of runs tells how it has ended.
            let latest = open.isEmpty ? try run(nil) : nil
            return open.first ?? (isShared ? latest : nil)
        }
        let names = open.map { "\($0.stored.name) of \($0.stored.job)" }
        let place = isShared ? "\(state): \(open.count) runs go on there" : "\(open.count) runs have not ended"
        throw CommandError(.usage, "\(place); name one of them: \(names.joined(separator: ", "))")
    }

    /// As ``run(_:)``; of a job the latest run that did all that its command had asked for.
    func run(toRepeat name: String?) throws -> KnownRun {
        let found = try run(name)
        guard found.isRetry, name.map({ !found.stored.name.hasPrefix($0) }) ?? true else { return found }
        let others = try runs().filter {
            $0.stored.job == found.stored.job && $0.stored.manifest == found.stored.manifest
        }
        return others.first { !$0.isRetry } ?? found
    }

    /// Other machines may go on with it.
    func isShared(_ run: KnownRun) -> Bool { shared != nil || run.place != state }

    /// Whether a job in a cluster's queue is to go on with it.
    func coordinators(of run: KnownRun) async -> SlurmEngine.Coordinators {
        guard let scratch = RunDirectory.scratch(of: run.stored.name, state: run.place) else { return .never }
        return await SlurmEngine.coordinators(of: SharedFolder(scratch))
    }

    /// Ends a run whose coordinator is gone, and removes what it left.
    ///
    /// - Returns: whether all of that is gone. Where another coordinator has the run, nothing was done.
    func giveUp(
        _ run: KnownRun, reason: String, exitCode: Int = RunHistory.killed
    ) throws -> RunDirectory.Removal {
        let folder = SharedRun(place: run.place, name: run.stored.name)
        // A history that cannot be read is in nobody's way.
        let counts = ((try? counts(ofGivenUp: run)) ?? run.counts).json
        var record = folder.record
        record?.counts = counts
        let removal = RunDirectory.remove(folder.name, state: folder.place)
        guard removal != .refused else { return .refused }
        if let record {
            try folder.write(
                SharedRun.End(
                    record: record, epoch: run.stored.epoch, ended: currentTime(), exitCode: exitCode,
                    reason: reason))
        }
        if shared == nil {
            DetachedEnds.take(into: state)
            try RunHistory.giveUp(
                run.stored, state: state, exitCode: exitCode, reason: reason, counts: counts, at: currentTime())
        }
        return removal
    }

    /// What its coordinators have told of before they were killed.
    private func counts(ofGivenUp run: KnownRun) throws -> RunCounts {
        var counts = run.counts
        let frames = try frames(of: run)
        let begun = frames.filter(\.wasBegun)
        let states = frames.map(\.state.word)
        counts.published = states.count { $0 == "published" }
        counts.failed = states.count { $0 == "failed" }
        // Those with which nothing was to be done are in no list.
        let others = frames.count - begun.count + counts.work + counts.kept + counts.stillBroken
        counts.skipped = max(0, counts.frames - others) + states.count { $0 == "skipped" }
        counts.left = max(0, counts.work - begun.count { !["open", "left"].contains($0.state.word) })
        return counts
    }

    /// Pictures of the run's job that failed as data and have not changed.
    func broken(of run: KnownRun) throws -> [BrokenRecord] {
        try store?.read { reader in
            try reader.job(manifest: run.stored.manifest, name: run.stored.job).map { try reader.broken(of: $0) } ?? []
        } ?? []
    }

    /// Those of them that were broken before the run began, and that it did not try; sorted. Where it had only some of the
    /// job's pictures, others may be among them.
    func stillBroken(in run: KnownRun, _ details: Details) throws -> [BrokenRecord] {
        guard run.counts.stillBroken > 0 else { return [] }
        let tried = Set(details.frames.map { PathKey($0.input) })
        return try broken(of: run).filter {
            Int64($0.since) <= run.stored.started / 1_000_000_000 && !tried.contains(PathKey($0.input))
        }.sorted { PathKey($0.input) < PathKey($1.input) }
    }

    /// What was done of it.
    struct Details {
        var frames: [StoredFrame] = []
        var attempts: [StoredAttempt] = []
        fileprivate var publications: [StoredPublication] = []

        /// When the last output of each frame was put in its place.
        var publicationTimes: [FrameID: Int64] {
            Dictionary(publications.map { (FrameID($0.number, page: $0.page), $0.at) }, uniquingKeysWith: max)
        }
    }

    /// Of what its folder tells nothing else is believed.
    func details(of run: KnownRun) throws -> Details {
        let own = try store?.read { reader in
            Details(
                frames: try reader.frames(of: run.stored.id), attempts: try reader.attempts(of: run.stored.id),
                publications: try reader.publications(of: run.stored.id))
        }
        guard isShared(run) else { return own ?? Details() }
        let told = try SharedRun(place: run.place, name: run.stored.name).history.contents()
        let frames = Dictionary(((own?.frames ?? []) + told.frames).map { ($0.id, $0) }) { $1 }
        return Details(
            frames: frames.values.sorted { $0.id < $1.id }, attempts: told.attempts, publications: told.publications)
    }

    func frames(of run: KnownRun) throws -> [StoredFrame] {
        guard !isShared(run) else { return try details(of: run).frames }
        return try store?.read { try $0.frames(of: run.stored.id) } ?? []
    }

    /// The inputs of its frames that have come to an end; none where the run is forgotten. Of a run that did what another one
    /// had left, those of the other one, too.
    func concludedInputs(ofRun name: String) throws -> Set<PathKey> {
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

    /// Whether the same command goes on with what a run has left: it makes everything again, in parts.
    func isGoneOnWith(byItself run: KnownRun) throws -> Bool {
        guard let remaking = run.counts.remaking else { return false }
        let others = try runs().map(\.stored).filter { $0.job == run.stored.job && $0.manifest == run.stored.manifest }
        return remaking.begin(in: others, now: currentTime()) != nil
    }

    /// How many of its frames have come to an end.
    func concluded(of run: KnownRun) throws -> Int {
        let shared = SharedRun(place: run.place, name: run.stored.name)
        if isShared(run), let left = shared.left { return max(0, run.counts.work - left) }
        return try store?.read { try $0.concluded(of: run.stored.id) } ?? 0
    }

    private func read(_ body: (StoreReader) throws -> [StoredRun]) throws -> [KnownRun]? {
        let detached = DetachedRuns.all(state: state)
        return try store?.read(body).map { KnownRun($0, state: state, detached: detached) }
    }
}

/// A run with what its folder tells of it.
struct KnownRun {
    let stored: StoredRun
    let condition: Condition
    let counts: RunCounts

    enum Condition: String {
        case running
        case paused
        /// Its coordinator was killed: it can be gone on with.
        case interrupted
        /// In the hands of a cluster, or of another scheduler: no coordinator lives.
        case detached
        case done
        /// All was tried, and some frames failed.
        case failed
        /// It ended before its plan did.
        case stopped

        /// Somebody has it.
        var isGoingOn: Bool { self == .running || self == .paused || self == .detached }
        var isEnded: Bool { self == .done || self == .failed || self == .stopped }
    }

    /// Of some frames of another run.
    var isRetry: Bool { RunRequest(text: stored.request)?.isRetry ?? false }

    /// Where other machines see it; nil for a run of this one alone.
    let sharedFolder: String?
    /// What holds its folder: a state folder, or the place of runs that other machines see.
    let place: String

    /// Nil until it has ended.
    let exitCode: Int?
    let reason: String?
    let ended: Int64?

    /// - Parameters:
    ///   - detached: the runs whose folders are elsewhere.
    ///   - isHandedOver: by this process, which has its lock yet.
    init(_ stored: StoredRun, state: String, detached: [SharedRun] = [], isHandedOver: Bool = false) {
        self.stored = stored
        counts = RunCounts(json: stored.counts)
        let shared = detached.first { $0.name == stored.name }
        let run = shared ?? SharedRun(place: state, name: stored.name)
        place = run.place
        sharedFolder = shared != nil || run.record != nil ? run.folder : nil
        guard case .ended(let time, let code, let why) = stored.state else {
            (exitCode, ended) = (nil, nil)
            condition = isHandedOver ? .detached : Self.condition(of: stored.name, in: run.place)
            reason = condition.isGoingOn ? nil : run.lastStop
            return
        }
        (exitCode, reason, ended) = (code, why, time)
        condition = why != nil ? .stopped : code == 0 ? .done : .failed
    }

    private static func condition(of run: String, in place: String) -> Condition {
        let requests = RunRequests.of(run: run, state: place)
        if RunRequests.isAlive(run: run, state: place) { return requests.isPaused ? .paused : .running }
        return requests.isDetached ? .detached : .interrupted
    }
}
