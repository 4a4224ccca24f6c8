import Glibc
import HTTPService
import Queueing
import TestSupport
import Testing

@Suite struct AccessTests {
    private enum Who: String, CaseIterable {
        case nobody, read, submit, admin, controlSocket
    }

    /// The status that a caller gets for a route of an access.
    private func expected(_ who: Who, _ access: Access) -> Int? {
        switch (access, who) {
        case (.open, _), (_, .admin), (_, .controlSocket): nil
        case (_, .nobody): 401
        case (.read, _), (.submit, .submit): nil
        case (.submit, .read), (.admin, .read), (.admin, .submit): 403
        }
    }

    @Test(arguments: TestRoutes.all.map { "\($0.method.rawValue) \($0.pattern)" })
    func `each caller may use exactly the routes of his access`(name: String) async throws {
        let route = try #require(TestRoutes.all.first { "\($0.method.rawValue) \($0.pattern)" == name })
        try await TestService.run { service async throws in
            let path = route.pattern.description.replacing("{id}", with: "7")
            for who in Who.allCases {
                let token: String? =
                    switch who {
                    case .nobody, .controlSocket: nil
                    case .read: service.tokens.read.text
                    case .submit: service.tokens.submit.text
                    case .admin: service.tokens.admin.text
                    }
                for place in who == .controlSocket ? [service.control] : [service.web, service.webSocket] {
                    let answer = try await RawSocket.ask(
                        place, TestService.head(route.method.rawValue, path, token: token))
                    if let refusal = expected(who, route.access) {
                        #expect(answer.status == refusal, "\(who)")
                        #expect(answer.problem == (refusal == 401 ? "unauthorized" : "scope"), "\(who)")
                    } else {
                        #expect(![401, 403].contains(answer.status), "\(who)")
                    }
                }
            }
        }
    }

    @Test func `a refusal names the scope that it needs`() async throws {
        try await TestService.run { service async throws in
            let answer = try await RawSocket.ask(
                service.web, TestService.head("GET", "/admin", token: service.tokens.read.text))
            #expect(
                answer.body
                    == #"{"detail":"The token's scope is 'read', and this request needs 'admin'","status":403,"#
                    + #""title":"The token does not allow this","type":"/problems/scope"}"#)
            let nobody = try await RawSocket.ask(service.web, TestService.head("GET", "/read"))
            #expect(nobody["WWW-Authenticate"] == "Bearer")
        }
    }

    @Test func `a use is noted of a right token alone`() async throws {
        try await TestService.run { service async throws in
            let (read, admin) = (service.tokens.read, service.tokens.admin)
            // The identifier of one token, and the secret of another one.
            let wrong =
                admin.text.prefix(while: { $0 != "_" }) + "_\(admin.id)_" + (read.text.split(separator: "_").last ?? "")
            for token in [String(wrong), read.text, admin.text] {
                _ = try await RawSocket.ask(service.web, TestService.head("GET", "/read", token: token))
            }
            #expect(service.tokens.uses == [read.id, admin.id])
        }
    }

    @Test func `the kernel says who calls by the control socket`() async throws {
        try await TestService.run { service async throws in
            let answer = try await RawSocket.ask(service.control, TestService.head("GET", "/who"))
            #expect(answer.body.contains("user(uid: \(geteuid()), isAdmin: true)"))
            #expect(try await RawSocket.ask(service.webSocket, TestService.head("GET", "/who")).body == "web nil")
            #expect(try await RawSocket.ask(service.web, TestService.head("GET", "/who")).body == "127.0.0.1 nil")
        }
    }

    @Test(arguments: ["X-Forwarded-For: 192.0.2.7", "Via: 1.1 proxy", "Forwarded: for=x", "X-Real-IP: 192.0.2.7"])
    func `a proxy on the control socket is refused`(header: String) async throws {
        try await TestService.run { service async throws in
            let answer = try await RawSocket.ask(service.control, TestService.head("GET", "/admin", header))
            #expect(answer.status == 403)
            #expect(answer.problem == "proxy")
        }
    }

