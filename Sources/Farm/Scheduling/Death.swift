/// How a worker process ended while it was still wanted.
package struct Death: Hashable, Sendable, Codable {
    package enum Manner: Hashable, Sendable, Codable {
        /// A fault signal: the code that ran crashed.
        case signal(Int32)
        /// It left by itself, as a plugin that calls `exit` does.
        case exited(Int32)
        /// SIGKILL from outside, with no proof of an out-of-memory kill.
        case killed
        /// SIGKILL, and the kernel counted an out-of-memory kill in the same moment.
        case outOfMemory
        /// The scheduler had it killed.
        case byOrder
        /// The scheduler had it killed because it had not been heard of for so long.
        case silent(Duration)
        /// It sent what is no message, or no answer to its task.
        case brokeProtocol(String)
        /// It ended before it was ready, or could not be started.
        case failedToStart(String)
        /// The job on a cluster that was to do it came to an end first, through no fault of the task. Says which, and why.
        case elementLost(String)
        /// The same, while this task was being done there: it may have been the task's fault.
        case elementFailed(String)
    }

    package let manner: Manner
    /// The end of what it wrote to its standard error.
    package let lastWords: String

    /// Nothing that the process did: somebody killed or stopped it.
    var isFromOutside: Bool {
        switch manner {
        case .killed, .silent, .elementLost: true
        case .signal, .exited, .outOfMemory, .byOrder, .brokeProtocol, .failedToStart, .elementFailed: false
        }
    }

    /// A process died of itself or was killed by somebody else; not one that was only waited for in vain.
    package var isOfProcess: Bool {
        switch manner {
        case .byOrder, .elementLost, .elementFailed: false
        case .signal, .exited, .killed, .outOfMemory, .silent, .brokeProtocol, .failedToStart: true
        }
    }

    package init(_ manner: Manner, lastWords: String = "") {
        self.manner = manner
        self.lastWords = lastWords
    }
}

/// Why the scheduler has a worker end.
package enum Dismissal: Hashable, Sendable {
    /// Its lease expired.
    case overdue
    /// It was not heard of for so long.
    case silent(Duration)
    /// It answered what does not fit its task; why, as a message goes on with it.
    case brokeProtocol(String)
    /// The run stops.
    case stopping
    /// A fresh process is wanted in its place. It is not killed but leaves by itself.
    case recycled
    /// Its slot is retired; as above.
    case retired

    /// A process that leaves by itself may be one that is stopped, and will not.
    var isKill: Bool {
        switch self {
        case .overdue, .silent, .brokeProtocol, .stopping: true
        case .recycled, .retired: false
        }
    }
}

extension Death {
    /// What the scheduler's own order comes to.
    func ordered(by dismissal: Dismissal?) -> Death {
        guard manner == .byOrder else { return self }
        return switch dismissal {
        case .silent(let limit): Death(.silent(limit), lastWords: lastWords)
        case .brokeProtocol(let what): Death(.brokeProtocol(what), lastWords: lastWords)
        case .overdue, .stopping, .recycled, .retired, nil: self
        }
    }
}

extension FrameFailure {
    /// What became of a task whose workers died.
    ///
    /// - Parameters:
    ///   - lease: its last attempt.
    ///   - plugin: whose code the worker was in.
    init(_ lease: Lease, _ death: Death, plugin: String?, _ history: AttemptHistory) {
        let location = plugin.map { " inside the plugin '\($0)'" } ?? ""
        let words = death.lastWords.isEmpty ? "" : "; its last words: \(death.lastWords)"
        let tries = history.attempts == 1 ? "1 attempt" : "\(history.attempts) attempts"
        let message =
            switch death.manner {
            case .killed where history.isKilledByPlugin:
                "the worker was killed\(location) \(history.killsInside?.count ?? 0) times in a row, and the picture is set aside; look for what sends "
                    + "SIGKILL, the plugin first of all"
            case .killed:
                "the worker was killed from outside \(history.kills) times; look for what sends SIGKILL, an "
                    + "out-of-memory killer first of all"
            case .outOfMemory:
                "the kernel killed the worker for want of memory in \(tries); use fewer workers or 'shard: tile'"
            case .byOrder:
                "no result within \(lease.timeLimit.components.seconds) s\(location) in \(tries); raise 'timeout' if it "
                    + "needs longer"
            case .silent(let limit):
                "the worker was silent for \(limit.components.seconds) s\(location) in \(tries), and the picture is set "
                    + "aside; look for what stops processes: SIGSTOP, a debugger, a frozen container"
            case .signal(let signal):
                "the worker crashed with signal \(signal)\(location) in \(tries); the picture is set aside\(words)"
            case .exited(let code):
                "the worker left with exit code \(code)\(location) in \(tries); the picture is set aside\(words)"
            case .brokeProtocol(let what): "the worker sent what is no answer to its task\(location): \(what)\(words)"
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
