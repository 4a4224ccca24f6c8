import JobModel
import WorkerProtocol

/// Workers that come and go.
extension Scheduler {
    mutating func welcome(_ worker: WorkerID) {
        // One that greets twice is what it was.
        guard roster[worker] == nil else { return }
        failedStarts = 0
        killedStarts = 0
        roster[worker] = .idle
    }

    mutating func lose(_ worker: WorkerID, _ death: Death, at now: Timestamp) {
        let lease = roster.lease(of: worker).flatMap { leases.removeValue(forKey: $0) }
        let wasReady = roster[worker] != nil
        roster[worker] = nil
        if !wasReady { countFailedStart(death) }
        guard let lease else { return }
        directives.append(.ended(lease, .lost(death)))
        let plugin = plugins.removeValue(forKey: lease.id)
        guard isCurrent(lease) else { return }
        guard stopped == nil else {
            conclude(lease.task.frame, .left)
            return
        }
        charge(lease, death, plugin: plugin)
        blame(plugin, for: lease.task.frame, death)
        guard stopped == nil else {
            conclude(lease.task.frame, .left)
            return
        }
        let history = frames[lease.task.frame]?.histories[lease.task.kind] ?? AttemptHistory()
        retry(lease.task, at: now) { Self.failure(of: lease, death, plugin: plugin, history) }
    }

    /// A worker that ends by itself before it is ready will do so again; one that was killed may not.
    private mutating func countFailedStart(_ death: Death) {
        switch death.manner {
        case .failedToStart(let message), .brokeProtocol(let message): countFailedStart(message)
        case .signal(let signal): countFailedStart("it crashes with signal \(signal) before it is ready")
        case .exited(let code): countFailedStart("it leaves with exit code \(code) before it is ready")
        case .killed, .outOfMemory:
            killedStarts += 1
            if killedStarts >= policy.killedStartLimit {
                stop(.engine("every worker is killed before it is ready; is there memory enough for one?"))
            }
        case .byOrder: break
        }
    }

    private mutating func countFailedStart(_ message: String) {
        failedStarts += 1
        if failedStarts >= policy.startLimit { stop(.engine(message)) }
    }

    /// Adds the death to the task's history. Only what the task itself may have caused counts as a crash.
    private mutating func charge(_ lease: Lease, _ death: Death, plugin: String?) {
        let (id, kind) = (lease.task.frame, lease.task.kind)
        switch death.manner {
        case .killed: frames[id]?.histories[kind]?.kills += 1
        case .signal, .exited, .outOfMemory, .byOrder, .brokeProtocol, .failedToStart:
            frames[id]?.histories[kind]?.crashes += 1
        }
    }

    /// A plugin that takes workers down on several pictures would do so on all of them.
    private mutating func blame(_ plugin: String?, for id: FrameID, _ death: Death) {
        guard let plugin, death.manner != .killed else { return }
        pluginFaults[plugin, default: []].insert(id)
        let pictures = pluginFaults[plugin]?.count ?? 0
        if pictures >= policy.pluginFaultLimit {
            stop(.pluginFault(plugin: plugin, pictures: pictures))
        }
    }

    private static func failure(
        of lease: Lease, _ death: Death, plugin: String?, _ history: AttemptHistory
    ) -> FrameFailure {
        let place = plugin.map { " inside the plugin '\($0)'" } ?? ""
        let words = death.lastWords.isEmpty ? "" : "; its last words: \(death.lastWords)"
        let tries = "\(history.attempts) attempts"
        switch death.manner {
        case .killed:
            return FrameFailure(
                .killed,
                "the worker was killed from outside \(history.kills) times; look for what sends SIGKILL, an out-of-memory killer first of all"
            )
        case .outOfMemory:
            return FrameFailure(
                .outOfMemory,
                "the kernel killed the worker for want of memory in \(tries); use fewer workers or 'shard: tile'")
        case .byOrder:
            let limit = lease.timeLimit.components.seconds
            return FrameFailure(
                .timeout,
                "no result within \(limit) s\(place) in \(tries); raise 'timeout' in the manifest if it needs longer")
        case .signal(let signal):
            return FrameFailure(
                .crash, "the worker crashed with signal \(signal)\(place) in \(tries); the picture is set aside\(words)"
            )
        case .exited(let code):
            return FrameFailure(
                .crash, "the worker left with exit code \(code)\(place) in \(tries); the picture is set aside\(words)")
        case .brokeProtocol(let what):
            return FrameFailure(.crash, "the worker sent what is no message\(place): \(what)\(words)")
        case .failedToStart(let what):
            return FrameFailure(.crash, "the worker could not start: \(what)\(words)")
        }
    }
}
