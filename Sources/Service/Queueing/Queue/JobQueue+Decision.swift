/// What the service may do.
package struct Limits: Hashable, Sendable {
    /// Workers of this machine.
    package var workers: Int
    /// The largest number of open runs of one level or a higher one: each has a process that plans and follows it.
    ///
    /// A more urgent job does not wait for the runs of lower levels. At most twice as many runs are open in all.
    package var maxRuns: Int
    /// No job starts. Those that run go on.
    package var isDrained: Bool
    package var aging: Aging?
    /// Why no run can begin now, such as a mistake in the config file that runs read. Nil if nothing prevents it.
    package var obstacle: String?

    package init(workers: Int, maxRuns: Int = 4, isDrained: Bool = false, aging: Aging? = nil) {
        self.workers = workers
        self.maxRuns = maxRuns
        self.isDrained = isDrained
        self.aging = aging
    }

    /// How many runs may be open in all.
    fileprivate var mostOpenRuns: Int { 2 * maxRuns }

    /// - Parameter demands: those of all open runs.
    /// - Returns: how many open runs leave no place for a run of a level; nil if there is a place.
    fileprivate func fullness(for level: Rank.Level, _ demands: [WorkerShares.Demand]) -> Int? {
        if demands.count >= mostOpenRuns { return demands.count }
        let before = demands.count { $0.level >= level }
        return before >= maxRuns ? before : nil
    }
}

/// What has to happen now.
package struct QueueDecision: Hashable, Sendable {
    package struct Start: Hashable, Sendable {
        package let job: JobID
        /// For ``Submission/start(run:waited:at:)``.
        package let waited: Duration
    }

    package struct Skip: Hashable, Sendable {
        package let job: JobID
        /// The job that did not succeed. Jobs between the two are skipped for the same one.
        package let cause: JobID

        package init(job: JobID, cause: JobID) {
            self.job = job
            self.cause = cause
        }
    }

    /// By rank.
    package var starts: [Start] = []
    /// By number.
    package var skips: [Skip] = []
    /// Until then, the same queue gives the same decision. Nil if only a change of the queue, the limits or the demands
    /// changes it.
    package var recheck: WallTime?

    package init() {}
}

extension JobQueue {
    /// Which jobs start now, and which are skipped.
    ///
    /// A job starts if it waits for nothing, no other job of its manifest has a run, ``Limits/maxRuns`` leaves it a place,
    /// and ``WorkerShares`` would give it a worker. Higher ranks start first. A run that would have no worker does not start, so that it does not
    /// take the place of a more urgent one.
    ///
    /// One pass: O(n + d + n·r) for n jobs, d dependencies and r = `maxRuns`. The last part is rarely reached, because
    /// only jobs that are better than the best r so far are moved.
    ///
    /// - Parameter wants: How many workers each open run could use. A run that is not listed has not said so yet, and
    ///   counts as one that can use all of them.
    package func decision(_ limits: Limits, wants: [JobID: Int] = [:], at now: WallTime) -> QueueDecision {
        decisionAndDemands(limits, wants, at: now).decision
    }

    /// Also returns the demands of all runs that are open afterwards.
    private func decisionAndDemands(
        _ limits: Limits, _ wants: [JobID: Int], at now: WallTime
    ) -> (decision: QueueDecision, demands: [WorkerShares.Demand]) {
        let slots = max(0, limits.mostOpenRuns - jobs.count { $0.state.hasProcess })
        var best = BestCandidates(limit: limits.isDrained ? 0 : slots, taken: takenLocks)
        var decision = QueueDecision()
        review(limits, at: now) { job, finding in
            switch finding {
            case .blocked(_, let until):
                if let until { decision.noteChange(at: until) }
            case .lost(let cause): decision.skips.append(.init(job: job.id, cause: cause))
            case .ready(let candidate):
                best.add(candidate, job.lock)
                if let aging = limits.aging, !limits.isDrained {
                    decision.noteChange(at: now + aging.rest(after: candidate.waited))
                }
            }
        }
        var demands = self.demands(wants, limits)
        for candidate in best.candidates {
            // How many workers it can use is not known yet.
            let demand = WorkerShares.Demand(
                job: candidate.rank.id, level: candidate.rank.level, wants: max(1, limits.workers))
            // If it gets no place or no worker, those of a lower rank get none either.
            guard limits.fullness(for: demand.level, demands) == nil else { break }
            guard WorkerShares.allot(limits.workers, to: demands + [demand])[demand.job, default: 0] > 0 else { break }
            demands.append(demand)
            decision.starts.append(.init(job: demand.job, waited: candidate.presentWait))
        }
        return (decision, demands)
    }

