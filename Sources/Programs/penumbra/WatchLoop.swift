import Coordination
import JobModel
import JobStorage
import Planning
import SafeFiles

/// Runs jobs whenever something has changed in the folders of their inputs, until it is told to stop.
struct WatchLoop {
    let jobs: [JobSpec]
    let signals: Signals
    let reporting: Reporting
    let run: () async throws -> ExitStatus

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

    func callAsFunction() async throws -> ExitStatus {
        let watch = try FolderWatch()
        for folder in folders where !watch.add(folder) {
            reporting.note(
                "\(PathText.shown(folder, from: currentFolder())): cannot be watched as a whole (see "
                    + "fs.inotify.max_user_watches); it is looked through every \(Self.rescan.components.seconds) s")
        }
        // One reader for all: a stream that is left is over.
        let (wakenings, wake) = AsyncStream.makeStream(of: Wakening.self, bufferingPolicy: .unbounded)
        let (changes, stops) = (watch.changes, signals.stream)
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
            let status = try await once()
            guard status < .hungUp else { return status }
            switch await nextWork(wakenings, wake, after: isNews ? delay ?? Self.rescan : Self.rescan) {
            case .signal: return .done
            case .change: isNews = true
            case .time: isNews = false
            }
        }
    }

    /// A trouble of today may be gone tomorrow: the disk is mounted, the other run ends.
    private func once() async throws -> ExitStatus {
        do {
            return try await run()
        } catch let error as CommandError where [.missingInput, .busy, .badPlace].contains(error.status) {
            reporting.complain(error.message)
            return error.status
        } catch let problem as StoreProblem {
            reporting.complain(problem.message)
            return .badPlace
        } catch let trouble as FileTrouble {
            reporting.complain(trouble.message)
            return .badPlace
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
    private var delay: Duration? { jobs.map(\.minAge).max().flatMap { $0 > 0 ? .seconds($0 + 0.1) : nil } }

    /// Those that patterns begin with, and those of pictures that filters read; the outermost alone.
    private var folders: [String] {
        let inputs = jobs.flatMap { job in job.inputs.map { folder(of: $0, job) } }
        let pictures = jobs.flatMap(\.picturePaths).map { PathText.folder(of: $0) }
        let all = Set((inputs + pictures).map(PathKey.init)).sorted().map(\.path)
        return all.filter { folder in !all.contains { PathNames.isBelow(folder, $0) } }
    }

    private func folder(of input: String, _ job: JobSpec) -> String {
        let pattern = GlobPattern(input, in: job.folder)
        guard pattern.isLiteral else { return PathText.joined(pattern.fixedFolder) }
        return FolderWatch.isFolder(pattern.text) ? pattern.text : PathText.folder(of: pattern.text)
    }
}
