import Glibc
package import Scheduling
package import Subprocess

/// All that is known of a process that has ended, and what follows from it.
package struct WorkerExit: Hashable, Sendable {
    let executable: String
    let status: TerminationStatus
    let becameReady: Bool
    let endsByOrder: Bool
    let brokeProtocol: String?
    /// The kernel counted an out-of-memory kill since the process got its latest order.
    let memoryRanOut: Bool

    package init(
        executable: String, status: TerminationStatus, becameReady: Bool, endsByOrder: Bool, brokeProtocol: String?,
        memoryRanOut: Bool
    ) {
        self.executable = executable
        self.status = status
        self.becameReady = becameReady
        self.endsByOrder = endsByOrder
        self.brokeProtocol = brokeProtocol
        self.memoryRanOut = memoryRanOut
    }

    package var manner: Death.Manner {
        if let problem = brokeProtocol { return .brokeProtocol(problem) }
        if endsByOrder {
            return becameReady
                ? .byOrder : .failedToStart("\(executable) was not ready within \(WorkerProcess.startLimit)")
        }
        switch status {
        case .signaled(SIGKILL): return memoryRanOut ? .outOfMemory : .killed
        case _ where !becameReady: return .failedToStart("\(executable) ended before it was ready (\(status))")
        case .signaled(let signal): return .signal(signal)
        case .exited(let code): return .exited(code)
        }
    }
}