    /// How many workers each open run may have now.
    ///
    /// - Parameter wants: as for ``decision(_:wants:at:)``.
    package func shares(_ limits: Limits, wants: [JobID: Int]) -> [JobID: Int] {
        WorkerShares.allot(limits.workers, to: demands(wants, limits))
    }

    /// In the order in which the runs began.
    private func demands(_ wants: [JobID: Int], _ limits: Limits) -> [WorkerShares.Demand] {
        jobs.compactMap { job -> (WallTime, WorkerShares.Demand)? in
            let since: WallTime
            switch job.state {
            case .starting(let starting): since = starting.since
            case .running(let running): since = running.since
            case .held, .waiting, .ended: return nil
            }
            let level = Rank.Level(job, waited: job.state.history.waited, aging: limits.aging)
            return (since, .init(job: job.id, level: level, wants: wants[job.id] ?? limits.workers))
        }
        .sorted { ($0.0, $0.1.job) < ($1.0, $1.1.job) }
        .map(\.1)
    }

    /// Why each waiting job waits, and its place among them. Takes O(n log n), so it is for lists and not for every
    /// decision.
    package func standings(_ limits: Limits, wants: [JobID: Int] = [:], at now: WallTime) -> [JobID: Standing] {
        let (decision, demands) = decisionAndDemands(limits, wants, at: now)
        let starts = Set(decision.starts.map(\.job))
        var locks = takenLocks
        for start in decision.starts { if let job = self[start.job] { locks[job.lock] = job.id } }
        let atWork = WorkerShares.allot(limits.workers, to: demands).filter { $0.value > 0 }.keys.sorted()
        var reasons: [(rank: Rank, reason: WaitReason)] = []
        review(limits, at: now) { job, finding in
            let reason: WaitReason
            var waited = job.state.history.waited
            switch finding {
            case .blocked(let found, _): reason = found
            case .lost(let cause): reason = .skippedSoon(because: cause)
            case .ready(let candidate):
                waited = candidate.waited
                if limits.isDrained {
                    reason = .drained
                } else if let obstacle = limits.obstacle {
                    reason = .config(obstacle)
                } else if starts.contains(job.id) {
                    reason = .startsNow
                } else if let other = locks[job.lock] {
                    reason = .sameManifest(other)
                } else if let count = limits.fullness(
                    for: Rank.Level(job, waited: waited, aging: limits.aging), demands)
                {
                    reason = .maxRuns(count)
                } else {
                    reason = .workers(by: atWork)
                }
            }
            reasons.append((Rank(job, waited: waited, aging: limits.aging), reason))
        }
        var standings: [JobID: Standing] = [:]
        for (index, entry) in reasons.sorted(by: { $0.rank < $1.rank }).enumerated() {
            standings[entry.rank.id] = Standing(position: index + 1, reason: entry.reason)
        }
        return standings
    }

    /// A job that waits for nothing but its turn.
    private struct Candidate {
        let rank: Rank
        /// All its waits so far, for its rank.
        let waited: Duration
        let presentWait: Duration
    }

    private enum Finding {
        /// - Parameter until: When this changes by itself.
        case blocked(WaitReason, until: WallTime?)
        /// A job that it needs, perhaps through others, did not succeed.
        case lost(because: JobID)
        case ready(Candidate)
    }

