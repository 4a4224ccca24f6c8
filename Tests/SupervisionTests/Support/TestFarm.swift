import Foundation
import GRDB
import JobModel
import QueueStorage
import Queueing
import ServiceAPI
import Supervision
import Synchronization
import TestSupport

/// A service without its API: real files and databases, fake processes, and a clock that the test moves.
final class TestFarm {
    let folder: TemporaryFolder
    let runs: FakeRuns
    let checker = TestChecker()
    let seen = Seen()
    let limits: Limits
    private(set) var store: QueueStore
    private(set) var supervisor: Supervisor
    private var submissions = 0

    /// - Parameter isDurable: whether writes wait for the disk.
    init(workers: Int = 8, maxRuns: Int = 4, isDurable: Bool = true) throws {
        folder = try TemporaryFolder()
        limits = Limits(workers: workers, maxRuns: maxRuns)
        runs = FakeRuns(stateFolder: folder.file("state"))
        try FileManager.default.createDirectory(atPath: folder.file("service"), withIntermediateDirectories: true)
        store = try Self.open(folder, isDurable)
        supervisor = try Self.supervisor(folder, limits, store, checker, runs, seen)
    }

    private static func open(_ folder: TemporaryFolder, _ isDurable: Bool) throws -> QueueStore {
        try QueueStore(
            folder: folder.file("service"), timeout: 0.05, settings: isDurable ? "" : "PRAGMA synchronous = OFF")
    }

    private static func supervisor(
        _ folder: TemporaryFolder, _ limits: Limits, _ store: QueueStore, _ checker: TestChecker, _ runs: FakeRuns,
        _ seen: Seen
    ) throws -> Supervisor {
        var setup = Supervisor.Setup(
            folder: ServiceFolder(folder.file("service")), stateFolder: folder.file("state"), limits: limits,
            runArguments: ["--workers", "\(limits.workers)"])
        setup.obstacle = { seen.obstacle }
        var observer = Supervisor.Observer()
        observer.changed = { jobs in seen.add(jobs) }
        observer.noted = { note in seen.add(note) }
        return try Supervisor(
            setup, store: store, checker: checker, launcher: runs, observer: observer, now: { seen.time },
            random: { 35 })
    }

    /// The service is killed, and started again.
    func restart(whileDown body: (QueueStore) throws -> Void = { _ in }) throws {
        runs.forgetService()
        try body(store)
        store.close()
        store = try Self.open(folder, true)
        supervisor = try Self.supervisor(folder, limits, store, checker, runs, seen)
    }

    // MARK: Time

    var now: WallTime { seen.time }
    func advance(by time: Duration) { seen.advance(by: time) }

    // MARK: Jobs

    var serviceFolder: ServiceFolder { ServiceFolder(folder.file("service")) }

    /// - Parameter place: of the manifest; nil for one that no other job has, unless the request has a key.
    @discardableResult
    func submit(
        _ place: ManifestSource.Place? = nil, key: String? = nil, name: String? = nil, priority: Int = 50,
        needs: [Need] = []
    ) async throws -> JobID {
        submissions += 1
        let file = submissions == 1 || key != nil ? "/srv/night.yaml" : "/srv/night-\(submissions).yaml"
        var order = SubmissionOrder(owner: .user(1000), key: key, place: place ?? .file(path: file), name: name)
        order.priority = try Priority(priority)
        order.needs = needs
        return try await supervisor.submit(order, from: nil).job.id
    }

    func look() async { await supervisor.look() }

    func job(_ id: JobID) async throws -> Submission { try await supervisor.job(id).job }
    func state(_ id: JobID) async throws -> JobState.Name { try await job(id).state.name }

    /// Why the job waits, in words.
    func reason(_ id: JobID) async throws -> String? { try await supervisor.job(id).entry.waitingFor?.words }

    func cancel(_ id: JobID) async throws {
        _ = try await supervisor.change(id, by: .init(owner: .user(0)), action: "cancel") { job, now, _ in
            try job.cancel(by: .user(0), at: now)
        }
    }

    /// The run of a job.
    func run(_ id: JobID) async throws -> String { try await job(id).state.run ?? "" }

    /// Submits a job, and lets its run begin.
    func begin(
        _ place: ManifestSource.Place? = nil, priority: Int = 50
    ) async throws -> (job: JobID, run: String) {
        let id = try await submit(place, priority: priority)
        await look()
        let run = try await run(id)
        try runs.begin(run)
        await look()
        return (id, run)
    }

    func lockPath(_ run: String) -> String { "\(serviceFolder.locks)/\(run).lock" }

    func log(_ run: String) -> String {
        (try? String(contentsOfFile: "\(serviceFolder.logs)/\(run).log", encoding: .utf8)) ?? ""
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Another program that writes to the service's database until it ends.
    func writer() throws -> OtherWriter { try OtherWriter(serviceFolder.database) }

    /// Does what no version of Penumbra would do.
    func change(_ sql: String) throws {
        let raw = try DatabaseQueue(path: serviceFolder.database)
        try raw.writeWithoutTransaction { try $0.execute(sql: sql) }
        try raw.close()
    }
}

/// What a supervisor has told, and the time that it is told.
final class Seen: Sendable {
    private struct State {
        var time = WallTime.noon
        var changes: [[Submission]] = []
        var notes: [SupervisorNote] = []
        var obstacle: String?
    }

    private let state = Mutex(State())

    var time: WallTime { state.withLock(\.time) }
    func advance(by time: Duration) { state.withLock { $0.time = $0.time + time } }
    func add(_ jobs: [Submission]) { state.withLock { $0.changes.append(jobs) } }
    func add(_ note: SupervisorNote) { state.withLock { $0.notes.append(note) } }

    /// Why no run can begin.
    var obstacle: String? {
        get { state.withLock(\.obstacle) }
        set { state.withLock { $0.obstacle = newValue } }
    }

    /// One entry for each transaction.
    var changes: [[Submission]] { state.withLock(\.changes) }
    var notes: [SupervisorNote] { state.withLock(\.notes) }
}

/// Accepts all manifests.
final class TestChecker: ManifestChecker {
    private let present = Mutex<String?>("as submitted")

    /// The file of the manifest is another one now.
    func change() { present.withLock { $0 = "changed" } }

    /// The file of the manifest cannot be read now.
    func hide() { present.withLock { $0 = nil } }

    func check(_ place: ManifestSource.Place, name: String?, _ options: RunOptions) async throws -> CheckedManifest {
        CheckedManifest(job: "night", digest: present.withLock { $0 } ?? "", warnings: [])
    }

    func digest(of place: ManifestSource.Place) -> String? { present.withLock { $0 } }
}

extension WallTime {
    static let noon = WallTime(milliseconds: 1_795_608_000_000)
}

/// Keeps others from writing to a database.
struct OtherWriter {
    private let connection: DatabaseQueue

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        connection = try DatabaseQueue(path: path, configuration: configuration)
        try connection.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    }

    func end() throws {
        try connection.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try connection.close()
    }
}
