import Catalogs
import Endpoints
import Foundation
import HTTPService
import JobModel
import QueueStorage
import Pictures
import Queueing
import RenderFarm
import ServiceAPI
import Settings
import Supervision
import TestSupport
import Testing
import Yams

/// `openapi.yaml` is written by hand. It describes exactly the routes that there are.
@Suite struct DescriptionTests {
    private let document: [String: Any]
    private let routes: RouteTable

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/openapi.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        document = try #require(try Yams.load(yaml: text) as? [String: Any])
        routes = try Self.routes()
    }

    private static func routes() throws -> RouteTable {
        let folder = try TemporaryFolder()
        let store = try QueueStore(folder: folder.path)
        defer { store.close() }
        let setup = Supervisor.Setup(
            folder: ServiceFolder(folder.file("service")), stateFolder: folder.file("state"), limits: Limits(workers: 1)
        )
        let supervisor = try Supervisor(
            setup, store: store, checker: NoFarm(), launcher: NoFarm(), now: { WallTime.earliest })
        return Service(
            supervisor: supervisor, store: store, feed: EventFeed(boot: "test"),
            schedules: ScheduleRunner(supervisor, manifests: NoFarm(), noted: { _ in }, now: { WallTime.earliest }),
            queries: NoFarm(),
            pictures: PictureMaker(
                PictureMaker.Setup(folder: folder.file("thumbnails"), memory: 1) { _ in throw NoFarm.Nothing() }),
            about: Service.About(
                version: "1", processID: 1, started: .earliest, serviceFolder: folder.path, stateFolder: folder.path),
            settings: try Settings(
                Settings.Flags(),
                Settings.LaunchEnvironment(
                    environment: [:], currentFolder: folder.path, programFolder: folder.path, cores: 1, memory: 1 << 30,
                    homeFolder: folder.path, read: { _ in .nothing })),
            now: { WallTime.earliest }, tokenWasRevoked: { _ in }
        ).routes
    }

    private var operations: [(name: String, values: [String: Any])] {
        let paths = document["paths"] as? [String: [String: Any]] ?? [:]
        return paths.flatMap { path, item in
            item.compactMap { method, values in
                guard RequestMethod(rawValue: method.uppercased()) != nil, let values = values as? [String: Any] else {
                    return nil
                }
                return ("\(method.uppercased()) \(path)", values)
            }
        }
    }

    @Test func `every route is described with what a caller needs, and nothing else is`() {
        let described = operations.map { "\($0.name) \($0.values["x-access"] as? String ?? "–")" }.sorted()
        let existing = routes.routes.map { "\($0.method.rawValue) \($0.pattern) \($0.access.rawValue)" }.sorted()
        #expect(described.filter { !existing.contains($0) } == [], "described, and not there")
        #expect(existing.filter { !described.contains($0) } == [], "there, and not described")
    }

    @Test func `open routes need no token, and only they`() {
        for (name, values) in operations {
            let isOpen = (values["security"] as? [Any])?.isEmpty ?? false
            #expect(isOpen == (values["x-access"] as? String == "open"), "\(name)")
        }
    }

    @Test func `every operation has a name of its own, a summary and problems`() {
        let names = operations.compactMap { $0.values["operationId"] as? String }
        #expect(Set(names).count == operations.count)
        for (name, values) in operations {
            #expect((values["summary"] as? String)?.hasSuffix(".") == true, "\(name)")
            #expect((values["responses"] as? [String: Any])?["default"] != nil, "\(name)")
        }
    }

    @Test func `every parameter of a path is declared`() {
        let paths = document["paths"] as? [String: [String: Any]] ?? [:]
        let shared = (document["components"] as? [String: Any])?["parameters"] as? [String: [String: Any]] ?? [:]
        for (path, item) in paths {
            let wanted = path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                String($0.dropFirst().dropLast())
            }
            let declared = (item["parameters"] as? [[String: Any]] ?? []).compactMap { parameter -> String? in
                let reference = (parameter["$ref"] as? String)?.split(separator: "/").last.map(String.init)
                let values = reference.flatMap { shared[$0] } ?? parameter
                return values["in"] as? String == "path" ? values["name"] as? String : nil
            }
            #expect(declared.sorted() == wanted.sorted(), "\(path)")
        }
    }

    @Test func `every reference leads somewhere, and everything is referred to`() throws {
        let text = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/openapi.yaml"),
            encoding: .utf8)
        let references = Set(text.matches(of: /#\/components\/([A-Za-z]+)\/([A-Za-z]+)/).map { "\($0.1)/\($0.2)" })
        let components = document["components"] as? [String: [String: Any]] ?? [:]
        let existing = Set(components.flatMap { kind, values in values.keys.map { "\(kind)/\($0)" } })
        #expect(references.subtracting(existing) == [])
        #expect(existing.subtracting(references) == ["securitySchemes/token"])
    }
}

/// A farm of which nothing is asked.
private struct NoFarm: ManifestChecker, WatchedManifests, RunLauncher, FarmQueries {
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
    func plan(_ place: ManifestSource.Place, name: String?, _ options: RunOptions) async throws -> String {
        throw Nothing()
    }
    func verify(_ outputs: [String]) async throws -> String { throw Nothing() }
    func preview(_ query: PreviewQuery) async throws -> [UInt8] { throw Nothing() }
}
