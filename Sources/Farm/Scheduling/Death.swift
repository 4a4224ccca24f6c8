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
