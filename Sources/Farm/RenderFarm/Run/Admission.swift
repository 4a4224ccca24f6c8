package import Coordination
import Engines
import Glibc
package import JobModel
import JobStorage
import Planning
import Reports
package import Runs
package import SafeFiles
import Scheduling
package import Settings

/// Lets the jobs of a request begin: removes what killed runs left, locks the jobs and their folders, claims an interrupted run, and
/// prepares the frames.
struct Admission {
    let context: RunContext
    /// The folders that jobs of this request have locked.
    var lockedFolders: Set<FileStamp.Identity> = []
    private var site: ExecutionSite { ExecutionSite(context: context) }
    private var request: RunRequest { context.request }
    private var listener: any RunListener { context.listener }

    /// - Parameter stages: gets the jobs that may start, under their locks.
    /// - Returns: the worst outcome of jobs that may not.
    mutating func admit(_ jobs: [JobSpec], _ stages: inout [JobStage]) async throws -> RunOutcome {
        try site.refuseMissingCluster()
        // The input and a scratch file, all outputs, and the pictures of filters.
        let files =
            jobs.map { 2 + $0.outputs.count + $0.picturePaths.count + $0.pictureTemplates.count }.max()
            ?? DescriptorLimit.perOrder
        try context.farm.secureDescriptors(jobs: jobs.count, filesPerOrder: files)
        await Blocking.run { [state = context.state] in RunFolder.sweep(state: state) }
        // From now on this machine knows which detached runs have ended.
        await Blocking.run { [state = context.state] in DetachedEnds.take(into: state) }
        var worst = RunOutcome.done
        for job in jobs {
            do {
                // The locks create missing folders. They cannot do so below the mount point of a missing disk.
                if context.remembersOutputs {
                    try context.missingDiskCheck.refuseLostDisks(of: job, state: context.ownState ?? context.state)
                }
                let existing = MissingDisks.existingFolders(of: job)
                var folder = try await newFolder(for: job)
                context.heartbeat.add(folder)
                do {
                    stages.append(.prepared(try await prepare(job, &folder, existing)))
                } catch {
                    await JobStage.claimed(folder).leave(context)
                    throw error
                }
            } catch let error as FarmError where error.isEmptyJob && context.allowsEmpty {
                continue
            } catch let error as FarmError where error.outcome == .busy || error.isLoss {
                // The other jobs can still run.
                listener.report(.failed(error))
                worst = max(worst, error.outcome)
            } catch let error as FileError where isAboutOutputs(error, of: job) {
                listener.report(.failed(FarmError(.storage, message(for: error))))
                worst = max(worst, .storage)
            }
        }
        try failSharedOutputs(&stages)
        return worst
    }

    /// Fails the frames whose outputs another job of the request would write, too.
    private func failSharedOutputs(_ stages: inout [JobStage]) throws {
        let jobs = stages.compactMap(\.job)
        let problems = try SharedOutputs.problems(of: jobs.map(\.prepared), folder: context.folder)
        try IndexFile.refuseShared(jobs.compactMap(\.index))
        stages = zip(jobs, problems).map { job, problems in
            var job = job
            job.prepared.fail(problems)
            return .prepared(job)
        }
    }

