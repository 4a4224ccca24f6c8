import Queueing

/// The rules of the queue, in the slowest and most obvious way: it looks at all jobs again for each question.
struct SlowQueue {
    /// All jobs, with those that have ended.
    var jobs: [JobID: Submission] = [:]
    /// When a run has ended last, since the service was started.
    var lastRunEnd: WallTime?

    var waiting: [Submission] {
        jobs.values.filter { if case .waiting = $0.state { true } else { false } }.sorted { $0.id < $1.id }
    }

    var open: [Submission] { jobs.values.filter(\.state.hasProcess).sorted { $0.id < $1.id } }

    func known(_ id: JobID) -> KnownJob? {
        jobs[id].map { job in
            if case .ended(let ended) = job.state {
                KnownJob(ended: ended, retriedAs: jobs.values.filter { $0.retryOf == id }.map(\.id).max())
            } else {
                KnownJob(ended: nil)
            }
        }
    }

    /// The job for which a waiting job is lost.
    func cause(for job: Submission) -> JobID? {
        guard case .waiting = job.state else { return nil }
        for need in job.needs where need.on == .success {
            guard let other = jobs[need.job] else { continue }
            if case .ended(let ended) = other.state {
                if case .skipped(let cause) = ended.end { return cause }
                if ended.end != .done { return other.id }
            } else if let cause = cause(for: other) {
                return cause
            }
        }
        return nil
    }

    func unmet(_ job: Submission) -> [JobID] {
        job.needs.filter { need in
            guard let other = jobs[need.job] else { return true }
            if case .ended(let ended) = other.state { return need.on == .success && ended.end != .done }
            return need.on == .success || cause(for: other) == nil
        }.map(\.job)
    }

    /// The time from which on a waiting job waits for its turn only. Nil if it waits for something else.
    func ready(_ job: Submission, at now: WallTime) -> WallTime? {
        guard case .waiting(let waiting) = job.state, cause(for: job) == nil, unmet(job).isEmpty else { return nil }
        var times = [waiting.since]
        for need in job.needs {
            if case .ended(let ended)? = jobs[need.job]?.state { times.append(ended.time) } else { times.append(now) }
        }
        if let time = job.notBefore { times.append(time) }
        if let pause = waiting.pause { times.append(pause.until) }
        if let time = job.notBefore, time > now { return nil }
        if let pause = waiting.pause, pause.until > now {
            guard pause.cause == .locked, let lastRunEnd, lastRunEnd > waiting.since else { return nil }
        }
        return times.max()
    }

    func waited(_ job: Submission, at now: WallTime) -> Duration {
        switch job.state {
        case .held(let waiting), .waiting(let waiting):
            waiting.history.waited + (ready(job, at: now).map { max(.zero, now - $0) } ?? .zero)
        case .starting(let starting): starting.history.waited
        case .running(let running): running.history.waited
        case .ended: .zero
        }
    }

    func level(_ job: Submission, _ limits: Limits, at now: WallTime) -> Int {
        if job.expedited != nil { return 101 }
        guard let aging = limits.aging else { return job.priority.value }
        var level = job.priority.value
        var rest = waited(job, at: now)
        while rest >= aging.time, level < 100 {
            rest -= aging.time
            level += aging.points
        }
        return min(100, level)
    }

    /// Whether one job goes before another.
    func precedes(_ a: Submission, _ b: Submission, _ limits: Limits, at now: WallTime) -> Bool {
        let (one, other) = (level(a, limits, at: now), level(b, limits, at: now))
        if one != other { return one > other }
        if let first = a.expedited, let second = b.expedited, first != second { return first > second }
        return a.id < b.id
    }

    func candidates(_ limits: Limits, at now: WallTime) -> [Submission] {
        waiting.filter { ready($0, at: now) != nil }.sorted { precedes($0, $1, limits, at: now) }
    }

    func demands(_ limits: Limits, _ wants: [JobID: Int], at now: WallTime) -> [SlowShares.Demand] {
        func began(_ job: Submission) -> WallTime {
            switch job.state {
            case .starting(let starting): starting.since
            case .running(let running): running.since
            case .held, .waiting, .ended: now
            }
        }
        return open.sorted { (began($0), $0.id) < (began($1), $1.id) }.map {
            .init(job: $0.id, level: level($0, limits, at: now), wants: wants[$0.id] ?? limits.workers)
        }
    }

    func starts(_ limits: Limits, _ wants: [JobID: Int], at now: WallTime) -> [JobID] {
        var starts: [JobID] = []
        var demands = demands(limits, wants, at: now)
        for job in candidates(limits, at: now) where !limits.isDrained {
            if !hasPlace(job, demands, limits, at: now) { continue }
            if holder(of: job, or: starts) != nil { continue }
            let demand = SlowShares.Demand(
                job: job.id, level: level(job, limits, at: now), wants: max(1, limits.workers))
            let shares = SlowShares.allot(limits.workers, to: demands + [demand])
            if shares[job.id, default: 0] > 0 {
                demands.append(demand)
                starts.append(job.id)
            }
        }
        return starts
    }

    /// Runs of lower levels do not keep a job from starting, until twice as many are open as may be of one level.
    func hasPlace(_ job: Submission, _ demands: [SlowShares.Demand], _ limits: Limits, at now: WallTime) -> Bool {
        let mine = level(job, limits, at: now)
        var rivals = 0
        for demand in demands where demand.level >= mine { rivals += 1 }
        return rivals < limits.maxRuns && demands.count < limits.maxRuns + limits.maxRuns
    }

    /// The job whose run keeps another one of its manifest from starting.
    func holder(of job: Submission, or starts: [JobID]) -> JobID? {
        (open.map(\.id) + starts).first { jobs[$0]?.manifest == job.manifest && jobs[$0]?.name == job.name }
    }

    func skips(at now: WallTime) -> [QueueDecision.Skip] {
        waiting.compactMap { job in cause(for: job).map { QueueDecision.Skip(job: job.id, cause: $0) } }
    }
}

/// Hands out workers one by one.
enum SlowShares {
    struct Demand {
        let job: JobID
        let level: Int
        let wants: Int
    }

    static func allot(_ workers: Int, to demands: [Demand]) -> [JobID: Int] {
        var shares: [JobID: Int] = [:]
        for _ in 0..<max(0, workers) {
            var best: Demand?
            for demand in demands where shares[demand.job, default: 0] < demand.wants {
                guard let other = best else {
                    best = demand
                    continue
                }
                let isPoorer = shares[demand.job, default: 0] < shares[other.job, default: 0]
                if demand.level > other.level || (demand.level == other.level && isPoorer) { best = demand }
            }
            guard let best else { break }
            shares[best.job, default: 0] += 1
        }
        return shares
    }
}
