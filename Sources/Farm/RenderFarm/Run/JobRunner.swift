import Catalogs
package import Coordination
import Engines
import FoundationEssentials
package import JobModel
import JobStorage
import Planning
import Reports
import SafeFiles
import Scheduling
import Settings

/// Runs jobs here, one after another: all are prepared before the first one starts.
package struct JobRunner {
    let installation: Farm
    let control: RunControl
    let reporting: any RunListener
    let preparation: JobPreparation
    let wishes: RunWishes
    /// Nil unless the jobs are watched.
    package var memory: WatchMemory?

    package init(
        installation: Farm, control: RunControl, reporting: any RunListener, preparation: JobPreparation,
        wishes: RunWishes, memory: WatchMemory? = nil
    ) {
        self.installation = installation
        self.control = control
        self.reporting = reporting
        self.preparation = preparation
        self.wishes = wishes
        self.memory = memory
    }

    private var state: String { installation.settings.stateFolder.value }

    /// - Returns: the worst of their ends.
    package func run(_ jobs: [JobSpec]) async throws -> RunOutcome {
        try await starting(jobs) { started in
            var finished: [FinishedJob] = []
            for job in started {
                finished.append(try await run(job))
                if let status = finished.last?.status, status == .storage || status > .busy { break }
            }
            // Whoever goes on with them reports.
            if let directory = started.last?.directory, !started.contains(where: \.isHandedOver) {
                try wishes.reports.write(finished, versions: preparation.catalog.versions, directory)
            }
            return finished.map(\.status).max() ?? .done
        }
    }

    /// Prepares all jobs, under their locks, and then does something with them.
    func startingUnadvised(
        _ jobs: [JobSpec], _ body: ([StartedJob]) async throws -> RunOutcome
    ) async throws -> RunOutcome {
        try refuseMissingCluster()
        try installation.secureDescriptors(jobs: jobs.count)
        await Blocking.run { [state] in RunFolder.sweep(state: state) }
        importEnds()
        var started: [StartedJob] = []
        defer {
            // An interrupted run that was not gone on with stays what it is.
            for job in started where isShared && (job.isHandedOver || !job.hasRun && job.directory.epoch > 1) {
                job.directory.release()
            }
            for job in started where !job.isHandedOver && (job.directory.epoch == 1 || job.hasRun) {
                // A folder that comes and goes with every run would wake a watch for ever.
                if wishes.isWatching { job.directory.keepFolders() }
                if job.lock?.roots.areInPlace ?? true { job.directory.remove() } else { job.directory.leaveToNextRun() }
            }
        }
        var undone = RunOutcome.done
        var lockedFolders: Set<FileStamp.Identity> = []
        for job in jobs {
            do {
                try await allowingEmpty(wishes.allowsEmpty) {
                    started.append(try await start(job, &lockedFolders))
                }
            } catch let error as FarmError where error.outcome == .busy || error.isLoss {
                // The other jobs can still be done.
                reporting.complain(error.message)
                undone = max(undone, error.outcome)
            }
        }
        for (job, problems) in zip(
            started, try SharedOutputs.problems(of: started.map(\.prepared), folder: preparation.folder))
        {
            job.fail(problems)
        }
        try IndexFile.refuseShared(started.compactMap(\.index))
        return max(try await body(started), undone)
    }

    private func start(_ job: JobSpec, _ lockedFolders: inout Set<FileStamp.Identity>) async throws -> StartedJob {
        let refusal = MissingDiskCheck(
            allowsEmpty: wishes.allowsEmpty, allowsGone: wishes.allowsGone, folder: preparation.folder,
            beginner: wishes.beginner)
        let known = wishes.ownState ?? state
        // Before the lock, which creates the folders that are missing, and cannot where a disk is.
        if wishes.remembers { try refusal.refuseLostDisks(of: job, state: known) }
        let there = MissingDisks.foldersThere(of: job)
        var directory = try await directory(for: job)
        do {
            guard wishes.remembers else {
                let prepared = try await preparation.working(for: directory)
                    .prepare(job, contents: LedgerContents())
                return StartedJob(
                    prepared: prepared, directory: directory, lock: nil, ledger: nil, index: nil)
            }
            let folders = OutputFolders.of(job)
            let lock = try await lock(job, folders, lockedFolders, directory)
            // Only now: the database may be in the hands of a run that has the lock.
            // A shared run that is gone on with has made its folders when it was prepared: empty ones are no surprise.
            if !wishes.sharing.isResumed { try refusal.refuseLostOutputs(of: job, state: known, there: there) }
            if directory.epoch == 1, let claimed = try await claimInterrupted(job) {
                claimed.takeFolders(of: directory)
                directory.remove()
                directory = claimed
            }
            let told = isShared ? directory.shared.history : nil
            let ledger = try await Blocking.run { [state] in
                try Ledger(state: state, job: job, folders: folders, roots: lock.roots, told: told)
            }
            if directory.epoch == 1 { tellBroken(.known, ledger, directory.shared) }
            for doubt in ledger.contents.doubts where try ledger.tellOnce("doubt: \(doubt.path)") {
                reporting.note("\(job.name): \(doubt.message)")
            }
            var contents = ledger.contents
            if directory.epoch > 1, !isShared { contents.forgetBroken(since: directory.name) }
            var prepared = try await preparation.working(for: directory).prepare(job, contents: contents)
            if memory?.isNew(prepared.plan) ?? true { reporting.hint(prepared.plan, folder: preparation.folder) }
            try tellDanglingLinks(prepared, ledger)
            if wishes.allowsGone { prepared.giveUpLost() }
            try refusal.refuseLostInputs(prepared)
            for loss in memory?.newLosses(prepared) ?? [] {
                reporting.note(
                    "\(job.name): \(loss); the other pictures are rendered, and no output of these is removed")
            }
            reporting.tellMadeBefore(prepared)
            try refuseForbidden(folders, prepared)
            let index = try IndexFile(prepared)
            try ledger.setPlaces(places(of: prepared))
            // Only a job that is kept keeps its locks.
            lockedFolders.formUnion(lock.roots.locked)
            return StartedJob(
                prepared: prepared, directory: directory, lock: lock, ledger: ledger, index: index)
        } catch {
            if wishes.isWatching { directory.keepFolders() }
            if directory.epoch == 1 { directory.remove() } else if isShared { directory.release() }
            throw error
        }
    }

    /// That of a shared run, or a new one.
    private func directory(for job: JobSpec) async throws -> RunFolder {
        if let shared = try await sharedDirectory(for: job) { return shared }
        let (token, scratch, recorded) = (
            installation.newToken(), scratchPlace(for: job), wishes.isRecorded ? job : nil
        )
        return try await Blocking.run { [state] () throws(FileTrouble) in
            try RunFolder(state: state, token: token, scratch: scratch, job: recorded)
        }
    }

    /// The run that was killed, for whoever has the job's lock. Nil where none was, or it cannot be gone on with: its disk is
    /// not mounted, say.
    private func claimInterrupted(_ job: JobSpec) async throws -> RunFolder? {
        let state = state
        guard wishes.isRecorded, !isShared,
            let name = try await Blocking.run({ try RunHistory.unfinished(of: job, state: state) })
        else { return nil }
        do throws(FileTrouble) {
            return try await Blocking.run { () throws(FileTrouble) in try RunFolder(claiming: name, state: state) }
        } catch {
            reporting.note("\(job.name): the interrupted run \(name) cannot be gone on with: \(error.message)")
            return nil
        }
    }

    private func run(_ job: StartedJob) async throws -> FinishedJob {
        do {
            return try await runToEnd(job)
        } catch {
            // There is no end that others could read of.
            if isGoneOnWith(job) { await leaveUnbegun(job, (error as? FarmError)?.message ?? "\(error)") }
            throw error
        }
    }

    private func runToEnd(_ job: StartedJob) async throws -> FinishedJob {
        let prepared = job.prepared
        let started = Date()
        let settings = runSettings(for: prepared)
        let engine = try await engine(for: job)
        let isAsBefore = try share(job, settings)
        let history = try await history(of: job, settings)
        // Nothing fails in a run before the run has begun.
        let books = OutputTracker(
            ledger: job.ledger, freshness: prepared.freshness,
            hasPictures: !prepared.job.picturePaths.isEmpty, now: Int(currentTime() / 1_000_000_000))
        job.beginsToRun()
        var heritage = history?.heritage ?? RecoveredWork()
        if isShared, isAsBefore { heritage.add(journalOf: job.directory) }
        for broken in prepared.brokenFiles { books.remember(broken.failure, of: broken.files) }
        let collector = wishes.reports.areWanted ? FrameCollector(reporting.observer(of: prepared.job.name)) : nil
        let run = JobRun(
            prepared.plan, targets: prepared.targets, ended: prepared.ended,
            roots: job.lock?.roots ?? LockedFolders(of: prepared.job), directory: job.directory,
            settings: settings, books: books, recorder: history?.recorder,
            heritage: heritage,
            receipts: ReceiptMaker(
                prepared.job, run: job.directory, catalog: preparation.catalog, now: currentTime),
            observer: collector ?? reporting.observer(of: prepared.job.name))
        let loop = RunLoop(
            engine: engine, control: control, deadline: wishes.deadline, isGoneOnWith: isGoneOnWith(job))
        let summary = await run.run(loop)
        if await handOver(job, summary) {
            return FinishedJob(
                prepared: prepared, summary: summary, reports: [], status: RunOutcome(summary), started: started,
                ended: Date(), workers: settings.workers)
        }
        reporting.receive(
            .ended(
                RunEnd(
                    job: prepared.job, summary: summary, newlyKept: newlyKept(job, summary), isRecorded: history != nil)
            ))
        let orphans = try await lookAfterOrphans(job, summary)
        let tidied = max(tidyUp(job), summary.stop == nil ? keepReceipts(job) : .done)
        var finished = FinishedJob(
            prepared: prepared, summary: summary, reports: collector?.reports ?? [],
            status: max(RunOutcome(summary, isStrict: wishes.isStrict), orphans, tidied), started: started,
            ended: Date(),
            workers: settings.workers)
        var counts = RunCounts(summary, work: prepared.workCount, notes: StopWords.notes(summary))
        counts.rerun = prepared.rerun
        try history?.end(
            exitCode: Int(finished.status.rawValue),
            reason: summary.stop.map { StopWords.describe($0, left: summary.left) }, counts: counts.json)
        if wishes.reports.page != nil, summary.stop == nil {
            finished.thumbnails = await Thumbnails.make(
                of: finished, folder: job.directory.scratch, settings: installation.runSettings(for: prepared),
                loop: RunLoop(engine: installation.working(for: job.directory).engine(), control: control))
        }
        // Last of all: who has waited for it may begin the job's next run at once.
        try end(job, summary, finished.status)
        return finished
    }

    private func history(of job: StartedJob, _ settings: RunSettings) async throws -> RunHistory? {
        guard wishes.isRecorded else { return nil }
        let prepared = job.prepared
        var counts = RunCounts()
        counts.frames = prepared.targets.count + prepared.ended.count
        counts.rerun = prepared.rerun
        let (directory, request, isShared) = (job.directory, wishes.request ?? "{}", isShared)
        return try await Blocking.run { [state, counts] in
            try RunHistory(
                state: state, job: prepared.job, directory: directory, workers: settings.workers,
                request: request, isShared: isShared,
                counts: { concluded in
                    var counts = counts
                    counts.work = prepared.workCount + concluded.subtracting(prepared.workFrames).count
                    return counts.json
                }, now: currentTime)
        }
    }

    /// What goes wrong now is told, and costs the other jobs nothing.
    private func tidyUp(_ job: StartedJob) -> RunOutcome {
        do {
            try job.ledger?.tidyIndexes { try job.directory.temporaryPath(in: $0, for: "index") }
            try tellUpgrades(job)
            if let index = job.index, let records = try job.ledger?.records() {
                try job.lock?.roots.check(index.file.path, "write there")
                try index.write(records, job.directory)
            }
            return .done
        } catch let error as FarmError {
            reporting.complain(error.message)
            return error.outcome
        } catch {
            let message = (error as? StoreProblem)?.message ?? (error as? FileTrouble)?.message ?? "\(error)"
            reporting.complain("\(job.prepared.job.name): \(message)")
            return .storage
        }
    }

    private func lookAfterOrphans(_ job: StartedJob, _ summary: RunSummary) async throws -> RunOutcome {
        guard let ledger = job.ledger, summary.stop == nil else { return .done }
        if !wishes.isWatching || summary.didSomething { OrphanCleanup.listUnselected(job.prepared, reporting) }
        guard !(job.prepared.orphans + job.prepared.lostOutputs).isEmpty else { return .done }
        if wishes.isWatching, case .listed = wishes.orphans, !summary.didSomething { return .done }
        let keeper = OrphanCleanup(
            prepared: job.prepared, ledger: ledger, wishes: wishes, folder: preparation.folder,
            reporting: reporting)
        let preparation = preparation.working(for: job.directory)
        return try await keeper.run { try await preparation.findings(of: $0, job.prepared.job) }
    }

    /// Where warnings are not printed, links that lead nowhere are told once: there may have been pictures.
    private func tellDanglingLinks(_ prepared: PreparedJob, _ ledger: Ledger) throws(StoreProblem) {
        guard wishes.isSilent else { return }
        // Of pictures that were found before a frame fails.
        let failing = Set(prepared.ended.map { PathKey($0.input) })
        let links = prepared.plan.danglingLinks.filter { !failing.contains(PathKey($0)) }
        let new = try ledger.tellNew(links.map { "link: \($0)" }, kind: "link: ", isAll: prepared.isWhole)
        guard !new.isEmpty else { return }
        reporting.complain(
            "\(prepared.job.name): \(Figures.plural(new.count, "link")) \(new.count == 1 ? "leads" : "lead") nowhere: what "
                + "was there is gone, or not mounted", new.map { String($0.dropFirst("link: ".count)) }, reasons: nil)
    }

    /// The kept outputs of which no person was told yet: where silence is asked for, silence means that all is well.
    private func newlyKept(_ job: StartedJob, _ summary: RunSummary) -> [KeptOutput] {
        let texts = summary.keptOutputs.map { "\(Self.keptKind)\($0.path): \($0.reason)" }
        guard let ledger = job.ledger else { return summary.keptOutputs }
        let isAll = job.prepared.isWhole && summary.stop == nil
        // What cannot be looked up is told once more.
        guard let new = try? ledger.tellNew(texts, kind: Self.keptKind, isAll: isAll) else {
            return summary.keptOutputs
        }
        let paths = Set(new.map(PathKey.init))
        return zip(texts, summary.keptOutputs).filter { paths.contains(PathKey($0.0)) }.map(\.1)
    }

    private static let keptKind = "kept: "

    /// Once for each: outputs are many, and a person has read it.
    private func tellUpgrades(_ job: StartedJob) throws {
        for (upgrade, count) in job.prepared.keptUpgrades.sorted(by: { $0.key < $1.key }) {
            guard try job.ledger?.tellOnce("upgrade: \(upgrade)") == true else { continue }
            reporting.note(
                "\(job.prepared.job.name): this version of Penumbra changes \(upgrade); \(Figures.plural(count, "output")) "
                    + "keep their old pixels, and 'upgrade: rerender' in the manifest makes them anew")
        }
    }

    private func lock(
        _ job: JobSpec, _ folders: [String], _ held: Set<FileStamp.Identity>, _ directory: RunFolder
    ) async throws -> JobLock {
        switch try await locked(job, folders, held, directory) {
        case .taken(let lock): return lock
        case .busy(.run):
            throw FarmError(
                .busy, "\(job.name): another run of this job is going on; --lock-wait TIME, such as 5m, waits for it")
        case .busy(.folder(let folder)):
            throw FarmError(
                .busy,
                "\(job.name): another run writes to \(PathText.shown(folder, from: preparation.folder)); --lock-wait TIME, "
                    + "such as 5m, waits for it")
        }
    }

    /// A signal ends the wait.
    private func locked(
        _ job: JobSpec, _ folders: [String], _ held: Set<FileStamp.Identity>, _ directory: RunFolder
    ) async throws -> JobLock.Outcome {
        let (state, wait, control) = (state, Duration.seconds(wishes.lockWait), control)
        return try await withThrowingTaskGroup(of: JobLock.Outcome?.self) { group in
            group.addTask {
                try await JobLock.take(
                    for: job, folders: folders, held: held, directory: directory, state: state, wait: wait)
            }
            group.addTask {
                for await reason in control.stops() {
                    throw FarmError(RunOutcome(reason), "\(job.name): \(StopWords.describe(reason))")
                }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next()?.flatMap { $0 } ?? .busy(.run)
        }
    }
}