    /// - Parameters:
    ///   - folder: becomes the folder of an interrupted run, if the job has one.
    ///   - existing: the folders of outputs that existed before.
    private mutating func prepare(
        _ job: JobSpec, _ folder: inout RunClaim, _ existing: Set<PathKey>
    ) async throws -> ClaimedJob {
        guard context.remembersOutputs else {
            let prepared = try await context.preparation.working(for: folder).prepare(job, contents: LedgerContents())
            try prepared.refuseForbiddenFolders(recordsOutputs: false)
            return ClaimedJob(prepared: prepared, folder: folder, lock: nil, ledger: nil, index: nil)
        }
        let folders = OutputFolders.of(job)
        let check = context.missingDiskCheck
        let lock = try await lock(job, folders, folder)
        // The check follows the lock, because a run with the lock may change the database.
        // A resumed shared run created its folders when it was prepared, so they may be empty.
        if !context.sharing.isResumed {
            try check.refuseLostOutputs(of: job, state: context.ownState ?? context.state, there: existing)
        }
        if context.farm.runName != nil {
            // The job has one run at a time, and this one has its name already.
            await Blocking.run { [state = context.state, name = folder.name] in
                StoredRuns.removeUnfinished(of: job, but: name, state: state)
            }
        } else if folder.isNew, let claimed = try await claimInterrupted(job) {
            claimed.takeFolders(of: folder)
            await Blocking.run { [folder] in folder.remove() }
            folder = claimed
            context.heartbeat.add(claimed)
        }
        let (state, log) = (context.state, context.isShared ? folder.folder.log : nil)
        let ledger = try await Blocking.run {
            try Ledger(state: state, job: job, folders: folders, roots: lock.roots, log: log)
        }
        do {
            let (prepared, index) = try await prepare(job, folder, folders, ledger)
            // Another job of the request may write to these folders, too.
            lockedFolders.formUnion(lock.roots.locked)
            return ClaimedJob(prepared: prepared, folder: folder, lock: lock, ledger: ledger, index: index)
        } catch {
            await Blocking.run { ledger.close() }
            throw error
        }
    }

    /// - Parameter folders: the folders of the job's outputs.
    private func prepare(
        _ job: JobSpec, _ folder: RunClaim, _ folders: [String], _ ledger: Ledger
    ) async throws -> (PreparedJob, IndexFile?) {
        if folder.isNew { context.passOn(.known, of: ledger, to: folder.folder) }
        for error in ledger.contents.distrusted where try ledger.reportOnce("doubt: \(error.path)") {
            listener.report(job.name, .ledgerDistrusted(error.message))
        }
        var contents = ledger.contents
        if !folder.isNew, !context.isShared { contents.forgetBroken(since: folder.name) }
        var prepared = try await context.preparation.working(for: folder).prepare(job, contents: contents)
        if context.watch?.isNew(prepared.plan) ?? true {
            listener.hint(prepared.plan, folder: context.folder, more: prepared.regionHints)
        }
        try reportDanglingLinks(prepared, ledger)
        if request.allowsGone { prepared.abandonLost() }
        try context.missingDiskCheck.refuseLostInputs(prepared)
        try context.missingDiskCheck.refuseSurprises(prepared)
        for loss in context.watch?.newLosses(prepared) ?? [] {
            listener.report(job.name, .picturesLost(loss))
        }
        listener.reportMadeBefore(prepared)
        try prepared.refuseForbiddenFolders(recordsOutputs: true)
        let index = try IndexFile(prepared)
        try ledger.setKnownDisks(knownDisks(prepared))
        return (prepared, index)
    }

    /// If warnings are not printed, links that lead nowhere are reported once, because they may have led to pictures.
    private func reportDanglingLinks(_ prepared: PreparedJob, _ ledger: Ledger) throws(StoreError) {
        guard context.isSilent else { return }
        // Links to pictures that earlier runs found have a failed frame.
        let failing = Set(prepared.ended.map { PathKey($0.input) })
        let links = prepared.plan.danglingLinks.filter { !failing.contains(PathKey($0)) }
        let new = try ledger.reportNew(links.map { "link: \($0)" }, kind: "link: ", isAll: prepared.isWhole)
        guard !new.isEmpty else { return }
        listener.report(
            prepared.job.name, .danglingLinks(new.map { String($0.dropFirst("link: ".count)) }))
    }
}

