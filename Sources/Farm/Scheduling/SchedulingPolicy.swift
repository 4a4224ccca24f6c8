package import JobModel
package import WorkerProtocol

/// All numbers that the scheduler decides by.
package struct SchedulingPolicy: Hashable, Sendable {
    package let retry: RetryPolicy
    package let time: TimePolicy
    package let shard: ShardPolicy
    package let verify: VerifyLevel
    package let workers: Int
    package let seed: UInt64
    /// The number of failed frames that stops the run. Nil for no limit.
    package let failureLimit: Int?
    /// Frames that failed before the run began.
    package let failedBefore: Int
    /// The largest number of frames whose outputs wait to be published.
    package let mostPublishing = 512
    /// The number of frames held at once. No worker has to wait for the plan, which answers at once, so a thousand
    /// workers need few frames in reserve.
    package var openFrames: Int { workers + min(workers, 1024) }
    /// A worker that sends no message for this time is killed.
    package let silenceLimit: Duration
    /// Whether leases expire and silent workers are killed. False if work may wait in a queue for hours. Then the
    /// element that does the work checks the time.
    package let endsLateWork: Bool
    /// The number of frames that may have canvases and tiles in scratch space at once.
    package let tiledFrames: Int
    /// Whether one task probes and renders a small picture. False if tasks are grouped by the time that a probe has estimated, or if
    /// results of separate tasks may exist already.
    package let joinsSmallTasks: Bool
    /// The filters that are plugins. Nil if unknown.
    package var plugins: Set<String>?
    /// A plugin that crashes on this many pictures stops the job.
    package let pluginFaultLimit = 3
    /// After this number of starts in a row that never became ready, none will.
    package var startLimit: Int { 3 * workers }
    /// After this number of kills in a row before any worker was ready, the kills are neither accidents nor a test.
    package var killedStartLimit: Int { 100 * workers }

    package init(
        retry: RetryPolicy, time: TimePolicy, shard: ShardPolicy, verify: VerifyLevel, workers: Int, seed: UInt64,
        failureLimit: Int? = nil, failedBefore: Int = 0, silenceLimit: Duration = .seconds(30),
        endsLateWork: Bool = true, tiledFrames: Int = 1, joinsSmallTasks: Bool = false
    ) {
        self.joinsSmallTasks = joinsSmallTasks
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

/// The time after which an attempt's worker counts as hung.
package struct TimePolicy: Hashable, Sendable {
    package let limit: TimeLimit

    package init(limit: TimeLimit) { self.limit = limit }

    /// With `auto`: two minutes, and half a minute more for every megapixel and filter. This is some hundred times what
    /// the work takes, so only hanging workers are killed. If a chain is estimated to take long, the limit is twenty
    /// times the estimate.
    ///
    /// - Parameter cost: An estimate of one core's time for the frame, in seconds.
    package func timeLimit(megapixels: Double, filters: Int, cost: Double = 0) -> Duration {
        let seconds =
            switch limit {
            case .seconds(let seconds): seconds
            case .auto: 120 + max(30 * megapixels * Double(1 + filters), 20 * cost)
            }
        // Sizes and costs come from a worker and may be wrong.
        return .seconds(min(seconds, Self.mostSeconds))
    }

    /// A year. No attempt takes longer.
    private static let mostSeconds = 365.0 * 24 * 3600
}

/// Chooses the bands of an output that are rendered again.
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
