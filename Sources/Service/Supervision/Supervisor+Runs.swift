import Coordination
import JobModel
import QueueStorage
import Queueing
import Runs
import SafeFiles
import ServiceAPI
import Synchronization

/// A run whose process may exist.
struct OpenRun: Sendable {
    let run: String
    /// This supervisor has started the process, and hears of its end. Otherwise its lock tells of the end.
    var isOwn: Bool
    /// When this supervisor began to follow it.
    let since: WallTime
    /// The process is being started.
    var isLaunching = false
    /// The process reads another manifest than the one that was submitted.
    var hasChangedManifest = false
    /// Its end, which is not stored yet.
    var exit: Exit?
    /// ``RunObservation/progress`` when this supervisor began to follow it.
    var firstProgress: Int?
    /// The report that the run's last process has left. It says nothing of the present one.
    var oldReport: LiveRun?
    /// What it was doing at the last look.
    var live: LiveRun?
    /// The worker limit that was written last, and when.
    var share: (count: Int, written: WallTime)?
    /// When the last look gave it no worker although it wanted one.
    var starvedSince: WallTime?

    enum Exit: Sendable {
        case code(Int)
        /// The process is gone, and nobody has seen its exit code.
        case unseen
        /// An earlier service was ended before it started a process.
        case neverStarted
        case notStarted(String)

        /// Nil if nobody has seen the process end.
        var code: Int? { if case .code(let code) = self { code } else { nil } }
    }

    init(_ run: String, isOwn: Bool, since: WallTime) {
        self.run = run
        self.isOwn = isOwn
        self.since = since
    }

    /// For how long a run that has no plan yet counts as one that can use all workers. Then it may be searching in large folders.
    private static let planTime = Duration.seconds(2)

    /// How many workers it could use. Nil if that is not known.
    func wants(at now: WallTime) -> Int? {
        if let live { return live.isPaused ? 0 : live.wanted }
        return now - since < Self.planTime ? nil : 0
    }
}

extension Supervisor {
    /// Files of a run that belong to the service.
    func lockPath(_ run: String) -> String { "\(setup.folder.locks)/\(run).lock" }
    package func logPath(_ run: String) -> String { "\(setup.folder.logs)/\(run).log" }

    // MARK: Starting

    /// Stores the name of a job's run. Nil if that fails, so that nothing is started.
    func begin(_ start: QueueDecision.Start, at now: WallTime) -> RunOrder? {
        guard let job = state.withLock({ $0.queue[start.job] }) else { return nil }
        let name = runName(for: job, at: now)
        let began = change(start.job) { job throws(Refusal) in
            try job.start(run: name, waited: start.waited, at: now)
        }
        guard began, let starting = state.withLock({ $0.queue[start.job] }), let run = starting.state.run else {
            return nil
        }
        observer.step(.named)
        var open = OpenRun(run, isOwn: true, since: now)
        open.isLaunching = true
        let observation = RunObservation(state: setup.stateFolder, run: run)
        (open.firstProgress, open.oldReport) = (observation.progress, observation.live)
        state.withLock { [open] in $0.runs[start.job] = open }
        do {
            let order = try order(for: starting, run)
            return order
        } catch {
            noteExit(start.job, run, .notStarted(error.message))
            return nil
        }
    }

    /// Whether the manifest can be read, and is another one than the one that was submitted.
    private func hasChangedManifest(_ job: Submission) -> Bool {
        checker.digest(of: job.manifest.place).map { $0 != job.manifest.digest } ?? false
    }

    /// The name tells people the job and the time. Its end tells apart runs of two services that share a state folder.
    private func runName(for job: Submission, at now: WallTime) -> String {
        let digits = now.text.prefix(19).filter { $0 != "-" && $0 != ":" }
        let end = String(random() % 1_679_616, radix: 36)
        return "job-\(job.id.number)-\(digits)-\(String(repeating: "0", count: 4 - end.utf8.count))\(end)"
    }

    private func order(for job: Submission, _ run: String) throws(FileError) -> RunOrder {
        var arguments = ["run"]
        switch job.manifest.place {
        case .file(let path): arguments.append(path)
        case .uploaded(let text, _):
            let folder = try manifestFolder(of: job)
            let file = "\(folder)/\(job.id.number).yaml"
            try AtomicFile.write(Array(text.utf8), to: file, by: file + ".new", mode: 0o600)
            arguments += [file, "--manifest-path", job.manifestPath]
        }
        arguments += ["--run", run, "--resumable", "--quiet", "--no-notify", "--state-dir", setup.stateFolder]
        arguments += setup.runArguments + job.options.arguments
        // As with 'penumbra run --watch': an empty folder is no error there, because pictures come and go.
        if case .watch = job.owner { arguments.append("--allow-empty") }
        let confinement = try confinement(of: job, run)
        var notes: [String] = []
        // Programs of a cluster would run outside of the folders.
        if confinement != nil {
            arguments += ["--engine", "local"]
            if let engine = setup.otherEngine() {
                notes.append(
                    "note: the run works on this machine, and not with the engine '\(engine)': jobs of tokens with folders "
                        + "do not leave it")
            }
        }
        if hasChangedManifest(job) {
            state.withLock { $0.runs[job.id]?.hasChangedManifest = true }
            notes.append("note: the manifest has changed since \(job.id) was submitted; the run uses it as it is now")
        }
        return RunOrder(
            job: job.id, run: run, arguments: arguments, lockPath: lockPath(run), logPath: logPath(run), notes: notes,
            confinement: confinement,
            environment: environment(of: job, run))
    }