/// The folder of a run.
extension Admission {
    /// The folder of a shared run, or a new one.
    private func newFolder(for job: JobSpec) async throws -> RunClaim {
        let token = context.farm.newToken
        switch context.sharing {
        case .none:
            try refuseDetached(job)
            if let name = context.farm.runName?.text, let claimed = try await claimInterrupted(job, named: name) {
                return claimed
            }
            let (state, token, scratch) = (context.state, token(), site.scratchFolder(for: job))
            let recorded = context.isRecorded ? job : nil
            return try await Blocking.run { () throws(FileError) in
                try RunClaim(state: state, token: token, scratch: scratch, job: recorded)
            }
        case .detached:
            try refuseDetached(job)
            let shared = site.scratchFolder(for: job) ?? ""
            await Blocking.run { RunFolder.sweep(state: shared) }
            return try await newClaim(in: shared, job)
        case .prepared(_, let shared):
            await Blocking.run { RunFolder.sweep(state: shared) }
            let known = RunFolder.unfinished(of: job, state: shared)
            if let open = known.first(where: { $0.end == nil }), let folder = try await claim(open, job) {
                return folder
            }
            return try await newClaim(in: shared, job)
        case .resumed(let run, _):
            try MissingDiskCheck.refuseLostDisks(of: run)
            guard let folder = try await claim(run, job) else {
                let outcome = RunOutcome(number: run.end?.exitCode ?? 0) ?? .someFailed
                throw FarmError(outcome, "\(run.name): another coordinator has ended it", isReported: true)
            }
            return folder
        }
    }

    /// - Parameter shared: a folder that other machines see.
    private func newClaim(in shared: String, _ job: JobSpec) async throws -> RunClaim {
        let token = context.farm.newToken()
        return try await Blocking.run { () throws(FileError) in
            try RunClaim(state: shared, token: token, scratch: shared, job: job)
        }
    }

    /// For a minute a coordinator counts as alive after its machine has died.
    private static let longestWait = Duration.seconds(150)

    /// Nil if another coordinator has ended the run.
    private func claim(_ run: RunFolder, _ job: JobSpec) async throws -> RunClaim? {
        let isJob = context.sharing.isResumedByJob
        // The program that resumes the run knows nothing of a person who has paused it.
        let keepsRequests = context.isLeftOpen && !isJob
        let end = ContinuousClock.now + (isJob ? Self.longestWait : .zero)
        repeat {
            let claimed = try await Blocking.run { () throws(FileError) in
                try RunClaim(claiming: run, keepsRequests: isJob || keepsRequests)
            }
            if let folder = claimed {
                // It was meant for the process before.
                if keepsRequests { folder.folder.removeWorkerLimit() }
                guard run.end != nil else { return folder }
                // Its coordinator was killed before it removed the folder.
                await Blocking.run { folder.remove() }
            }
            if run.end != nil { return nil }
            // The lock of a dead machine may hold for a while, too.
            if isJob { try await Task.sleep(for: .seconds(2)) }
        } while ContinuousClock.now < end
        let option = context.isShared ? " --run-dir \(run.path)" : ""
        throw FarmError(
            .busy,
            "\(job.name): the run \(run.name) has a coordinator that lives; 'penumbra status\(option)' tells of it")
    }

    /// Refuses a job that a cluster works on.
    private func refuseDetached(_ job: JobSpec) throws {
        var known = RunFolder.detached(state: context.state)
        if let shared = site.scratchFolder(for: job) { known += RunFolder.unfinished(of: job, state: shared) }
        let open = known.first { run in
            run.record?.manifest == job.manifestPath && run.record?.job == job.name && run.end == nil
        }
        guard let run = open else { return }
        throw FarmError(
            .busy,
            "\(job.name): its detached run \(run.name) has not ended\n"
                + "   = 'penumbra status', 'wait', 'resume' and 'cancel' take it by --run-dir \(run.path)")
    }

