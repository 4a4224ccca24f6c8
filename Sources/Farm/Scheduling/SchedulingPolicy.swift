package import JobModel
package import WorkerProtocol

/// Every number that the scheduler decides by.
package struct SchedulingPolicy: Hashable, Sendable {
    package let retry: RetryPolicy
    package let time: TimePolicy
    package let shard: ShardPolicy
    package let verify: VerifyLevel
    package let workers: Int
    package let seed: UInt64
    /// So many failed frames stop the run; nil for any number.
    package let failureLimit: Int?
    /// Frames that failed before the run began.
    package let failedBefore: Int
    /// Frames whose outputs wait to be published, at most.
    package let mostPublishing = 512
    /// Frames held at once: enough that no worker waits for the plan. The plan answers at once, so thousands of workers
    /// do not take thousands of frames in store.
    package var openFrames: Int { workers + min(workers, 1024) }
    /// A worker that is not heard of for so long is stopped, or as good as that.
    package let silenceLimit: Duration
    /// Whether leases expire and silent workers are stopped; not where work may wait in a queue for hours, and whoever
    /// does it in the end looks at the time himself.
    package let endsLateWork: Bool
    /// Frames that may have canvases and tiles in scratch space at once.
    package let tiledFrames: Int
    /// The filters that are plugins; nil where nobody knows.
    package var plugins: Set<String>?
    /// A plugin that crashes on this many pictures stops the job.
    package let pluginFaultLimit = 3
    /// So many starts in a row that never became ready mean that none will.
    package var startLimit: Int { 3 * workers }
    /// So many kills in a row before any worker was ready are no accident, nor somebody's test.
    package var killedStartLimit: Int { 100 * workers }

    package init(
        retry: RetryPolicy, time: TimePolicy, shard: ShardPolicy, verify: VerifyLevel, workers: Int, seed: UInt64,
        failureLimit: Int? = nil, failedBefore: Int = 0, silenceLimit: Duration = .seconds(30),
        endsLateWork: Bool = true, tiledFrames: Int = 1
    ) {
        self.tiledFrames = tiledFrames
        self.silenceLimit = silenceLimit
        self.endsLateWork = endsLateWork
        self.failureLimit = failureLimit
        self.failedBefore = failedBefore
        self.retry = retry
        self.time = time
        self.shard = shard
        self.verify = verify
        self.workers = workers
        self.seed = seed
    }
}

/// How long an attempt may take before its worker counts as hung.
package struct TimePolicy: Hashable, Sendable {
    package let limit: TimeLimit

    package init(limit: TimeLimit) { self.limit = limit }

    /// With `auto`: two minutes, and half a minute more for every megapixel and filter. That is some hundred times
    /// what the work takes, so only what hangs is ever killed, and what hangs does not hold a worker for ever. Where a
    /// chain is estimated to take long, its limit is twenty times that.
    ///
    /// - Parameter cost: of the frame, in seconds of a core's time, roughly.
    package func timeLimit(megapixels: Double, filters: Int, cost: Double = 0) -> Duration {
        let seconds =
            switch limit {
            case .seconds(let seconds): seconds
            case .auto: 120 + max(30 * megapixels * Double(1 + filters), 20 * cost)
            }
        // Sizes and costs are what a worker says.
        return .seconds(min(seconds, Self.mostSeconds))
    }

    /// A year: no attempt takes longer.
    private static let mostSeconds = 365.0 * 24 * 3600
}

/// Which bands of an output are rendered again.
package enum AuditPolicy {
    /// One band in twenty, at least one, chosen evenly at random.
    package static func sample(
        _ bands: [BandReceipt], using random: inout some RandomNumberGenerator
    ) -> [BandReceipt] {
        let count = (bands.count + 19) / 20
        let chosen = bands.indices.shuffled(using: &random).prefix(count).sorted()
        return chosen.map { bands[$0] }
    }
}
