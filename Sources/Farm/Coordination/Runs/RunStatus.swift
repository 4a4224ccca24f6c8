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
    /// The state folder, or the shared folder of runs, that holds the run's folder.
    package let place: String

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
    package init(_ stored: RunRecord, state: String, detached: [SharedRun] = [], isHandedOver: Bool = false) {
        self.stored = stored
        let shared = detached.first { $0.name == stored.name }
        let run = shared ?? SharedRun(place: state, name: stored.name)
        place = run.place
        sharedFolder = shared != nil || run.record != nil ? run.folder : nil
        guard case .ended(let end) = stored.state else {
            (exitCode, ended) = (nil, nil)
            condition = isHandedOver ? .detached : Self.condition(of: stored.name, in: run.place)
            reason = condition.isGoingOn ? nil : run.lastStop
            return
        }
        (exitCode, reason, ended) = (end.exitCode, end.reason, end.time)
        condition = end.reason != nil ? .stopped : end.exitCode == 0 ? .done : .failed
    }

    private static func condition(of run: String, in place: String) -> Condition {
        let requests = ControlFiles.of(run: run, state: place)
        if ControlFiles.isAlive(run: run, state: place) { return requests.isPaused ? .paused : .running }
        return requests.isDetached ? .detached : .interrupted
    }
}

extension StoredFrame {
    package var id: FrameID { FrameID(number, page: page) }
}
