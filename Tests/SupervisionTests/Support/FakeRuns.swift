import Foundation
import Glibc
import JobModel
import JobStorage
import Runs
import SafeFiles
import Supervision
import Synchronization

/// Processes of runs as a state folder shows them: real locks, folders, reports and database rows, which tests write as a coordinator does.
final class FakeRuns: RunLauncher {
    private struct Process {
        let lockPath: String
        let logPath: String
        /// Held while the process lives.
        let lock: KernelLock
        /// Nil if the service that started it is gone.
        var end: End?
        var claim: RunClaim?
    }

    private struct End { let call: @Sendable (Int?) -> Void }

    private struct State {
        var processes: [String: Process] = [:]
        var orders: [RunOrder] = []
        var terminated: [String] = []
        var failure: LaunchError?
    }

    private let stateFolder: String
    private let state = Mutex(State())

    init(stateFolder: String) { self.stateFolder = stateFolder }

    // MARK: What the service asks

    func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int?) -> Void) async throws(LaunchError) {
        if let failure = state.withLock(\.failure) { throw failure }
        guard let lock = try? KernelLock.take(order.lockPath) else { throw LaunchError("\(order.run) has a process") }
        state.withLock { state in
            state.orders.append(order)
            state.processes[order.run] = Process(
                lockPath: order.lockPath, logPath: order.logPath, lock: lock, end: End(call: onEnd))
        }
    }

    func hasProcess(holding lockPath: String) -> Bool {
        state.withLock { $0.processes.values.contains { $0.lockPath == lockPath } } || KernelLock.isHeld(lockPath)
    }

    func terminate(holderOf lockPath: String) {
        state.withLock { state in
            state.terminated += state.processes.filter { $0.value.lockPath == lockPath }.map(\.key)
        }
    }

    // MARK: What tests ask

    /// All processes that were started, in order.
    var orders: [RunOrder] { state.withLock(\.orders) }
    /// Runs whose process got SIGTERM.
    var terminated: [String] { state.withLock { $0.terminated.sorted() } }
    /// Runs that have a process.
    var open: [String] { state.withLock { $0.processes.keys.sorted() } }

    /// No process can be started.
    func fail(with words: String?) { state.withLock { $0.failure = words.map { LaunchError($0) } } }

    /// The service is gone. Nobody hears of ends any more.
    func forgetService() {
        state.withLock { state in for run in state.processes.keys { state.processes[run]?.end = nil } }
    }

    /// The process of a service that a test has not started.
    func add(_ run: String, lockPath: String) throws {
        guard let lock = try KernelLock.take(lockPath) else { throw LaunchError("\(run) has a process") }
        state.withLock { $0.processes[run] = Process(lockPath: lockPath, logPath: lockPath + ".log", lock: lock) }
    }

    // MARK: What coordinators do

    func folder(_ run: String) -> RunFolder { RunFolder(state: stateFolder, name: run) }

    private var database: JobStore {
        get throws {
            _ = try FileSystem.createFolders(stateFolder)
            return try JobStore(path: JobStore.databasePath(state: stateFolder))
        }
    }

    /// Begins a run, or resumes it.
    ///
    /// - Parameter process: a process that was started for something else; nil for the run's own.
    func begin(_ run: String, as process: String? = nil) throws {
        let claim: RunClaim
        if FileSystem.isFolder(folder(run).path) {
            guard let claimed = try RunClaim(claiming: folder(run)) else { throw LaunchError("\(run) is claimed") }
            claim = claimed
        } else {
            claim = try RunClaim(state: stateFolder, name: run, scratch: nil)
            try database.write { writer in
                let job = try writer.job(manifest: "/srv/night.yaml", name: "night")
                _ = try writer.begin(run: run, of: job, at: 10, workers: 8, request: "{}", counts: RunCounts().json)
            }
        }
        state.withLock { $0.processes[process ?? run]?.claim = claim }
    }

    /// Reports what a run is doing.
    func report(_ run: String, done: Int = 0, wants: Int, isPaused: Bool = false) throws {
        let live = LiveRun(
            time: 1_800_000_000_000_000_000, seconds: 1, frames: 1000, done: done, failed: 0, megapixels: 0,
            isPaused: isPaused, workerLimit: nil, wanted: wants, leased: 0, running: [], tilesDone: 0, tilesPlanned: 0,
            tiled: [])
        try Data(live.file).write(to: URL(filePath: "\(folder(run).path)/live"))
    }

    /// The run ends, and then its process does.
    func end(
        _ run: String, code: Int, published: Int = 0, failures: [String: Int] = [:], as process: String? = nil
    ) throws {
        var counts = RunCounts()
        counts.published = published
        (counts.failed, counts.failedByCause) = (failures.values.reduce(0, +), failures)
        guard let record = try StoredRuns.run(named: run, state: stateFolder) else {
            throw LaunchError("there is no run \(run)")
        }
        try database.write { writer in
            try writer.set(record.id, counts: counts.json)
            try writer.end(record.id, at: 20, exitCode: code, reason: nil)
        }
        FileSystem.removeTree(folder(run).path)
        exit(process ?? run, code: code)
    }

    /// The process ends. Its run is left as it is.
    func exit(_ run: String, code: Int, saying words: String? = nil) {
        let process = state.withLock { $0.processes.removeValue(forKey: run) }
        guard let process else { return }
        if let words { try? FileSystem.append(Array("\(words)\n".utf8), to: process.logPath) }
        process.end?.call(code)
    }

    /// The worker limit that was written last. Nil if there was none.
    func limit(of run: String) -> Int? {
        (try? String(contentsOfFile: "\(folder(run).path)/workers", encoding: .utf8)).flatMap(Int.init)
    }
}
