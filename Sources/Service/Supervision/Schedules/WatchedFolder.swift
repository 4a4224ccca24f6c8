import Coordination
package import JobModel
import QueueStorage
package import Queueing
import RenderFarm
import ServiceAPI

/// Reads the manifests of watched folders.
package protocol WatchedManifests: Sendable {
    /// The digest of a manifest as it is now. Nil if it cannot be read.
    func digest(of place: ManifestSource.Place) -> String?

    /// The job of a manifest as it is now. Nil if the manifest is wrong.
    func job(of place: ManifestSource.Place, name: String?, _ options: RunOptions) async -> JobSpec?
}

/// Watches the folders of a manifest's inputs, and submits its job when they have changed and are quiet.
///
/// The rules are those of `penumbra run --watch`. A job that has not started yet serves for later changes, too.
package actor WatchedFolder {
    private let name: String
    private let request: SubmitRequest
    private let quiet: Duration
    private let minAge: Duration
    private let supervisor: Supervisor
    private let manifests: any WatchedManifests
    private let told: @Sendable (ScheduleProblem?) async -> Void
    private let now: @Sendable () -> WallTime
    private let uptime: @Sendable () -> ContinuousClock.Instant

    private var watch: FolderWatch?
    private var reader: Task<Void, Never>?
    private let wakes: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    private var unrest: FolderUnrest
    private var inputs = WatchedInputs()
    /// The digest of the manifest that ``inputs`` come from.
    private var digest: String?
    /// The age that the manifest itself asks for.
    private var ownAge = Duration.zero
    private var signature: FolderSignature?
    private var nextScan: ContinuousClock.Instant?
    /// No submission before it, after an error that may pass.
    private var retry: ContinuousClock.Instant?
    private var missing: Set<String> = []
    private var trouble = Trouble()

    /// What is wrong, by the step that finds it.
    private struct Trouble {
        var manifest: ScheduleProblem?
        var limit: ScheduleProblem?
        var submission: ScheduleProblem?
    }

    /// The kernel does not report changes that other machines make in a shared folder, so it also looks by itself.
    private static let rescan = Duration.seconds(300)
    /// A manifest that is wrong is read again after this time.
    private static let reread = Duration.seconds(60)
    private static let retryPause = Duration.seconds(10)

    /// - Parameters:
    ///   - spec: A specification with changes, not with times.
    ///   - told: Takes what is wrong now. Nil if nothing is.
    package init(
        name: String, spec: ScheduleSpecification, supervisor: Supervisor, manifests: any WatchedManifests,
        told: @escaping @Sendable (ScheduleProblem?) async -> Void, now: @escaping @Sendable () -> WallTime,
        uptime: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.name = name
        request = spec.schedule.job
        switch spec.schedule.trigger {
        case .changes(let quiet, let minAge): (self.quiet, self.minAge) = (quiet, minAge)
        case .times:
            (quiet, minAge) = (.seconds(WatchTimes.usualQuiet), .seconds(WatchTimes.usualAge))
        }
        self.supervisor = supervisor
        self.manifests = manifests
        self.told = told
        self.now = now
        self.uptime = uptime
        unrest = FolderUnrest(quiet: max(quiet, minAge + Self.margin))
        wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Clocks of file systems tick in steps.
    private static let margin = Duration.milliseconds(100)

    /// Submits jobs until its task is cancelled.
    package func run(sleep: @escaping @Sendable (Duration) async throws -> Void) async {
        let wakes = wakes
        var timer: Task<Void, Never>?
        wakes.continuation.yield()
        for await _ in wakes.stream {
            timer?.cancel()
            let pause = await look()
            // The sleep fails if the timer was cancelled.
            timer = Task { if (try? await sleep(pause)) != nil { wakes.continuation.yield() } }
            if Task.isCancelled { break }
        }
        timer?.cancel()
        reader?.cancel()
    }

    /// One look at the folders.
    ///
    /// - Parameter readsAlone: true if a test reads the kernel's events by this call alone.
    /// - Returns: for how long nothing more is due.
    package func look(readsAlone: Bool = false) async -> Duration {
        do {
            let watch = try await opened(readsAlone: readsAlone)
            if readsAlone, watch.read() { unrest.change(at: uptime()) }
            await readManifest(watch)
            await lookForFolders()
            try await scan()
            if let due = unrest.due, due <= uptime(), retry.map({ $0 <= uptime() }) ?? true {
                retry = nil
                // A run of missing folders would fail. Their return is a change.
                if missing.isSuperset(of: inputs.folders) { _ = unrest.end(at: uptime()) } else { try await submit() }
            }
        } catch {
            retry = uptime().advanced(by: Self.retryPause)
            let failure = ScheduleFailure(error)
            trouble.submission = problem(failure.words, failure.outcome, mayPass: failure.isPassing)
        }
        let gone = missing.min().map {
            problem(
                "\(VisibleText.line($0)): the folder is missing\n   = create it, or mount its disk", .missingInput,
                mayPass: true)
        }
        await told(trouble.manifest ?? gone ?? trouble.submission ?? trouble.limit)
        return pause
    }

    private func problem(_ words: String, _ outcome: RunOutcome?, mayPass: Bool = false) -> ScheduleProblem {
        ScheduleProblem("watch '\(name)': \(words)", outcome: outcome, mayPass: mayPass)
    }

    private var pause: Duration {
        let time = uptime()
        var next = nextScan ?? time.advanced(by: Self.retryPause)
        if digest == nil { next = min(next, time.advanced(by: Self.reread)) }
        if let due = unrest.due { next = min(next, max(due, retry ?? due)) }
        return max(.milliseconds(10), time.duration(to: next))
    }

    private func opened(readsAlone: Bool) async throws -> FolderWatch {
        if let watch { return watch }
        let watch = try FolderWatch(reads: !readsAlone)
        self.watch = watch
        if let path = manifestPath { await Blocking.run { watch.add(file: path) } }
        let changes = watch.changes
        if !readsAlone {
            reader = Task { [weak self] in for await _ in changes { await self?.noteChange() } }
        }
        return watch
    }

    /// Nil for an uploaded manifest, which does not change.
    private var manifestPath: String? { if case .file(let path) = request.source { path } else { nil } }

    private func noteChange() {
        unrest.change(at: uptime())
        wakes.continuation.yield()
    }

    // MARK: What is watched

    /// Reads the manifest if it has changed. While somebody edits it, the last right one holds.
    private func readManifest(_ watch: FolderWatch) async {
        let order = order(key: "", options: request.options, after: nil)
        let manifests = manifests
        let found = await Blocking.run { manifests.digest(of: order.place) }
        guard found != digest || found == nil else {
            trouble.manifest = nil
            return
        }
        guard let found, let job = await manifests.job(of: order.place, name: order.name, order.options) else {
            trouble.manifest = await refusal(order)
            return
        }
        trouble.manifest = nil
        digest = found
        ownAge = .seconds(job.minAge)
        unrest = unrest.with(quiet: max(quiet, max(minAge, ownAge) + Self.margin))
        let known = inputs
        inputs = await Blocking.run {
            var inputs = known
            inputs.set([job])
            return inputs
        }
        // The new folders may have changed long ago.
        nextScan = nil
        let folders = inputs.folders
        let unwatchable = await Blocking.run { folders.filter { !watch.add($0) && FolderWatch.isFolder($0) } }
        trouble.limit = unwatchable.first.map {
            problem(
                "\(VisibleText.line($0)): the kernel watches no more folders; changes are found within "
                    + "\(Self.rescan.components.seconds) seconds\n   = raise fs.inotify.max_user_watches with sysctl",
                nil)
        }
    }

    /// Why the manifest cannot be used, as a submission says it.
    private func refusal(_ order: SubmissionOrder) async -> ScheduleProblem {
        do {
            _ = try await supervisor.check(order.place, name: order.name, order.options)
        } catch {
            let failure = ScheduleFailure(error)
            return problem(failure.words, failure.outcome, mayPass: failure.isPassing)
        }
        // Somebody has mended it in this moment. The next look finds it right.
        return problem("\(placeWords): the manifest cannot be read", .missingInput, mayPass: true)
    }

    private var placeWords: String {
        switch request.source {
        case .file(let path): VisibleText.line(path)
        case .text(_, let folder, _): "\(VisibleText.line(folder)) (uploaded)"
        }
    }

    /// A folder that comes back has changed.
    private func lookForFolders() async {
        let known = inputs
        let (seen, news) = await Blocking.run {
            var inputs = known
            let news = inputs.look()
            return (inputs, news)
        }
        inputs = seen
        // The manifest may have dropped a folder that is still missing.
        missing.formIntersection(inputs.folders)
        guard !news.isEmpty else { return }
        for item in news {
            switch item {
            case .nothingThere(let path), .missing(let path): missing.insert(path)
            case .appeared(let path, _, _):
                missing.remove(path)
                unrest.change(at: uptime())
            }
        }
        if let watch { await Blocking.run { watch.renew() } }
    }

    /// Looks for changes that the kernel did not report: at the start those since the last job, and later those of other
    /// machines. A file that was removed while no service ran is not noticed.
    private func scan() async throws {
        guard digest != nil, nextScan.map({ $0 <= uptime() }) ?? true else { return }
        var stored: StoredSchedule?
        if signature == nil { stored = try await supervisor.onStore { [name] in try $0.schedule(named: name) } }
        let (folders, manifest) = (inputs.folders, manifestPath)
        let found = await Blocking.run { FolderSignature(of: folders, and: manifest) }
        if let signature, found != signature { unrest.change(at: uptime()) }
        signature = found
        nextScan = uptime().advanced(by: Self.rescan)
        guard let stored else { return }
        // A job comes a whole quiet time after the changes that it is for.
        let newest = WallTime(milliseconds: found.newest / 1_000_000)
        if stored.submitted == 0 || newest + unrest.quiet / 2 > stored.last { unrest.change(at: uptime()) }
    }

    // MARK: Jobs

    private func order(key: String, options: RunOptions, after earlier: JobID?) -> SubmissionOrder {
        var order = SubmissionOrder(request, owner: .watch(name), key: key, after: earlier)
        order.options = options
        return order
    }

    /// Before the first picture a job would find nothing to do.
    private func holdsFiles() async -> Bool {
        let folders = inputs.folders
        return await Blocking.run { folders.contains { FolderSignature.holdsFiles(in: $0) } }
    }

    /// Submits the next job, unless one that has not started yet serves for this change, too.
    private func submit() async throws {
        // Every turn advances the counter, past jobs of an earlier watch of this name.
        while let stored = try await supervisor.onStore({ [name] in try $0.schedule(named: name) }), stored.isEnabled {
            if stored.submitted == 0, await !holdsFiles() { break }
            let step = ScheduleStep(name: name, last: now())
            let lastJob = try await supervisor.onStore { try $0.lastJob(of: stored) }
            var earlier: JobID?
            switch lastJob {
            case .waiting:
                try await supervisor.onStore { try $0.pass(step) }
                _ = unrest.end(at: uptime())
                return
            case .running(let job): earlier = job
            case .ended, nil: break
            }
            var options = request.options
            // A file may still be written although the folder is quiet, if it never becomes quiet for long.
            if ownAge == .zero, minAge > .zero {
                options.overrides.append("min_age=\(Int((minAge / .seconds(1)).rounded(.up)))s")
            }
            let order = order(key: "watch:\(name):\(stored.submitted + 1)", options: options, after: earlier)
            do {
                guard let insertion = try await supervisor.submit(order, step: step, of: stored) else { continue }
                guard case .new = insertion else { continue }
                _ = unrest.end(at: uptime())
                trouble.submission = nil
                return
            } catch {
                let failure = ScheduleFailure(error)
                guard !failure.isPassing else { throw error }
                // The next change of a picture or of the manifest tries again.
                _ = unrest.end(at: uptime())
                trouble.submission = problem("no job: \(failure.words)", failure.outcome)
                return
            }
        }
        // It is disabled or removed, and its task is about to end. Or no picture has come yet.
        _ = unrest.end(at: uptime())
    }
}
