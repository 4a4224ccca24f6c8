import Coordination
import JobModel
import JobStorage
import Planning
import SafeFiles

/// Jobs that are watched, as their manifests say now.
struct WatchedJobs {
    let jobs: [JobSpec]
    let run: () async throws -> RunOutcome
}

/// Runs jobs whenever something has changed in the folders of their inputs, or in their manifests, until it is told to stop.
struct WatchLoop {
    var watched: WatchedJobs
    /// Absolute paths.
    let manifests: [String]
    let control: RunControl
    /// Paths are shown as they are seen from there.
    let folder: String
    let reporting: any RunListener
    /// Reads the manifests again; nil where they are as they were.
    let reread: () async throws -> WatchedJobs?
    /// Folders that are gone, and were told.
    private var gone: Set<PathKey> = []
    /// Entries of `inputs` that name a folder, or named one when they were last there.
    private var namedFolders: Set<PathKey> = []
    /// Of these, those that were never there: they may be meant for files.
    private var guessedFolders: Set<PathKey> = []

    init(
        _ watched: WatchedJobs, manifests: [String], control: RunControl, folder: String, reporting: any RunListener,
        reread: @escaping () async throws -> WatchedJobs?
    ) {
        self.watched = watched
        self.manifests = manifests
        self.control = control
        self.folder = folder
        self.reporting = reporting
        self.reread = reread
    }

    /// Pictures that are copied come in many pieces: it waits until nothing has happened for so long.
    private static let quiet = Duration.seconds(1)
    private static let longestUnrest = Duration.seconds(30)
    /// Changes that other machines make in a shared folder are told by no kernel.
    private static let rescan = Duration.seconds(300)

    private enum Wakening: Sendable {
        case change
        case time
        case signal
    }

    mutating func callAsFunction() async throws -> RunOutcome {
        let watch = try FolderWatch()
        noteNamedFolders()
        add(folders, to: watch)
        for manifest in manifests { watch.add(file: manifest) }
        // One reader for all: a stream that is left is over.
        let (wakenings, wake) = AsyncStream.makeStream(of: Wakening.self, bufferingPolicy: .unbounded)
        let (changes, stops) = (watch.changes, control.stops())
        let readers = [
            Task { for await _ in changes { wake.yield(.change) } },
            Task { for await _ in stops { wake.yield(.signal) } },
        ]
        defer { for reader in readers { reader.cancel() } }
        // After news there may be files that were too young; later there are none.
        var isNews = true
        while true {
            // Before the look: what comes after it is heard of.
            watch.renew()
            await readAgain(watch)
            tellFolders()
            let status = try await once()
            guard status < .hungUp else { return status }
            switch await nextWork(wakenings, wake, after: isNews ? delay ?? Self.rescan : Self.rescan) {
            case .signal: return .done
            case .change: isNews = true
            case .time: isNews = false
            }
        }
    }

    private func add(_ folders: [String], to watch: FolderWatch) {
        for folder in folders where !watch.add(folder) && FolderWatch.isFolder(folder) {
            reporting.report(
                .watch(.folderUnwatchable(folder, rescan: Self.rescan.components.seconds)))
        }
    }

    /// A manifest that is being edited may be wrong for a while: what it said before holds until it is right again.
    private mutating func readAgain(_ watch: FolderWatch) async {
        do {
            guard let fresh = try await reread() else { return }
            watched = fresh
            noteNamedFolders()
            add(folders, to: watch)
            reporting.report(.watch(.manifestChanged))
        } catch {
            reporting.report(.watch(.manifestUnusable))
        }
    }

