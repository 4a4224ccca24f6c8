/// A change of all jobs that a filter matches.
///
/// The first request has no expected count, changes nothing, and is answered with the count. The second one has the
/// count, so that nobody changes jobs that he has not seen.
package enum BulkAction: Hashable, Sendable {
    case hold
    case release
    case cancel
    case runNext
    case retry
    case setPriority(Priority)
    /// Nil removes the label.
    case setLabel(String, String?)

    /// Who asks, and what the queue knows.
    package struct Context {
        package let owner: Owner
        /// Nil if he may choose every priority.
        package let limit: PriorityLimit?
        package let now: WallTime
        /// The number of the first retry.
        package let nextID: JobID
        /// Looks up a job that others need.
        package let known: (JobID) -> KnownJob?

        package init(
            owner: Owner, limit: PriorityLimit? = nil, now: WallTime, nextID: JobID,
            known: @escaping (JobID) -> KnownJob?
        ) {
            self.owner = owner
            self.limit = limit
            self.now = now
            self.nextID = nextID
            self.known = known
        }
    }

    package enum Outcome: Hashable, Sendable {
        /// So many jobs match. Nothing was changed.
        ///
        /// - Parameter possible: How many of them the action can change. Nil for all.
        case count(Int, possible: Int? = nil)
        case done(Changes)
    }

    package struct Changes: Hashable, Sendable {
        /// Jobs that are changed, by number.
        package var changed: [Submission] = []
        /// New jobs: the retries, by number.
        package var submitted: [Submission] = []
        /// Why other jobs were not changed.
        package var refused: [Refusal] = []

        package init() {}
    }

    /// Another number of jobs matches than was expected. Nothing was changed.
    package struct Mismatch: Error, Hashable, Sendable {
        package let expected: Int
        package let found: Int

        package var message: String {
            "the filter matches \(found) \(found == 1 ? "job" : "jobs"), not \(expected)\n   = look at the list again, and "
                + "repeat the action with \(found)"
        }
    }

    /// So many jobs are changed at once: all of them are in memory.
    package static let mostJobs = 20_000
    /// The same for the texts of their manifests, in bytes.
    package static let mostManifestBytes = 32 << 20

    /// Too many jobs match. Nothing was changed.
    package struct TooLarge: Error, Hashable, Sendable {
        package init() {}

        package var message: String {
            "the filter matches more than \(BulkAction.mostJobs) jobs, or more than \(BulkAction.mostManifestBytes >> 20) MB of uploaded "
                + "manifests\n   = choose fewer jobs, by their names or labels"
        }
    }

    /// - Parameters:
    ///   - jobs: All jobs that may match, ended ones included.
    ///   - expected: Nil to count the jobs only.
    package func apply(
        to jobs: some Sequence<Submission>, matching filter: JobFilter, expecting expected: Int?, _ context: Context
    ) throws -> Outcome {
        let matching = jobs.filter(filter.matches).sorted { $0.id < $1.id }
        guard let expected else {
            let possible = matching.count { fits($0, context.known) }
            return .count(matching.count, possible: possible == matching.count ? nil : possible)
        }
        guard expected == matching.count else { throw Mismatch(expected: expected, found: matching.count) }
        var changes = Changes()
        var retries: [JobID: JobID] = [:]
        for job in matching {
            do {
                if self == .retry {
                    let retry = try self.retry(job, after: changes.submitted.count, retries, context)
                    retries[job.id] = retry.id
                    changes.submitted.append(retry)
                } else {
                    var changed = job
                    try apply(to: &changed, context)
                    if changed != job { changes.changed.append(changed) }
                }
            } catch let refusal as Refusal {
                changes.refused.append(refusal)
            }
        }
        return .done(changes)
    }

    /// Whether a job's state allows the action, or is as the action would have it.
    ///
    /// - Parameter known: Looks up retries of a job.
    package func fits(_ job: Submission, _ known: (JobID) -> KnownJob?) -> Bool {
        switch self {
        case .hold, .release:
            switch job.state {
            case .held, .waiting: true
            case .starting, .running: self == .release
            case .ended: false
            }
        case .cancel, .setPriority: !job.state.isEnded
        case .runNext: !job.state.isEnded && job.state.name != .held
        case .retry: job.canBeRetried && known(job.id)?.retriedAs == nil
        case .setLabel: true
        }
    }

    private func apply(to job: inout Submission, _ context: Context) throws {
        switch self {
        case .hold: try job.hold()
        case .release: try job.release(at: context.now)
        case .cancel: try job.cancel(by: context.owner, at: context.now)
        case .runNext: try job.runNext(at: context.now)
        case .setPriority(let priority): try job.set(priority)
        case .setLabel(let name, let value):
            var labels = job.labels
            try labels.set(name, to: value)
            job.set(labels)
        case .retry: break
        }
    }

    /// A retry may need earlier ones of the same action.
    ///
    /// A job that was retried already is refused. A filter still matches it, so an action that is repeated, or that comes again a day
    /// later, would otherwise do the same work twice.
    private func retry(
        _ job: Submission, after count: Int, _ retries: [JobID: JobID], _ context: Context
    ) throws -> Submission {
        let made = Set(retries.values)
        let retry = try job.retry(
            as: JobID(context.nextID.number + count), by: context.owner, digest: job.digest,
            limit: context.limit, at: context.now
        ) { id in
            if made.contains(id) { return KnownJob(ended: nil) }
            guard let known = context.known(id) else { return nil }
            return KnownJob(ended: known.ended, retriedAs: retries[id] ?? known.retriedAs)
        }
        if let earlier = context.known(job.id)?.retriedAs { throw Refusal(job.id, .wasRetried(as: earlier)) }
        return retry
    }
}
