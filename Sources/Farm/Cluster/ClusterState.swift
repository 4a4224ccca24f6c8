package import Engines
package import JobModel
package import Scheduling
package import Shards
package import WorkerProtocol

/// The pure state of the cluster engine, and its decisions. Its inputs are times, results and listings. ``ClusterEngine``
/// carries the effects out.
package struct ClusterState: Sendable {
    package enum Input: Sendable {
        /// - Parameter prior: for a started lease, the result of an earlier coordinator's shard.
        case command(EngineCommand, prior: TaskReceipt? = nil)
        /// Time has passed.
        case tick
        /// Results of awaited shards that have appeared in the folder.
        case results([ShardResult])
        case submitted(ArrayJob, ArraySubmitter.Outcome)
        /// The shards of an array could not be written.
        case unwritten(ArrayJob, String)
        /// The elements that the system knows.
        case listed(Result<[ArrayElement], BatchError>)
        /// The log of a shard whose element left no result, without ends whose files are missing.
        case log(ElementTracker.Lost, [AttemptLine])
    }

    package enum Effect: Sendable {
        case event(Event)
        case report(String)
        /// Writes the new shards, then submits the array. Answered by ``Input/submitted(_:_:)`` or
        /// ``Input/unwritten(_:_:)``.
        case submit(ArrayJob, writing: [Int: [Shard.Task]])
        /// Lists the elements of these jobs. Answered by ``Input/listed(_:)``.
        case list([String])
        /// Answered by ``Input/log(_:_:)``.
        case readLog(ElementTracker.Lost)
        /// The site takes not even one element. The successor of this coordinator may give up its slot.
        case makeRoom
        /// Cancels an element.
        case cancel(String)
    }

    /// The constants of a coordinator's run.
    package struct Setup: Sendable {
        package let run: String
        package let epoch: Int
        /// The folder for the output of elements.
        package let logs: String
        package let options: ClusterOptions
        package let traits: BatchTraits
        package let largestArray: Int
        /// The number of the run's last shard so far.
        package let lastShard: Int

        package init(
            run: String, epoch: Int, logs: String, options: ClusterOptions, traits: BatchTraits, largestArray: Int,
            lastShard: Int
        ) {
            self.run = run
            self.epoch = epoch
            self.logs = logs
            self.options = options
            self.traits = traits
            self.largestArray = largestArray
            self.lastShard = lastShard
        }
    }

    private let setup: Setup
    private var workers = VirtualWorkers()
    private var batcher: ShardBatcher
    private var tracker: ElementTracker
    /// The shards without a result.
    private var shards: [Int: [Lease]] = [:]
    /// The shards that have not been written yet.
    private var unwritten: [Int: [Shard.Task]] = [:]
    private var lastShard: Int
    /// The earlier results of leases that are not in a shard yet.
    private var earlier: [LeaseID: TaskReceipt] = [:]
    private var queue = SubmissionQueue()
    /// Since when the site takes no job while it has none of the run.
    private var shutOutSince: Timestamp?
    private var wasFull = false
    private var isListing = false
    private var lastListing = Timestamp.start
    private var silentSince: Timestamp?
    private var submitted: [ArrayJob] = []
    /// The names of all submissions, including failed ones.
    package var allNames: Set<String> { queue.names }
    /// All job arrays of this coordinator.
    package private(set) var jobs: [String] = []
    /// Another coordinator resumes the run. The cluster keeps its jobs.
    package private(set) var isHandedOver = false
    /// An error occurred that the log of an element may explain.
    package private(set) var hadErrors = false
    private var effects: [Effect] = []

    package init(_ setup: Setup) {
        self.setup = setup
        lastShard = setup.lastShard
        batcher = ShardBatcher(seconds: setup.options.shardTime / .seconds(1), cores: setup.options.cores)
        tracker = ElementTracker(
            grace: setup.options.fileGrace, logs: setup.logs, named: setup.traits.logName)
    }

    /// The time between two listings. The controller answers other users, too.
    private static let listEvery = Duration.seconds(3)

    /// The shards whose results may come.
    package var awaited: Set<Int> { Set(shards.keys) }

    /// The log file of a shard's element.
    package func log(of shard: Int) -> String { tracker.log(of: shard) }

    package func id(of shard: Int) -> Shard.ID { Shard.ID(run: setup.run, epoch: setup.epoch, number: shard) }

    /// The names of submissions that may have jobs left.
    package var names: [String] {
        submitted.filter { one in shards.keys.contains(where: one.shards.contains) }.map(\.name)
    }

    /// Opens the first slot.
    package mutating func begin() -> [Event] { workers.open(to: 1) }

    package mutating func handle(_ input: Input, at now: Timestamp) -> [Effect] {
        defer { effects = [] }
        switch input {
        case .command(let command, let prior): carryOut(command, prior, at: now)
        case .tick:
            submit(at: now)
            list(at: now)
        case .results(let results): results.forEach { take($0) }
        case .submitted(let array, let outcome): note(array, outcome, at: now)
        case .unwritten(_, let message):
            stop(.storage(message))
            queue.settle()
        case .listed(let answer): note(answer, at: now)
        case .log(let lost, let lines): settle(lost, lines)
        }
        return effects
    }

    private mutating func post(_ events: [Event]) { effects += events.map(Effect.event) }

    private mutating func stop(_ reason: StopReason) { post([.stop(reason)]) }

    private mutating func report(_ sentence: String) { effects.append(.report(sentence)) }

    private mutating func carryOut(_ command: EngineCommand, _ prior: TaskReceipt?, at now: Timestamp) {
        switch command {
        case .start(let lease):
            guard workers.start(lease) else { break }
            switch prior {
            case .outputs?, nil:
                // An element checks the outputs' digests first, because nothing checks them again before they are
                // published.
                earlier[lease.id] = prior
                batcher.add(lease, at: now)
            case let receipt?: post(workers.adopt(lease.id, receipt))
            }
        case .widen(let count): post(workers.open(to: count))
        case .retire(let slot): post(workers.retire(slot))
        case .handOver: isHandedOver = true
        case .pulse: break
        case .kill(let worker), .recycle(let worker):
            if let lease = workers.lease(of: worker) { _ = batcher.remove(lease) }
            post(workers.dismiss(worker))
        }
    }

    private mutating func submit(at now: Timestamp) {
        guard queue.isFree(at: now) else { return }
        // `gather` changes other parts of this value meanwhile.
        var queue = queue
        defer { self.queue = queue }
        guard let array = queue.next(at: now, gather: { gather(as: $0, at: now) }) else { return }
        if !submitted.contains(where: { $0.name == array.name }) { submitted.append(array) }
        effects.append(.submit(array, writing: unwritten))
        unwritten = [:]
    }

    private mutating func gather(as array: Int, at now: Timestamp) -> ArrayJob? {
        let taken = batcher.take(setup.largestArray, at: now)
        guard !taken.isEmpty else { return nil }
        let first = lastShard + 1
        for leases in taken {
            lastShard += 1
            shards[lastShard] = leases
            unwritten[lastShard] = leases.map { Shard.Task($0, earlier: earlier.removeValue(forKey: $0.id)) }
        }
        return ArrayJob(
            name: "penumbra-\(setup.run)-\(setup.epoch)-\(array)", firstShard: first, count: taken.count)
    }

    private mutating func note(_ array: ArrayJob, _ outcome: ArraySubmitter.Outcome, at now: Timestamp) {
        switch outcome {
        case .full(let message): return wait(for: array, message, at: now)
        case .failed(let message): stop(.cluster(message))
        case .accepted(let job):
            jobs.append(job)
            let limits = shards.filter { array.shards.contains($0.key) }.mapValues(Self.limit)
            tracker.begin(array, as: job, limits: limits)
        }
        queue.settle()
        shutOutSince = nil
    }

    private mutating func wait(for array: ArrayJob, _ message: String, at now: Timestamp) {
        queue.giveBack(array, at: now)
        if !wasFull {
            report("\(setup.traits.name) takes no more jobs for now, and gets the rest in parts, and later: \(message)")
        }
        wasFull = true
        guard array.count == 1, tracker.jobs.isEmpty else { return }
        let since = shutOutSince ?? now
        shutOutSince = since
        if now.elapsed - since.elapsed > ArraySubmitter.timeout { stop(.cluster(message)) }
        effects.append(.makeRoom)
    }

    /// The time for all tasks of a shard one after the other, each of them twice, and for the start. An element that takes
    /// longer hangs.
    private static func limit(_ leases: [Lease]) -> Duration {
        leases.reduce(.seconds(600)) { $0 + $1.timeLimit * 2 }
    }

    private mutating func take(_ result: ShardResult) {
        let number = result.shard.number
        guard let leases = shards.removeValue(forKey: number) else { return }
        let log = tracker.log(of: number)
        tracker.end(number)
        for end in result.ends {
            if case .died = end.outcome { hadErrors = true }
            post(workers.end(end, location: "\(result.location), see \(log)"))
        }
        if let refusal = result.refusal {
            hadErrors = true
            stop(.cluster("\(result.location) cannot work: \(refusal); see \(log)"))
        }
        lose(leases) { _ in Death(.elementLost("\(result.location) left it undone; see \(log)")) }
    }

    /// Only leases that are still held.
    private mutating func lose(_ leases: [Lease], _ death: (LeaseID) -> Death) {
        for lease in leases where workers.holds(lease.id) { post(workers.lose(lease.id, death(lease.id))) }
    }

    private mutating func list(at now: Timestamp) {
        let jobs = tracker.jobs
        guard !isListing, !jobs.isEmpty, now.elapsed - lastListing.elapsed >= Self.listEvery else { return }
        isListing = true
        lastListing = now
        effects.append(.list(jobs))
    }

    private mutating func note(_ answer: Result<[ArrayElement], BatchError>, at now: Timestamp) {
        isListing = false
        switch answer {
        case .success(let elements):
            if silentSince != nil { report("\(setup.traits.name) answers again") }
            silentSince = nil
            tracker.pendingReasons(of: elements).forEach { report($0) }
            for lost in tracker.inspect(elements, now: now) {
                effects.append(.readLog(lost))
                if let element = lost.cancelled { effects.append(.cancel(element)) }
            }
        case .failure(let error):
            let since = silentSince ?? now
            if silentSince == nil {
                report("\(setup.traits.name) does not answer, and is waited for: \(error.message)")
            }
            silentSince = since
            if now.elapsed - since.elapsed > ArraySubmitter.timeout { stop(.cluster(error.message)) }
        }
    }

    /// Uses the ends in the element's log. The other tasks are tried again.
    private mutating func settle(_ lost: ElementTracker.Lost, _ lines: [AttemptLine]) {
        guard let leases = shards.removeValue(forKey: lost.shard) else { return }
        hadErrors = true
        var begun: Set<LeaseID> = []
        for line in lines {
            switch line {
            case .begun(let lease): begun.insert(lease)
            case .ended(let end): post(workers.end(end, location: lost.loss.words))
            }
        }
        lose(leases) { lost.loss.death(hasBegun: begun.contains($0)) }
    }
}

