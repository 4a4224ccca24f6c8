import HTTPService
import Testing

@Suite struct AnswerTests {
    private func ask(_ service: TestService, _ method: String, _ path: String, _ header: String = "X: y") async throws
        -> Answer
    {
        try await RawSocket.ask(service.web, TestService.head(method, path, header))
    }

    @Test func `unknown paths and methods are problems`() async throws {
        try await TestService.run { service async throws in
            let missing = try await ask(service, "GET", "/nothing")
            #expect(missing.status == 404)
            #expect(
                missing.body
                    == #"{"detail":"No resource has the path '/nothing'","status":404,"#
                    + #""title":"There is nothing at this address","type":"/problems/not-found"}"#)
            let method = try await ask(service, "PUT", "/open")
            #expect(method.status == 405)
            #expect(method["Allow"] == "GET, HEAD, POST, OPTIONS")
            #expect(method.problem == "method-not-allowed")
            let unknown = try await ask(service, "BREW", "/open")
            #expect(unknown.status == 400)
            #expect(
                unknown.body
                    == #"{"detail":"The method is none that HTTP has","remedy":"Use GET, HEAD, OPTIONS, POST, PATCH or "#
                    + #"DELETE.","status":400,"title":"This is not a valid HTTP request","type":"/problems/bad-request"}"#
            )
            #expect(try await ask(service, "PROPFIND", "/open").status == 405)
        }
    }

    @Test func `OPTIONS lists the methods, and HEAD has no body`() async throws {
        try await TestService.run { service async throws in
            let options = try await ask(service, "OPTIONS", "/open")
            #expect(options.status == 204)
            #expect(options["Allow"] == "GET, HEAD, POST, OPTIONS")
            let (head, next) = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("HEAD", "/open", keepAlive: true) + TestService.head("GET", "/jobs/2"))
                return (try socket.answer(toHead: true), try socket.answer())
            }
            #expect(head.status == 200)
            #expect(head["Content-Length"] == "4")
            #expect(next.body == "job 2")
            let missing = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("HEAD", "/nothing"))
                return (try socket.answer(toHead: true), try socket.isClosed())
            }
            #expect(missing.0.status == 404)
            #expect(missing.1)
        }
    }

    @Test func `HEAD of a stream has no body either`() async throws {
        try await TestService.run { service async throws in
            let answer = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("HEAD", "/chunks", keepAlive: true))
                return (try socket.answer(toHead: true), try socket.isClosed())
            }
            #expect(answer.0.status == 200)
            #expect(answer.0["Transfer-Encoding"] == nil)
            #expect(answer.1)
        }
    }

    @Test func `an error shows nothing of the inside`() async throws {
        try await TestService.run { service async throws in
            let answer = try await ask(service, "GET", "/fails")
            #expect(answer.status == 500)
            #expect(
                answer.body
                    == #"{"remedy":"The service's log has the cause.","status":500,"#
                    + #""title":"The service has failed to answer","type":"/problems/internal"}"#)
            #expect(service.log.text.contains("/home/anna/secret"))
        }
    }

    @Test func `an answer with a line break in a header is not sent`() async throws {
        try await TestService.run { service async throws in
            let answer = try await ask(service, "GET", "/bad-header")
            #expect(answer.status == 500)
            #expect(answer["Set-Cookie"] == nil)
            #expect(service.log.text.contains("An answer has a header that cannot be sent"))
        }
    }

    @Test func `a handler's problem is the answer`() async throws {
        try await TestService.run { service async throws in
            let answer = try await ask(service, "GET", "/problem")
            #expect(answer.status == 409)
            #expect(answer.problem == "ended")
        }
    }

    @Test func `every answer says that it is not kept, sniffed or framed`() async throws {
        try await TestService.run { service async throws in
            for path in ["/open", "/nothing", "/fails", "/chunks"] {
                let answer = try await ask(service, "GET", path)
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["Cache-Control"] == "no-store")
                #expect(answer["Date"]?.hasSuffix(" GMT") == true)
                #expect(answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'")
                #expect(answer["Cross-Origin-Resource-Policy"] == "same-origin")
                #expect(answer["Access-Control-Allow-Origin"] == nil)
            }
        }
    }

    @Test func `a page has a policy and a tag, and is not sent twice`() async throws {
        try await TestService.run { service async throws in
            let first = try await ask(service, "GET", "/tagged")
            #expect(first["Content-Security-Policy"]?.contains("script-src 'self'") == true)
            #expect(first["Cache-Control"] == "private, no-cache")
            let tag = try #require(first["ETag"])
            let second = try await ask(service, "GET", "/tagged", "If-None-Match: \(tag)")
            #expect(second.status == 304)
            #expect(second.body.isEmpty)
            #expect(second["ETag"] == tag)
        }
    }

    @Test func `a literal path is chosen before a parameter`() async throws {
        try await TestService.run { service async throws in
            #expect(try await ask(service, "GET", "/jobs/actions").body == "actions")
            #expect(try await ask(service, "GET", "/jobs/a%20b").body == "job a b")
        }
    }

    @Test func `IPv4 and IPv6 have the same port`() async throws {
        try await TestService.run { service async throws in
            do {
                let answer = try await RawSocket.ask(.ipv6(service.port), TestService.head("GET", "/who"))
                #expect(answer.body == "::1 nil")
            } catch let failure as SocketFailure {
                // A machine without IPv6 has IPv4 alone.
                #expect(failure.call == "connect")
            }
        }
    }

    @Test func `each request has a line in the log, without the query`() async throws {
        try await TestService.run { service async throws in
            _ = try await RawSocket.ask(
                service.web, TestService.head("GET", "/read?label=private", token: service.tokens.read.text))
            _ = try await RawSocket.ask(service.control, TestService.head("GET", "/jobs/%E2%80%AE7"))
            // The line is written after the answer. The end of the service waits for it.
            service.server.stop()
            await service.log.lines(containing: "Answered", count: 2)
            let text = service.log.text
            #expect(text.contains("caller=token \(service.tokens.read.id)"))
            #expect(text.contains("method=GET path=/read peer=127.0.0.1 status=200"))
            #expect(!text.contains("private"))
            #expect(!text.unicodeScalars.contains("\u{202e}"))
        }
    }

    @Test func `answers that clients ask for again and again are lines of the level debug`() async throws {
        try await TestService.run { service async throws in
            for (method, path) in [("GET", "/open"), ("GET", "/preparing"), ("GET", "/problem"), ("POST", "/open")] {
                _ = try await RawSocket.ask(service.control, TestService.head(method, path, "Content-Length: 0"))
            }
            service.server.stop()
            await service.log.lines(containing: "Answered", count: 4)
            let lines = service.log.text.split(separator: "\n").filter { $0.contains("Answered") }
            func level(_ request: String) -> Substring? {
                lines.first { $0.contains("\(request) ") }.map { $0.prefix { $0 != ":" } }
            }
            #expect(level("method=GET path=/open") == "debug")
            #expect(level("method=GET path=/preparing") == "debug")
            #expect(level("method=GET path=/problem") == "info")
            #expect(level("method=POST path=/open") == "info")
        }
    }
}
