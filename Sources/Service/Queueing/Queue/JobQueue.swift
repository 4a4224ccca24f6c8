/// All jobs that have not ended, and the ends of those that they need.
///
/// It is a value, and performs no I/O. The database has the same jobs. The service changes both through
/// ``change(_:known:_:)``, and asks ``decision(_:wants:at:)`` what to start.
package struct JobQueue: Sendable {
    /// Jobs that have not ended, by number.
    package private(set) var jobs: [Submission] = []
    /// Ends of jobs that others need. It may contain more.
    private(set) var ends: [JobID: JobState.Ended] = [:]
    /// When a process of a job has left its run last. Nil if none did since the queue was made. A lock may be free since then.
    private(set) var lastRunEnd: WallTime?
    /// The number of ``ends`` at which those that no job needs are removed.
    private var pruneLimit = leastPruneLimit

    private static let leastPruneLimit = 1024

    package init() {}

    /// The job with a number. Nil if it has ended, or does not exist.
    package subscript(id: JobID) -> Submission? {
        let index = index(of: id)
        return index < jobs.count && jobs[index].id == id ? jobs[index] : nil
    }

    /// The end of a job. Nil if it has not ended, or if no job of the queue needs it.
    package func end(of id: JobID) -> JobState.Ended? { ends[id] }

    /// Adds a job, or replaces it. An ended job is kept only as far as others need it.
    ///
    /// A new job takes amortized O(1), because its number is the highest. An end takes O(n) to close the gap.
    ///
    /// - Parameter known: Looks up a job that it needs and that is not in the queue.
    package mutating func put(_ job: Submission, known: (JobID) -> KnownJob?) {
        let index = index(of: job.id)
        let isKnown = index < jobs.count && jobs[index].id == job.id
        if isKnown, jobs[index].state.hasProcess, let time = job.state.runEnd {
            lastRunEnd = max(lastRunEnd ?? time, time)
        }
        switch job.state {
        case .ended(let ended):
            if isKnown { jobs.remove(at: index) }
            ends[job.id] = ended
            if ends.count >= pruneLimit { prune() }
        case .held, .waiting, .starting, .running:
            if isKnown { jobs[index] = job } else { jobs.insert(job, at: index) }
            for need in job.needs where ends[need.job] == nil && self[need.job] == nil {
                ends[need.job] = known(need.job)?.ended
            }
        }
    }

    /// Adds or replaces several jobs. All that have ended leave the queue in one pass.
    package mutating func put(_ jobs: [Submission], known: (JobID) -> KnownJob?) {
        let ended = Set(jobs.lazy.filter(\.state.isEnded).map(\.id))
        if ended.count > 1 { self.jobs.removeAll { ended.contains($0.id) } }
        for job in jobs { put(job, known: known) }
    }

    /// Changes a job, and returns it as it is now. If the change is refused, nothing changes.
    ///
    /// - Parameter known: Looks up jobs, for a change of what the job needs.
    @discardableResult
    package mutating func change(
        _ id: JobID, known: (JobID) -> KnownJob? = { _ in nil }, _ change: (inout Submission) throws(Refusal) -> Void
    ) throws(Refusal) -> Submission {
        guard var job = self[id] else {
            throw Refusal(id, ends[id].map { .hasEnded($0.end) } ?? .unknownJob)
        }
        try change(&job)
        put(job, known: known)
        return job
    }

    /// Jobs that would be skipped if this one did not succeed: those that need its success, and so on. By number. Takes
    /// O(n).
    package func dependents(on id: JobID) -> [JobID] {
        var lost: Set<JobID> = [id]
        var dependents: [JobID] = []
        // Every job needs only earlier ones.
        for job in jobs[index(of: id)...]
        where job.needs.contains(where: { $0.on == .success && lost.contains($0.job) }) {
            lost.insert(job.id)
            dependents.append(job.id)
        }
        return dependents
    }

    /// The number of jobs below an identifier, which is its place. Binary search.
    private func index(of id: JobID) -> Int {
        guard let last = jobs.last, id <= last.id else { return jobs.count }
        var range = 0..<jobs.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = jobs[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Amortized, this costs next to nothing, because the limit doubles with what is kept.
    private mutating func prune() {
        let needed = Set(jobs.flatMap { $0.needs.map(\.job) })
        ends = ends.filter { needed.contains($0.key) }
        pruneLimit = max(Self.leastPruneLimit, 2 * ends.count)
    }
}

extension JobState {
    /// When its process has left the run. Nil if a lock kept the process from having one: two jobs that wait for a lock would wake each
    /// other without end.
    fileprivate var runEnd: WallTime? {
        switch self {
        case .held, .starting, .running: nil
        case .waiting(let waiting): waiting.pause?.cause == .locked ? nil : waiting.since
        case .ended(let ended): ended.time
        }
    }
}
