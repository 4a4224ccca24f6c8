package import JobModel

/// The numbers that runs have. Others were written by somebody else, and would overflow where they are added up.
package enum StoredNumbers {
    /// Of frames, pages, attempts, workers, and numbers of them.
    package static let counts = 0...1_000_000_000_000
    /// In nanoseconds since 1970: some hundred years.
    package static let times: ClosedRange<Int64> = -4_000_000_000_000_000_000...4_000_000_000_000_000_000
    /// Of work.
    static let seconds = 0.0...1e12
}

/// A frame of a run that there was something to do with, or that failed before there was.
package struct StoredFrame: Hashable, Sendable, Codable {
    package var number: Int
    package var page: Int
    package var input: String
    /// How its outputs are made, all of them; empty where it failed before it was begun.
    package var recipe: String
    package var outputs: [String]
    package var state: FrameResult
    package var seconds: Double?

    /// False for a frame that failed while the run was planned, or for what was at its output's path: no worker had it.
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

/// One attempt of a task: the lease of one worker.
package struct StoredAttempt: Hashable, Sendable, Codable {
    /// How it ended.
    ///
    ///     running ─► done       the worker's receipt was taken
    ///        ├─────► failed     the worker said why
    ///        ├─────► lost       the worker ended
    ///        └─────► dropped    the result was late, or nobody wanted it any more
    package enum State: Hashable, Sendable, Codable {
        case running
        /// With the receipt as JSON.
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
    /// Nil for all but tiles.
    package var tile: Int?
    /// From 1.
    package var attempt: Int
    package var round: Int
    package var worker: Int
    package var started: Int64
    /// When the lease ends by itself.
    package var deadline: Int64
    package var state: State
    /// What the worker wrote to its standard error meanwhile.
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
    /// As a person reads of it: what coordinators need to go on with is left out.
    package var withoutReceipt: StoredAttempt {
        var attempt = self
        if case .done(let time, _) = state { attempt.state = .done(at: time, receipt: "") }
        return attempt
    }
}

/// An output that a run has put in its place.
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
