/// How a worker process ended although it was still needed.
package struct Death: Hashable, Sendable, Codable {
    package enum Manner: Hashable, Sendable, Codable {
        /// A fault signal: the code that ran crashed.
        case signal(Int32)
        /// The process exited by itself, for example because a plugin called `exit`.
        case exited(Int32)
        /// SIGKILL from outside, with no proof of an out-of-memory kill.
        case killed
        /// SIGKILL, and the kernel counted an out-of-memory kill at the same moment.
        case outOfMemory
        /// The scheduler ordered it to be killed.
        case byOrder
        /// The scheduler ordered it to be killed after this time without a message.
        case silent(Duration)
        /// It sent something that is no message, or no answer to its task.
        case brokeProtocol(String)
        /// It ended before it was ready, or could not be started.
        case failedToStart(String)
        /// The cluster's job with the task ended before it began the task, so the task is not to blame. Contains which
        /// job, and why.
        case elementLost(String)
        /// The cluster's job ended while it did this task, so the task may be to blame.
        case elementFailed(String)
    }

    package let manner: Manner
    /// The end of its standard error.
    package let lastWords: String

    /// The process is not to blame: someone killed or stopped it.
    var isFromOutside: Bool {
        switch manner {
        case .killed, .silent, .elementLost: true
        case .signal, .exited, .outOfMemory, .byOrder, .brokeProtocol, .failedToStart, .elementFailed: false
        }
    }

    /// A process died by itself or was killed by someone else. False if the scheduler gave up waiting.
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

    /// SIGSYS. The kernel sends it for a refused system call.
    package static let sandboxSignal: Int32 = 31

    /// How a worker begins to say for which system call the sandbox ended it.
    private static let explanation = "penumbra-worker: the sandbox refused "

    /// How a worker begins to say at which limit of memory it ended itself.
    private static let memoryExplanation = "penumbra-worker: memory ran out at its limit, "

    /// The name of the system call for which the sandbox ended the process. Nil for any other end.
    var refusedCall: String? {
        guard case .signal(Self.sandboxSignal) = manner, let start = lastWords.ranges(of: Self.explanation).last
        else { return nil }
        // A worker that was taken over may say anything.
        let name = lastWords[start.upperBound...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return name.isEmpty || name.count > 32 ? nil : String(name)
    }

    /// The limit that the coordinator had set for its memory, in MB, if it crashed because it got no more. Otherwise nil.
    var reachedMegabytes: Int? {
        guard case .signal = manner, let start = lastWords.ranges(of: Self.memoryExplanation).last else { return nil }
        return Int(lastWords[start.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }
}

extension Death.Manner {
    /// The text that it contains. Empty if it has none.
    package var foreignWords: String {
        switch self {
        case .brokeProtocol(let text), .failedToStart(let text), .elementLost(let text), .elementFailed(let text): text
        case .signal, .exited, .killed, .outOfMemory, .byOrder, .silent: ""
        }
    }
}

/// Why the scheduler ends a worker.
package enum Dismissal: Hashable, Sendable {
    /// Its lease expired.
    case overdue
    /// The worker sent no message for this time.
    case silent(Duration)
    /// It sent an answer that does not fit its task. The text says why, as the second half of a sentence.
    case brokeProtocol(String)
    /// The run stops.
    case stopping
    /// A fresh process should replace it. The worker is not killed but exits by itself.
    case recycled
    /// Its slot is retired. The worker exits by itself.
    case retired

    /// Whether the worker is killed. A stopped process cannot exit by itself.
    var isKill: Bool {
        switch self {
        case .overdue, .silent, .brokeProtocol, .stopping: true
        case .recycled, .retired: false
        }
    }
}

extension Death {
    /// The death with the reason of the scheduler's own order.
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
    /// The failure of a frame whose worker died.
    ///
    /// - Parameters:
    ///   - lease: The last attempt.
    ///   - plugin: The plugin whose code ran in the worker.
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
            case .signal(Death.sandboxSignal):
                "the worker was stopped by its sandbox (\(death.refusedCall ?? "SIGSYS"))\(location) in \(tries); the picture is "
                    + "set aside\(death.refusedCall == nil ? words : "")"
            case .signal where death.reachedMegabytes != nil:
                "the worker needed more memory\(location) than the \(death.reachedMegabytes ?? 0) MB that the sandbox allows for this "
                    + "task, in \(tries); look at the picture; if it is sound, raise 'memory', or give fewer --workers"
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
        let cause: Cause =
            if history.isKilledByPlugin {
                .plugin
            } else if death.reachedMegabytes != nil, plugin == nil {
                .outOfMemory
            } else {
                Self.cause(of: death.manner, plugin: plugin)
            }
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
