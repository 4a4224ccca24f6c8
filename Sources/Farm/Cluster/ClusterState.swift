package import Engines
package import JobModel
package import Scheduling
package import Shards
package import WorkerProtocol

/// What the engine knows while a run goes on, and what it decides by that: a pure value, fed with times, results and listings.
/// ``ClusterEngine`` carries the effects out.
package struct ClusterState: Sendable {
    package enum Input: Sendable {
        /// - Parameter prior: what an earlier coordinator's shards have made of the task of a lease that is started.
        case command(EngineCommand, prior: TaskReceipt? = nil)
        /// Time has gone by.
        case tick
        /// Those of awaited shards, as they appear in the folder.
        case results([ShardResult])
        case submitted(ArrayJob, ArraySubmitter.Outcome)
        /// The shards of an array could not be written.
        case unwritten(ArrayJob, String)
        /// The elements that the system knows.
        case listed(Result<[ArrayElement], BatchError>)
        /// What is known of a shard whose element left no result. Ends whose files are missing are left out.
        case log(ElementTracker.Lost, [AttemptLine])
    }

    package enum Effect: Sendable {
        case event(Event)
        case tell(String)
        /// Writes the shards that nobody has written yet, then submits all of them. Answered by ``Input/submitted(_:_:)`` or
        /// ``Input/unwritten(_:_:)``.
        case submit(ArrayJob, writing: [Int: [Shard.Task]])
        /// Of these jobs. Answered by ``Input/listed(_:)``.
        case list([String])
        /// Answered by ``Input/log(_:_:)``.
        case readLog(ElementTracker.Lost)
        /// The site takes not even one element: the successor of this coordinator may have its place.
        case makeRoom
        /// An element.
        case cancel(String)
    }

    /// What holds for all of a coordinator's run.
    package struct Setup: Sendable {
        package let run: String
        package let epoch: Int
        /// The folder of what elements print.
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
    private var book = VirtualWorkers()
    private var gathering: ShardBatcher
    private var following: ElementTracker
    /// The shards that have left the gathering and whose results are not taken.
    private var shards: [Int: [Lease]] = [:]
    /// Those of them that no array was offered with yet.
    private var unwritten: [Int: [Shard.Task]] = [:]
    private var lastShard: Int
    /// What leases that are not in a shard yet came to under an earlier coordinator.
    private var earlier: [LeaseID: TaskReceipt] = [:]
    private var backlog = SubmissionQueue()
    /// Since when the site takes nothing and nothing of the run is with it.
    private var shutOutSince: Timestamp?
    private var wasFull = false
    private var isListing = false
    private var lastListing = Timestamp.start
    private var silentSince: Timestamp?
    private var submitted: [ArrayJob] = []
    /// The names of everything that was ever submitted, or tried to be.
    package var allNames: Set<String> { backlog.names }
    /// All job arrays of this coordinator.
    package private(set) var jobs: [String] = []
    /// Another coordinator goes on with the run: what the cluster has stays there.
    package private(set) var isHandedOver = false
    /// Something went wrong that a person may want to read of in an element's log.
    package private(set) var hadTrouble = false
    private var effects: [Effect] = []

    package init(_ setup: Setup) {
        self.setup = setup
        lastShard = setup.lastShard
        gathering = ShardBatcher(seconds: setup.options.shardTime / .seconds(1), cores: setup.options.cores)
        following = ElementTracker(
            grace: setup.options.fileGrace, logs: setup.logs, named: setup.traits.logName)
    }

    /// Between two questions to the controller. It answers others, too.
    private static let listEvery = Duration.seconds(3)

    /// The shards whose results may come.
    package var awaited: Set<Int> { Set(shards.keys) }

    /// What the element of a shard printed.
    package func log(of shard: Int) -> String { following.log(of: shard) }

    package func id(of shard: Int) -> Shard.ID { Shard.ID(run: setup.run, epoch: setup.epoch, number: shard) }

    /// The names of submissions of which something may be left.
    package var names: [String] {
        submitted.filter { one in shards.keys.contains(where: one.shards.contains) }.map(\.name)
    }

    /// Opens the first slot.
    package mutating func begin() -> [Event] { book.open(to: 1) }

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
            backlog.settle()
        case .listed(let answer): note(answer, at: now)
        case .log(let lost, let lines): settle(lost, lines)
        }
        return effects
    }

    private mutating func post(_ events: [Event]) { effects += events.map(Effect.event) }

    private mutating func stop(_ reason: StopReason) { post([.stop(reason)]) }

    private mutating func tell(_ sentence: String) { effects.append(.tell(sentence)) }

    private mutating func carryOut(_ command: EngineCommand, _ prior: TaskReceipt?, at now: Timestamp) {
        switch command {
        case .start(let lease):
            guard book.start(lease) else { break }
            switch prior {
            case .outputs?, nil:
                // An element looks at the outputs' bytes first: nobody does before they are published.
                earlier[lease.id] = prior
                gathering.add(lease, at: now)
            case let receipt?: post(book.adopt(lease.id, receipt))
            }
        case .widen(let count): post(book.open(to: count))
        case .retire(let slot): post(book.retire(slot))
        case .handOver: isHandedOver = true
        case .pulse: break
        case .kill(let worker), .recycle(let worker):
            if let lease = book.lease(of: worker) { _ = gathering.remove(lease) }
            post(book.dismiss(worker))
        }
    }

    private mutating func submit(at now: Timestamp) {
        guard backlog.isFree(at: now) else { return }
        // It is looked through by the backlog, which is part of this.
        var backlog = backlog
        defer { self.backlog = backlog }
        guard let array = backlog.next(at: now, gather: { gather(as: $0, at: now) }) else { return }
        if !submitted.contains(where: { $0.name == array.name }) { submitted.append(array) }
        effects.append(.submit(array, writing: unwritten))
        unwritten = [:]
    }

    private mutating func gather(as array: Int, at now: Timestamp) -> ArrayJob? {
        let taken = gathering.take(setup.largestArray, at: now)
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
            following.begin(array, as: job, limits: limits)
        }
        backlog.settle()
        shutOutSince = nil
    }

    private mutating func wait(for array: ArrayJob, _ message: String, at now: Timestamp) {
        backlog.giveBack(array, at: now)
        if !wasFull {
            tell("\(setup.traits.name) takes no more jobs for now, and gets the rest in parts, and later: \(message)")
        }
        wasFull = true
        guard array.count == 1, following.jobs.isEmpty else { return }
        let since = shutOutSince ?? now
        shutOutSince = since
        if now.elapsed - since.elapsed > ArraySubmitter.patience { stop(.cluster(message)) }
        effects.append(.makeRoom)
    }

    /// A shard's tasks one after the other, each of them twice, and time to start: what lasts longer hangs.
    private static func limit(_ leases: [Lease]) -> Duration {
        leases.reduce(.seconds(600)) { $0 + $1.timeLimit * 2 }
    }

    private mutating func take(_ result: ShardResult) {
        let number = result.shard.number
        guard let leases = shards.removeValue(forKey: number) else { return }
        let log = following.log(of: number)
        following.end(number)
        for end in result.ends {
            if case .died = end.outcome { hadTrouble = true }
            post(book.end(end, place: "\(result.place), see \(log)"))
        }
        if let refusal = result.refusal {
            hadTrouble = true
            stop(.cluster("\(result.place) cannot work: \(refusal); see \(log)"))
        }
        lose(leases) { _ in Death(.elementLost("\(result.place) left it undone; see \(log)")) }
    }

    /// Those that are held yet.
    private mutating func lose(_ leases: [Lease], _ death: (LeaseID) -> Death) {
        for lease in leases where book.holds(lease.id) { post(book.lose(lease.id, death(lease.id))) }
    }

    private mutating func list(at now: Timestamp) {
        let jobs = following.jobs
        guard !isListing, !jobs.isEmpty, now.elapsed - lastListing.elapsed >= Self.listEvery else { return }
        isListing = true
        lastListing = now
        effects.append(.list(jobs))
    }

    private mutating func note(_ answer: Result<[ArrayElement], BatchError>, at now: Timestamp) {
        isListing = false
        switch answer {
        case .success(let elements):
            if silentSince != nil { tell("\(setup.traits.name) answers again") }
            silentSince = nil
            following.pendingReasons(of: elements).forEach { tell($0) }
            for lost in following.look(at: elements, now: now) {
                effects.append(.readLog(lost))
                if let element = lost.cancelled { effects.append(.cancel(element)) }
            }
        case .failure(let error):
            let since = silentSince ?? now
            if silentSince == nil {
                tell("\(setup.traits.name) does not answer, and is waited for: \(error.message)")
            }
            silentSince = since
            if now.elapsed - since.elapsed > ArraySubmitter.patience { stop(.cluster(error.message)) }
        }
    }

    /// What its log tells counts; the rest is done again.
    private mutating func settle(_ lost: ElementTracker.Lost, _ lines: [AttemptLine]) {
        guard let leases = shards.removeValue(forKey: lost.shard) else { return }
        hadTrouble = true
        var begun: Set<LeaseID> = []
        for line in lines {
            switch line {
            case .begun(let lease): begun.insert(lease)
            case .ended(let end): post(book.end(end, place: lost.loss.words))
            }
        }
        lose(leases) { lost.loss.death(hasBegun: begun.contains($0)) }
    }
}
