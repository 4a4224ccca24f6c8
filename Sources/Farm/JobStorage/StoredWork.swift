import FoundationEssentials
package import JobModel

/// Bounds of stored numbers. Other numbers are foreign, and could overflow in sums.
package enum StoredNumbers {
    /// For frames, pages, attempts, workers, and counts.
    package static let counts = 0...1_000_000_000_000
    /// In nanoseconds since 1970: about a hundred years.
    package static let times: ClosedRange<Int64> = -4_000_000_000_000_000_000...4_000_000_000_000_000_000
    /// For durations.
    package static let seconds = 0.0...1e12
}

/// A frame of a run that had work, or that failed before it began.
package struct StoredFrame: Hashable, Sendable, Codable {
    package var number: Int
    package var page: Int
    package var input: String
    /// The texts of its outputs' recipes; empty if it failed before it began.
    package var recipe: String
    package var outputs: [String]
    package var state: FrameResult
    package var seconds: Double?

    /// False for a frame that failed during planning, or because of a file at its output's path. No worker had it.
    package var wasBegun: Bool { !recipe.isEmpty }

    package init(
        number: Int, page: Int, input: String, recipe: String, outputs: [String], state: FrameResult = .open,
        seconds: Double? = nil
    ) {
        self.number = number
        self.page = page
        self.input = input
        self.recipe = recipe
        self.outputs = outputs
        self.state = state
        self.seconds = seconds
    }
}

/// One attempt at a task: the lease of one worker.
package struct StoredAttempt: Hashable, Sendable, Codable {
    /// How it ended.
    ///
    ///     running ─► done       the worker's receipt was taken
    ///        ├─────► failed     the worker said why
    ///        ├─────► lost       the worker ended
    ///        └─────► dropped    the result was late, or nobody wanted it any more
    package enum State: Hashable, Sendable, Codable {
        case running
        /// The receipt is JSON.
        case done(at: Int64, receipt: String)
        case failed(at: Int64, message: String)
        case lost(at: Int64, message: String)
        case dropped(at: Int64)
    }

    package var epoch: Int
    package var lease: Int
    package var number: Int
    package var page: Int
    /// `compare`, `probe`, `frame`, `canvas`, `tile`, `stitch`, `audit` or `check`.
    package var kind: String
    /// Nil except for tiles.
    package var tile: Int?
    /// From 1.
    package var attempt: Int
    package var round: Int
    package var worker: Int
    package var started: Int64
    /// When the lease expires.
    package var deadline: Int64
    package var state: State
    /// The worker's standard error during the attempt.
    package var log: String?

    package init(
        epoch: Int, lease: Int, number: Int, page: Int, kind: String, tile: Int?, attempt: Int, round: Int, worker: Int,
        started: Int64, deadline: Int64, state: State = .running, log: String? = nil
    ) {
        self.epoch = epoch
        self.lease = lease
        self.number = number
        self.page = page
        self.kind = kind
        self.tile = tile
        self.attempt = attempt
        self.round = round
        self.worker = worker
        self.started = started
        self.deadline = deadline
        self.state = state
        self.log = log
    }
}

extension StoredAttempt {
    /// For people, without the receipt, which only coordinators need.
    package var withoutReceipt: StoredAttempt {
        var attempt = self
        if case .done(let time, _) = state { attempt.state = .done(at: time, receipt: "") }
        return attempt
    }
}

/// An output that a run published.
package struct StoredPublication: Hashable, Sendable, Codable {
    package var path: String
    package var number: Int
    package var page: Int
    package var at: Int64

    package init(path: String, number: Int, page: Int, at: Int64) {
        self.path = path
        self.number = number
        self.page = page
        self.at = at
    }
}

extension StoredFrame {
    package var isPlausible: Bool {
        [number, page].allSatisfy(StoredNumbers.counts.contains) && seconds.map(StoredNumbers.seconds.contains) ?? true
    }
}

extension StoredAttempt {
    package var isPlausible: Bool {
        [epoch, lease, number, page, tile ?? 0, attempt, round, worker].allSatisfy(StoredNumbers.counts.contains)
            && [started, deadline, state.ended ?? 0].allSatisfy(StoredNumbers.times.contains)
    }
}

extension StoredAttempt.State {
    fileprivate var ended: Int64? {
        switch self {
        case .running: nil
        case .done(let time, _), .failed(let time, _), .lost(let time, _), .dropped(let time): time
        }
    }
}

extension StoredPublication {
    package var isPlausible: Bool {
        [number, page].allSatisfy(StoredNumbers.counts.contains) && StoredNumbers.times.contains(at)
    }
}