    /// Takes over the interrupted run of a name. Nil if there is no run of this name yet.
    ///
    /// - Throws: ``FarmError`` if the run has ended, belongs to another job, or has a coordinator.
    private func claimInterrupted(_ job: JobSpec, named name: String) async throws -> RunClaim? {
        let state = context.state
        let (known, open) = try await Blocking.run {
            let known = try StoredRuns.run(named: name, state: state)
            return (known, RunFolder.unfinished(of: job, state: state).first { $0.name == name })
        }
        let isOther = known.map { $0.manifest != job.manifestPath || $0.job != job.name }
        guard isOther != true, open != nil || !FileSystem.exists(RunFolder(state: state, name: name).path) else {
            let owner = known.map { ": '\(PathText.visible($0.job))' of \(PathText.visible($0.manifest))" } ?? ""
            throw FarmError(
                .usage, "\(name): the run of this name belongs to another job\(owner)\n   = give another name")
        }
        guard known?.state.isEnded != true else {
            throw FarmError(.usage, "\(name): a run of this name has ended\n   = give another name")
        }
        guard let open else { return nil }
        return try await claim(open, job)
    }

    /// Takes over the job's interrupted run. Nil if there is none, or if it cannot be resumed, because its disk is not mounted, say.
    /// The caller has the job's lock.
    private func claimInterrupted(_ job: JobSpec) async throws -> RunClaim? {
        let state = context.state
        guard context.isRecorded, !context.isShared,
            let run = try await Blocking.run({ try StoredRuns.unfinished(of: job, state: state) })
        else { return nil }
        do throws(FileError) {
            return try await Blocking.run { () throws(FileError) in try RunClaim(claiming: run) }
        } catch {
            listener.report(job.name, .interruptedRunUnusable(run: run.name, reason: error.message))
            return nil
        }
    }
}

/// The locks of a job and of its folders.
extension Admission {
    private func lock(_ job: JobSpec, _ folders: [String], _ folder: RunClaim) async throws -> JobLock {
        switch try await takeLock(job, folders, folder) {
        case .taken(let lock): return lock
        case .busy(.run):
            throw FarmError(
                .busy, "\(job.name): another run of this job is running\(waitingRemedy)")
        case .busy(.folder(let folder)):
            throw FarmError(
                .busy,
                "\(job.name): another run writes to \(PathText.shown(folder, from: context.folder))\(waitingRemedy)")
        }
    }

    /// Whoever resumes a run that is left open begins it again, and has no such option.
    private var waitingRemedy: String {
        context.isLeftOpen ? "" : "; --lock-wait TIME, such as 5m, waits for it"
    }

    /// A stop ends the wait.
    private func takeLock(
        _ job: JobSpec, _ folders: [String], _ folder: RunClaim
    ) async throws -> JobLock.Outcome {
        let (state, wait, control) = (context.state, Duration.seconds(request.lockWait), context.control)
        let held = lockedFolders
        return try await withThrowingTaskGroup(of: JobLock.Outcome?.self) { group in
            group.addTask {
                try await JobLock.take(
                    for: job, folders: folders, held: held, directory: folder, state: state, wait: wait)
            }
            group.addTask {
                for await reason in control.stops() {
                    throw FarmError(RunOutcome(reason), "\(job.name): \(reason.message())")
                }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next()?.flatMap { $0 } ?? .busy(.run)
        }
    }
}

/// Folders that a run cannot use.
extension Admission {
    /// The disks of a job's inputs and outputs, for the next run.
    private func knownDisks(_ prepared: PreparedJob) -> KnownDisks {
        var found = MissingDisks.Findings()
        found.entries = context.preparation.list == nil ? prepared.plan.entries : nil
        found.matches = prepared.plan.matches
        found.inputs = prepared.plan.inputs.map(\.path)
        found.outputs =
            prepared.targets.flatMap(\.outputs) + prepared.ended.flatMap(\.outputs)
            + prepared.contents.records.map(\.path)
        found.lost = prepared.lost
        // A watch without these options does not allow that inputs are gone.
        found.isPart = !prepared.isWhole
        found.isEmptyRight = request.allowsEmpty || request.allowsGone
        return MissingDisks.known(found, job: prepared.job, before: prepared.contents.knownDisks)
    }

    /// The message for a folder that a run cannot use, with what to do about it.
    func message(for error: FileError) -> String { trouble(error).message }

    private func trouble(_ error: FileError) -> FolderTrouble {
        FolderTrouble(error, state: context.state, context.farm.settings)
    }

