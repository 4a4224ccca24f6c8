package import JobModel
package import JobStorage
package import Scheduling

/// A stored run as it is now: what the database or `run.json` says, and what its folder says.
package struct RunStatus: Sendable {
    package let stored: RunRecord
    package let condition: Condition
    package var counts: RunCounts { stored.counts }

    package enum Condition: String, Sendable {
        case running
        case paused
        /// Its coordinator was killed. It can be resumed.
        case interrupted
        /// A cluster or another scheduler has it. No coordinator lives.
        case detached
        case done
        /// All frames were tried, and some failed.
        case failed
        /// It ended before all its frames were tried.
        case stopped

        /// Somebody works on it, or will.
        package var isGoingOn: Bool { self == .running || self == .paused || self == .detached }
        package var isEnded: Bool { self == .done || self == .failed || self == .stopped }
        package var canBeResumed: Bool { self == .interrupted || self == .paused }
    }

    /// It repeats some frames of another run.
    package var isRetry: Bool { RunRequest(text: stored.request)?.isRetry ?? false }

    /// The run's folder where other machines see it; nil for a run of this machine alone.
    package let sharedFolder: String?
    package let folder: RunFolder

    /// ``RunOutcome/number``; nil until it has ended.
    package let exitCode: Int?
    package let reason: String?
    /// Nanoseconds since 1970.
    package let ended: Int64?

    /// Reads the run's folder.
    ///
    /// - Parameters:
    ///   - detached: the runs whose folders are outside the state folder.
    ///   - isHandedOver: this process has just handed it over, and still holds its lock.
    package init(_ stored: RunRecord, state: String, detached: [RunFolder] = [], isHandedOver: Bool = false) {
        self.stored = stored
        let shared = detached.first { $0.name == stored.name }
        folder = shared ?? RunFolder(state: state, name: stored.name)
        sharedFolder = shared != nil || folder.record != nil ? folder.path : nil
        guard case .ended(let end) = stored.state else {
            (exitCode, ended) = (nil, nil)
            condition = isHandedOver ? .detached : Self.condition(of: folder)
            reason = condition.isGoingOn ? nil : folder.lastStop
            return
        }
        (exitCode, reason, ended) = (end.exitCode, end.reason, end.time)
        condition = end.reason != nil ? .stopped : end.exitCode == 0 ? .done : .failed
    }

    private static func condition(of folder: RunFolder) -> Condition {
        if folder.isAlive { return folder.isAsked(.pause) ? .paused : .running }
        return folder.isAsked(.detached) ? .detached : .interrupted
    }
}

extension StoredFrame {
    package var id: FrameID { FrameID(number, page: page) }
}
