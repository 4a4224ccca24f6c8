import JobModel
import Scheduling
import WorkerProtocol

/// The directives that are allowed, given all earlier events.
extension Referee {
    mutating func judge(_ directive: Directive) {
        switch directive {
        case .wantFrames(let count): judgeWish(count)
        case .start(let lease): judgeLease(lease)
        case .ended, .flag: break
        case .widen(let count):
            expect(count > slots && count <= policy.workers, "widened to \(count)")
            slots = count
        case .retire(let retirement): judgeRetirement(retirement.slot)
        case .kill(let worker, let dismissal): judgeKill(worker, dismissal)
        case .recycle(let worker):
            expect(standings[worker] == .idle, "a worker that is not idle is recycled")
            standings[worker] = .doomed(nil, .recycled)
        case .publish(let frame, let outputs): judgePublishing(frame, outputs)
        case .decide(let frame, _):
            expect(accepted == TaskID(frame, .compare), "a decision without a comparison")
        case .conclude(let frame, let outcome): judgeConclusion(frame, outcome)
        case .finish: judgeEnd()
        }
    }

    private mutating func expect(_ condition: Bool, _ complaint: @autoclosure () -> String) {
        if !condition { complaints.append(complaint()) }
    }

    private mutating func judgeWish(_ count: Int) {
        asked += count
        expect(openFrames + asked <= policy.openFrames, "too many open frames")
        expect(count > 0 && !planEnded && !isStopped && !isDraining, "frames are wanted that nobody can use")
    }

    private mutating func judgeLease(_ lease: Lease) {
        let task = lease.task
        expect(lease.id.number > lastLease, "a lease number comes twice")
        let standing = standing(of: lease.worker)
        expect(standing == "idle", "a lease for a worker that is \(standing)")
        expect(
            !leases.values.contains { $0.task == task && $0.round == lease.round }, "one task is leased twice at once")
        expect(lease.deadline == now + lease.timeLimit && lease.timeLimit > .zero, "a lease without a deadline")
        expect(!isStopped, "a lease after the stop")
        lastLease = lease.id.number
        standings[lease.worker] = .holding(lease.id)
        leases[lease.id] = lease
        guard var frame = frames[task.frame], frame.isOpen else {
            complaints.append("a lease for a frame that is not open")
            return
        }
        expect(lease.round == frame.round && lease.round <= policy.retry.retries, "a lease of a wrong round")
        expect(
            frame.isReady(for: task.kind, opens: lease.spec.opens),
            "\(task.kind) is begun before what it needs is there")
        expect(
            !(task.kind == .audit || task.kind == .check) || !frame.renderers.contains(lease.worker),
            "a worker audits its own pixels")
        judgeAttempt(lease, frame.histories[task.kind] ?? AttemptHistory())
        frame.histories[task.kind, default: AttemptHistory()].attempts = lease.attempt
        frames[task.frame] = frame
    }

    private mutating func judgeAttempt(_ lease: Lease, _ before: AttemptHistory) {
        expect(lease.attempt == before.attempts + 1, "attempts are not numbered one by one")
        expect(
            before.crashes < min(policy.retry.crashLimit, policy.retry.retries + 1)
                && before.kills < policy.retry.killLimit && before.failures <= policy.retry.retries,
            "an attempt too many")
    }

    private func standing(of worker: WorkerID) -> String {
        switch standings[worker] {
        case nil: "dead or not ready"
        case .idle: "idle"
        case .holding: "busy"
        case .doomed: "told to end"
        }
    }

