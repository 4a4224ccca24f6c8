import Glibc

/// Workers get signals at random moments.
struct SignalledWorkers: Injection {
    enum Signal {
        case kill
        /// For a while.
        case stop
    }

    let signal: Signal
    /// Twenty kills of one task are too many for it.
    private static let most = 12

    func inject(into stage: Stage) throws {
        let run = try stage.start()
        let count = Int.random(in: 1...Self.most, using: &stage.random)
        for _ in 0..<count {
            pause(stage.moment(0...2 / Double(count)))
            guard run.process.isRunning else { break }
            let workers = ProcessTable.children(of: run.process.processID)
            guard let worker = workers.sorted().randomElement(using: &stage.random) else { continue }
            strike(worker, stage)
        }
        stage.finish(run, stage.doneCodes)
    }

    private func strike(_ worker: pid_t, _ stage: Stage) {
        stage.result.faults += 1
        switch signal {
        case .kill: kill(worker, SIGKILL)
        case .stop:
            kill(worker, SIGSTOP)
            pause(stage.moment(0.05...0.5))
            kill(worker, SIGCONT)
        }
    }
}

/// Proxy workers strike some tasks: see ``Fault``.
struct StruckTasks: Injection {
    let faults: [Fault]
    let chance: Double
    let limit: Int
    /// In seconds; what is lost or hangs is waited for so long.
    var timeout: Int?
    /// In seconds; a worker that says nothing for so long is replaced.
    var silence: Int?

    func inject(into stage: Stage) throws {
        if let silence { stage.environment["PENUMBRA_SILENCE"] = "\(silence)" }
        if let timeout {
            stage.extraLines.append("timeout: \(timeout)s")
            try stage.writeManifest()
        }
        try stage.plan(faults, chance: chance, limit: limit)
        try stage.finish(stage.start(), stage.doneCodes)
        stage.countCorruptions(mayGoUnread: false)
    }
}

/// One task crashes as often as it is tried: its picture fails by name, and all others are done.
struct Quarantine: Injection {
    func inject(into stage: Stage) throws {
        try stage.plan(
            [.crash], chance: 0.3, limit: 1, kinds: ["frame", "tile", "stitch", "canvas"], perTask: 2, longest: 0)
        let summary = try stage.finish(stage.start(), [0, 1])
        let crashes = stage.notes.filter { $0.what == "fault" }
        stage.result.faults += crashes.count
        let isTwice = Dictionary(grouping: crashes, by: \.detail).values.contains { $0.count > 1 }
        // A crash may come too late, when the task is done.
        guard isTwice, let summary else { return }
        for failure in summary.failures where failure["cause"] as? String != "worker crashed" {
            stage.blame(.causes, "\(failure["input"] ?? "?") failed as '\(failure["cause"] ?? "")', not as a crash")
        }
        if summary.failed > 1 { stage.blame(.exitCode, "\(summary.failed) frames failed for one task that crashes") }
    }
}