    func launch(_ order: RunOrder) async {
        let (id, run) = (order.job, order.run)
        do {
            try await launcher.launch(order) { [self] code in
                thread.begin { if let code { self.noteExit(id, run, .code(code)) } else { self.disown(id, run) } }
            }
            await thread.run { [self] in
                observer.step(.launched)
                let isStopping = state.withLock { state in
                    state.runs[id]?.isLaunching = false
                    return state.isStopping
                }
                // stop() came while the process had no lock yet.
                if isStopping { launcher.terminate(holderOf: order.lockPath) }
            }
        } catch {
            await thread.run { [self] in noteExit(id, run, .notStarted(error.message)) }
        }
    }

    private func noteExit(_ id: JobID, _ run: String, _ exit: OpenRun.Exit) {
        state.withLock { state in
            // Another run of the job may have begun.
            guard state.runs[id]?.run == run else { return }
            state.runs[id]?.isLaunching = false
            state.runs[id]?.exit = exit
        }
        wake()
    }

    /// Nobody hears of the end of a process that lives. Its lock tells.
    private func disown(_ id: JobID, _ run: String) {
        state.withLock { state in
            guard state.runs[id]?.run == run else { return }
            state.runs[id]?.isLaunching = false
            state.runs[id]?.isOwn = false
        }
        wake()
    }

    // MARK: Following

    func observeRuns() {
        for (id, open) in state.withLock(\.runs) where !open.isLaunching { observe(id, open) }
    }

    private func observe(_ id: JobID, _ open: OpenRun) {
        let run = RunObservation(state: setup.stateFolder, run: open.run)
        // The exit is read before the state folder: a process that ends in between is seen at the next look.
        if let exit = open.exit ?? exitOfOther(open, run) { return end(id, open, exit, run) }
        guard let job = state.withLock({ $0.queue[id] }) else { return }
        let hasBegun = run.hasBegun
        if hasBegun, case .starting = job.state, run.isRecorded {
            observer.step(.begun)
            if change(id, { job throws(Refusal) in try job.started(at: self.now()) }) { observer.step(.running) }
        }
        if case .cancel = job.state.request { run.cancel() }
        let report = hasBegun ? run.live : nil
        let live = report == open.oldReport ? nil : report
        state.withLock { state in
            state.runs[id]?.live = live
            if state.runs[id]?.firstProgress == nil { state.runs[id]?.firstProgress = run.progress }
        }
    }

    /// The end of a process that nobody waits for. Its lock tells that it is gone, and nothing tells its exit code.
    private func exitOfOther(_ open: OpenRun, _ run: RunObservation) -> OpenRun.Exit? {
        guard !open.isOwn else { return nil }
        let path = lockPath(open.run)
        // The second question is for runs that a person has resumed by hand.
        guard !launcher.hasProcess(holding: path), !run.hasCoordinator else { return nil }
        // A file is there before its process, and is removed after the end is stored.
        return FileSystem.exists(path) ? .unseen : .neverStarted
    }

    private func end(_ id: JobID, _ open: OpenRun, _ exit: OpenRun.Exit, _ run: RunObservation) {
        observer.step(.exited)
        if let job = state.withLock({ $0.queue[id] }) { clearUp(after: job, open.run, exit) }
        do {
            let end = try run.end()
            let progressed = end.published > 0 || run.progress > open.firstProgress ?? 0
            var text = end.failures ?? RunLogFile.lastMessage(at: logPath(open.run))
            if end.remainder == .none, open.hasChangedManifest {
                text += " (the manifest has changed since it was submitted)"
            }
            let changed = try changing(id, audit: nil) { job throws(Refusal) in
                switch (exit, job.state) {
                case (.neverStarted, .starting(let starting)) where starting.isUnchanged(end.remainder):
                    try job.takeBackStart(at: self.now())
                case (.notStarted(let words), .starting(let starting)) where starting.isUnchanged(end.remainder):
                    try job.startFailed(words, at: self.now())
                // A process that is gone and had no run may have refused its manifest. The next one tells.
                default:
                    try job.processEnded(
                        code: end.code ?? exit.code, leaving: end.remainder, text: text, progressed: progressed,
                        leftovers: end.leftovers, at: self.now())
                }
            }
            if changed != nil { observer.step(.ended) }
            FileSystem.remove(lockPath(open.run))
        } catch {
            // The next look tries again.
            note(error)
        }
    }

