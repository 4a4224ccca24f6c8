import WorkerProtocol

/// Workers that are not heard of any more, and a coordinator that did not listen.
extension Scheduler {
    /// Whatever a worker says, it lives.
    mutating func note(_ event: Event, at now: Timestamp) {
        if case .report(let worker, _) = event { roster.hear(worker, at: now) }
    }

    /// A process that is stopped, with nothing or something to do, is killed; so is one that was let go and does not go.
    mutating func endSilentWorkers(at now: Timestamp) {
        while let worker = silences.popDue(at: now) {
            guard let heard = roster.lastHeard(worker) else { continue }
            let end = heard + policy.silenceLimit
            if end > now { silences.add(worker, at: end) } else { endSilent(worker) }
        }
    }

    private mutating func endSilent(_ worker: WorkerID) {
        let (lease, before) = (roster.lease(of: worker), roster.dismissal(of: worker))
        guard before?.isKill != true else { return }
        let silence = Dismissal.silent(policy.silenceLimit)
        roster[worker] = .leaving(lease, because: before ?? silence)
        directives.append(.kill(worker, silence))
    }

    /// Nobody heard anybody for so long, and nobody is to blame for it.
    mutating func forgive(_ gap: Duration) {
        deadlines.postpone(by: gap)
        silences.postpone(by: gap)
        roster.forgive(gap)
    }
}
