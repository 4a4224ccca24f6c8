import Scheduling
import WorkerProtocol

/// What the engine knows while a run goes on. Looks at files; Slurm's commands are run by the engine, as ``Job``s beside it,
/// so that a controller that is slow holds nothing up.
struct ClusterState: Sendable {
    enum News: Sendable {
        case command(EngineCommand)
        /// The run is over.
        case ended
        case tick
        case submitted(ArrayJob, ArraySubmitter.Outcome)
        case looked(Result<[ArrayElement], SlurmClient.Trouble>)
        case cancelled
    }

    enum Job: Sendable {
        case submit(ArrayJob)
        case look([String])
        /// The site takes not even one element: the successor of this coordinator may have its place.
        case makeRoom
        case cancel(String)
    }

    private let setup: ClusterEngine.Setup
    private let options: SlurmOptions
    private let largestArray: Int
    private let tell: @Sendable (String) -> Void
    private let onEvent: @Sendable (Event) -> Void
    private let start = ContinuousClock.now
    private var past: PriorResults
    private var book = VirtualWorkers()
    private var gathering: ShardBatcher
    private var following: ElementTracker
    private var results: ShardResults
    /// The shards that have left the gathering and whose results are not taken.
    private var shards: [Int: [Lease]] = [:]
    private var lastShard: Int
    /// What leases that are not in a shard yet came to under an earlier coordinator.
    private var earlier: [LeaseID: TaskReceipt] = [:]
    private var backlog = SubmissionQueue()
    /// Since when the site takes nothing and nothing of the run is with it.
    private var shutOutSince: Timestamp?
    private var wasFull = false
    private var isLooking = false
    private var lastLook = Timestamp.start
    private var nextTaking = Timestamp.start
    private var silentSince: Timestamp?
    private var submitted: [ArrayJob] = []
    /// The names of everything that was ever submitted, or tried to be.
    var allNames: Set<String> { backlog.names }
    /// Another coordinator goes on with the run: what is in Slurm's hands stays there.
    private(set) var isHandedOver = false
    /// Something went wrong that a person may want to read of in an element's log.
    private(set) var hadTrouble = false

    init(_ engine: ClusterEngine, past: PriorResults, largestArray: Int, onEvent: @escaping @Sendable (Event) -> Void) {
        (setup, options, tell) = (engine.setup, engine.options, engine.tell)
        self.past = past
        self.largestArray = largestArray
        self.onEvent = onEvent
        lastShard = past.lastShard
        gathering = ShardBatcher(seconds: options.shardSeconds, cores: options.cpusPerTask)
        let grace = Duration.seconds(options.grace)
        following = ElementTracker(grace: grace, logs: setup.logs)
        results = ShardResults(folder: setup.folder, run: setup.run, epoch: setup.epoch, grace: grace)
    }

    /// Between two questions to the controller. It answers others, too.
    private static let lookEvery = Duration.seconds(3)

    private func id(of shard: Int) -> Shard.ID { Shard.ID(run: setup.run, epoch: setup.epoch, number: shard) }

    private var now: Timestamp { Timestamp(ContinuousClock.now - start) }

    /// The names of submissions of which something may be left.
    var names: [String] {
        submitted.filter { one in shards.keys.contains(where: one.shards.contains) }.map(\.name)
    }

    /// All job arrays of this coordinator.
    private(set) var jobs: [String] = []

    mutating func begin() { post(book.open(to: 1)) }

    /// - Returns: what is to be done beside.
    mutating func handle(_ news: News) -> [Job] {
        switch news {
        case .command(let command): carryOut(command)
        case .tick: return takeResults() + submit() + look()
        case .submitted(let submission, let outcome): return begin(submission, outcome)
        case .looked(let answer): return note(answer)
        case .ended, .cancelled: break
        }
        return []
    }

    private func post(_ events: [Event]) { events.forEach(onEvent) }

