import HTTPService
import Testing

@Suite struct RouteTableTests {
    private let table = RouteTable([
        Route(.get, "/jobs/{id}", .read) { _ in .empty() },
        Route(.patch, "/jobs/{id}", .submit) { _ in .empty() },
        Route(.get, "/jobs", .read) { _ in .empty() },
        Route(.post, "/jobs/actions", .submit) { _ in .empty() },
        Route(.get, "/jobs/actions", .admin) { _ in .empty() },
        Route(.get, "/", .open) { _ in .empty() },
    ])

    private func pattern(_ method: String, _ path: String) throws -> String? {
        guard case .route(let route, _) = try table.match(method, RequestTarget(path)) else { return nil }
        return "\(route.method.rawValue) \(route.pattern)"
    }

    @Test func `the method and the path choose a route`() throws {
        #expect(try pattern("GET", "/jobs/17") == "GET /jobs/{id}")
        #expect(try pattern("PATCH", "/jobs/17") == "PATCH /jobs/{id}")
        #expect(try pattern("GET", "/jobs") == "GET /jobs")
        #expect(try pattern("GET", "/") == "GET /")
    }

    @Test func `a route refuses a parameter that it does not know, and says which ones there are`() async throws {
        let list = Route(.get, "/jobs", .read, parameters: ["state", "label"]) { _ in .text("list") }
        let query = Query([("label", "a"), ("label", "b"), ("sate", "held")])
        let refusal = await #expect(throws: Problem.self) {
            try await list.wrapped(by: { $0 }).handler(APIRequest(query: query))
        }
        #expect(refusal?.status == 422)
        #expect(refusal?.detail == "there is no parameter 'sate'")
        #expect(refusal?.remedy == "The parameters are label, state.")
        #expect(try await list.handler(APIRequest(query: Query([("state", "held")]))).status == 200)
        let plain = Route(.post, "/drain", .admin) { _ in .empty() }
        let other = await #expect(throws: Problem.self) {
            try await plain.handler(APIRequest(query: Query([("dry_run", "true")])))
        }
        #expect(other?.remedy == "This address has no parameters.")
        let document = Route(.get, "/", .open, parameters: .any) { _ in .text("page") }
        #expect(try await document.handler(APIRequest(query: query)).status == 200)
    }

    @Test func `a route that knows no keys refuses a change with one`() async throws {
        let request = APIRequest(method: .post, headers: ["Idempotency-Key": "k1"])
        let refusal = await #expect(throws: Problem.self) {
            try await Route(.post, "/tokens", .admin) { _ in .empty() }.wrapped(by: { $0 }).handler(request)
        }
        #expect(refusal?.status == 422)
        #expect(refusal?.detail == "Idempotency-Key: this address takes none")
        let other = Route(.post, "/jobs", .submit, takesKey: true) { _ in .empty() }
        #expect(try await other.handler(request).status == 204)
        // A client may send it with everything. Reading is repeated without harm.
        let list = Route(.get, "/jobs", .read) { _ in .empty() }
        #expect(try await list.handler(APIRequest(headers: ["Idempotency-Key": "k1"])).status == 204)
    }

    @Test func `a literal segment is chosen before a parameter`() throws {
        #expect(try pattern("GET", "/jobs/actions") == "GET /jobs/actions")
    }

    @Test func `HEAD uses the route of GET`() throws { #expect(try pattern("HEAD", "/jobs/17") == "GET /jobs/{id}") }

    @Test func `parameters have the decoded segments`() throws {
        guard case .route(_, let parameters) = try table.match("GET", RequestTarget("/jobs/a%20b")) else {
            Issue.record("no route")
            return
        }
        #expect(parameters == ["id": "a b"])
    }

    @Test(arguments: ["/job", "/jobs/", "/jobs/1/2", "//", "/JOBS"])
    func `other paths are 404`(path: String) throws {
        #expect { try table.match("GET", RequestTarget(path)) } throws: { ($0 as? Problem)?.status == 404 }
    }

    @Test func `another method is 405 with the methods that exist`() {
        #expect(throws: Problem.methodNotAllowed("DELETE", allowed: "GET, HEAD, PATCH, OPTIONS")) {
            try table.match("DELETE", RequestTarget("/jobs/17"))
        }
        #expect(throws: Problem.methodNotAllowed("get", allowed: "GET, HEAD, OPTIONS")) {
            try table.match("get", RequestTarget("/jobs"))
        }
    }

    @Test func `OPTIONS lists the methods of the path alone`() throws {
        guard case .options(let allowed) = try table.match("OPTIONS", RequestTarget("/jobs/actions")) else {
            Issue.record("no options")
            return
        }
        #expect(allowed == "GET, HEAD, POST, OPTIONS")
    }
}
