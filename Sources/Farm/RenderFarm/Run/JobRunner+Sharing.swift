import Coordination
import Engines
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import SafeFiles
import Scheduling
import Settings
import Shards

/// Runs that go on without the process that began them.
extension JobRunner {
    var isShared: Bool { wishes.sharing != .none }

    /// What ends this process does not end the run.
    func isGoneOnWith(_ job: StartedJob) -> Bool {
        switch wishes.sharing {
        case .none, .detached: false
        // There is something to lose where it was prepared before.
        case .prepared: job.directory.epoch > 1
        case .resumed: true
        }
    }

    /// Nil for a run of this process alone.
    func sharedDirectory(for job: JobSpec) async throws -> RunFolder? {
        switch wishes.sharing {
        case .none:
            try refuseDetached(job)
            return nil
        case .detached:
            try refuseDetached(job)
            let place = scratchPlace(for: job) ?? ""
            RunFolder.sweep(state: place)
            return try RunFolder(state: place, token: installation.newToken(), scratch: place, job: job)
        case .prepared(_, let place):
            RunFolder.sweep(state: place)
            let known = RunFolder.unfinished(of: job, state: place).map { SharedRun(place: place, name: $0) }
            if let open = known.first(where: { $0.end == nil }), let directory = try await claimed(open, job) {
                return directory
            }
            return try RunFolder(state: place, token: installation.newToken(), scratch: place, job: job)
        case .resumed(let run, _):
            try MissingDiskCheck.refuseLostDisks(of: run)
            guard let directory = try await claimed(run, job) else {
                let outcome = RunOutcome(number: run.end?.exitCode ?? 0) ?? .someFailed
                throw FarmError(outcome, "\(run.name): another coordinator has ended it", isReported: true)
            }
            return directory
        }
    }

    /// A coordinator whose machine died is taken for alive for a minute.
    private static let longestWait = Duration.seconds(150)

    /// Nil for a run that another coordinator has brought to its end.
    private func claimed(_ run: SharedRun, _ job: JobSpec) async throws -> RunFolder? {
        var isJob = false
        if case .resumed(_, asJob: true) = wishes.sharing { isJob = true }
        let end = ContinuousClock.now + (isJob ? Self.longestWait : .zero)
        repeat {
            let claimed = try await Blocking.run { [isJob] () throws(FileTrouble) in
                try RunFolder(claiming: run.name, state: run.place, keepsRequests: isJob)
            }
            if let directory = claimed {
                guard run.end != nil else { return directory }
                // Its coordinator was killed before it had removed what the run kept.
                directory.remove()
            }
            if run.end != nil { return nil }
            // The lock of a machine that died may hold for a while, too.
            if isJob { try await Task.sleep(for: .seconds(2)) }
        } while ContinuousClock.now < end
        throw FarmError(
            .busy,
            "\(job.name): the run \(run.name) has a coordinator that lives; 'penumbra status --run-dir \(run.folder)' tells "
                + "of it")
    }

    /// A job that a cluster has is not done here at the same time.
    private func refuseDetached(_ job: JobSpec) throws {
        var known = DetachedRuns.all(state: installation.settings.stateFolder.value)
        if let place = scratchPlace(for: job) {
            known += RunFolder.unfinished(of: job, state: place).map { SharedRun(place: place, name: $0) }
        }
        let open = known.first { run in
            run.record?.manifest == job.manifestPath && run.record?.job == job.name && run.end == nil
        }
        guard let run = open else { return }
        throw FarmError(
            .busy,
            "\(job.name): its detached run \(run.name) has not ended\n"
                + "   = penumbra status, wait, resume and cancel take it by --run-dir \(run.folder)")
    }

    /// What detached runs have come to is known here, too, as soon as anybody looks.
    func importEnds() { DetachedEnds.take(into: installation.settings.stateFolder.value) }

    /// Writes down what other coordinators need.
    ///
    /// - Returns: whether the run asks for the same as under earlier ones.
    func share(_ job: StartedJob, _ settings: RunSettings) throws -> Bool {
        guard isShared else { return true }
        let (prepared, known) = (job.prepared, job.directory.shared.record)
        // Whoever prepares it again may want something else of it.
        if known != nil, case .resumed = wishes.sharing { return true }
        var counts = RunCounts()
        counts.frames = prepared.targets.count + prepared.ended.count
        counts.work = prepared.workCount
        var record = SharedRun.Record(
            run: job.directory.name, job: prepared.job.name, manifest: prepared.job.manifestPath,
            started: known?.started ?? currentTime(), workers: settings.workers, memory: settings.memory,
            request: wishes.request ?? "{}", counts: counts.json, command: wishes.command)
        record.disks = RecordedDisks(of: prepared.job)
        try job.directory.shared.write(record)
        return known?.request == wishes.request
    }

    /// - Returns: false when the run is over.
    func handOver(_ job: StartedJob, _ summary: RunSummary) async -> Bool {
        guard let stop = summary.stop else { return false }
        switch stop {
        case .detached, .superseded: break
        case .interrupted, .storage, .engine, .resourceLimit, .cluster, .lastSlot:
            if !isGoneOnWith(job) { return false }
        case .cancelled, .pluginFault, .deadline, .failures: return false
        }
        // Whatever goes wrong from here on, nothing of the run is removed.
        job.isToGoOn()
        job.directory.keepFolders()
        reporting.receive(.handedOver(summary))
        if stop != .detached {
            reporting.complain("\(job.prepared.job.name): \(StopWords.describe(stop, left: summary.left))")
        }
        if stop == .superseded { return true }
        do {
            try await leaveToOthers(job, summary, stop)
        } catch {
            reporting.complain("\(job.prepared.job.name): \((error as? FileTrouble)?.message ?? "\(error)")")
        }
        tellWhoGoesOn(job, summary, stop)
        return true
    }

