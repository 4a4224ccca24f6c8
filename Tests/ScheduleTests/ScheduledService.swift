import Foundation
import JobModel
import QueueStorage
import Queueing
import ServiceAPI
import Supervision
import Synchronization
import TestSupport
import Testing

/// A service with a real database, a clock that the test sets, and no runs. It can be killed and started again.
final class ScheduledService: Sendable {
    let folder: TemporaryFolder
    let time: ManualTime
    let manifests = Manifests()
    let notes = Mutex<[String]>([])
    /// What those who are told of failures are told.
    let troubles = Mutex<[ScheduleTrouble]>([])
    private let parts: Mutex<Parts>

    struct Parts: Sendable {
        let store: QueueStore
        let supervisor: Supervisor
        let runner: ScheduleRunner
    }

    init(at time: WallTime = .noon) throws {
        folder = try TemporaryFolder()
        self.time = ManualTime(time)
        let service = ServiceFolder(folder.file("service"))
        let parts = try Self.parts(service, folder.file("state"), self.time, manifests)
        self.parts = Mutex(parts)
    }

    private static func parts(
        _ service: ServiceFolder, _ state: String, _ time: ManualTime, _ manifests: Manifests,
        notes: @escaping @Sendable (String) -> Void = { _ in },
        trouble: @escaping @Sendable (ScheduleTrouble) -> Void = { _ in }
    ) throws -> Parts {
        try FileManager.default.createDirectory(atPath: service.path, withIntermediateDirectories: true)
        let store = try QueueStore(folder: service.path)
        let supervisor = try Supervisor(
            Supervisor.Setup(folder: service, stateFolder: state, limits: Limits(workers: 2, maxRuns: 4)), store: store,
            checker: manifests, launcher: NoLauncher(), now: { time.now })
        let runner = ScheduleRunner(
            supervisor, manifests: manifests, noted: notes,
            notices: { found in
                trouble(found)
                let day = found.time.seconds / 86_400
                return [OutboxMessage(event: "\(found.words) \(day)", target: "mail:ops", body: "{}")]
            }, now: { time.now }, uptime: { time.uptime })
        return Parts(store: store, supervisor: supervisor, runner: runner)
    }

    var store: QueueStore { parts.withLock { $0.store } }
    var supervisor: Supervisor { parts.withLock { $0.supervisor } }
    var runner: ScheduleRunner { parts.withLock { $0.runner } }

    /// What is in memory is gone, as after a kill. The next service has the database alone.
    func restart() throws {
        store.close()
        notes.withLock { $0 = [] }
        let new = try Self.parts(
            ServiceFolder(folder.file("service")), folder.file("state"), time, manifests,
            notes: { [weak self] note in self?.notes.withLock { $0.append(note) } },
            trouble: { [weak self] trouble in self?.troubles.withLock { $0.append(trouble) } })
        parts.withLock { $0 = new }
    }

    var told: [String] { notes.withLock(\.self) }

    /// The notices that wait to be sent, the oldest first.
    var notices: [String] {
        get throws { try store.dueMessages(at: time.now, limit: 1000).map(\.message.event) }
    }

    /// All jobs, the oldest first.
    var jobs: [Submission] {
        get throws { try store.list(JobFilter(), before: nil, limit: 1000).jobs.reversed() }
    }

    /// Looks at all schedules, one after the other.
    ///
    /// - Returns: for how long nothing more is due.
    func look() async throws -> Duration {
        var pause = Duration.seconds(60)
        for schedule in try store.schedules().schedules where schedule.kind == .cron {
            pause = min(pause, await runner.look(at: schedule.name))
        }
        return pause
    }

    func stored(_ name: String = "nightly") throws -> StoredSchedule { try #require(try store.schedule(named: name)) }

    /// Starts the run of a job, without a process.
    func start(_ job: JobID) throws {
        var changed = try #require(try store.job(job))
        try changed.start(run: "run-\(job.number)", at: time.now)
        try store.update(changed, at: time.now)
    }

    /// Ends a job that was started.
    func end(_ job: JobID) throws {
        var changed = try #require(try store.job(job))
        try changed.processEnded(code: 0, leaving: .ended, text: "", progressed: true, at: time.now)
        try store.update(changed, at: time.now)
    }
}

/// A wall clock and a clock that nobody sets, which a test moves together.
final class ManualTime: Sendable {
    private let start = ContinuousClock.now
    private let state: Mutex<(wall: WallTime, elapsed: Duration)>

    init(_ wall: WallTime) { state = Mutex((wall, .zero)) }

    var now: WallTime { state.withLock(\.wall) }
    var uptime: ContinuousClock.Instant { start.advanced(by: state.withLock(\.elapsed)) }

    func advance(_ duration: Duration) {
        state.withLock { state in
            state.wall = state.wall + duration
            state.elapsed += duration
        }
    }

    func set(_ time: WallTime) { state.withLock { $0.wall = time } }
}

extension WallTime {
    /// A Wednesday.
    static let noon = WallTime(milliseconds: 1_795_608_000_000)
}

/// Manifests that are right or wrong as a test wants it.
final class Manifests: ManifestChecker, WatchedManifests {
    enum Fault: Sendable {
        case none
        case wrong
        /// No worker can be started now.
        case passing
    }

    struct State: Sendable {
        var fault = Fault.none
        var digest: String? = "m"
        var inputs: [String] = []
        var minAge = 0.0
        /// Called while a manifest is checked.
        var duringCheck = Hook()
    }

    struct Hook: Sendable {
        var call: @Sendable () async -> Void = {}
    }

    let state = Mutex(State())

    func check(
        _ place: ManifestSource.Place, name: String?, _ options: RunOptions
    ) async throws -> CheckedManifest {
        let state = state.withLock(\.self)
        await state.duringCheck.call()
        switch state.fault {
        case .none: return CheckedManifest(job: "night", digest: state.digest ?? "", warnings: [])
        case .wrong:
            throw ManifestRefusal(
                manifest: "/srv/night.yaml",
                errors: [ManifestFault(message: "unknown filter 'gausian'", line: 3, column: 5)], outcome: .badManifest)
        case .passing: throw FarmError(.unavailable, "no worker can be started")
        }
    }

    func digest(of place: ManifestSource.Place) -> String? { state.withLock(\.digest) }

    func job(of place: ManifestSource.Place, name: String?, _ options: RunOptions) async -> JobSpec? {
        let state = state.withLock(\.self)
        if case .wrong = state.fault { return nil }
        return JobSpec(
            name: "night", manifestPath: "/srv/night.yaml", folder: "/srv", inputs: state.inputs, chain: [],
            outputs: [],
            minAge: state.minAge)
    }
}

/// No test here starts a run.
struct NoLauncher: RunLauncher {
    func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int?) -> Void) async throws(LaunchError) {
        throw LaunchError("no run is expected")
    }

    func hasProcess(holding lockPath: String) -> Bool { false }
    func terminate(holderOf lockPath: String) {}
}

extension ScheduleRequest {
    static func times(
        _ cron: String = "0 * * * *", name: String = "nightly", zone: String? = "UTC", missed: MissedTimes = .once,
        overlap: OverlapRule = .queue, job: SubmitRequest = SubmitRequest(.file(path: "/srv/night.yaml"))
    ) throws -> ScheduleRequest {
        try ScheduleRequest(
            name: name, trigger: .times(CronExpression(cron), zone: zone, missed: missed, overlap: overlap), job: job)
    }
}

extension Supervisor.Caller {
    static let admin = Supervisor.Caller(owner: .user(1000))
}
