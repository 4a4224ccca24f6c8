package import Scheduling
package import WorkerProtocol

/// How a task ended where it was done.
package struct TaskEnd: Hashable, Sendable, Codable {
    package enum Outcome: Hashable, Sendable, Codable {
        case done(TaskReceipt)
        case failed(TaskFailure)
        /// With the worker, in the code of these plugins.
        case died(Death, inPlugins: [String])
    }

    package let lease: LeaseID
    package let outcome: Outcome

    package init(_ lease: LeaseID, _ outcome: Outcome) {
        self.lease = lease
        self.outcome = outcome
    }
}

/// A line of an attempt's log, `results/K.EPOCH-ATTEMPT.log`: what is known of the attempt if it never comes to its end.
package enum AttemptLine: Hashable, Sendable, Codable {
    case begun(LeaseID)
    case ended(TaskEnd)
}

/// What an attempt at a shard came to: `results/K.EPOCH.ATTEMPT.json`, which appears whole or not at all.
package struct ShardResult: Hashable, Sendable, Codable {
    package let shard: Shard.ID
    package let attempt: String
    /// Where it was done, as messages name it: `element 12_3 on n2`.
    package let place: String
    package let ends: [TaskEnd]
    /// Why nothing, or nothing more, can be done in that place; nil when all is well.
    package let refusal: String?

    package init(shard: Shard.ID, attempt: String, place: String, ends: [TaskEnd], refusal: String? = nil) {
        self.shard = shard
        self.attempt = attempt
        self.place = place
        self.ends = ends
        self.refusal = refusal
    }
}

extension AttemptLine: SharedRecord {
    /// Its lease is looked up, and never reckoned with.
    package var isPlausible: Bool { true }
}

extension ShardResult: SharedRecord {
    package var isPlausible: Bool { shard.isPlausible }
}