/// The pure state of the submitted elements without results. The cluster's listing only tells whether a result may still
/// come.
package struct ElementTracker: Sendable {
    private struct Followed {
        let job: String
        let index: Int
        let submission: String
        /// The longest time that it may run.
        let limit: Duration
        var seen: ArrayElement?
        /// Since when a result is unlikely.
        var doubtfulSince: Timestamp?
        var runningSince: Timestamp?
    }

    /// A shard whose element will leave no result.
    package struct Lost: Hashable, Sendable {
        package let shard: Int
        package let loss: ElementFailure
        /// The element that must be cancelled; nil if it has ended.
        package let cancelled: String?
    }

    private var followed: [Int: Followed] = [:]
    private var reasons = PendingReasons()
    private let grace: Duration
    private let logs: String
    private let logName: BatchTraits.LogName

    /// - Parameters:
    ///   - grace: how long the shared file system may take to show a result.
    ///   - logs: the folder for the output of elements.
    package init(grace: Duration, logs: String, named logName: BatchTraits.LogName = .job) {
        self.grace = grace
        self.logs = logs
        self.logName = logName
    }

    /// The job arrays with open elements.
    package var jobs: [String] { Set(followed.values.map(\.job)).sorted() }

    package mutating func begin(_ submission: ArrayJob, as job: String, limits: [Int: Duration]) {
        for (index, shard) in submission.shards.enumerated() {
            guard let limit = limits[shard] else { continue }
            followed[shard] = Followed(job: job, index: index, submission: submission.name, limit: limit)
        }
    }

    package mutating func end(_ shard: Int) { followed[shard] = nil }

    /// The log file of a shard's element.
    package func log(of shard: Int) -> String {
        guard let one = followed[shard] else { return logs }
        return switch logName {
        case .job: "\(logs)/\(one.job)_\(one.index).out"
        case .submission: "\(logs)/\(one.submission)_\(one.index).out"
        }
    }

    /// - Returns: the lost shards, which are not followed any more.
    package mutating func inspect(_ elements: [ArrayElement], now: Timestamp) -> [Lost] {
        let rows = Dictionary(elements.map { ($0.id, $0) }) { $1 }
        var lost: [Lost] = []
        for shard in followed.keys.sorted() {
            guard let one = followed[shard] else { continue }
            let row = rows["\(one.job)_\(one.index)"]
            // An element with the same number may belong to another submission.
            if let found = judge(one, row?.submission == one.submission ? row : nil, shard, now) { lost.append(found) }
        }
        for one in lost { followed[one.shard] = nil }
        return lost
    }

    /// Why elements are blocked. Each reason is reported once.
    package mutating func pendingReasons(of elements: [ArrayElement]) -> [String] {
        let own = Set(followed.values.map(\.submission))
        return reasons.new(in: elements.filter { own.contains($0.submission) })
    }

    private mutating func judge(_ one: Followed, _ row: ArrayElement?, _ shard: Int, _ now: Timestamp) -> Lost? {
        var one = one
        defer { followed[shard] = one }
        let name = "\(one.job)_\(one.index)"
        if let row, let seen = one.seen, row.restarts != seen.restarts { one.runningSince = nil }
        one.seen = row ?? one.seen
        switch row?.condition {
        // A suspended element uses none of its time. When it continues, it has all of its time again.
        case .waiting, .suspended: (one.doubtfulSince, one.runningSince) = (nil, nil)
        case .running:
            one.doubtfulSince = nil
            let since = one.runningSince ?? now
            one.runningSince = since
            guard now.elapsed - since.elapsed > one.limit else { return nil }
            return Lost(
                shard: shard, loss: ElementFailure(overdue: row?.name ?? "element \(name)", log: log(of: shard)),
                cancelled: name)
        case .stuck, .ended, nil:
            let since = one.doubtfulSince ?? now
            one.doubtfulSince = since
            guard now.elapsed - since.elapsed >= grace else { return nil }
            let loss = ElementFailure(row, name: one.seen?.name ?? "element \(name)", log: log(of: shard))
            return Lost(shard: shard, loss: loss, cancelled: row?.condition == .stuck ? name : nil)
        }
        return nil
    }
}

