import Catalogs
import Endpoints
import Foundation
import HTTPService
import JobModel
import Pictures
import Queueing
import QueueStorage
import RenderFarm
import ServiceAPI
import ServiceClient
import Settings
import Supervision
import TestSupport
import Testing

/// Who may use which route. Each route of the service has a row here.
@Suite(.serialized) struct RouteTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let method: String
        let path: String
        let access: Access
        /// Of a request that its callers may send.
        let body: String?
        /// The answer to those who may.
        let status: Int
        /// The route changes something that belongs to somebody, whom a token of the scope submit has to be.
        let isOwned: Bool

        init(
            _ method: String, _ path: String, _ access: Access, _ status: Int, body: String? = nil,
            isOwned: Bool = false
        ) {
            (self.method, self.path, self.access, self.status) = (method, path, access, status)
            (self.body, self.isOwned) = (body, isOwned)
        }

        var testDescription: String { "\(method) \(path)" }
    }

    static let rows = [
        Row("POST", "/api/v1/jobs", .submit, 201, body: #"{"manifest": "{manifest}", "hold": true}"#),
        Row("GET", "/api/v1/jobs", .read, 200),
        // Jobs of others do not match.
        Row("POST", "/api/v1/jobs/actions", .submit, 200, body: #"{"action": "hold", "filter": "state=waiting"}"#),
        Row("GET", "/api/v1/jobs/{id}", .read, 200),
        Row("PATCH", "/api/v1/jobs/{id}", .submit, 200, body: #"{"priority": 7}"#, isOwned: true),
        Row("GET", "/api/v1/jobs/{id}/log", .read, 200),
        Row("GET", "/api/v1/jobs/{id}/manifest", .read, 200),
        Row("POST", "/api/v1/jobs/{id}/cancel", .submit, 200, isOwned: true),
        // The job is held, and has not ended.
        Row("POST", "/api/v1/jobs/{id}/run-next", .submit, 409, isOwned: true),
        Row("POST", "/api/v1/jobs/{id}/retry", .submit, 409, isOwned: true),
        Row("POST", "/api/v1/jobs/{id}/hold", .submit, 200, isOwned: true),
        Row("POST", "/api/v1/jobs/{id}/release", .submit, 200, isOwned: true),
        Row("GET", "/api/v1/status", .read, 200),
        Row("POST", "/api/v1/drain", .admin, 200, body: #"{"drained": true}"#),
        Row("GET", "/api/v1/runs", .read, 200),
        Row("GET", "/api/v1/runs/{name}", .read, 200),
        Row("GET", "/api/v1/runs/{name}/frames", .read, 200),
        Row("GET", "/api/v1/runs/{name}/frames/{number}", .read, 200),
        Row("GET", "/api/v1/runs/{name}/frames/{number}/attempts", .read, 200),
        Row("GET", "/api/v1/runs/{name}/frames/{number}/picture", .read, 200),
        Row("GET", "/api/v1/runs/{name}/frames/{number}/crop", .read, 200),
        Row("GET", "/api/v1/runs/{name}/frames/{number}/facts", .read, 200),
        Row("GET", "/api/v1/runs/{name}/map", .read, 200),
        // The run has ended.
        Row("POST", "/api/v1/runs/{name}/pause", .submit, 409, isOwned: true),
        Row("POST", "/api/v1/runs/{name}/resume", .submit, 409, isOwned: true),
        Row("POST", "/api/v1/runs/{name}/cancel", .submit, 409, isOwned: true),
        Row("GET", "/api/v1/runs/{name}/attempts", .read, 200),
        Row("GET", "/api/v1/runs/{name}/tasks", .read, 200),
        Row("GET", "/api/v1/runs/{name}/broken", .read, 200),
        Row("GET", "/api/v1/runs/{name}/job", .read, 200),
        Row("GET", "/api/v1/runs/{name}/errors", .read, 200),
        // Nothing has failed.
        Row("GET", "/api/v1/runs/{name}/errors/{group}/exclude", .read, 404),
        // Its job is done.
        Row("POST", "/api/v1/runs/{name}/retry", .submit, 409, isOwned: true),
        Row("POST", "/api/v1/runs/{name}/verify", .submit, 200, isOwned: true),
        Row("GET", "/api/v1/errors", .read, 200),
        Row("GET", "/api/v1/workers", .read, 200),
        Row("POST", "/api/v1/check", .submit, 200, body: #"{"manifest": "{manifest}"}"#),
        Row("POST", "/api/v1/plan", .submit, 200, body: #"{"manifest": "{manifest}"}"#),
        Row("POST", "/api/v1/preview", .submit, 200, body: #"{"manifest": "{manifest}", "size": 16}"#),
        Row("GET", "/api/v1/filters", .read, 200),
        Row("GET", "/api/v1/formats", .read, 200),
        Row("GET", "/api/v1/schema", .read, 200),
        Row("GET", "/api/v1/openapi.yaml", .open, 200),
        Row("GET", "/api/v1/audit", .admin, 200),
        Row("GET", "/api/v1/diagnosis", .admin, 200),
        Row("GET", "/api/v1/schedules", .admin, 200),
        Row(
            "POST", "/api/v1/schedules", .admin, 201,
            body: #"{"name": "nightly", "cron": "0 2 * * *", "zone": "UTC", "submit": {"manifest": "{manifest}"}}"#),
        // No schedule has the name of the run.
        Row("PATCH", "/api/v1/schedules/{name}", .admin, 404, body: #"{"enabled": false}"#),
        Row("DELETE", "/api/v1/schedules/{name}", .admin, 404),
        Row("GET", "/api/v1/tokens", .admin, 200),
        Row("POST", "/api/v1/tokens", .admin, 201, body: #"{"name": "bot", "scope": "read"}"#),
        Row("PATCH", "/api/v1/tokens/{token}", .admin, 200, body: #"{"max_priority": 60}"#),
        Row("POST", "/api/v1/tokens/{token}/renew", .admin, 200),
        Row("DELETE", "/api/v1/tokens/{token}", .admin, 204),
        Row("POST", "/api/v1/session", .open, 201, body: #"{"token": "{new token}"}"#),
        Row("GET", "/api/v1/session", .read, 200),
        // A request with a token in its header belongs to no session.
        Row("DELETE", "/api/v1/session", .read, 409),
        Row("GET", "/api/v1/events", .read, 200),
        Row("GET", "/", .open, 200),
        // The page has no file with the name of the run.
        Row("GET", "/page/{name}", .open, 404),
        Row("GET", "/metrics", .read, 200),
        Row("GET", "/healthz", .open, 200),
        Row("GET", "/readyz", .open, 200),
    ]

    @Test func `each route of the service has a row in this table, with its access`() throws {
        let folder = try TemporaryFolder()
        let store = try QueueStore(folder: folder.path)
        let settings = try Settings.load(Settings.Flags(), folder: folder.path)
        let checker = FarmManifestChecker(settings)
        let supervisor = try Supervisor(
            Supervisor.Setup(
                folder: ServiceFolder(folder.path), stateFolder: folder.file("state"), limits: Limits(workers: 1)),
            store: store, checker: checker, launcher: NoProcesses(), now: { WallTime(seconds: 0) })
        let service = Service(
            supervisor: supervisor, store: store, feed: EventFeed(boot: "1", clock: .system),
            schedules: ScheduleRunner(supervisor, manifests: checker, noted: { _ in }, now: { WallTime(seconds: 0) }),
            queries: NoAnswers(),
            pictures: PagePictures(
                PictureMaker.Setup(folder: folder.file("thumbnails"), memory: 1) { _ in throw FarmQueryError.busy }),
            about: Service.About(
                version: "1", processID: 1, started: WallTime(seconds: 0), serviceFolder: folder.path,
                stateFolder: folder.file("state")),
            settings: try Settings.load(Settings.Flags(), folder: folder.path), now: { WallTime(seconds: 0) },
            tokenWasRevoked: { _ in }, sessionHasEnded: { _ in })
        func line(_ method: String, _ path: String, _ access: Access) -> String {
            "\(method) \(path): \(access.rawValue)"
        }
        let routes = service.routes.routes.map { route in
            // The identifier of a token has another place holder here, since its row needs a token of its own.
            line(
                route.method.rawValue,
                "\(route.pattern)".replacingOccurrences(of: "/tokens/{id}", with: "/tokens/{token}"),
                route.access)
        }
        #expect(routes.sorted() == Self.rows.map { line($0.method, $0.path, $0.access) }.sorted())
    }

    enum Caller: String, CaseIterable {
        case nobody, reader
        /// Has the scope submit, and nothing of what the requests are about.
        case stranger
        /// Has the scope submit, and has submitted the jobs.
        case submitter
        case admin

        var scope: String? {
            switch self {
            case .nobody: nil
            case .reader: "read"
            case .stranger, .submitter: "submit"
            case .admin: "admin"
            }
        }

        func status(for row: Row) -> Int {
            switch (self, row.access) {
            case (_, .open): row.status
            case (.nobody, _): 401
            case (.reader, .submit), (.reader, .admin), (.stranger, .admin), (.submitter, .admin): 403
            case (.stranger, .submit): row.isOwned ? 403 : row.status
            case (.reader, .read), (.stranger, .read), (.submitter, .read), (.submitter, .submit), (.admin, _):
                row.status
            }
        }
    }

    @Test func `each route lets in those who may use it, and nobody else`() async throws {
        let farm = try Farm()
        try farm.draw(1)
        try farm.writeManifest()
        try await farm.start("--listen", "127.0.0.1:0")
        let client = try TokenClient(farm)
        var tokens: [Caller: String] = [:]
        for caller in Caller.allCases {
            guard let scope = caller.scope else { continue }
            tokens[caller] = try await client.newToken(scope)
        }
        let submitter = try #require(tokens[.submitter])
        let first = try await client.submit(by: submitter, isHeld: false)
        let run = try #require(try await farm.waitForEnd(of: first).run)
        for row in Self.rows {
            for caller in Caller.allCases {
                var path = row.path.replacingOccurrences(of: "{name}", with: run)
                    .replacingOccurrences(of: "{number}", with: "1").replacingOccurrences(of: "{group}", with: "none")
                if path.contains("{id}") {
                    let job = try await client.submit(by: submitter, isHeld: true)
                    path = path.replacingOccurrences(of: "{id}", with: "\(job)")
                }
                if path.contains("{token}") {
                    let id = try await client.newToken("read").split(separator: "_")[1]
                    path = path.replacingOccurrences(of: "{token}", with: id)
                }
                var body = row.body
                if let text = body, text.contains("{new token}") {
                    body = text.replacingOccurrences(of: "{new token}", with: try await client.newToken("read"))
                }
                let answer = try await client.send(row.method, path, body: body, token: tokens[caller])
                #expect(
                    answer.status == caller.status(for: row),
                    "\(caller.rawValue): \(row.method) \(path): \(answer.body)")
            }
        }
        try await farm.end()
    }

    @Test func `a revoked token opens nothing, and a token's last use is shown`() async throws {
        let farm = try Farm()
        try await farm.start("--listen", "127.0.0.1:0")
        let client = try TokenClient(farm)
        let token = try await client.newToken("admin")
        let id = String(token.split(separator: "_")[1])
        #expect(try await client.send("GET", "/api/v1/status", token: token).status == 200)
        try await farm.end()
        try await farm.start("--listen", "127.0.0.1:0")
        let list = try await farm.penumbra("token", "list", "--json")
        #expect(list.output.contains("\"used\""), "\(list.output)\(list.errors)")
        #expect(try await farm.penumbra("token", "revoke", id).code == 0)
        #expect(try await TokenClient(farm).send("GET", "/api/v1/status", token: token).status == 401)
        try await farm.end()
    }
}

/// Requests at the port of a farm's service, by curl.
private struct TokenClient {
    private let farm: Farm
    private let port: String

    init(_ farm: Farm) throws {
        self.farm = farm
        let line = try #require(farm.log.firstMatch(of: /socket=127\.0\.0\.1:([0-9]+)/))
        port = String(line.1)
    }

    func newToken(_ scope: String) async throws -> String {
        let result = try await farm.penumbra("token", "add", "bot", "--scope", scope)
        try #require(result.code == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func submit(by token: String, isHeld: Bool) async throws -> Int {
        let answer = try await send(
            "POST", "/api/v1/jobs", body: #"{"manifest": "{manifest}", "hold": \#(isHeld)}"#, token: token)
        try #require(answer.status == 201, "\(answer.body)")
        let job = try JSONDecoder().decode([String: JSONNumber].self, from: Data(answer.body.utf8))
        return try #require(job["id"]?.value)
    }

    /// Sends a request again while the token has used up its rate.
    func send(
        _ method: String, _ path: String, body: String? = nil, token: String?
    ) async throws -> (status: Int, body: String) {
        var arguments = ["-s", "-w", "\n%{http_code}", "-X", method]
        // A stream ends only with its client.
        if path.hasSuffix("/events") { arguments += ["--max-time", "0.5"] }
        if let token { arguments += ["-H", "Authorization: Bearer \(token)"] }
        if let body {
            let text = body.replacingOccurrences(of: "{manifest}", with: farm.folder.file("night.yaml"))
            arguments += ["-H", "Content-Type: application/json", "-d", text]
        }
        while true {
            let result = try await farm.run("/usr/bin/curl", arguments + ["http://127.0.0.1:\(port)\(path)"])
            var lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
            let status = try #require(lines.popLast().flatMap { Int($0) }, "\(result.output)\(result.errors)")
            if status != 429 { return (status, lines.joined(separator: "\n")) }
        }
    }
}

/// A number among values of any kind.
private struct JSONNumber: Decodable {
    let value: Int?

    init(from decoder: any Decoder) throws { value = try? decoder.singleValueContainer().decode(Int.self) }
}

private struct NoAnswers: FarmQueries {
    func catalog() async throws -> Catalog { throw FarmQueryError.busy }
    func schema() async throws -> String { throw FarmQueryError.busy }
    func text(of place: ManifestSource.Place, name: String, _ options: RunOptions) async throws -> String {
        throw FarmQueryError.busy
    }
    func plan(
        _ place: ManifestSource.Place, name: String, _ options: RunOptions, for owner: Owner
    ) async throws -> String {
        throw FarmQueryError.busy
    }
    func verify(_ outputs: [String], for owner: Owner) async throws -> String { throw FarmQueryError.busy }
    func preview(_ query: PreviewQuery, for owner: Owner) async throws -> [UInt8] { throw FarmQueryError.busy }
}

private struct NoProcesses: RunLauncher {
    func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int?) -> Void) async throws(LaunchError) {
        throw LaunchError("no processes")
    }

    func hasProcess(holding lockPath: String) -> Bool { false }
    func terminate(holderOf lockPath: String) {}
}
