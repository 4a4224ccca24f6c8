import Catalogs
import Endpoints
import HTTPService
import JobModel
import Pictures
import QueueStorage
import Queueing
import RenderFarm
import ServiceAPI
import Settings
import Supervision
import Synchronization
import TestSupport

/// What a service asks of its farm.
typealias ServedFarm = ManifestChecker & WatchedManifests & RunLauncher & FarmQueries

/// A service with a database and a clock of its own, and no farm. Its routes are called without sockets.
final class IdleFarm: Sendable {
    private struct State {
        var time = WallTime(seconds: 1_800_000_000)
        var endedSessions: [SecretDigest] = []
    }

    private let folder: TemporaryFolder
    let store: QueueStore
    let service: Service
    private let state: Box

    /// The state, for the closures of the service.
    private final class Box: Sendable {
        let value = Mutex(State())
    }

    init(_ farm: some ServedFarm = NoFarm()) throws {
        let folder = try TemporaryFolder()
        let store = try QueueStore(folder: folder.path)
        let state = Box()
        let now: @Sendable () -> WallTime = { state.value.withLock(\.time) }
        (self.folder, self.store, self.state) = (folder, store, state)
        let setup = Supervisor.Setup(
            folder: ServiceFolder(folder.file("service")), stateFolder: folder.file("state"), limits: Limits(workers: 1)
        )
        let supervisor = try Supervisor(setup, store: store, checker: farm, launcher: farm, now: now)
        service = Service(
            supervisor: supervisor, store: store, feed: EventFeed(boot: "test"),
            schedules: ScheduleRunner(supervisor, manifests: farm, noted: { _ in }, now: now), queries: farm,
            pictures: PagePictures(
                PictureMaker.Setup(folder: folder.file("thumbnails"), memory: 1) { _ in throw NoFarm.Nothing() }),
            about: Service.About(
                version: "1", processID: 1, started: .earliest, serviceFolder: folder.path, stateFolder: folder.path),
            settings: try Settings(
                Settings.Flags(),
                Settings.LaunchEnvironment(
                    environment: [:], currentFolder: folder.path, programFolder: folder.path, cores: 1, memory: 1 << 30,
                    homeFolder: folder.path, read: { _ in .nothing })),
            now: now, tokenWasRevoked: { _ in },
            sessionHasEnded: { session in state.value.withLock { $0.endedSessions.append(session) } })
    }

    deinit { store.close() }

    var time: WallTime { state.value.withLock(\.time) }
    func advance(by time: Duration) { state.value.withLock { $0.time = $0.time + time } }

    /// The sessions whose streams were ended, in order.
    var endedSessions: [SecretDigest] { state.value.withLock(\.endedSessions) }

    func add(_ token: TokenText, scope: TokenScope = .submit, roots: [String] = []) throws {
        try store.add(
            StoredToken(
                id: "\(token.id)", name: "anna", digest: try token.digest().bytes, scope: scope, roots: roots,
                created: time))
    }

    /// The answer of the route that the request is for.
    func send(_ request: APIRequest) async throws -> APIResponse {
        let target = try RequestTarget(request.path)
        guard case .route(let route, _) = try service.routes.match(request.method.rawValue, target) else {
            throw Problem.notFound(request.path)
        }
        return try await route.handler(request)
    }
}

/// A farm of which nothing is asked.
struct NoFarm: ServedFarm {
    struct Nothing: Error {}

    func check(
        _ place: ManifestSource.Place, name: String?, _ options: RunOptions
    ) async throws -> CheckedManifest { throw Nothing() }
    func digest(of place: ManifestSource.Place) -> String? { nil }
    func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int?) -> Void) async throws(LaunchError) {
        throw LaunchError("there is no farm")
    }
    func hasProcess(holding lockPath: String) -> Bool { false }
    func terminate(holderOf lockPath: String) {}
    func job(of place: ManifestSource.Place, name: String?, _ options: RunOptions) async -> JobSpec? { nil }
    func catalog() async throws -> Catalog { throw Nothing() }
    func schema() async throws -> String { throw Nothing() }
    func text(of place: ManifestSource.Place, name: String, _ options: RunOptions) async throws -> String {
        throw Nothing()
    }
    func plan(
        _ place: ManifestSource.Place, name: String, _ options: RunOptions, for owner: Owner
    ) async throws -> String {
        throw Nothing()
    }
    func verify(_ outputs: [String], for owner: Owner) async throws -> String { throw Nothing() }
    func preview(_ query: PreviewQuery, for owner: Owner) async throws -> [UInt8] { throw Nothing() }
}
