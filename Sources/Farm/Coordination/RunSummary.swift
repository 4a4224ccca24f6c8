package import JobModel
package import Scheduling
package import WorkerProtocol

/// The result of one frame, for reports.
package struct FrameReport: Hashable, Sendable {
    /// Its index in the job's sorted inputs, from 1. Folders that could not be listed follow the inputs.
    package let index: Int
    /// From 0, if the pages of a file are frames.
    package let page: Int
    /// Absolute paths.
    package let input: String
    /// The bytes of the input's path if they are not UTF-8. Then `input` is only similar.
    package let inputBytes: [UInt8]?
    /// Empty if they are not known.
    package let outputs: [String]
    /// The outputs that are kept, whatever happened to the others.
    package let kept: [KeptOutput]
    package let state: FrameResult
    /// The outputs that this run published.
    package let publications: [Publication]
    /// What the probe of the input found, for a published frame.
    package let probe: ProbeReceipt?
    /// From its first task to its end; nil if no worker had it.
    package let seconds: Double?

    package init(
        index: Int, page: Int = 0, input: String, inputBytes: [UInt8]? = nil, outputs: [String],
        kept: [KeptOutput] = [], state: FrameResult, publications: [Publication] = [], probe: ProbeReceipt? = nil,
        seconds: Double? = nil
    ) {
        self.kept = kept
        self.page = page
        self.seconds = seconds
        self.index = index
        self.input = input
        self.inputBytes = inputBytes
        self.outputs = outputs
        self.state = state
        self.publications = publications
        self.probe = probe
    }

    /// Why it failed; nil if it did not.
    var failure: FrameFailure? {
        guard case .failed(let cause, let message) = state else { return nil }
        return FrameFailure.Cause(rawValue: cause).map { FrameFailure($0, message) }
    }
}

extension FrameResult {
    package static func failed(_ failure: FrameFailure) -> FrameResult {
        .failed(cause: failure.cause.rawValue, message: failure.message)
    }
}

/// The progress of a run.
package struct RunProgress: Hashable, Sendable {
    package let done: Int
    package let failed: Int
    package let total: Int
    /// Of published frames.
    package let megapixels: Double
    package let elapsed: Duration
    package let scheduler: Scheduler.Progress

    package init(_ summary: RunSummary, elapsed: Duration, scheduler: Scheduler.Progress) {
        done = summary.frames - summary.counts.open
        failed = summary.failed
        total = summary.frames
        megapixels = summary.counts.megapixels
        self.elapsed = elapsed
        self.scheduler = scheduler
    }
}

/// The result of a run: its counts, and notable frames.
@dynamicMemberLookup package struct RunSummary: Hashable, Sendable {
    /// ``RunCounts/work`` and ``RunCounts/notes`` are set when the run is stored.
    package var counts = RunCounts()
    /// In the order of the failures.
    package var failures: [FrameReport] = []
    /// The kept outputs of all frames.
    package var keptOutputs: [KeptOutput] = []
    /// How many of them belong to frames with other outputs that were rendered or should be.
    package var keptBeside = 0
    package var stillBroken: [FrameReport] = []
    /// The slowest frames, the slowest first.
    package var slowest: [FrameReport] = []
    package var bytesRead = 0
    package var stop: StopReason?
    /// Workers that died and were replaced.
    package var workersLost = 0
    /// Attempts that ended implausibly fast, and were audited.
    package var flagged = 0
    /// Slots that are not used any more.
    package var retired: [Retirement] = []

    /// Causes without frames have the count 0.
    package init() {
        counts.failedByCause = Dictionary(uniqueKeysWithValues: FrameFailure.Cause.allCases.map { ($0.rawValue, 0) })
    }

    package subscript<Value>(dynamicMember number: WritableKeyPath<RunCounts, Value>) -> Value {
        get { counts[keyPath: number] }
        set { counts[keyPath: number] = newValue }
    }

    package var elapsed: Duration { .seconds(counts.seconds) }

    package mutating func add(_ report: FrameReport) {
        counts.add(report.state)
        bytesRead += report.publications.first?.source.stamp.size ?? 0
        counts.bytesWritten += report.publications.reduce(0) { $0 + $1.receipt.bytes }
        counts.megapixels += report.probe?.megapixels ?? 0
        switch report.state.kind {
        case .stillBroken: stillBroken.append(report)
        case .failed: failures.append(report)
        case .open, .published, .skipped, .kept, .left: break
        }
        keptOutputs += report.kept
        if report.state.kind != .kept { keptBeside += report.kept.count }
        if let seconds = report.seconds { addSlow(report, seconds) }
    }

    private static let slowFrames = 5

    private mutating func addSlow(_ report: FrameReport, _ seconds: Double) {
        guard slowest.count < Self.slowFrames || seconds > slowest.last?.seconds ?? 0 else { return }
        let index = slowest.firstIndex { $0.seconds ?? 0 < seconds } ?? slowest.count
        slowest.insert(report, at: index)
        slowest = Array(slowest.prefix(Self.slowFrames))
    }

    /// False if nothing was changed.
    package var didSomething: Bool {
        counts.published > 0 || counts.failed > 0 || counts.left > 0 || stop != nil || !retired.isEmpty
    }
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

    /// - Parameter isStrict: whether known broken pictures and kept outputs count as failures, too.
    package init(_ summary: RunSummary, isStrict: Bool = false) {
        if let reason = summary.stop {
            self.init(reason)
        } else {
            let hasWarnings = !(summary.stillBroken.isEmpty && summary.keptOutputs.isEmpty)
            self = summary.failures.isEmpty && !(isStrict && hasWarnings) ? .done : .someFailed
        }
    }
}

/// Observes a run. Called from one task at a time.
package protocol RunObserver: Sendable {
    func began(frames: Int)
    func progressed(_ progress: RunProgress)
    func concluded(_ report: FrameReport)
    /// Whether it cannot keep up, so that no further frames should begin. Read at every tick.
    var isBehind: Bool { get }
}

extension RunObserver {
    package var isBehind: Bool { false }
}
