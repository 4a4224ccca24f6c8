import Geometry
import Scheduling
import WorkerProtocol

/// Correct and incorrect actions of workers.
extension RandomWorld {
    mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// Ordered by their numbers, so that the same seed makes the same world.
    var runningLeases: [LeaseID] { referee.leases.keys.sorted { $0.number < $1.number } }

    var doomedWorker: WorkerID? { referee.standings.filter { $0.value.isDoomed }.keys.min() }

    mutating func startWorker(dies: Bool) {
        guard let slot = referee.emptySlot else { return }
        startedWorkers += 1
        let worker = WorkerID(startedWorkers, slot: slot)
        let death = anyDeath()
        deliver(dies ? .workerLost(worker, Death(death)) : .workerReady(worker))
    }

    mutating func lose(_ worker: WorkerID?, _ manner: Death.Manner) {
        if let worker { deliver(.workerLost(worker, Death(manner))) }
    }

    mutating func anyWorker() -> WorkerID? { referee.standings.keys.sorted().randomElement(using: &random) }

    /// More of them are kills than anything else, because only kills are retried twenty times.
    mutating func anyDeath() -> Death.Manner {
        let manners: [Death.Manner] = [
            .signal(11), .exited(1), .outOfMemory, .brokeProtocol("noise"), .failedToStart("no such file"),
        ]
        return draw(2) == 0 ? .killed : manners[draw(manners.count)]
    }

    mutating func finish(_ lease: Lease) {
        deliver(.report(lease.worker, .finished(lease.id, honestReceipt(of: lease))))
    }

    func honestReceipt(of lease: Lease) -> TaskReceipt {
        receipt(for: lease.spec, probe: claims[lease.task.frame] ?? probe)
    }

    /// A worker finishes its task, or reports its progress.
    mutating func work() {
        if draw(10) == 0, let doomed = doomedWorker { return lose(doomed, .byOrder) }
        guard let id = runningLeases.randomElement(using: &random), let lease = referee.leases[id] else { return }
        switch draw(1000) {
        case 0..<10: fail(lease, [.data, .value, .input, .permission, .limit, .output][draw(6)])
        case 10 where endings > 0: fail(lease, .storage)
        case 11 where endings > 0: fail(lease, .resourceLimit)
        case 20..<100: fail(lease, .transient)
        case 100..<140: fail(lease, damage(lease))
        case 140..<144: fail(lease, .damagedTile(index: draw(50)))
        case 150..<170: deliver(.report(lease.worker, .inPlugins(lease.id, ["plugin \(draw(41))"])))
        case 170..<173:
            let wrong = [.probe, .frame].contains(lease.task.kind) ? TaskReceipt.check : .probe(probe)
            deliver(.report(lease.worker, .finished(lease.id, wrong)))
        default: finish(lease)
        }
    }

    private mutating func fail(_ lease: Lease, _ kind: TaskFailure.Kind) {
        deliver(.report(lease.worker, .failed(lease.id, TaskFailure(kind, "it failed"))))
    }

    private mutating func damage(_ lease: Lease) -> TaskFailure.Kind {
        switch lease.task.kind {
        case .stitch: .damagedTile(index: draw(probe.grid.count))
        case .tile: .damagedCanvas
        case .audit, .check: .mismatch
        case .compare, .probe, .frame, .canvas: .transient
        }
    }

    /// A report that the scheduler must ignore: from dead workers, of ended leases, of others' leases, or repeated.
    /// Only the time at which it comes may have an effect.
    mutating func bother() {
        guard let lease = past.randomElement(using: &random) else { return }
        let other = anyWorker() ?? lease.worker
        let worker = draw(2) == 0 ? lease.worker : other
        let report = idleTalk(of: lease)
        guard referee.isStale(report, from: worker) else { return }
        var undisturbed = scheduler
        // Any message shows that the worker is alive.
        let expected = undisturbed.handle(.report(worker, .alive), at: now)
        var disturbed = scheduler
        if disturbed.handle(.report(worker, report), at: now) != expected {
            referee.complaints.append("a report that is void has an effect")
        }
        deliver(.report(worker, report))
    }

    private mutating func idleTalk(of lease: Lease) -> Report {
        switch draw(4) {
        case 0: .failed(lease.id, TaskFailure([.data, .storage, .mismatch, .transient][draw(4)], "late"))
        case 1: .inPlugins(lease.id, ["plugin"])
        case 2: .finished(LeaseID(1_000_000 + draw(9)), .check)
        default: .finished(lease.id, receipt(for: lease.spec, probe: probe))
        }
    }
}

extension Referee.Standing {
    var isDoomed: Bool {
        switch self {
        case .doomed: true
        case .idle, .holding: false
        }
    }
}