/// Why an element of a job array has left no result, as far as the cluster knows.
package struct ElementFailure: Hashable, Sendable {
    /// The beginning of a sentence, with element and node: `element 12_3 on n2 ran out of time`.
    private let what: String
    /// The log file.
    private let log: String
    /// Whether its own work may be the cause. Otherwise it was ended from outside.
    private let isOwnFault: Bool

    /// - Parameters:
    ///   - element: the element as last listed; nil if the cluster does not know it any more.
    ///   - name: the name of an element that was never listed.
    package init(_ element: ArrayElement?, name: String, log: String) {
        let (what, isOwnFault) = element.map(Self.verdict) ?? ("is gone from the queue", false)
        self.what = "\(element?.name ?? name) \(what)"
        self.isOwnFault = isOwnFault
        self.log = log
    }

    /// For an element that exceeded its time limit.
    package init(overdue name: String, log: String) {
        (what, isOwnFault, self.log) = (
            "\(name) went on for longer than its tasks may take, and was cancelled", true, log
        )
    }

    private static func verdict(_ element: ArrayElement) -> (String, isOwnFault: Bool) {
        guard case .ended(let ending) = element.condition else {
            return ("cannot be started (\(element.reason))", false)
        }
        return switch ending {
        case .outOfTime: ("ran out of time; give it more by 'time' or less work by 'shard_seconds' under 'slurm'", true)
        case .outOfMemory: ("ran out of memory; give it more by 'memory' under 'slurm'", true)
        case .nodeLost: ("was lost with its node", false)
        case .cancelled: ("was cancelled", false)
        case .preempted: ("had to make room for another job", false)
        case .done: ("ended, and its result does not show on the shared file system", false)
        case .failed(let words): (words, true)
        case .stopped(let words): (words, false)
        }
    }

    package var words: String { "\(what); see \(log)" }

    /// - Parameter hasBegun: whether the task had begun when the element ended.
    package func death(hasBegun: Bool) -> Death {
        Death(isOwnFault && hasBegun ? .elementFailed(words) : .elementLost(words))
    }
}

