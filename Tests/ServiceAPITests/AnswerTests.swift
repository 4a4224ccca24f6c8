import Queueing
import ServiceAPI
import Testing

/// The answers as JSON. Programs of users read them, so names never change.
@Suite struct AnswerTests {
    private static let noon = WallTime(milliseconds: 1_795_608_000_000)
    private static let job =
        #""after":[],"id":2,"labels":{},"manifest":"/srv/a/night.yaml","name":"night","owner":"uid:1000","priority":50,"#
        + #""state":"waiting","submitted":"2026-11-25T12:00:00Z","tries":0"#

    private func entry() throws -> QueueEntry {
        QueueEntry(
            try Submission(
                id: 2, owner: .user(1000), digest: "d", name: "night",
                manifest: ManifestSource(.file(path: "/srv/a/night.yaml"), digest: "m"), at: Self.noon,
                known: { _ in nil }))
    }

    /// That a value has this text, and is read from it again.
    private func expect<Value: Codable & Equatable>(
        _ value: Value, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(String(decoding: try StrictJSON.encode(value), as: UTF8.self) == text, sourceLocation: sourceLocation)
        let read: Value = try StrictJSON.decode(from: Array(text.utf8), unknownKeys: .ignored)
        #expect(read == value, sourceLocation: sourceLocation)
    }

    @Test func `a submission is answered with its job, and whether it is new`() throws {
        let text = "{\(Self.job)}".replacing(#""labels""#, with: #""is_new":true,"labels""#)
        try expect(SubmitResponse(entry(), isNew: true), text)
    }

    @Test func `a list has its page, the total and the place of the next page`() throws {
        try expect(JobList([entry()], total: 7, cursor: "c2"), #"{"cursor":"c2","jobs":[{\#(Self.job)}],"total":7}"#)
        try expect(JobList([], total: 0, cursor: nil), #"{"jobs":[],"total":0}"#)
    }

    @Test func `an action is answered with a count, or with what has changed`() throws {
        try expect(ActionResponse.count(12), #"{"count":12}"#)
        try expect(ActionResponse.count(12, possible: 3), #"{"count":12,"possible":3}"#)
        let held = Refusal(5, .isHeld)
        let changes = ActionResponse.Changes(changed: [3], submitted: [9], refused: [.init(held)])
        try expect(
            ActionResponse.done(changes),
            #"{"changed":[3],"refused":[{"detail":"job 5 is held","job":5,"remedy":"release it first"}],"submitted":[9]}"#
        )
        #expect(changes.refused.first?.reason.message == held.message)
        #expect(ActionResponse(BulkAction.Outcome.count(3)) == .count(3))
    }

    @Test func `the status names the service and counts its jobs`() throws {
        let status = ServiceStatus(
            version: "1.2", pid: 77, started: Self.noon, uptime: 60, isDrained: false, workers: 8, openRuns: 1,
            maxRuns: 4, serviceFolder: "/s", stateFolder: "/t", queue: QueueCounts([.waiting: 3, .done: 5]))
        try expect(
            status,
            #"{"drained":false,"max_runs":4,"pid":77,"queue":{"cancelled":0,"done":5,"failed":0,"held":0,"running":0,"#
                + #""skipped":0,"starting":0,"stopped":0,"waiting":3,"work_left":0},"runs_open":1,"service_dir":"/s","#
                + #""started":"2026-11-25T12:00:00Z","state_dir":"/t","uptime":60,"version":"1.2","workers":8}"#)
        #expect(status.queue[.waiting] == 3)
        #expect(status.queue[.held] == 0)
    }

    @Test func `a state of a later service is not counted`() throws {
        let counts: QueueCounts = try StrictJSON.decode(from: Array(#"{"asleep":1,"held":2}"#.utf8))
        #expect(counts == QueueCounts([.held: 2]))
    }

    @Test func `a new token is shown once, beside what lists show of it`() throws {
        let entry = TokenEntry(
            id: "ab12", name: "bot", scope: .submit, roots: ["/srv/a"], created: Self.noon, expires: nil, used: nil,
            revoked: nil)
        let text =
            #"{"created":"2026-11-25T12:00:00Z","id":"ab12","name":"bot","roots":["/srv/a"],"scope":"submit"}"#
        try expect(entry, text)
        try expect(TokenList([entry]), #"{"tokens":[\#(text)]}"#)
        try expect(
            TokenCreated(entry, token: "pnb_ab12_x"), text.dropLast() + #","token":"pnb_ab12_x"}"#)
    }

    @Test func `a problem has its kind, a remedy and places`() throws {
        let body = ErrorBody(
            type: "/problems/manifest", title: "The manifest is wrong", status: 422, detail: "2 problems",
            errors: [
                .init(line: 14, column: 5, message: "unknown filter 'gausian'", remedy: "did you mean 'gaussian'?")
            ])
        try expect(
            body,
            #"{"detail":"2 problems","errors":[{"column":5,"line":14,"message":"unknown filter 'gausian'","remedy":"did you "#
                + #"mean 'gaussian'?"}],"status":422,"title":"The manifest is wrong","type":"/problems/manifest"}"#)
        #expect(body.kind == ErrorBody.manifestKind)
    }

    @Test(
        arguments: [
            (nil, nil), ("about:blank", nil), ("/problems/", nil), ("https://a.example/problems/ended", "ended"),
        ] as [(String?, String?)])
    func `the kind of a problem is the last part of its type`(type: String?, kind: String?) {
        #expect(ErrorBody(type: type, title: nil, status: nil, detail: nil).kind == kind)
    }

    @Test(arguments: ["a", "a\n   = b", "a\n   = b\n   = c", ""])
    func `a message can be taken apart and put together`(message: String) {
        let explanation = Explanation(message: message)
        #expect(explanation.message == message)
        #expect(Explanation(explanation.summary, remedy: explanation.remedy) == explanation)
    }
}

@Suite struct ServiceFolderTests {
    @Test(arguments: [
        ("/home/a/.local/state/penumbra", "/home/a/.local/state/penumbra-service"), ("/srv/a/", "/srv/a-service"),
        ("/", "/penumbra-service"),
    ])
    func `a service's folder lies beside its state folder`(state: String, folder: String) {
        #expect(ServiceFolder(besideStateFolder: state).path == folder)
    }

    @Test func `the names in it are fixed`() {
        let folder = ServiceFolder("/s")
        #expect(folder.controlSocket == "/s/control.sock")
        #expect(folder.webSocket == "/s/web.sock")
        #expect(folder.database == "/s/service.sqlite")
        #expect(folder.lock == "/s/service.lock")
        #expect(folder.identity == "/s/service.id")
        #expect(folder.manifests == "/s/manifests")
        #expect(folder.logs == "/s/logs")
    }

    @Test func `names in paths are escaped byte for byte`() {
        #expect(APIPath.escaped("a-b_c.~9") == "a-b_c.~9")
        #expect(APIPath.escaped("a/b?c é\n") == "a%2Fb%3Fc%20%C3%A9%0A")
    }
}
