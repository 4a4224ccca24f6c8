import Queueing
import TestSupport

/// A service in which anything happens at any time, drawn from a seed. A referee compares every decision with
/// ``SlowQueue`` and with rules that are stated anew. It is a value, so a copy shows what would happen from now on.
struct RandomService {
    private(set) var queue = JobQueue()
    /// All jobs, as a database would have them.
    private(set) var table = SlowQueue()
    private(set) var complaints: [String] = []
    private(set) var steps = 0
    /// The number of jobs that ended, by how.
    private(set) var ends: [JobState.Name: Int] = [:]
    private(set) var refusals = 0
    private(set) var starts = 0
    private var random: SplitMix64
    private var now = WallTime.noon
    private var limits: Limits
    private var wants: [JobID: Int] = [:]
    private var nextID = 1
    private var runs = 0
    private let mostJobs: Int

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        mostJobs = Int.random(in: 1...40, using: &random)
        limits = Limits(
            workers: Int.random(in: 0...6, using: &random), maxRuns: Int.random(in: 1...5, using: &random),
            aging: Bool.random(using: &random) ? Aging(points: 7, per: .seconds(20)) : nil)
    }

    var isFinished: Bool { table.jobs.values.allSatisfy(\.state.isEnded) }

    private mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func drawJob() -> JobID { JobID(draw(nextID + 1)) }

    mutating func step() {
        steps += 1
        now = now + .milliseconds(draw(4000))
        switch draw(100) {
        case 0..<14: submit()
        case 14..<40: askForSomething()
        case 40..<75: letProcessesDoSomething()
        case 75..<78: limits.isDrained.toggle()
        case 78..<80: limits.maxRuns = 1 + draw(5)
        case 80..<82: limits.workers = draw(7)
        case 82..<84: for job in table.open { change(job.id) { $0.stop() } }
        case 84..<86: restart()
        default: break
        }
        decide()
    }

    /// Everybody does what the queue asks for, from now on, and all processes succeed.
    mutating func finish() {
        (limits.isDrained, limits.workers, limits.maxRuns) = (false, 4, 2)
        for job in table.jobs.values.sorted(by: { $0.id < $1.id }) where job.state.name == .held {
            change(job.id) { [now] job throws(Refusal) in try job.release(at: now) }
        }
        for _ in 0...2 * table.jobs.count where !isFinished {
            decide()
            for job in table.open {
                end(job.id, code: 0)
            }
            // All pauses and `notBefore` are over then.
            now = now + .seconds(3600)
        }
        decide()
        if !isFinished { complain("jobs are left: \(table.jobs.values.filter { !$0.state.isEnded }.map(\.id))") }
    }

    // MARK: What happens

    private mutating func submit() {
        guard nextID <= mostJobs else { return }
        let id = JobID(nextID)
        let needs = (0..<max(0, draw(5) - 1)).map { _ in
            Need(drawJob(), on: draw(4) == 0 ? .end : .success)
        }
        do {
            let job = try Submission.make(
                id, manifest: draw(3) == 0 ? .shared : nil, priority: [0, 50, 50, 90, 100][draw(5)], needs: needs,
                isHeld: draw(8) == 0,
                notBefore: draw(6) == 0 ? now + .seconds(draw(60)) : nil, at: now, known: table.known)
            nextID += 1
            store(job, before: nil)
        } catch {
            refusals += 1
        }
    }

    private mutating func askForSomething() {
        let id = drawJob()
        let priority = Priority(clamping: draw(101))
        let needs = [Need(drawJob(), on: draw(2) == 0 ? .end : .success)]
        let kind = draw(9)
        if kind == 8 { return retry(id) }
        change(id) { [now, table] job throws(Refusal) in
            switch kind {
            case 0: try job.hold()
            case 1, 2: try job.release(at: now)
            case 3: try job.cancel(by: .user(0), at: now)
            case 4: try job.runNext(at: now)
            case 5, 6: try job.set(priority)
            default: try job.set(needs, known: table.known)
            }
        }
    }

    private mutating func retry(_ id: JobID) {
        guard nextID <= mostJobs, let job = table.jobs[id] else { return }
        do {
            let retry = try job.retry(
                as: JobID(nextID), by: .user(1000), digest: "d", at: now, known: table.known)
            nextID += 1
            store(retry, before: nil)
        } catch {
            refusals += 1
        }
    }

    private mutating func letProcessesDoSomething() {
        guard let job = table.open.randomElement(using: &random) else { return }
        wants[job.id] = draw(6)
        let code = [0, 0, 0, 0, 1, 3, 64, 65, 66, 69, 74, 75, 129, 130, 143, 137, 139, 2, nil, nil, nil][draw(21)]
        switch (job.state, draw(3)) {
        case (.starting, 0): change(job.id) { [now] job throws(Refusal) in try job.started(at: now) }
        case (.starting, 1):
            change(job.id) { [now] job throws(Refusal) in try job.startFailed("no processes", at: now) }
        case (.running, 0): change(job.id) { $0.starved(for: .seconds(3)) }
        case (.running, _), (.starting, _): end(job.id, code: code)
        case (.held, _), (.waiting, _), (.ended, _): break
        }
    }

    private mutating func end(_ id: JobID, code: Int?) {
        let progressed = draw(4) == 0
        let remainder = Submission.RunRemainder.allCases[draw(3)]
        change(id) { [now] job throws(Refusal) in
            try job.processEnded(code: code, leaving: remainder, text: "", progressed: progressed, at: now)
        }
    }

    /// The service is killed, and makes its queue again from its database.
    private mutating func restart() {
        var other = JobQueue()
        for job in table.jobs.values.shuffled(using: &random) where !job.state.isEnded {
            other.put(job, known: table.known)
        }
        queue = other
        table.lastRunEnd = nil
    }

    // MARK: The referee

    private mutating func complain(_ text: String) { complaints.append("step \(steps): \(text)") }

    private mutating func change(_ id: JobID, _ body: (inout Submission) throws(Refusal) -> Void) {
        let before = table.jobs[id]
        do {
            store(try queue.change(id, known: table.known, body), before: before)
        } catch {
            refusals += 1
            if queue[id] != before, before?.state.isEnded == false { complain("\(id) was refused and changed") }
            if before == nil, error.problem != .unknownJob { complain("\(id) does not exist: \(error.message)") }
        }
    }

    private static let transitions: [JobState.Name: Set<JobState.Name>] = [
        .held: [.held, .waiting, .cancelled],
        .waiting: [.waiting, .held, .starting, .cancelled, .skipped],
        .starting: [.starting, .running, .waiting, .done, .workLeft, .failed, .stopped, .cancelled],
        .running: [.running, .waiting, .done, .workLeft, .failed, .stopped, .cancelled],
    ]

    private mutating func store(_ job: Submission, before: Submission?) {
        if let before {
            if !Self.transitions[before.state.name, default: []].contains(job.state.name) {
                complain("\(job.id) from \(before.state.name) to \(job.state.name)")
            }
            let isStart = before.state.name == .waiting && job.state.name == .starting
            if job.state.tries != before.state.tries + (isStart ? 1 : 0) { complain("\(job.id) has wrong tries") }
            if case .starting(let starting) = before.state, job.state.run != starting.run, job.state.isEnded {
                // A process that never was has no run.
                if job.state.run != nil { complain("\(job.id) lost its run") }
            }
            if let asked = before.state.request, before.state.hasProcess, job.state.hasProcess {
                if case .cancel = asked, job.state.request != asked {
                    complain("\(job.id) forgot that it is cancelled")
                }
            }
            if case .cancel? = before.state.request, job.state.name == .waiting || job.state.name == .stopped {
                complain("\(job.id) was cancelled, and is \(job.state.name)")
            }
        } else {
            queue.put(job, known: table.known)
        }
        if before?.state.hasProcess == true, !job.state.hasProcess {
            if case .waiting(let waiting) = job.state, waiting.pause?.cause == .locked {
            } else {
                table.lastRunEnd = now
            }
        }
        if job.state.isEnded { ends[job.state.name, default: 0] += 1 }
        table.jobs[job.id] = job
        let open = table.jobs.values.filter { !$0.state.isEnded }.sorted { $0.id < $1.id }
        if queue.jobs != open { complain("the queue is not what the table has") }
        for ended in table.jobs.values where ended.state.isEnded && queue[ended.id] != nil {
            complain("\(ended.id) has ended, and is in the queue")
        }
    }

    private mutating func decide() {
        let decision = queue.decision(limits, wants: wants, at: now)
        let starts = decision.starts.map(\.job)
        let expected = table.starts(limits, wants, at: now)
        if starts != expected { complain("starts \(starts), not \(expected)") }
        if decision.skips != table.skips(at: now) { complain("skips \(decision.skips), not \(table.skips(at: now))") }
        checkStandings(decision)
        checkRecheck(decision)
        if limits.isDrained, !starts.isEmpty { complain("drained, and starts \(starts)") }
        if !starts.isEmpty, table.open.count + starts.count > 2 * limits.maxRuns { complain("too many runs") }
        for start in decision.starts {
            guard let job = table.jobs[start.job], let since = table.ready(job, at: now) else {
                complain("\(start.job) starts, and waits for something")
                continue
            }
            if start.waited != max(.zero, now - since) { complain("\(start.job) waited \(start.waited)") }
        }
        for skip in decision.skips {
            change(skip.job) { [now] job throws(Refusal) in try job.skip(because: skip.cause, at: now) }
            guard let cause = table.jobs[skip.cause], case .ended(let ended) = cause.state, ended.end != .done else {
                complain("\(skip.job) is skipped for \(skip.cause)")
                continue
            }
        }
        for start in decision.starts {
            runs += 1
            self.starts += 1
            wants[start.job] = nil
            change(start.job) { [now, runs] job throws(Refusal) in
                try job.start(run: "run-\(runs)", waited: start.waited, at: now)
            }
        }
        let again = queue.decision(limits, wants: wants, at: now)
        if !again.starts.isEmpty || !again.skips.isEmpty { complain("one decision was not enough") }
        checkShares()
    }

    private mutating func checkStandings(_ decision: QueueDecision) {
        let standings = queue.standings(limits, wants: wants, at: now)
        let waiting = table.waiting
        if Set(standings.keys) != Set(waiting.map(\.id)) { complain("not every waiting job has a reason") }
        let order = waiting.sorted { table.precedes($0, $1, limits, at: now) }.map(\.id)
        for (index, id) in order.enumerated() where standings[id]?.position != index + 1 {
            complain("\(id) is at \(standings[id]?.position ?? 0), not \(index + 1)")
        }
        let starts = decision.starts.map(\.job)
        let demands =
            table.demands(limits, wants, at: now)
            + starts.compactMap { table.jobs[$0] }.map {
                .init(job: $0.id, level: table.level($0, limits, at: now), wants: limits.workers)
            }
        for job in waiting {
            guard let reason = standings[job.id]?.reason, case .waiting(let state) = job.state else { continue }
            let holder = table.holder(of: job, or: starts)
            let isReady = table.ready(job, at: now) != nil
            let isFull = !table.hasPlace(job, demands, limits, at: now)
            let isTrue =
                switch reason {
                case .skippedSoon(let cause): table.cause(for: job) == cause
                case .needs(let jobs): !jobs.isEmpty && table.cause(for: job) == nil && table.unmet(job) == jobs
                case .notBefore(let time): time > now && job.notBefore == time
                case .lock(_, let again): again > now && state.pause?.until == again && state.pause?.cause == .locked
                case .backoff(_, let again): again > now && state.pause?.until == again && state.pause?.cause != .locked
                case .drained: isReady && limits.isDrained
                case .config(let text): isReady && !limits.isDrained && limits.obstacle == text
                case .startsNow: starts.contains(job.id)
                case .sameManifest(let other):
                    isReady && !limits.isDrained && !starts.contains(job.id) && holder == other
                case .maxRuns(let count): isReady && isFull && count >= limits.maxRuns && holder == nil
                case .workers: isReady && !isFull && !starts.contains(job.id) && holder == nil
                }
            if !isTrue { complain("\(job.id) does not wait because '\(reason.words)'") }
        }
    }

    /// Until the time of the decision, nothing changes by itself.
    private mutating func checkRecheck(_ decision: QueueDecision) {
        let before = (decision.recheck ?? now + .seconds(100_000)) + .milliseconds(-1)
        guard before > now else { return }
        let later = queue.decision(limits, wants: wants, at: before)
        if later.starts.map(\.job) != decision.starts.map(\.job) || later.skips != decision.skips {
            complain("the decision changed before \(decision.recheck?.text ?? "any time")")
        }
    }

    private mutating func checkShares() {
        let shares = queue.shares(limits, wants: wants)
        let expected = SlowShares.allot(limits.workers, to: table.demands(limits, wants, at: now))
        if shares.filter({ $0.value > 0 }) != expected { complain("shares \(shares), not \(expected)") }
    }
}