/// The pure state of one coordinator's submissions. One job array is submitted at a time. If the site takes no more jobs,
/// an array is offered again in halves, and a single element after a pause.
package struct SubmissionQueue: Sendable {
    /// The names of all offered arrays. The cluster may have any of them.
    package private(set) var names: Set<String> = []
    private var refused: [ArrayJob] = []
    private var arrays = 0
    private var isSubmitting = false
    private var nextOffer = Timestamp.start

    /// The time between two offers of one element. Meanwhile, other jobs end.
    package static let pause = Duration.seconds(30)

    package init() {}

    package func isFree(at now: Timestamp) -> Bool { !isSubmitting && now >= nextOffer }

    /// Refused arrays come first. Then `gather` makes an array with the given number.
    package mutating func next(at now: Timestamp, gather: (Int) -> ArrayJob?) -> ArrayJob? {
        guard isFree(at: now) else { return nil }
        if !refused.isEmpty { return offered(refused.removeFirst()) }
        guard let submission = gather(arrays + 1) else { return nil }
        arrays += 1
        return offered(submission)
    }

    private mutating func offered(_ submission: ArrayJob) -> ArrayJob {
        names.insert(submission.name)
        isSubmitting = true
        return submission
    }

    /// The cluster has accepted or finally refused the array.
    package mutating func settle() { isSubmitting = false }

    package mutating func giveBack(_ submission: ArrayJob, at now: Timestamp) {
        isSubmitting = false
        guard let (first, second) = submission.halves else {
            nextOffer = now + Self.pause
            return refused.insert(submission, at: 0)
        }
        refused.insert(contentsOf: [first, second], at: 0)
    }
}