    /// Looks at each waiting job, by number. A job needs only earlier ones, so that one pass is enough.
    private func review(_ limits: Limits, at now: WallTime, _ body: (Submission, Finding) -> Void) {
        var lost: [JobID: JobID] = [:]
        for job in jobs {
            guard case .waiting(let waiting) = job.state else { continue }
            let finding = finding(for: job, waiting, lost, limits, at: now)
            if case .lost(let cause) = finding { lost[job.id] = cause }
            body(job, finding)
        }
    }

    private func finding(
        for job: Submission, _ waiting: JobState.Waiting, _ lost: [JobID: JobID], _ limits: Limits, at now: WallTime
    ) -> Finding {
        var since = waiting.since
        var unmet: [JobID] = []
        for need in job.needs {
            if let ended = ends[need.job] {
                guard need.isMet(by: ended.end) else { return .lost(because: ended.end.cause ?? need.job) }
                since = max(since, ended.time)
            } else if let cause = lost[need.job] {
                guard need.on == .end else { return .lost(because: cause) }
                since = max(since, now)
            } else {
                unmet.append(need.job)
            }
        }
        if !unmet.isEmpty { return .blocked(.needs(unmet), until: nil) }
        if let notBefore = job.notBefore, notBefore > now { return .blocked(.notBefore(notBefore), until: notBefore) }
        if let pause = waiting.pause, pause.until > now, !isFreed(pause, since: waiting.since) {
            return .blocked(WaitReason(pause), until: limits.isDrained ? nil : pause.until)
        }
        since = max(since, job.notBefore ?? .earliest, waiting.pause?.until ?? .earliest)
        let presentWait = max(.zero, now - since)
        let waited = waiting.history.waited + presentWait
        return .ready(
            Candidate(
                rank: Rank(job, waited: waited, aging: limits.aging), waited: waited, presentWait: presentWait))
    }

    /// Whether a lock may be free by now, because a run has ended since the job found it held. The next process tells.
    private func isFreed(_ pause: JobState.Pause, since: WallTime) -> Bool {
        guard pause.cause == .locked, let lastRunEnd else { return false }
        return lastRunEnd > since
    }

    /// The jobs whose runs are open.
    private var takenLocks: [Submission.RunLock: JobID] {
        Dictionary(jobs.lazy.filter(\.state.hasProcess).map { ($0.lock, $0.id) }) { first, _ in first }
    }

    /// The candidates of the lowest ranks, in order. Of several with one lock, the first.
    private struct BestCandidates {
        let limit: Int
        private let taken: [Submission.RunLock: JobID]
        private(set) var candidates: [Candidate] = []
        /// Of the candidates.
        private var locks: [Submission.RunLock] = []

        init(limit: Int, taken: [Submission.RunLock: JobID]) {
            self.limit = limit
            self.taken = taken
        }

        mutating func add(_ candidate: Candidate, _ lock: @autoclosure () -> Submission.RunLock) {
            if candidates.count >= limit {
                guard let worst = candidates.last, candidate.rank < worst.rank else { return }
            }
            let lock = lock()
            guard taken[lock] == nil else { return }
            if let other = locks.firstIndex(of: lock) {
                guard candidate.rank < candidates[other].rank else { return }
                remove(at: other)
            } else if candidates.count >= limit {
                remove(at: candidates.count - 1)
            }
            let place = candidates.firstIndex { candidate.rank < $0.rank } ?? candidates.count
            candidates.insert(candidate, at: place)
            locks.insert(lock, at: place)
        }

        private mutating func remove(at place: Int) {
            candidates.remove(at: place)
            locks.remove(at: place)
        }
    }
}

extension QueueDecision {
    fileprivate mutating func noteChange(at time: WallTime) { recheck = min(recheck ?? time, time) }
}

extension JobState.End {
    /// The job for which a skipped one was skipped.
    fileprivate var cause: JobID? { if case .skipped(let cause) = self { cause } else { nil } }
}

extension JobState {
    fileprivate var history: History {
        switch self {
        case .held(let waiting), .waiting(let waiting): waiting.history
        case .starting(let starting): starting.history
        case .running(let running): running.history
        case .ended: History()
        }
    }
}