    /// Once when a folder goes, and once when it comes back.
    private mutating func tellFolders() {
        noteNamedFolders()
        let missing = Set(folders.filter { !FolderWatch.isFolder($0) }.map(PathKey.init))
        for folder in missing.subtracting(gone).sorted() {
            reporting.report(
                .watch(
                    guessedFolders.contains(folder) ? .nothingThere(folder.path) : .folderMissing(folder.path)))
        }
        // A folder that the manifest names no more may be gone as before.
        for folder in gone.subtracting(missing).sorted() where FileStamp(of: folder.path) != nil {
            let isFirst = guessedFolders.remove(folder) != nil
            reporting.report(
                .watch(.appeared(folder.path, isFile: !FolderWatch.isFolder(folder.path), isFirst: isFirst)))
        }
        gone = missing
    }

    /// A trouble of today may be gone tomorrow: the disk is mounted, the other run ends.
    private func once() async throws -> RunOutcome {
        do {
            return try await watched.run()
        } catch let error as FarmError where [.missingInput, .busy, .storage].contains(error.outcome) {
            reporting.report(.failed(error))
            return error.outcome
        } catch let problem as StoreProblem {
            reporting.report(.failed(FarmError(.storage, problem.message)))
            return .storage
        } catch let trouble as FileTrouble {
            reporting.report(.failed(FarmError(.storage, trouble.message)))
            return .storage
        }
    }

    /// Waits for a signal, for changes and the quiet after them, or until it is time to look again.
    private func nextWork(
        _ wakenings: AsyncStream<Wakening>, _ wake: AsyncStream<Wakening>.Continuation, after pause: Duration
    ) async -> Wakening {
        let clock = ContinuousClock()
        var timer = self.timer(pause, wake)
        defer { timer.cancel() }
        var first: ContinuousClock.Instant?
        for await wakening in wakenings {
            switch wakening {
            case .signal: return .signal
            case .time: return first == nil ? .time : .change
            case .change:
                // A folder that is never quiet is looked at nevertheless.
                if let first, clock.now - first > Self.longestUnrest { continue }
                first = first ?? clock.now
                timer.cancel()
                timer = self.timer(max(Self.quiet, delay ?? .zero), wake)
            }
        }
        return .signal
    }

    private func timer(_ delay: Duration, _ wake: AsyncStream<Wakening>.Continuation) -> Task<Void, Never> {
        Task {
            // Sleeping fails when something else has happened first.
            if (try? await Task.sleep(for: delay)) != nil { wake.yield(.time) }
        }
    }

    /// How long files have to rest.
    private var delay: Duration? { watched.jobs.map(\.minAge).max().flatMap { $0 > 0 ? .seconds($0 + 0.1) : nil } }

    /// Those that patterns begin with, and those of pictures that filters read; the outermost alone.
    private var folders: [String] {
        let inputs = watched.jobs.flatMap { job in job.inputs.map { folder(of: $0, job) } }
        let pictures = watched.jobs.flatMap(\.picturePaths).map { PathText.folder(of: $0) }
        let all = Set((inputs + pictures).map(PathKey.init)).sorted().map(\.path)
        return all.filter { folder in !all.contains { PathNames.isBelow(folder, $0) } }
    }

    private func folder(of input: String, _ job: JobSpec) -> String {
        let pattern = GlobPattern(input, in: job.folder)
        guard pattern.isLiteral else { return PathText.joined(pattern.fixedFolder) }
        return namedFolders.contains(PathKey(pattern.text)) ? pattern.text : PathText.folder(of: pattern.text)
    }

    /// While nothing is there, an entry is what it was before; at first, one whose name has no extension is a folder.
    private mutating func noteNamedFolders() {
        let patterns = watched.jobs.flatMap { job in job.inputs.map { GlobPattern($0, in: job.folder) } }
        for path in patterns.filter(\.isLiteral).map(\.text) {
            if FolderWatch.isFolder(path) {
                namedFolders.insert(PathKey(path))
                if !gone.contains(PathKey(path)) { guessedFolders.remove(PathKey(path)) }
            } else if FileStamp(of: path) != nil {
                namedFolders.remove(PathKey(path))
            } else if PathText.split(name: PathText.name(of: path)).ext.isEmpty,
                namedFolders.insert(PathKey(path)).inserted
            {
                guessedFolders.insert(PathKey(path))
            }
        }
    }
}
