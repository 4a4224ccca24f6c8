import Coordination
import JobModel
import JobStorage
import Planning
import SafeFiles
import Synchronization

/// Jobs that are watched, as their manifests describe them now.
struct WatchedJobs {
    let jobs: [JobSpec]
    let run: () async throws -> RunOutcome
}

/// Runs jobs whenever their input folders or manifests change, until a stop.
struct WatchLoop {
    var watched: WatchedJobs
    /// Absolute paths.
    let manifests: [String]
    let control: RunControl
    /// Messages show paths as they are seen from this folder.
    let folder: String
    let listener: any RunListener
    /// Reads the manifests again; nil if they are unchanged.
    let reread: () async throws -> WatchedJobs?
    private var inputs = WatchedInputs()

    init(
        watched: WatchedJobs, manifests: [String], control: RunControl, folder: String, listener: any RunListener,
        reread: @escaping () async throws -> WatchedJobs?
    ) {
        self.watched = watched
        self.manifests = manifests
        self.control = control
        self.folder = folder
        self.listener = listener
        self.reread = reread
    }

    /// A copy of pictures makes many changes. The loop waits until there are none for this long.
    private static let quiet = Duration.seconds(1)
    /// The kernel does not report changes that other machines make in a shared folder, so the loop also looks by itself.
    private static let rescan = Duration.seconds(300)

    private enum Wakening: Sendable {
        case change
        case time
        case signal
    }

    mutating func callAsFunction() async throws -> RunOutcome {
        let watch = try FolderWatch()
        inputs.set(watched.jobs)
        add(inputs.folders, to: watch)
        for manifest in manifests { watch.add(file: manifest) }
        listener.report(.watch(.began(inputs.folders)))
        // One reader takes all three sources, because a stream ends when its reader stops.
        let (wakenings, wake) = AsyncStream.makeStream(of: Wakening.self, bufferingPolicy: .unbounded)
        let (changes, stops) = (watch.changes, control.stops())
        let readers = [
            Task { for await _ in changes { wake.yield(.change) } },
            Task { for await _ in stops { wake.yield(.signal) } },
        ]
        defer { for reader in readers { reader.cancel() } }
        // After a change some files may be too recent for a run. They need another look soon.
        var hasChanged = true
        while true {
            // The watch is renewed before the run looks at the folders, so that no later change is missed.
            watch.renew()
            await readAgain(watch)
            reportFolders()
            let outcome = try await runOnce()
            guard outcome < .hungUp else { return outcome }
            switch await nextWakening(wakenings, wake, after: hasChanged ? delay ?? Self.rescan : Self.rescan) {
            case .signal: return .done
            case .change: hasChanged = true
            case .time: hasChanged = false
            }
        }
    }

    private func add(_ folders: [String], to watch: FolderWatch) {
        for folder in folders where !watch.add(folder) && FolderWatch.isFolder(folder) {
            listener.report(
                .watch(.folderUnwatchable(folder, rescan: Self.rescan.components.seconds)))
        }
    }

    /// While somebody edits a manifest it may be wrong. The last right one holds until then.
    private mutating func readAgain(_ watch: FolderWatch) async {
        do {
            guard let fresh = try await reread() else { return }
            watched = fresh
            inputs.set(watched.jobs)
            add(inputs.folders, to: watch)
            listener.report(.watch(.manifestChanged))
        } catch {
            listener.report(.watch(.manifestUnusable))
        }
    }

    /// Reports each folder once when it disappears, and once when it comes back.
    private mutating func reportFolders() {
        for news in inputs.look() {
            switch news {
            case .nothingThere(let path): listener.report(.watch(.nothingThere(path)))
            case .missing(let path): listener.report(.watch(.folderMissing(path)))
            case .appeared(let path, let isFile, let isFirst):
                listener.report(.watch(.appeared(path, isFile: isFile, isFirst: isFirst)))
            }
        }
    }

    /// Reports an error that may pass, such as a disk that is not mounted, and goes on.
    private func runOnce() async throws -> RunOutcome {
        do {
            return try await watched.run()
        } catch let error as FarmError where [.missingInput, .busy, .storage].contains(error.outcome) {
            listener.report(.failed(error))
            return error.outcome
        } catch let problem as StoreError {
            listener.report(.failed(FarmError(.storage, problem.message)))
            return .storage
        }
    }

    /// Waits for a signal, for changes and the quiet after them, or for the end of a pause.
    private func nextWakening(
        _ wakenings: AsyncStream<Wakening>, _ wake: AsyncStream<Wakening>.Continuation, after pause: Duration
    ) async -> Wakening {
        let clock = ContinuousClock()
        var timer = self.timer(pause, wake)
        defer { timer.cancel() }
        var unrest = FolderUnrest(quiet: max(Self.quiet, delay ?? .zero))
        for await wakening in wakenings {
            switch wakening {
            case .signal: return .signal
            case .time: return unrest.due == nil ? .time : .change
            case .change:
                let now = clock.now
                guard unrest.change(at: now), let due = unrest.due else { continue }
                timer.cancel()
                timer = self.timer(now.duration(to: due), wake)
            }
        }
        return .signal
    }

    private func timer(_ delay: Duration, _ wake: AsyncStream<Wakening>.Continuation) -> Task<Void, Never> {
        Task {
            // The sleep fails if the timer was cancelled.
            if (try? await Task.sleep(for: delay)) != nil { wake.yield(.time) }
        }
    }

    /// How long a file must be unchanged before a run takes it.
    private var delay: Duration? { watched.jobs.map(\.minAge).max().flatMap { $0 > 0 ? .seconds($0 + 0.1) : nil } }
}

/// The news that a watch has reported. It reports each of them once, and again after a change.
final class WatchMemory: Sendable {
    /// The lost pictures of each job, as they were reported last.
    private let losses = Mutex<[PathKey: [String]]>([:])
    /// Jobs whose patterns were checked, with the patterns.
    private let inspected = Mutex<Set<[PathKey]>>([])
    /// The outputs without a selected input, by their job and kind, as they were reported last.
    private let leftovers = Mutex<[PathKey: Set<PathKey>]>([:])

    /// Whether the patterns of a job are new. In later runs unmatched patterns are normal.
    func isNew(_ plan: JobPlan) -> Bool {
        let patterns = [plan.job.manifestPath, plan.job.name] + plan.job.inputs + [""] + plan.job.exclude
        return inspected.withLock { $0.insert(patterns.map(PathKey.init)).inserted }
    }

    /// Whether some of these outputs were not there at the last run.
    ///
    /// - Parameter kind: the kind of outputs, such as `orphans`.
    func areNews(_ outputs: [OutputRecord], kind: String, of job: JobSpec) -> Bool {
        let now = Set(outputs.map { PathKey($0.path) })
        let before = leftovers.withLock { leftovers in
            leftovers.updateValue(now, forKey: PathKey("\(kind)\0\(job.manifestPath)\0\(job.name)"))
        }
        return !now.isSubset(of: before ?? [])
    }

    /// The pictures of a job that were lost since its last run.
    func newLosses(_ prepared: PreparedJob) -> [String] {
        let job = PathKey("\(prepared.job.manifestPath)\0\(prepared.job.name)")
        let now = prepared.lost.map(\.message)
        let before = losses.withLock { losses in
            defer { losses[job] = now }
            return losses[job] ?? []
        }
        return now.filter { !before.contains($0) }
    }
}
