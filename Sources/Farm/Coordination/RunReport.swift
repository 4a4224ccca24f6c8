import JobModel
package import Scheduling
package import WorkerProtocol

/// How one frame ended, as it is told to the user.
package struct FrameReport: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case published([Publication], probe: ProbeReceipt)
        case skipped(reason: String)
        /// Nothing was made, and some of its outputs are kept.
        case kept
        /// Failed in an earlier run (seconds since 1970), and not tried again.
        case stillBroken(since: Int, message: String)
        case failed(FrameFailure)
        case left
    }

    /// Its place in the job's sorted inputs, from 1; a folder that could not be listed has one behind them.
    package let index: Int
    /// From 0; of a file whose pages are frames.
    package let page: Int
    /// Absolute paths.
    package let input: String
    /// The input's path as the filesystem has it, where it is not UTF-8 and `input` is only like it.
    package let inputBytes: [UInt8]?
    /// Empty where they are not known.
    package let outputs: [String]
    /// Those that stay as they are, whatever became of the others.
    package let kept: [KeptOutput]
    package let state: State
    /// From its first task to its end; nil where no worker had it.
    package let seconds: Double?

    package init(
        index: Int, page: Int = 0, input: String, inputBytes: [UInt8]? = nil, outputs: [String],
        kept: [KeptOutput] = [], state: State, seconds: Double? = nil
    ) {
        self.kept = kept
        self.page = page
        self.seconds = seconds
        self.index = index
        self.input = input
        self.inputBytes = inputBytes
        self.outputs = outputs
        self.state = state
    }
}

/// What is going on, for a progress bar.
package struct RunProgress: Hashable, Sendable {
    package let done: Int
    package let failed: Int
    package let total: Int
    package let elapsed: Duration
    package let scheduler: Scheduler.Progress

    init(_ summary: RunSummary, elapsed: Duration, scheduler: Scheduler.Progress) {
        done = summary.total - summary.open
        failed = summary.failures.count
        total = summary.total
        self.elapsed = elapsed
        self.scheduler = scheduler
    }
}

/// How a run ended.
package struct RunSummary: Hashable, Sendable {
    package var total = 0
    package var published = 0
    package var skipped = 0
    /// In the order of their failing.
    package var failures: [FrameReport] = []
    /// Frames of which nothing was made, and some outputs are kept.
    package var kept = 0
    /// Of all frames.
    package var keptOutputs: [KeptOutput] = []
    /// How many of these are beside outputs that were made, or were to be made.
    package var keptBeside = 0
    package var stillBroken: [FrameReport] = []
    package var left = 0
    /// The longest ones, the longest first.
    package var slowest: [FrameReport] = []
    package var bytesRead = 0
    package var bytesWritten = 0
    package var megapixels = 0.0
    package var elapsed: Duration = .zero
    package var stop: StopReason?
    /// Workers that died and were replaced.
    package var workersLost = 0
    /// Attempts that came back sooner than they can have been made, and were audited.
    package var flagged = 0
    /// Slots that are used no more.
    package var retired: [Retirement] = []

    /// How many frames failed of each cause, with those causes that no frame had.
    package var failedByCause: [String: Int] {
        var counts = Dictionary(uniqueKeysWithValues: FrameFailure.Cause.allCases.map { ($0.rawValue, 0) })
        for case .failed(let failure) in failures.map(\.state) { counts[failure.cause.rawValue, default: 0] += 1 }
        return counts
    }

    package init() {}

    package mutating func add(_ report: FrameReport) {
        switch report.state {
        case .published(let outputs, let probe):
            published += 1
            bytesRead += outputs.first?.source.stamp.size ?? 0
            bytesWritten += outputs.reduce(0) { $0 + $1.receipt.bytes }
            megapixels += probe.megapixels
        case .skipped: skipped += 1
        case .kept: kept += 1
        case .stillBroken: stillBroken.append(report)
        case .failed: failures.append(report)
        case .left: left += 1
        }
        keptOutputs += report.kept
        if report.state != .kept { keptBeside += report.kept.count }
        if let seconds = report.seconds { addSlow(report, seconds) }
    }

    private static let slowFrames = 5

    private mutating func addSlow(_ report: FrameReport, _ seconds: Double) {
        guard slowest.count < Self.slowFrames || seconds > slowest.last?.seconds ?? 0 else { return }
        let place = slowest.firstIndex { $0.seconds ?? 0 < seconds } ?? slowest.count
        slowest.insert(report, at: place)
        slowest = Array(slowest.prefix(Self.slowFrames))
    }

    /// Frames that have come to an end.
    var concluded: Int { published + skipped + failures.count + kept + stillBroken.count }

    /// False when everything was as it had been left.
    package var didSomething: Bool { published > 0 || !failures.isEmpty || left > 0 || stop != nil || !retired.isEmpty }

    /// Frames whose end is not known yet.
    var open: Int { total - published - skipped - kept - stillBroken.count - failures.count - left }
}

extension RunOutcome {
    package init(_ reason: StopReason) {
        switch reason {
        case .interrupted(let signal): self.init(signal: signal)
        case .storage: self = .storage
        case .engine, .resourceLimit, .cluster, .lastSlot: self = .unavailable
        case .pluginFault, .failures: self = .someFailed
        case .deadline: self = .workLeft
        case .cancelled, .superseded: self = .interrupted
        case .detached: self = .done
        }
    }

    /// - Parameter isStrict: broken pictures that are known, and outputs that are kept, count as failures too.
    package init(_ summary: RunSummary, isStrict: Bool = false) {
        if let reason = summary.stop {
            self.init(reason)
        } else {
            let hasTroubles = !(summary.stillBroken.isEmpty && summary.keptOutputs.isEmpty)
            self = summary.failures.isEmpty && !(isStrict && hasTroubles) ? .done : .someFailed
        }
    }
}

/// Is told what happens during a run. Called from one task at a time.
package protocol RunObserver: Sendable {
    func began(frames: Int)
    func progressed(_ progress: RunProgress)
    func concluded(_ report: FrameReport)
    /// It has so much to do that no further frames should begin. Asked for at every tick.
    var isBehind: Bool { get }
}

extension RunObserver {
    package var isBehind: Bool { false }
}
