import Coordination
import Endpoints
import Foundation
import HTTPService
import JobModel
import Logging
import Pictures
import QueueStorage
import Queueing
import RenderFarm
import SafeFiles
import ServiceAPI
import Settings
import Supervision
import Synchronization
import WorkerProtocol

/// The service while it runs: its lock, its parts, and their order at the start and at the end.
struct RunningService {
    private let setup: Supervisor.Setup
    private let settings: Settings
    private let options: HTTPServer.Options
    private let clock = Self.clock()

    init(_ setup: Supervisor.Setup, _ settings: Settings, _ options: HTTPServer.Options) {
        self.setup = setup
        self.settings = settings
        self.options = options
    }

    /// How long runs have to end after a signal, in looks of a tenth of a second. The next service follows those that need longer.
    private static let mostLooks = 300

    func run() async throws {
        let folder = setup.folder
        _ = try FileSystem.createFolders(folder.path, mode: 0o700)
        let locks = try takeLocks()
        defer { withExtendedLifetime(locks) {} }
        let logger = Self.logger()
        let store = try QueueStore(folder: folder.path)
        defer { store.close() }
        let program = try Self.penumbra()
        var setup = setup
        let notices = try Notices(
            settings,
            serviceFolder: folder == ServiceFolder(besideStateFolder: setup.stateFolder) ? nil : folder.path, store,
            clock, logger)
        setup.messages = { notices.messages(of: $0) }
        setup.confined.programs = PathNames.folder(of: program) ?? ""
        let feed = EventFeed(boot: Self.bootName(), clock: clock)
        var observer = Supervisor.Observer()
        observer.changed = { jobs in
            Service.publish(jobs, to: feed, ownerName: store.name(of:))
            notices.jobsChanged(jobs)
            for job in jobs { logger.info("\(job.id): \(job.state.name.rawValue)", metadata: Self.facts(job)) }
        }
        observer.noted = { note in
            logger.error("\(note.text)")
            Service.publish(note, to: feed)
        }
        observer.step = Self.stepHook()
        let checker = FarmManifestChecker(
            settings, serviceFolder: folder.path, apartFrom: setup.protectedPaths)
        let supervisor = try Supervisor(
            setup, store: store, checker: checker, launcher: PenumbraLauncher(program: program), observer: observer,
            now: clock.wallTime)
        let schedules = ScheduleRunner(
            supervisor, manifests: checker,
            noted: { words in
                logger.error("\(words)")
                notices.wake()
            }, notices: { notices.messages(of: $0) }, now: clock.wallTime)
        try ScheduleRunner.check(settings.service.value.schedules)
        let pictures = Self.pictures(setup, settings, program, logger)
        let configFile = settings.configFile
        FileSystem.removeTree(folder.previews)
        let endings = Endings()
        let service = Service(
            supervisor: supervisor, store: store, feed: feed, schedules: schedules,
            queries: FarmCommands(
                program: program, checker: checker, folder: folder.manifests,
                arguments: ["--state-dir", setup.stateFolder] + (configFile.map { ["--config", $0] } ?? []),
                places: CommandPlaces(now: clock.now, sleep: clock.sleep),
                previews: PreviewCommands(
                    program: program, folder: folder.previews, configFile: configFile, confined: setup.confined,
                    places: CommandPlaces(now: clock.now, sleep: clock.sleep))),
            pictures: pictures,
            about: Service.About(
                version: Version.penumbra, processID: Int(getpid()), started: clock.wallTime(),
                serviceFolder: folder.path, stateFolder: setup.stateFolder), settings: settings,
            now: clock.wallTime,
            tokenWasRevoked: { endings.server?.tokenWasRevoked($0) },
            sessionHasEnded: { endings.server?.sessionHasEnded($0) })
        let tokens = StoredTokens(store)
        var options = options
        var generator = SystemRandomNumberGenerator()
        options.serviceID = try ServiceIdentity.id(in: folder, using: &generator)
        let server = HTTPServer(
            options, routes: service.routes, authenticator: tokens, logger: logger, clock: clock)
        endings.server = server
        let sockets = try server.bind()
        // A service that cannot start changes nothing.
        try await schedules.synchronise(with: settings.service.value.schedules)
        for socket in sockets { logger.info("listening", metadata: ["socket": "\(socket.name)"]) }
        for address in pageAddresses(sockets) { logger.info("the page is there", metadata: ["address": "\(address)"]) }
        let stops = StopSignals()
        let runs = RunFeed(state: setup.stateFolder, feed: feed) { try store.job(run: $0)?.owner }
        SystemdNotice.send("READY=1")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask { await supervisor.run() }
            group.addTask { await runs.run(now: { clock.wallTime().milliseconds * 1_000_000 }) }
            group.addTask { await schedules.run() }
            group.addTask { await pictures.run() }
            group.addTask { await notices.run() }
            group.addTask { await backUp(store, supervisor, logger) }
            group.addTask { await storeUses(of: tokens, logger) }
            Task { await checker.prepare() }
            group.addTask { await stops.first() }
            // The signal, or a part that has failed.
            try await group.next()
            SystemdNotice.send("STOPPING=1")
            logger.info("stopping", metadata: ["open_runs": "\(supervisor.openRuns)"])
            await supervisor.stop()
            // The sleep fails only if this task is cancelled. Then there is nothing to wait for.
            for _ in 0..<Self.mostLooks where supervisor.openRuns > 0 { try? await Task.sleep(for: .milliseconds(100)) }
            server.stop()
            group.cancelAll()
        }
    }

    private static func pictures(
        _ setup: Supervisor.Setup, _ settings: Settings, _ program: String, _ logger: Logger
    ) -> PagePictures {
        let workers = PictureWorkers(settings, program: program, confined: setup.confined)
        var making = PictureMaker.Setup(folder: setup.folder.thumbnails, memory: workers.memory) { folders in
            try workers.engine(folders.roots, work: folders.work, readable: folders.levels.map { [$0] } ?? [])
        }
        making.noted = { logger.error("\($0)") }
        return PagePictures(making)
    }

    /// Where a browser of this machine finds the page. Behind a proxy the address is the proxy's.
    private func pageAddresses(_ sockets: [HTTPServer.Bound]) -> [String] {
        guard !options.isBehindProxy else { return [] }
        // A port has a socket for IPv4 and one for IPv6. Browsers use either.
        let ports = Set(sockets.filter { $0.kind == .http }.compactMap(\.port))
        return ports.sorted().map { "http://localhost:\($0)/" }
    }

    /// The folders' locks. Two services with one state folder would both begin and resume its runs.
    private func takeLocks() throws -> [KernelLock] {
        let folder = VisibleText.line(setup.folder.path)
        let state = VisibleText.line(setup.stateFolder)
        // Scripts signal the service by this file, so it has nothing but the number.
        let own = try takeLock(setup.folder.lock, saying: "") { process in
            "\(folder): a service has this folder already (process \(process.words))\n   = 'penumbra queue' talks to it; "
                + "another service needs another --service-dir and --state-dir"
        }
        _ = try FileSystem.createFolders(setup.stateFolder)
        let shared = try takeLock(PathNames.joined(setup.stateFolder, "service.lock"), saying: "\(setup.folder.path)\n")
        {
            process in
            "\(state): the runs of this state folder belong to another service (process \(process.words)\(process.place))\n   = "
                + "submit jobs there, or give this service another --state-dir"
        }
        return [own, shared]
    }

    /// Who holds a lock, as its file says. It is for people only.
    private struct LockOwner {
        let words: String
        let place: String

        init(_ text: String) {
            let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            words = parts.first.flatMap { Int($0) }.map { "\($0)" } ?? "unknown"
            place =
                parts.count > 1 && parts[1].count > 1 ? ", folder \(VisibleText.line(String(parts[1].dropLast())))" : ""
        }
    }

    private func takeLock(
        _ path: String, saying more: String, refusal: (LockOwner) -> String
    ) throws -> KernelLock {
        guard let lock = try KernelLock.take(path) else {
            let text = SafeFolder.trustedContents(path, limit: 8_192) ?? []
            throw FarmError(.busy, refusal(LockOwner(String(decoding: text, as: UTF8.self))))
        }
        let text = Array("\(getpid())\n\(more)".utf8)
        if ftruncate(lock.descriptor, 0) == 0 { _ = pwrite(lock.descriptor, text, text.count, 0) }
        return lock
    }

    /// The program that carries out runs is installed beside this one.
    private static func penumbra() throws -> String {
        let path = PathNames.joined(programFolder(), "penumbra")
        guard access(path, X_OK) == 0 else {
            throw FarmError(
                .unavailable,
                "\(VisibleText.line(path)) cannot be started: \(String(cString: strerror(errno)))\n   = install penumbra "
                    + "beside penumbra-service")
        }
        return path
    }

    private static func logger() -> Logger {
        LoggingSystem.bootstrap { VisibleLogHandler(StreamLogHandler.standardError(label: $0)) }
        return Logger(label: "penumbra-service")
    }

    private static func facts(_ job: Submission) -> Logger.Metadata {
        var facts: Logger.Metadata = ["name": "\(job.name)"]
        if let run = job.state.run { facts["run"] = "\(run)" }
        if case .ended(let ended) = job.state, case let end = ended.end { facts["result"] = "\(end.words)" }
        return facts
    }

    /// `PENUMBRA_SERVICE_CLOCK_AHEAD=3600` sets the wall clock of this process ahead by so many seconds. For tests of schedules.
    private static func clock() -> ServiceClock {
        let system = ServiceClock.system
        guard let text = ProcessInfo.processInfo.environment["PENUMBRA_SERVICE_CLOCK_AHEAD"], let seconds = Int(text)
        else {
            return system
        }
        return ServiceClock(
            now: system.now, wallTime: { system.wallTime() + .seconds(seconds) }, sleep: system.sleep)
    }

    /// No earlier start of the service has had it.
    private static func bootName() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

    /// `PENUMBRA_SERVICE_DIE_AFTER=named:3` kills this process after the third step of that name. For tests of what a kill leaves.
    private static func stepHook() -> @Sendable (Supervisor.StartStep) -> Void {
        let text = ProcessInfo.processInfo.environment["PENUMBRA_SERVICE_DIE_AFTER"] ?? ""
        let parts = text.split(separator: ":").map(String.init)
        guard let step = parts.first.flatMap(Supervisor.StartStep.init(rawValue:)) else { return { _ in } }
        let left = Mutex(parts.count > 1 ? Int(parts[1]) ?? 1 : 1)
        return { taken in
            guard taken == step else { return }
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { kill(getpid(), SIGKILL) }
        }
    }

    // MARK: Backups

    private static let backupPause = Duration.seconds(3600)
    private static let dayLength: Int64 = 86_400_000

    /// A copy of the database every day. What is old is removed after it.
    private func backUp(_ store: QueueStore, _ supervisor: Supervisor, _ logger: Logger) async {
        var lastDay: Int64?
        repeat {
            let now = clock.wallTime()
            let day = now.milliseconds / Self.dayLength
            guard lastDay != day else { continue }
            do {
                let folder = QueueStore.backupFolder(of: setup.folder.path)
                _ = try await Blocking.run { () throws -> String in try store.backup(to: folder, at: now) }
                lastDay = day
            } catch {
                logger.error("the database cannot be copied", metadata: ["cause": "\(ServiceFailure(error).message)"])
                continue
            }
            await supervisor.tidy()
            // The sleep fails when the service ends.
        } while (try? await clock.sleep(Self.backupPause)) != nil
    }

    private static let usePause = Duration.seconds(60)

    /// Stores once a minute, and at the end, when tokens were used.
    private func storeUses(of tokens: StoredTokens, _ logger: Logger) async {
        var isLast = false
        while !isLast {
            isLast = (try? await clock.sleep(Self.usePause)) == nil
            do {
                try await Blocking.run { () throws in try tokens.storeUses() }
            } catch {
                logger.error("uses of tokens cannot be stored", metadata: ["cause": "\(ServiceFailure(error).message)"])
            }
        }
    }
}

/// The server, for routes that end streams. They are made before it.
private final class Endings: Sendable {
    private struct Reference { weak var server: HTTPServer? }

    private let reference = Mutex(Reference())

    var server: HTTPServer? {
        get { reference.withLock(\.server) }
        set { reference.withLock { $0.server = newValue } }
    }
}

/// SIGTERM and SIGINT, as events.
private final class StopSignals: Sendable {
    private let stream: AsyncStream<Void>
    private let sources: Mutex<[any DispatchSourceSignal]>

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        let sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source as any DispatchSourceSignal
        }
        self.sources = Mutex(sources)
    }

    func first() async { for await _ in stream { return } }
}

/// Notices for systemd, as sd_notify(3) describes them.
private enum SystemdNotice {
    /// Does nothing unless systemd waits for notices.
    static func send(_ text: String) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], let first = path.utf8.first,
            first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
        else { return }
        var address = sockaddr_un()
        var bytes = Array(path.utf8)
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < capacity else { return }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }
}