/// An open run has the form of `run.json`; an ended run has the form of `ended/NAME.json`.
extension RunRecord: Codable {
    /// The names are stored.
    private enum CodingKeys: String, CodingKey {
        case job, manifest, started, workers, memory, request, counts, command, disks
        case name = "run"
    }

    /// The names are stored.
    private enum EndKeys: String, CodingKey {
        case record, epoch, ended, exitCode, reason, failures, hasMoreFailures
    }

    package init(from decoder: any Decoder) throws {
        let file = try decoder.container(keyedBy: EndKeys.self)
        let isEnd = file.contains(.record)
        let record =
            isEnd
            ? try file.nestedContainer(keyedBy: CodingKeys.self, forKey: .record)
            : try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            name: record.decode(String.self, forKey: .name), job: record.decode(String.self, forKey: .job),
            manifest: record.decode(String.self, forKey: .manifest),
            started: record.decode(Int64.self, forKey: .started), workers: record.decode(Int.self, forKey: .workers),
            memory: record.decode(Int.self, forKey: .memory), request: record.decode(String.self, forKey: .request),
            counts: RunCounts(json: record.decode(String.self, forKey: .counts)),
            command: record.decodeIfPresent(String.self, forKey: .command))
        disks = try record.decodeIfPresent(RecordedDisks.self, forKey: .disks)
        guard isEnd else { return }
        epoch = try file.decode(Int.self, forKey: .epoch)
        state = .ended(
            End(
                time: try file.decode(Int64.self, forKey: .ended),
                exitCode: try file.decode(Int.self, forKey: .exitCode),
                reason: try file.decodeIfPresent(String.self, forKey: .reason),
                failures: try file.decodeIfPresent([Failure].self, forKey: .failures),
                hasMoreFailures: try file.decodeIfPresent(Bool.self, forKey: .hasMoreFailures)))
    }

    package func encode(to encoder: any Encoder) throws {
        guard case .ended(let end) = state else {
            var record = encoder.container(keyedBy: CodingKeys.self)
            return try encode(into: &record)
        }
        var file = encoder.container(keyedBy: EndKeys.self)
        var record = file.nestedContainer(keyedBy: CodingKeys.self, forKey: .record)
        try encode(into: &record)
        try file.encode(epoch, forKey: .epoch)
        try file.encode(end.time, forKey: .ended)
        try file.encode(end.exitCode, forKey: .exitCode)
        try file.encodeIfPresent(end.reason, forKey: .reason)
        try file.encodeIfPresent(end.failures, forKey: .failures)
        try file.encodeIfPresent(end.hasMoreFailures, forKey: .hasMoreFailures)
    }

    private func encode(into record: inout KeyedEncodingContainer<CodingKeys>) throws {
        try record.encode(name, forKey: .name)
        try record.encode(job, forKey: .job)
        try record.encode(manifest, forKey: .manifest)
        try record.encode(started, forKey: .started)
        try record.encode(workers, forKey: .workers)
        try record.encode(memory, forKey: .memory)
        try record.encode(request, forKey: .request)
        try record.encode(counts.json, forKey: .counts)
        try record.encodeIfPresent(command, forKey: .command)
        try record.encodeIfPresent(disks, forKey: .disks)
    }
}

extension RunRecord {
    /// The file may be foreign.
    package var isPlausible: Bool {
        StoredNumbers.times.contains(started) && StoredNumbers.counts.contains(workers)
            && (0...Int.max / 2).contains(memory) && StoredNumbers.counts.contains(epoch) && state.isPlausible
    }
}

extension RunRecord.State {
    fileprivate var isPlausible: Bool {
        guard case .ended(let end) = self else { return true }
        return StoredNumbers.times.contains(end.time) && (0...255).contains(end.exitCode)
    }
}

extension RunCounts {
    /// All zero for JSON in an unknown form.
    package init(json: String) {
        let found = try? JSONDecoder().decode(RunCounts.self, from: Data(json.utf8))
        self = found.flatMap { $0.isPlausible ? $0 : nil } ?? RunCounts()
    }

    private var isPlausible: Bool {
        let counts =
            [frames, work, published, skipped, kept, stillBroken, failed, left] + (failedByCause ?? [:]).values
            + (keptByReason ?? [:]).values
        return counts.allSatisfy(StoredNumbers.counts.contains) && (0...Int.max / 2).contains(bytesWritten)
            && [seconds, megapixels].allSatisfy { (0...1e12).contains($0) }
    }

    package var json: String {
        // Numbers can always be encoded.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
