import FoundationEssentials
import JobModel
import Planning
import SafeFiles
import Synchronization

/// What other machines have to do with a run.
extension RunFolder {
    /// The run as other machines see it, where its folder is not in the state folder of this one.
    package var shared: SharedRun { SharedRun(place: state, name: name) }

    /// Lets another coordinator have the run at once, wherever it is.
    package func release() {
        // Else it waits for a minute.
        try? CoordinatorClaim.release(epoch: epoch, in: path)
    }

    /// From time to time, for whoever cannot see this coordinator's lock.
    ///
    /// - Parameter left: frames that are to be done yet.
    func beat(at now: ContinuousClock.Instant, left: () -> Int) {
        let isDue = lastBeat.withLock { last in
            if let last, last.duration(to: now) < CoordinatorClaim.heartbeat { return false }
            last = now
            return true
        }
        guard isDue else { return }
        CoordinatorClaim.beat(epoch: epoch, in: path)
        // Only `status --run-dir` reads it.
        guard FileSystem.exists("\(path)/run.json") else { return }
        shared.note(left: left())
    }

    /// Removes a place that other machines see when nothing is left in it, and folders that were made for it.
    ///
    /// - Parameter begin: older folders stay; for a list of them that may be anybody's.
    static func tidy(_ place: String, _ created: [String], changedSince begin: Int64 = .min) {
        do {
            guard let gate = try? gate(place) else { return }
            defer { withExtendedLifetime(gate) {} }
            FileSystem.removeIfEmpty("\(place)/runs")
            guard !FileSystem.exists("\(place)/runs") else { return }
            FileSystem.remove("\(place)/runs.lock")
        }
        // On a network file system what is open stays in its folder until it is closed.
        FileSystem.removeIfEmpty(place)
        for folder in created.reversed() { FileSystem.removeIfEmpty(folder, changedSince: begin) }
    }
}