    private mutating func judgeKill(_ worker: WorkerID, _ dismissal: Dismissal) {
        let lease = standings[worker]?.lease
        switch (standings[worker], dismissal) {
        case (.doomed(_, .recycled), .silent), (.doomed(_, .retired), .silent): break
        case (.doomed, _): complaints.append("killed twice")
        default: break
        }
        expect(standings[worker] != nil, "a dead worker is killed")
        switch dismissal {
        case .silent(let limit):
            expect(heard[worker].map { $0 + limit <= now } ?? false, "a worker that was heard of counts as silent")
        case .overdue:
            let end = lease.flatMap { id in leases[id].map { $0.deadline + (stalls[id] ?? .zero) } }
            expect(end.map { $0 <= now } ?? false, "a lease is ended before its time")
        case .brokeProtocol: expect(liar == worker, "a worker that did nothing wrong counts as a liar")
        case .stopping, .recycled, .retired: break
        }
        let isRetired = standings[worker]?.isRetired ?? false
        standings[worker] = .doomed(lease, isRetired ? .retired : dismissal)
    }

    private mutating func judgeRetirement(_ slot: SlotID) {
        expect(retired.insert(slot).inserted && slot.number <= slots, "a slot is retired that is none")
        expect(retired.count < policy.workers, "the last slot is retired")
        expect(slotFaults[slot, default: 0] >= 3, "a slot is retired for next to nothing")
        expect(!isStopped, "a slot is retired after the stop")
        for (worker, standing) in standings where worker.slot == slot {
            switch standing {
            case .idle: standings[worker] = .doomed(nil, .retired)
            case .holding(let lease): standings[worker] = .doomed(lease, .retired)
            case .doomed: break
            }
        }
    }

    private mutating func judgePublishing(_ id: FrameID, _ outputs: [Publication]) {
        for output in outputs { expect(published.insert(output.path).inserted, "published twice: \(output.path)") }
        expect(accepted?.frame == id, "something is published that no result asked for")
        expect(frames[id]?.isRendered(policy.verify) == true, "something is published that is not verified")
        expect(frames[id]?.isOpen == true, "a frame is published that is not open")
        expect(!isStopped, "something is published after the stop")
        frames[id]?.isPublishing = true
        openFrames -= 1
    }

    private mutating func judgeConclusion(_ id: FrameID, _ outcome: FrameOutcome) {
        guard let frame = frames[id] else {
            complaints.append("a frame is concluded that nobody offered")
            return
        }
        expect(frame.conclusions == 0, "frame \(id.name) is concluded twice")
        switch outcome {
        case .published: expect(frame.wasPublished, "a frame counts as published, and is not")
        case .surveyed: expect(accepted == TaskID(id, .probe), "a survey without a probe")
        case .settled: expect(frame.decision == .settle, "a frame is settled that nobody decided on")
        case .failed: break
        case .left: if !isDraining { isStopped = true }
        }
        if frame.isOpen { openFrames -= 1 }
        frames[id]?.conclusions += 1
    }

    private mutating func judgeEnd() {
        isFinished = true
        expect(leases.isEmpty, "finished while workers hold leases")
        expect(asked == 0, "finished while frames are on their way")
        expect(frames.values.allSatisfy { $0.conclusions == 1 }, "finished before every frame was concluded")
    }
}

extension TaskSpec {
    /// Whether the task probes its frame and may render it, too.
    fileprivate var opens: Bool {
        if case .frame(let task) = self { task.opening != nil } else { false }
    }
}

extension Referee.Record {
    /// Whether everything that a task needs was made in this round, by accepted results.
    func isReady(for kind: TaskKind, opens: Bool) -> Bool {
        switch kind {
        case .frame where opens: done.isDisjoint(with: [.probe, .frame, .canvas])
        case .compare: !done.contains(.compare)
        case .probe: !done.contains(.probe)
        case .frame, .canvas: done.contains(.probe) && done.isDisjoint(with: [.frame, .canvas])
        case .tile(let index): done.contains(.canvas) && !done.contains(.tile(index))
        case .stitch: (0..<tiles).allSatisfy { done.contains(.tile($0)) }
        case .audit: isWritten && !done.contains(.audit)
        case .check: done.contains(.audit) && !done.contains(.check)
        }
    }

    private var isWritten: Bool { done.contains(.frame) || done.contains(.stitch) }

    func isRendered(_ verify: VerifyLevel) -> Bool {
        switch verify {
        case .digest: isWritten
        case .audit: isWritten && done.contains(.audit)
        case .full: isWritten && done.contains(.check)
        }
    }
}