    /// Whether only this job cannot use its folders, and the others can still run.
    private func isAboutOutputs(_ error: FileError, of job: JobSpec) -> Bool {
        let trouble = trouble(error)
        return !trouble.isAboutOwnFolders && trouble.isAbout(OutputFolders.of(job))
    }
}

/// A folder that a run cannot use.
package struct FolderTrouble {
    private let error: FileError
    /// The folders in which Penumbra keeps its own files.
    private let own: [String]

    package init(_ error: FileError, state: String, _ settings: Settings) {
        self.error = error
        own = [state] + (settings.scratch.value.map { [$0] } ?? [])
    }

    /// What is wrong, and what to do about it.
    package var message: String {
        isAboutOwnFolders
            ? error.message + "\n   = name other folders by --state-dir and --scratch"
            : error.message(orChoose: "another output path")
    }

    var isAboutOwnFolders: Bool { isAbout(own) }

    /// Whether the path is one of the folders, or above or below one.
    func isAbout(_ folders: [String]) -> Bool {
        folders.contains { Self.isOnWay(error.path, to: $0) || Self.isOnWay($0, to: error.path) }
    }

    /// Whether a path is a folder or above it.
    private static func isOnWay(_ path: String, to folder: String) -> Bool {
        PathKey(path) == PathKey(folder) || PathNames.isBelow(folder, path)
    }
}

/// Refuses jobs if inputs or outputs of the last run are gone in a way that suggests a missing disk (exit code 66).
package struct MissingDiskCheck {
    /// Inputs that match nothing are no error. Pictures on a missing disk are left for another run.
    package let allowsEmpty: Bool
    /// Pictures and outputs that are gone were removed on purpose.
    package let allowsGone: Bool
    /// Messages show paths as they are seen from this folder.
    package let folder: String
    /// The command that takes the options; nil for this one.
    var originalCommand: String?

    package init(allowsEmpty: Bool, allowsGone: Bool, folder: String, originalCommand: String? = nil) {
        (self.allowsEmpty, self.allowsGone) = (allowsEmpty, allowsGone)
        (self.folder, self.originalCommand) = (folder, originalCommand)
    }

    /// Refuses a job if a disk of its outputs is missing. It needs no lock, and runs before any folder is created.
    package func refuseLostDisks(of job: JobSpec, state: String) throws {
        if !allowsGone { try refuse(MissingDisks.outputsOfDisks(of: job, state: state).first, job) }
    }

    /// Refuses a shared run if the disk of its outputs is missing now.
    package static func refuseLostDisks(of run: RunFolder) throws(FarmError) {
        guard let cause = run.record?.disks?.loss() else { return }
        throw FarmError(
            .missingInput,
            "\(run.name): \(cause.message(of: "the folder of this run's outputs"))\n   = mount the disk, and give the command "
                + "again; or prepare the run again", isLoss: true)
    }

    /// - Parameter there: the folders of outputs that existed before the run created missing ones; nil if nothing created any.
    package func refuseLostOutputs(of job: JobSpec, state: String, there: Set<PathKey>? = nil) throws {
        if !allowsGone { try refuse(MissingDisks.outputs(of: job, state: state, existing: there).first, job) }
    }

    private func refuse(_ lost: MissingDisks.Outputs?, _ job: JobSpec) throws {
        guard let lost else { return }
        let outputs = Figures.plural(lost.count, "output")
        throw FarmError(
            .missingInput,
            "\(manifest(of: job)): error: \(lost.cause.message(of: "the \(outputs) of this job"))\n   = \(lost.cause.remedy) If "
                + "the outputs were removed or moved on purpose, \(option("--allow-gone")) renders them again in "
                + PathText.visible(lost.folder), isLoss: true)
    }

    /// Refuses a job if a disk of its pictures is missing, or if an entry of `inputs` that matched pictures in the last run matches none.
    package func refuseLostInputs(_ prepared: PreparedJob) throws(FarmError) {
        guard !allowsEmpty, !allowsGone else { return }
        let manifest = manifest(of: prepared.job)
        if let lost = prepared.lost.first {
            throw FarmError(
                .missingInput,
                "\(manifest): error: \(lost.message)\n   = \(lost.cause.remedy) If the pictures were removed or moved on purpose, "
                    + "\(option("--allow-gone")) continues without them; their outputs then have no input", isLoss: true
            )
        }
        if let lost = MissingDisks.inputs(prepared.contents.knownDisks.inputs, prepared.plan.matches).first {
            throw FarmError(
                .missingInput,
                "\(manifest): error: nothing matches '\(PathText.shown(lost.pattern, from: folder))' any more, "
                    + "which matched \(Figures.plural(lost.count, "file")) in the last run\n   = is a disk not mounted? If that can "
                    + "happen, \(option("--allow-empty")) makes it no error", isLoss: true)
        }
    }

    /// Refuses a job that finds other numbers of pictures than its manifest expects. A part of a job's pictures, or a list in their
    /// place, is what somebody chose.
    package func refuseSurprises(_ prepared: PreparedJob) throws(FarmError) {
        guard let expected = prepared.job.expect, prepared.isWhole else { return }
        let count = prepared.plan.inputs.count
        let last = prepared.contents.knownDisks.inputs.filter { prepared.plan.matches[$0.key] != nil }
        let surprise = expected.surprise(
            found: count, before: allowsGone ? nil : last.values.reduce(0, +),
            now: last.keys.reduce(0) { $0 + (prepared.plan.matches[$1] ?? 0) })
        guard let surprise else { return }
        let found = "\(Figures.plural(count, "picture")) \(count == 1 ? "is" : "are") there"
        let words =
            switch surprise {
            case .fewer(let least): "\(found), and 'expect' wants at least \(least)"
            case .more(let most): "\(found), and 'expect' wants at most \(most)"
            case .lost(let gone, let before):
                "\(gone) of the \(Figures.plural(before, "picture")) of the last whole run \(gone == 1 ? "is" : "are") gone, and 'expect' "
                    + "allows a loss of \(Self.number(expected.loss ?? 0)) %"
            }
        let remedy =
            switch surprise {
            case .fewer: "is a disk not mounted, or a copy not complete? If the number is right, change 'expect'"
            case .more: "does a pattern match too much? If the number is right, change 'expect'"
            case .lost:
                "is a disk not mounted? If the pictures were removed on purpose, \(option("--allow-gone")) continues without them"
            }
        let place = FarmError.Place(
            manifest: manifest(of: prepared.job), line: expected.line, message: words, remedy: remedy)
        throw FarmError(.missingInput, at: place, isLoss: true)
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(value)
    }

    private func option(_ name: String) -> String { originalCommand.map { "'\($0) \(name)'" } ?? name }

    private func manifest(of job: JobSpec) -> String {
        PathText.visible(PathText.shown(job.manifestPath, from: folder))
    }
}

extension MissingDisks.Cause {
    /// - Parameter things: what is lost, such as `the 3 outputs of this job`.
    package func message(of things: String) -> String {
        switch self {
        case .notMounted(let mount): "\(PathText.visible(mount)) is not mounted; it had \(things)"
        case .otherDisk(let mount):
            "another disk than in the last run is mounted at \(PathText.visible(mount)), without \(things)"
        case .emptyDisk(let mount): "the disk at \(PathText.visible(mount)) is empty; it had \(things)"
        case .emptyFolder(let folder): "\(PathText.visible(folder)) has none of \(things) any more"
        case .missing(_, let link?): "\(link.message); it had \(things)"
        case .missing(let folder, nil): "\(PathText.visible(folder)) is missing; it had \(things)"
        }
    }

    package var remedy: String {
        switch self {
        case .notMounted: "mount the disk, and run the job again."
        case .otherDisk, .emptyDisk: "is that the right disk?"
        case .emptyFolder, .missing: "is a disk not mounted?"
        }
    }
}

extension MissingDisks.Pictures {
    package var message: String { cause.message(of: "\(Figures.plural(count, "picture")) of this job") }
}