    // MARK: Shares

    /// For how long a written limit is left as it is. The run forgets it after half a minute.
    private static let renewal = Duration.seconds(10)

    /// Tells each run how many workers it may use.
    func shareWorkers(at now: WallTime) {
        let (shares, runs, limits) = state.withLock { state in
            let wants = state.runs.compactMapValues { $0.wants(at: now) }
            return (state.queue.shares(state.limits, wants: wants), state.runs, state.limits)
        }
        for (id, open) in runs where open.live != nil {
            let share = shares[id] ?? 0
            noteStarving(id, open, share, limits, at: now)
            // A run that has all workers to itself needs no limit.
            guard open.share != nil || share < limits.workers else { continue }
            if let last = open.share, last.count == share, (.zero..<Self.renewal).contains(now - last.written) {
                continue
            }
            do throws(FileError) {
                try RunObservation(state: setup.stateFolder, run: open.run).limitWorkers(to: share)
                state.withLock { $0.runs[id]?.share = (share, now) }
            } catch {
                // The run ends at this moment, or its disk is full. The next look tries again.
                continue
            }
        }
    }

    /// How long a run has had no worker is stored now and then, for aging.
    private static let starvingStep = Duration.seconds(10)

    private func noteStarving(_ id: JobID, _ open: OpenRun, _ share: Int, _ limits: Limits, at now: WallTime) {
        guard limits.aging != nil else { return }
        guard share == 0, open.live?.wanted ?? 0 > 0, open.live?.isPaused == false else {
            return state.withLock { $0.runs[id]?.starvedSince = nil }
        }
        guard let since = open.starvedSince else { return state.withLock { $0.runs[id]?.starvedSince = now } }
        guard now - since >= Self.starvingStep else { return }
        change(id) { $0.starved(for: now - since) }
        state.withLock { $0.runs[id]?.starvedSince = now }
    }

    // MARK: Old files

    /// Ended jobs are kept for so long.
    private static let jobLifetime = Duration.seconds(90 * 86_400)
    /// So many ended jobs are kept in any case.
    private static let leastJobs = 10_000

    /// Removes old jobs, expired sessions, and files of runs that nobody needs any more: locks without a process, logs of removed jobs,
    /// and texts of manifests of ended jobs.
    package func tidy() async { await thread.run { self.tidyNow() } }

    private func tidyNow() {
        do {
            let time = now()
            try store.prune(endedBefore: time + (.zero - Self.jobLifetime), keeping: Self.leastJobs, at: time)
            try store.removeExpiredSessions(at: time)
        } catch {
            note(error)
        }
        let open = state.withLock { Set($0.runs.values.map(\.run)) }
        for (run, path) in files(in: setup.folder.locks, ending: ".lock")
        where !open.contains(run) && !launcher.hasProcess(holding: path) {
            FileSystem.remove(path)
        }
        for (run, path) in files(in: setup.folder.logs, ending: ".log") where !open.contains(run) && isForgotten(run) {
            FileSystem.remove(path)
        }
        // `17.yaml`, a part of it, and whatever else begins with the number of a job.
        for name in FileSystem.names(in: setup.folder.manifests) {
            guard let number = Int(name.prefix { $0.isASCII && $0.isNumber }) else { continue }
            let isOpen = state.withLock { $0.queue[JobID(number)] != nil }
            if !isOpen { FileSystem.removeTree("\(setup.folder.manifests)/\(name)") }
        }
    }

    /// Whether no job has the run any more. False if that is unknown.
    private func isForgotten(_ run: String) -> Bool {
        do {
            return try store.job(run: run) == nil
        } catch {
            // The row of its job cannot be read, which was told when the service started.
            return false
        }
    }

    /// The names, without their endings, and the paths.
    private func files(in folder: String, ending: String) -> [(name: String, path: String)] {
        FileSystem.names(in: folder).filter { $0.hasSuffix(ending) }.map {
            (String($0.dropLast(ending.count)), "\(folder)/\($0)")
        }
    }

    // MARK: The end of the service

    /// Asks all runs to end, so that the next service resumes them. Nothing starts any more.
    package func stop() async {
        await thread.run { [self] in
            let runs = state.withLock { state in
                state.isStopping = true
                return state.runs
            }
            for (id, open) in runs {
                change(id) { $0.stop() }
                // A look at the lock could take it from a process that is being started. launch(_:) asks that one to end.
                if !open.isLaunching { launcher.terminate(holderOf: lockPath(open.run)) }
            }
        }
        wake()
    }

    /// How many runs have a process.
    package var openRuns: Int { state.withLock { $0.runs.count } }
}

extension JobState.Starting {
    /// Whether nothing was done for the run since it was named.
    fileprivate func isUnchanged(_ remainder: Submission.RunRemainder) -> Bool {
        switch remainder {
        case .none: true
        case .interrupted: isResumed
        case .ended: false
        }
    }
}
