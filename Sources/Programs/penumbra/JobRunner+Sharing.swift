import Coordination
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import Scheduling
import Settings

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
    func sharedDirectory(for job: JobSpec) async throws -> RunDirectory? {
        switch wishes.sharing {
        case .none:
            try refuseDetached(job)
            return nil
        case .detached:
            try refuseDetached(job)
            let place = scratchPlace(for: job) ?? ""
            RunDirectory.sweep(state: place)
            return try RunDirectory(state: place, name: RunName.new(), scratch: place, job: job)
        case .prepared(_, let place):
            RunDirectory.sweep(state: place)
            if let name = RunDirectory.unfinished(of: job, state: place).first {
                return try await claimed(SharedRun(place: place, name: name), job)
            }
            return try RunDirectory(state: place, name: RunName.new(), scratch: place, job: job)
        case .resumed(let run, let asJob): return try await claimed(run, job, wait: asJob ? Self.longestWait : .zero)
        }
    }

    /// A coordinator whose machine died is taken for alive for a minute.
    private static let longestWait = Duration.seconds(150)

    private func claimed(_ run: SharedRun, _ job: JobSpec, wait: Duration = .zero) async throws -> RunDirectory {
        let end = ContinuousClock.now + wait
        repeat {
            if let directory = try RunDirectory(claiming: run.name, state: run.place) { return directory }
            // Another has gone on with it, perhaps to its end.
            if run.end != nil { throw ExitStatus.done.code }
            if RunRequests.isLocked(run: run.name, state: run.place) { break }
            if wait > .zero { try await Task.sleep(for: .seconds(2)) }
        } while ContinuousClock.now < end
        throw CommandError(
            .busy,
            "\(job.name): the run \(run.name) has a coordinator that lives; 'penumbra status --run-dir \(run.folder)' tells "
                + "of it")
    }

    /// A job that a cluster has is not done here at the same time.
    private func refuseDetached(_ job: JobSpec) throws {
        var open = DetachedRuns.all(state: installation.settings.stateFolder.value).filter { $0.end == nil }
        if let place = scratchPlace(for: job) {
            open += RunDirectory.unfinished(of: job, state: place).map { SharedRun(place: place, name: $0) }
        }
        guard
            let run = open.first(where: { $0.record?.manifest == job.manifestPath && $0.record?.job == job.name })
        else { return }
        throw CommandError(
            .busy,
            "\(job.name): its detached run \(run.name) has not ended\n"
                + "   = penumbra status, wait, resume and cancel take it by --run-dir \(run.folder)")
    }

    /// What detached runs have come to is known here, too, as soon as anybody looks.
    func importEnds() { DetachedEnds.take(into: installation.settings.stateFolder.value) }

    /// Writes down what other coordinators need.
    func share(_ job: StartedJob, _ settings: RunSettings) throws {
        guard isShared else { return }
        let (prepared, known) = (job.prepared, job.directory.shared.record)
        // Whoever prepares it again may want something else of it.
        if known != nil, case .resumed = wishes.sharing { return }
        var counts = RunCounts()
        counts.frames = prepared.targets.count + prepared.ended.count
        counts.work = prepared.workCount
        try job.directory.shared.write(
            SharedRun.Record(
                run: job.directory.name, job: prepared.job.name, manifest: prepared.job.manifestPath,
                started: known?.started ?? currentTime(), workers: settings.workers, memory: settings.memory,
                request: wishes.request?.text ?? "{}", counts: counts.json))
    }

    /// - Returns: false when the run is over.
    func handOver(_ job: StartedJob, _ summary: RunSummary) throws -> Bool {
        guard let stop = summary.stop else { return false }
        let run = job.directory.shared
        switch stop {
        case .detached: try RunRequests.make(.detached, of: run.name, state: run.place)
        case .superseded:
            job.isToGoOn()
            reporting.complain("\(job.prepared.job.name): \(SummaryText.describe(stop))")
            return true
        case .interrupted, .place, .engine, .cluster, .lastSlot:
            guard isGoneOnWith(job) else { return false }
            let reason = SummaryText.describe(stop, left: summary.left)
            reporting.complain("\(job.prepared.job.name): \(reason)")
            try run.note(lastStop: reason)
            // A successor waits in the queue.
            if case .resumed(_, asJob: true) = wishes.sharing {
                try RunRequests.make(.detached, of: run.name, state: run.place)
            }
        case .cancelled, .pluginFault, .deadline, .failures: return false
        }
        job.isToGoOn()
        job.directory.keepFolders()
        if case .detached = wishes.sharing {
            try DetachedRuns.remember(run, state: installation.settings.stateFolder.value)
        }
        let job = job.prepared.job.name
        switch wishes.sharing {
        case .detached:
            if reporting.json, let known = run.stored.map({ KnownRun($0, state: run.place) }) {
                JSONLine.run(RunLine(known, concluded: 0)).print()
            }
            reporting.say(
                "\(job): \(Figures.plural(summary.left, "frame")) handed to Slurm; run \(run.name), in \(run.folder)\n"
                    + "   = penumbra status, wait and cancel take it by --run-dir, from any node")
        case .prepared(let shards, let place):
            reporting.say(
                "\(job): \(Figures.plural(summary.left, "frame")) in \(Figures.plural(shards, "shard")) at \(place)")
        case .resumed:
            reporting.say(
                "\(job): \(Figures.plural(summary.left, "frame")) left; 'penumbra resume --run-dir \(run.folder)'")
        case .none: break
        }
        return true
    }

    /// Tells every machine that sees the run's folder what it came to.
    func end(_ job: StartedJob, _ summary: RunSummary, _ status: ExitStatus) throws {
        let run = job.directory.shared
        // Of one that could not be handed over nobody else has ever heard.
        guard isShared, wishes.sharing != .detached, var record = run.record else { return }
        let work = RunCounts(json: record.counts).work
        record.counts = RunCounts(summary, work: max(work, job.prepared.workCount)).json
        var end = SharedRun.End(
            record: record, epoch: job.directory.epoch, ended: currentTime(), exitCode: Int(status.rawValue),
            reason: summary.stop.map { SummaryText.describe($0, left: summary.left) })
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

/// What other machines have done of the runs that were begun here.
enum DetachedEnds {
    /// Ends runs in the database as their folders tell. What cannot be written now is, another time.
    static func take(into state: String) {
        for run in DetachedRuns.all(state: state) {
            guard let end = run.end else { continue }
            guard (try? RunHistory.end(run.name, as: end, state: state)) != nil else { continue }
            DetachedRuns.forget(run, state: state)
        }
    }
}
