import Coordination
import JobStorage
import Scheduling

/// The runs that a state folder knows, past and present.
struct RunArchive {
    let state: String
    /// Nil where nothing ever ran.
    private let store: JobStore?

    init(state: String) throws {
        self.state = state
        let path = Ledger.databasePath(state: state)
        store = try JobStore.looking(at: path)
    }

    /// The latest ones first.
    func runs() throws -> [KnownRun] {
        let runs = try read { try $0.runs() } ?? []
        // One may have ended since its row was read.
        return runs.contains { $0.condition == .interrupted } ? try read { try $0.runs() } ?? [] : runs
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
        throw CommandError(
            .missingInput,
            matches.isEmpty
                ? "no run or job is called '\(name)'; 'penumbra status' lists them"
                : "\(matches.count) runs begin with '\(name)'; give more of the name")
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

    /// Pictures of the run's job that failed as data and have not changed.
    func brokenInputs(of run: KnownRun) throws -> [String] {
        try store?.read { reader in
            try reader.job(manifest: run.stored.manifest, name: run.stored.job).map { try reader.broken(of: $0) } ?? []
        }.map(\.input) ?? []
    }

    func frames(of run: KnownRun) throws -> [StoredFrame] { try store?.read { try $0.frames(of: run.stored.id) } ?? [] }

    func attempts(of run: KnownRun) throws -> [StoredAttempt] {
        try store?.read { try $0.attempts(of: run.stored.id) } ?? []
    }

    /// When the last output of each frame was put in its place.
    func publicationTimes(of run: KnownRun) throws -> [FrameID: Int64] {
        let publications = try store?.read { try $0.publications(of: run.stored.id) } ?? []
        return Dictionary(publications.map { (FrameID($0.number, page: $0.page), $0.at) }, uniquingKeysWith: max)
    }

    /// How many of its frames have come to an end.
    func concluded(of run: KnownRun) throws -> Int { try store?.read { try $0.concluded(of: run.stored.id) } ?? 0 }

    private func read(_ body: (StoreReader) throws -> [StoredRun]) throws -> [KnownRun]? {
        try store?.read(body).map { KnownRun($0, state: state) }
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
        case done
        /// All was tried, and some frames failed.
        case failed
        /// It ended before its plan did.
        case stopped

        var isGoingOn: Bool { self == .running || self == .paused }
        var isEnded: Bool { self == .done || self == .failed || self == .stopped }
    }

    /// Of some frames of another run.
    var isRetry: Bool { RunRequest(text: stored.request)?.inputs != nil }

    /// Nil until it has ended.
    let exitCode: Int?
    let reason: String?
    let ended: Int64?

    init(_ stored: StoredRun, state: String) {
        self.stored = stored
        counts = RunCounts(json: stored.counts)
        guard case .ended(let time, let code, let why) = stored.state else {
            (exitCode, reason, ended) = (nil, nil, nil)
            let isPaused = RunRequests.of(run: stored.name, state: state).isPaused
            let isAlive = RunRequests.isAlive(run: stored.name, state: state)
            condition = isAlive ? (isPaused ? .paused : .running) : .interrupted
            return
        }
        (exitCode, reason, ended) = (code, why, time)
        condition = why != nil ? .stopped : code == 0 ? .done : .failed
    }
}