    @Test func `behind a proxy its last address counts`() async throws {
        try await TestService.run { service async throws in
            let head = TestService.head("GET", "/who", "X-Forwarded-For: 10.0.0.1, 192.0.2.7")
            #expect(try await RawSocket.ask(service.webSocket, head).body == "192.0.2.7 nil")
            // On the port everybody could claim that.
            #expect(try await RawSocket.ask(service.web, head).body == "127.0.0.1 nil")
            let odd = TestService.head("GET", "/who", "X-Forwarded-For: <script>")
            #expect(try await RawSocket.ask(service.webSocket, odd).body == "web nil")
        }
    }

    @Test(arguments: [
        "pnb_", "pnb_a_b", "x", "", " ", String(repeating: "x", count: 8000), "pnb_%00_%00", "\u{e9}\u{e9}",
    ])
    func `no odd token opens anything`(token: String) async throws {
        try await TestService.run { service async throws in
            for header in ["Bearer \(token)", token, "Basic \(token)", "Bearer  \(token) x"] {
                let answer = try await RawSocket.ask(
                    service.web, TestService.head("GET", "/open", "Authorization: \(header)"))
                #expect([401, 429, 431, 400].contains(answer.status), "\(header.prefix(20))")
            }
        }
    }

    @Test func `an Authorization header without a token is 401, and does not count as a wrong token`() async throws {
        let manual = ManualClock()
        try await TestService.run(clock: manual.clock) { service async throws in
            for header in ["Bearer", "Bearer ", "Basic dXNlcg=="] {
                for _ in 0..<4 {
                    let answer = try await RawSocket.ask(
                        service.web, TestService.head("GET", "/read", "Authorization: \(header)"))
                    #expect(answer.status == 401)
                }
            }
            let wrong = TestService.head("GET", "/read", token: "pnb_wrong")
            for _ in 0..<5 { #expect(try await RawSocket.ask(service.web, wrong).status == 401) }
            #expect(try await RawSocket.ask(service.web, wrong).status == 429)
        }
    }

    @Test func `two Authorization headers are refused`() async throws {
        try await TestService.run { service async throws in
            let token = service.tokens.admin.text
            let answer = try await RawSocket.ask(
                service.web, TestService.head("GET", "/admin", token: token, "Authorization: Bearer \(token)"))
            #expect(answer.status == 401)
        }
    }

    @Test func `an expired and a revoked token are refused`() async throws {
        let manual = ManualClock()
        let tokens = try TestTokens()
        try tokens.add(tokens.read, .read, expires: manual.clock.wallTime() + .seconds(60))
        try tokens.add(tokens.submit, .submit, isRevoked: true)
        try await TestService.run(clock: manual.clock, tokens: tokens) { service async throws in
            let head = TestService.head("GET", "/read", token: tokens.read.text)
            #expect(try await RawSocket.ask(service.web, head).status == 200)
            manual.advance(by: .seconds(60))
            let late = try await RawSocket.ask(service.web, head)
            #expect(late.status == 401)
            #expect(late.body.contains("The token is unknown, expired or revoked"))
            let revoked = TestService.head("GET", "/read", token: tokens.submit.text)
            #expect(try await RawSocket.ask(service.web, revoked).status == 401)
        }
    }

    @Test func `a token in an address is refused, and not logged`() async throws {
        try await TestService.run { service async throws in
            let token = service.tokens.admin.text
            for path in ["/admin?token=\(token)", "/admin?x=\(token)", "/\(token)"] {
                let answer = try await RawSocket.ask(service.web, TestService.head("GET", path))
                #expect(answer.status == 400)
                #expect(answer.problem == "token-in-address")
                #expect(!answer.body.contains(token))
            }
            _ = try await RawSocket.ask(service.web, TestService.head("GET", "/admin", token: token))
            #expect(!service.log.text.contains("pnb_"))
        }
    }

    @Test func `an unknown host is 421 on every socket`() async throws {
        try await TestService.run(hosts: HostNames(["farm.example"])) { service async throws in
            for place in [service.web, service.webSocket, service.control] {
                for (host, status) in [
                    ("evil.example", 421), ("farm.example:443", 200), ("LOCALHOST", 200),
                    ("127.0.0.1:\(service.port)", 200),
                ] {
                    let answer = try await RawSocket.ask(
                        place, "GET /open HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                    #expect(answer.status == status, "\(host)")
                    if status == 421 { #expect(answer.problem == "unknown-host") }
                }
            }
        }
    }

    @Test func `a session's cookie changes something only from the own page`() async throws {
        let manual = ManualClock()
        let tokens = try TestTokens()
        var generator = SplitMix64(seed: 11)
        let secret = SessionSecret(using: &generator)
        try tokens.beginSession(secret, of: tokens.submit, expires: manual.clock.wallTime() + .seconds(3600))
        let cookie = "Cookie: penumbra=\(secret.text)"
        try await TestService.run(clock: manual.clock, tokens: tokens) { service async throws in
            func status(_ method: String, _ path: String, _ header: String? = nil) async throws -> Int {
                let lines = [cookie, header].compactMap { $0 }.joined(separator: "\r\n")
                return try await RawSocket.ask(service.web, TestService.head(method, path, lines)).status
            }
            #expect(try await status("GET", "/read") == 200)
            #expect(try await status("GET", "/admin") == 403)
            #expect(try await status("POST", "/submit") == 403)
            #expect(try await status("POST", "/submit", "Sec-Fetch-Site: cross-site") == 403)
            #expect(try await status("POST", "/submit", "Origin: http://evil.example") == 403)
            #expect(try await status("POST", "/submit", "Sec-Fetch-Site: same-origin") == 201)
            #expect(try await status("POST", "/submit", "Origin: http://localhost") == 201)
            manual.advance(by: .seconds(3600))
            #expect(try await status("GET", "/read") == 401)
        }
    }

    @Test func `a cookie of another service at the same host is none`() async throws {
        let manual = ManualClock()
        let tokens = try TestTokens()
        var generator = SplitMix64(seed: 13)
        let secret = SessionSecret(using: &generator)
        try tokens.beginSession(secret, of: tokens.read, expires: manual.clock.wallTime() + .seconds(60))
        try await TestService.run(
            routes: TestRoutes.all + [TestRoutes.signIn], serviceID: "1a2b", clock: manual.clock, tokens: tokens
        ) {
            service async throws in
            #expect(try await RawSocket.ask(service.web, Self.signIn(tokens.read.text)).body == "read penumbra-1a2b")
            for (cookies, status) in [
                ("penumbra=\(secret.text)", 401), ("penumbra-3c4d=\(secret.text)", 401),
                ("penumbra-1a2b=\(secret.text)", 200), ("penumbra-3c4d=x; penumbra-1a2b=\(secret.text)", 200),
            ] {
                let head = TestService.head("GET", "/read", "Cookie: \(cookies)")
                #expect(try await RawSocket.ask(service.web, head).status == status, "\(cookies)")
            }
        }
    }

    @Test func `a cookie that another program of the host has set locks nobody out`() async throws {
        let manual = ManualClock()
        let tokens = try TestTokens()
        var generator = SplitMix64(seed: 17)
        let secrets = (0..<5).map { _ in SessionSecret(using: &generator) }
        let (living, ended, planted) = (secrets[0], secrets[1], secrets[2...].map { "penumbra=\($0.text)" })
        try tokens.beginSession(living, of: tokens.read, expires: manual.clock.wallTime() + .seconds(60))
        try tokens.beginSession(ended, of: tokens.read, expires: manual.clock.wallTime())
        let own = "penumbra=\(living.text)"
        try await TestService.run(clock: manual.clock, tokens: tokens) { service async throws in
            for (cookies, status) in [
                ([planted[0], own], 200), ([own, planted[0]], 200), (["penumbra=odd", own], 200),
                (["penumbra=\(ended.text)", own], 200), (planted + [own], 200),
                (["penumbra=\(ended.text)"] + planted + [own], 401), (planted, 401),
            ] {
                let head = TestService.head("GET", "/read", "Cookie: \(cookies.joined(separator: "; "))")
                #expect(try await RawSocket.ask(service.web, head).status == status, "\(cookies)")
            }
        }
    }

    private static func signIn(_ token: String, _ headers: String...) -> String {
        let lines = (["Content-Length: \(token.utf8.count)"] + headers).joined(separator: "\r\n")
        return TestService.head("POST", "/sign-in", lines) + token
    }

    @Test func `somebody signs in with a token in the body, and wrong ones count as everywhere`() async throws {
        let manual = ManualClock()
        try await TestService.run(routes: TestRoutes.all + [TestRoutes.signIn], clock: manual.clock) {
            service async throws in
            let right = Self.signIn(service.tokens.read.text)
            #expect(try await RawSocket.ask(service.web, right).body == "read penumbra")
            #expect(service.tokens.uses == [service.tokens.read.id])
            let wrong = Self.signIn("pnb_wrong")
            for _ in 0..<3 { #expect(try await RawSocket.ask(service.web, wrong).status == 401) }
            // Wrong tokens in headers and in bodies are counted together.
            let header = TestService.head("GET", "/read", token: "pnb_wrong")
            for _ in 0..<2 { #expect(try await RawSocket.ask(service.web, header).status == 401) }
            #expect(try await RawSocket.ask(service.web, wrong).problem == "too-many-wrong-tokens")
            #expect(try await RawSocket.ask(service.web, right).status == 200)
            #expect(!service.log.text.contains("pnb_"))
        }
    }

    @Test func `signing in counts as a change of the token`() async throws {
        let manual = ManualClock()
        try await TestService.run(routes: TestRoutes.all + [TestRoutes.signIn], clock: manual.clock) {
            service async throws in
            let head = Self.signIn(service.tokens.read.text)
            for _ in 0..<10 { #expect(try await RawSocket.ask(service.web, head).status == 200) }
            #expect(try await RawSocket.ask(service.web, head).problem == "too-many-requests")
        }
    }

    @Test func `a page of another site signs nobody in`() async throws {
        try await TestService.run(routes: [TestRoutes.signIn]) { service async throws in
            for header in ["Sec-Fetch-Site: cross-site", "Origin: http://evil.example"] {
                let answer = try await RawSocket.ask(service.web, Self.signIn(service.tokens.read.text, header))
                #expect(answer.problem == "foreign-page")
            }
            let own = Self.signIn(service.tokens.read.text, "Sec-Fetch-Site: same-origin", "Origin: http://localhost")
            #expect(try await RawSocket.ask(service.web, own).status == 200)
        }
    }

    @Test func `a proxy says that the browser uses TLS, and nobody else can`() async throws {
        try await TestService.run(routes: [TestRoutes.signIn]) { service async throws in
            let token = service.tokens.read.text
            for (header, place, name) in [
                ("X-Forwarded-Proto: https", service.webSocket, "__Host-penumbra"),
                ("X-Forwarded-Proto: http, HTTPS", service.webSocket, "__Host-penumbra"),
                ("X-Forwarded-Proto: https, http", service.webSocket, "penumbra"),
                ("X-Forwarded-Proto: ", service.webSocket, "penumbra"),
                ("X-Forwarded-Proto: https", service.web, "penumbra"),
            ] {
                let answer = try await RawSocket.ask(place, Self.signIn(token, header))
                #expect(answer.body == "read \(name)", "\(header)")
            }
        }
    }

    @Test func `by TLS only a cookie that was set by TLS counts`() async throws {
        let manual = ManualClock()
        let tokens = try TestTokens()
        var generator = SplitMix64(seed: 12)
        let secret = SessionSecret(using: &generator)
        try tokens.beginSession(secret, of: tokens.read, expires: manual.clock.wallTime() + .seconds(60))
        try await TestService.run(clock: manual.clock, tokens: tokens) { service async throws in
            for (name, status) in [("penumbra", 401), ("__Host-penumbra", 200)] {
                let head = TestService.head(
                    "GET", "/read", "Cookie: \(name)=\(secret.text)", "X-Forwarded-Proto: https")
                #expect(try await RawSocket.ask(service.webSocket, head).status == status, "\(name)")
            }
        }
    }

    @Test func `a token needs no origin`() async throws {
        try await TestService.run { service async throws in
            let answer = try await RawSocket.ask(
                service.web,
                TestService.head("POST", "/submit", token: service.tokens.submit.text, "Content-Length: 2") + "{}")
            #expect(answer.status == 201)
            #expect(answer.body == "{}")
        }
    }

    @Test func `five wrong tokens a minute are 401, further ones 429, and right ones go through`() async throws {
        let manual = ManualClock()
        try await TestService.run(clock: manual.clock) { service async throws in
            let wrong = TestService.head("GET", "/read", token: "pnb_wrong")
            for _ in 0..<5 { #expect(try await RawSocket.ask(service.web, wrong).status == 401) }
            let sixth = try await RawSocket.ask(service.web, wrong)
            #expect(sixth.status == 429)
            #expect(sixth.problem == "too-many-wrong-tokens")
            #expect(sixth["Retry-After"] == "12")
            let right = TestService.head("GET", "/read", token: service.tokens.read.text)
            #expect(try await RawSocket.ask(service.web, right).status == 200)
            // Another address has attempts of its own.
            #expect(try await RawSocket.ask(service.webSocket, wrong).status == 401)
            manual.advance(by: .seconds(12))
            #expect(try await RawSocket.ask(service.web, wrong).status == 401)
        }
    }

    @Test func `a token has ten writes and a hundred reads a second, and the control socket has no rate`() async throws
    {
        let manual = ManualClock()
        try await TestService.run(clock: manual.clock) { service async throws in
            func statuses(_ count: Int, _ place: Place, _ head: String) async throws -> [Int] {
                try await RawSocket.talk(to: place) { socket in
                    try socket.send(String(repeating: head, count: count))
                    return try (0..<count).map { _ in try socket.answer().status }
                }
            }
            let token = service.tokens.submit.text
            let write = TestService.head("POST", "/submit", token: token, "Content-Length: 0", keepAlive: true)
            #expect(
                try await statuses(12, service.web, write) == Array(repeating: 201, count: 10) + [429, 429])
            let read = TestService.head("GET", "/read", token: token, keepAlive: true)
            #expect(
                try await statuses(102, service.web, read) == Array(repeating: 200, count: 100) + [429, 429])
            let other = TestService.head("GET", "/read", token: service.tokens.read.text, keepAlive: true)
            #expect(try await statuses(1, service.web, other) == [200])
            manual.advance(by: .seconds(1))
            #expect(try await statuses(1, service.web, write) == [201])
            let local = TestService.head("POST", "/submit", "Content-Length: 0", keepAlive: true)
            #expect(try await statuses(50, service.control, local) == Array(repeating: 201, count: 50))
        }
    }

    @Test func `if tokens cannot be looked up, the answer is 503 and the cause is in the log`() async throws {
        try await TestService.run { service async throws in
            service.tokens.breakDown()
            let answer = try await RawSocket.ask(
                service.web, TestService.head("GET", "/read", token: service.tokens.read.text))
            #expect(answer.status == 503)
            #expect(answer.problem == "access-unavailable")
            #expect(!answer.body.contains("database"))
            #expect(service.log.text.contains("Tokens cannot be looked up"))
            #expect(service.log.text.contains("database"))
        }
    }
}
