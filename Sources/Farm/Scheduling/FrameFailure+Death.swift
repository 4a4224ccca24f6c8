extension FrameFailure {
    /// What became of a task whose workers died.
    ///
    /// - Parameters:
    ///   - lease: its last attempt.
    ///   - plugin: whose code the worker was in.
    init(_ lease: Lease, _ death: Death, plugin: String?, _ history: AttemptHistory) {
        let place = plugin.map { " inside the plugin '\($0)'" } ?? ""
        let words = death.lastWords.isEmpty ? "" : "; its last words: \(death.lastWords)"
        let tries = history.attempts == 1 ? "1 attempt" : "\(history.attempts) attempts"
        let message =
            switch death.manner {
            case .killed where history.isKilledByPlugin:
                "the worker was killed\(place) \(history.killsInside?.count ?? 0) times in a row, and the picture is set aside; look for what sends "
                    + "SIGKILL, the plugin first of all"
            case .killed:
                "the worker was killed from outside \(history.kills) times; look for what sends SIGKILL, an "
                    + "out-of-memory killer first of all"
            case .outOfMemory:
                "the kernel killed the worker for want of memory in \(tries); use fewer workers or 'shard: tile'"
            case .byOrder:
                "no result within \(lease.timeLimit.components.seconds) s\(place) in \(tries); raise 'timeout' if it "
                    + "needs longer"
            case .silent(let limit):
                "the worker was silent for \(limit.components.seconds) s\(place) in \(tries), and the picture is set "
                    + "aside; look for what stops processes: SIGSTOP, a debugger, a frozen container"
            case .signal(let signal):
                "the worker crashed with signal \(signal)\(place) in \(tries); the picture is set aside\(words)"
            case .exited(let code):
                "the worker left with exit code \(code)\(place) in \(tries); the picture is set aside\(words)"
            case .brokeProtocol(let what): "the worker sent what is no answer to its task\(place): \(what)\(words)"
            case .failedToStart(let what): "the worker could not start: \(what)\(words)"
            case .elementLost(let what):
                "lost \(history.kills) times with the job that was to do it; the last time: \(what)"
            case .elementFailed(let what): "the job that did it failed in \(tries); the last time: \(what)"
            }
        let cause: Cause = history.isKilledByPlugin ? .plugin : Self.cause(of: death.manner, plugin: plugin)
        self.init(cause, message)
    }

    private static func cause(of manner: Death.Manner, plugin: String?) -> Cause {
        switch manner {
        case .killed, .elementLost: .killed
        case .outOfMemory: .outOfMemory
        case .byOrder: .timeout
        case .silent: .silent
        case .signal, .exited, .brokeProtocol: plugin == nil ? .crash : .plugin
        case .failedToStart: .crash
        case .elementFailed: .trouble
        }
    }
}
