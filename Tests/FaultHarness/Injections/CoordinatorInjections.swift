import Foundation
import Glibc

/// The coordinator is killed again and again; its workers leave by themselves.
struct KilledCoordinator: Injection {
    func inject(into stage: Stage) throws {
        for _ in 0..<Int.random(in: 1...3, using: &stage.random) {
            let run = try stage.start()
            pause(stage.moment())
            run.process.signal(SIGKILL)
            stage.finish(run, stage.doneCodes.union([137]))
            stage.result.faults += run.process.ending == .signaled(SIGKILL) ? 1 : 0
            stage.checkOrphans()
        }
    }
}

/// The coordinator is asked to end.
struct Interruption: Injection {
    func inject(into stage: Stage) throws {
        let signal = [SIGINT, SIGTERM, SIGHUP][Int.random(in: 0..<3, using: &stage.random)]
        let run = try stage.start()
        // Before it listens to signals, a program ends as any other does.
        pause(0.05 + stage.moment())
        run.process.signal(signal)
        stage.finish(run, stage.doneCodes.union([128 + signal]))
        guard let code = run.process.ending?.code, code == 128 + signal else { return }
        stage.result.faults += 1
        stage.checkOrphans()
        stage.checkLeftovers()
    }
}

/// While one run is stopped, another one is started; it gives way or waits.
struct TwoRuns: Injection {
    func inject(into stage: Stage) throws {
        let first = try stage.start()
        pause(stage.moment(0.3...0.8))
        first.process.signal(SIGSTOP)
        let holdsLock = first.process.isRunning && !Locks.held(in: stage.workspace).isEmpty
        let waits = Bool.random(using: &stage.random)
        let second = try stage.start(waits ? ["--lock-wait", "60"] : [])
        stage.result.faults += holdsLock ? 1 : 0
        if holdsLock, !waits {
            stage.finish(second, [75])
            first.process.signal(SIGCONT)
        } else {
            pause(0.1)
            first.process.signal(SIGCONT)
            stage.finish(second, stage.doneCodes.union(waits ? [] : [75]))
        }
        stage.finish(first, stage.doneCodes.union(holdsLock ? [] : [75]))
    }
}

/// The database is lost with a coordinator that was killed; the indexes beside the outputs know them.
struct LostDatabase: Injection {
    func inject(into stage: Stage) throws {
        let run = try stage.start()
        pause(stage.moment())
        run.process.signal(SIGKILL)
        stage.finish(run, stage.doneCodes.union([137]))
        stage.checkOrphans()
        for suffix in ["", "-wal", "-shm"] { unlink("\(stage.workspace.stateFolder)/penumbra.sqlite\(suffix)") }
        stage.result.faults += 1
        // What was renamed and not yet written down is nobody's then.
        stage.mayKeep = run.process.ending == .signaled(SIGKILL)
    }
}

/// The database is damaged after a run or in the middle of one. It is used as far as it can be read, or refused; what the
/// message says to do then helps.
struct DamagedDatabase: Injection {
    func inject(into stage: Stage) throws {
        let run = try stage.start()
        if stage.random.chance(0.7) {
            pause(stage.moment())
            run.process.signal(SIGKILL)
        }
        stage.finish(run, stage.doneCodes.union([137]))
        stage.checkOrphans()
        let database = "\(stage.workspace.stateFolder)/penumbra.sqlite"
        for suffix in stage.random.chance(0.5) ? [""] : ["", "-wal"] { damage(database + suffix, stage) }
        // A record that was hit is no longer that of the file.
        stage.mayKeep = true
        let next = try stage.start()
        stage.finish(next, stage.doneCodes.union([74]))
        guard next.process.ending?.code == 74 else { return }
        if !next.lastWords.contains("the database is damaged") {
            stage.blame(.causes, "a damaged database is told as: \(next.lastWords)")
        }
        for suffix in ["", "-wal", "-shm"] { unlink(database + suffix) }
    }

    private func damage(_ path: String, _ stage: Stage) {
        guard var data = FileManager.default.contents(atPath: path), !data.isEmpty else { return }
        switch Int.random(in: 0..<3, using: &stage.random) {
        case 0: data = data.prefix(Int.random(in: 0..<data.count, using: &stage.random))
        case 1:
            let start = Int.random(in: 0..<data.count, using: &stage.random)
            let end = min(data.count, start + 4096)
            data.replaceSubrange(start..<end, with: Data(count: end - start))
        default:
            for _ in 0..<20 {
                data[Int.random(in: 0..<data.count, using: &stage.random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &stage.random)
            }
        }
        // In place, as a failing disk has it.
        guard let file = FileHandle(forWritingAtPath: path) else { return }
        defer { try? file.close() }
        try? file.truncate(atOffset: 0)
        try? file.write(contentsOf: data)
        stage.result.faults += 1
    }
}

/// Kills and slow messages all together.
struct Storm: Injection {
    func inject(into stage: Stage) throws {
        try stage.plan(
            [.delayOrder, .delayReport, .kill, .crash, .flipFile, .truncateFile], chance: 0.3, limit: 6, longest: 0.05)
        for round in 0..<3 {
            let run = try stage.start()
            let isLast = round == 2
            if !isLast { pause(stage.moment()) }
            for worker in ProcessTable.children(of: run.process.processID) where stage.random.chance(0.4) {
                kill(worker, SIGKILL)
                stage.result.faults += 1
            }
            if !isLast { run.process.signal(SIGKILL) }
            stage.finish(run, stage.doneCodes.union([137]))
            stage.checkOrphans()
        }
        stage.countCorruptions(mayGoUnread: true)
    }
}