    private mutating func carryOut(_ command: EngineCommand) {
        switch command {
        case .start(let lease):
            book.start(lease)
            switch past.take(lease.spec) {
            case .outputs(let receipts, let source)?:
                // An element looks at their bytes first: nobody does before they are published.
                earlier[lease.id] = .outputs(receipts, of: source)
                gathering.add(lease, at: now)
            case let receipt?:
                post(book.adopt(lease.id, receipt))
            case nil: gathering.add(lease, at: now)
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

    private mutating func submit() -> [Job] {
        let now = now
        guard backlog.isFree(at: now) else { return [] }
        // It is looked through by the backlog, which is part of this.
        var backlog = backlog
        defer { self.backlog = backlog }
        guard let submission = backlog.next(at: now, gather: { gather(as: $0, at: now) }) else { return [] }
        if !submitted.contains(where: { $0.name == submission.name }) { submitted.append(submission) }
        return [.submit(submission)]
    }

    private mutating func gather(as array: Int, at now: Timestamp) -> ArrayJob? {
        let taken = gathering.take(largestArray, at: now)
        guard !taken.isEmpty else { return nil }
        let first = lastShard + 1
        for leases in taken {
            lastShard += 1
            do {
                _ = try setup.source.write(
                    leases.map { Shard.Task($0, earlier: earlier.removeValue(forKey: $0.id)) }, as: lastShard)
            } catch {
                onEvent(.stop(.storage(error.message)))
                return nil
            }
            shards[lastShard] = leases
        }
        return ArrayJob(
            name: "penumbra-\(setup.run)-\(setup.epoch)-\(array)", firstShard: first, count: taken.count)
    }

    private mutating func begin(_ submission: ArrayJob, _ outcome: ArraySubmitter.Outcome) -> [Job] {
        switch outcome {
        case .full(let message): return wait(for: submission, message)
        case .failed(let message): onEvent(.stop(.cluster(message)))
        case .accepted(let job):
            jobs.append(job)
            let limits = shards.filter { submission.shards.contains($0.key) }.mapValues(Self.limit)
            following.begin(submission, as: job, limits: limits)
        }
        backlog.settle()
        shutOutSince = nil
        return []
    }

    private mutating func wait(for submission: ArrayJob, _ message: String) -> [Job] {
        backlog.giveBack(submission, at: now)
        if !wasFull { tell("Slurm takes no more jobs for now, and gets the rest in parts, and later: \(message)") }
        wasFull = true
        guard submission.count == 1, following.jobs.isEmpty else { return [] }
        let since = shutOutSince ?? now
        shutOutSince = since
        if now.elapsed - since.elapsed > ArraySubmitter.patience { onEvent(.stop(.cluster(message))) }
        return [.makeRoom]
    }

    /// A shard's tasks one after the other, each of them twice, and time to start: what lasts longer hangs.
    private static func limit(_ leases: [Lease]) -> Duration {
        leases.reduce(.seconds(600)) { $0 + $1.timeLimit * 2 }
    }

    private mutating func takeResults() -> [Job] {
        guard !shards.isEmpty, now >= nextTaking else { return [] }
        let begin = now
        // A folder of very many names takes its time, and is looked through less often.
        defer { nextTaking = now + (now.elapsed - begin.elapsed) * 20 }
        for result in results.take(of: Set(shards.keys), at: now, log: following.log) {
            let number = result.shard.number
            guard let leases = shards.removeValue(forKey: number) else { continue }
            let log = following.log(of: number)
            following.end(number)
            for end in result.ends {
                if case .died = end.outcome { hadTrouble = true }
                post(book.end(end, place: "\(result.place), see \(log)"))
            }
            if let refusal = result.refusal {
                hadTrouble = true
                onEvent(.stop(.cluster("\(result.place) cannot work: \(refusal); see \(log)")))
            }
            lose(leases) { _ in Death(.elementLost("\(result.place) left it undone; see \(log)")) }
        }
        return []
    }

    /// Those that are held yet.
    private mutating func lose(_ leases: [Lease], _ death: (LeaseID) -> Death) {
        for lease in leases where book.holds(lease.id) { post(book.lose(lease.id, death(lease.id))) }
    }

    private mutating func look() -> [Job] {
        let jobs = following.jobs
        guard !isLooking, !jobs.isEmpty, now.elapsed - lastLook.elapsed >= Self.lookEvery else { return [] }
        isLooking = true
        lastLook = now
        return [.look(jobs)]
    }

    private mutating func note(_ answer: Result<[ArrayElement], SlurmClient.Trouble>) -> [Job] {
        isLooking = false
        switch answer {
        case .success(let elements):
            if silentSince != nil { tell("Slurm answers again") }
            silentSince = nil
            following.hindrances(of: elements).forEach(tell)
            return following.look(at: elements, now: now).compactMap { lost in
                settle(lost)
                return lost.cancelled.map(Job.cancel)
            }
        case .failure(let trouble):
            let since = silentSince ?? now
            if silentSince == nil { tell("Slurm does not answer, and is waited for: \(trouble.message)") }
            silentSince = since
            if now.elapsed - since.elapsed > ArraySubmitter.patience { onEvent(.stop(.cluster(trouble.message))) }
            return []
        }
    }

    /// What its log tells counts; the rest is done again.
    private mutating func settle(_ lost: ElementTracker.Lost) {
        guard let leases = shards.removeValue(forKey: lost.shard) else { return }
        hadTrouble = true
        var begun: Set<LeaseID> = []
        for line in setup.folder.logs(of: id(of: lost.shard)) {
            switch line {
            case .begun(let lease): begun.insert(lease)
            case .ended(let end) where results.isThere(end): post(book.end(end, place: lost.loss.words))
            case .ended: break
            }
        }
        lose(leases) { lost.loss.death(hasBegun: begun.contains($0)) }
    }
}