    private func leaveToOthers(_ job: StartedJob, _ summary: RunSummary, _ stop: StopReason) async throws {
        let run = job.directory.shared
        run.note(left: summary.left)
        if case .detached = wishes.sharing {
            try DetachedRuns.remember(run, state: installation.settings.stateFolder.value)
        }
        if stop == .detached { return try ControlFiles.make(.detached, of: run.name, state: run.place) }
        // On a disk that is full the reason is not written, and somebody goes on all the same.
        let noting = Result { try run.note(lastStop: StopWords.describe(stop, left: summary.left)) }
        defer { if case .failure(let error as FileTrouble) = noting { reporting.complain(error.message) } }
        guard await isKept(job, after: stop) else { return }
        try ControlFiles.make(.detached, of: run.name, state: run.place)
    }

    /// It could not begin to go on with a run that it had taken from a cluster's job.
    func leaveUnbegun(_ job: StartedJob, _ reason: String) async {
        job.isToGoOn()
        try? job.directory.shared.note(lastStop: reason)
        if case .resumed(_, asJob: false) = wishes.sharing, await giveBack(job, after: .engine("")) {
            let run = job.directory.shared
            try? ControlFiles.make(.detached, of: run.name, state: run.place)
        }
    }

    /// Whether a cluster's job goes on with it by itself.
    private func isKept(_ job: StartedJob, after stop: StopReason) async -> Bool {
        switch wishes.sharing {
        case .resumed(_, asJob: true): await keepSuccessor(of: job, after: stop)
        case .resumed(_, asJob: false): await giveBack(job, after: stop)
        case .none, .detached, .prepared: false
        }
    }

    /// Where that cannot be told, they are tried again.
    func tellBroken(_ kind: SharedHistory.BrokenPictures, _ ledger: Ledger?, _ run: SharedRun) {
        if isShared { try? ledger?.tellBroken(kind, to: run.history) }
    }

    private func tellWhoGoesOn(_ job: StartedJob, _ summary: RunSummary, _ stop: StopReason) {
        let (run, name) = (job.directory.shared, job.prepared.job.name)
        let left = Figures.plural(summary.left, "frame")
        switch wishes.sharing {
        case .detached:
            if let stored = run.stored { reporting.receive(.detached(stored, run)) }
            reporting.say(
                "\(name): \(left) handed to Slurm; run \(run.name), in \(run.folder)\n"
                    + "   = penumbra status, wait and cancel take it by --run-dir, from any node")
        // One that was interrupted has left the shards as they were.
        case .prepared(let shards, let place) where stop == .detached:
            reporting.say("\(name): \(left) in \(Figures.plural(shards, "shard")) at \(place)")
        case .resumed where ControlFiles.of(run: run.name, state: run.place).isDetached:
            reporting.say("\(name): \(left) left, which a job in Slurm's queue goes on with")
        case .resumed:
            reporting.say(
                "\(name): \(left) left, which nobody goes on with\n   = penumbra resume --run-dir \(run.folder) does")
        case .prepared, .none: break
        }
    }

    /// Tells every machine that sees the run's folder what it came to.
    func end(_ job: StartedJob, _ summary: RunSummary, _ status: RunOutcome) throws {
        let run = job.directory.shared
        if case .prepared = wishes.sharing, summary.stop == nil {
            reporting.say("\(job.prepared.job.name): no shards were written: nothing is left for them")
        }
        // Of one that could not be handed over nobody else has ever heard.
        guard isShared, wishes.sharing != .detached, var record = run.record else { return }
        tellBroken(.found, job.ledger, run)
        ShardFolder.removeIfEmpty(logs: "\(run.place)/logs/\(run.name)")
        let work = RunCounts(json: record.counts).work
        var counts = RunCounts(
            summary, work: max(work, job.prepared.workCount), notes: StopWords.notes(summary))
        // What earlier coordinators had put in place was there already for the last one.
        let told = job.directory.epoch > 2 ? (try? run.history.publishedCount()) ?? 0 : 0
        let earlier = max(0, told - counts.published)
        (counts.published, counts.skipped) = (counts.published + earlier, max(0, counts.skipped - earlier))
        record.counts = counts.json
        var end = SharedRun.End(
            record: record, epoch: job.directory.epoch, ended: currentTime(), exitCode: Int(status.rawValue),
            reason: summary.stop.map { StopWords.describe($0, left: summary.left) })
        end.hasMoreFailures = summary.failures.count > Self.mostFailures
        end.failures = summary.failures.prefix(Self.mostFailures).compactMap { report in
            guard case .failed(let failure) = report.state else { return nil }
            return SharedRun.Failure(
                input: report.input, outputs: report.outputs, cause: failure.cause.rawValue,
                message: failure.message)
        }
        try run.write(end)
    }

    /// Each has some hundred bytes.
    private static let mostFailures = 5000
}
