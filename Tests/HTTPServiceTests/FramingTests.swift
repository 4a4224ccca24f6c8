import HTTPService
import Testing

/// What clients send that is no proper request, as raw bytes.
@Suite struct FramingTests {
    @Test(arguments: [
        "GET /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /open HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1x\r\n\r\n",
        "GET /open HTTP/1.1\r\nHost : localhost\r\n\r\n", "GET /open HTTP/1.1\r\nHost: local\0host\r\n\r\n",
        "GET /op\0en HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}\0\u{5}hello", "GET\r\n\r\n",
        "GET /open HTTP/1.1\r\n\r\n", "GET /open HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    ])
    func `a request that is not HTTP is 400, and the connection is closed`(request: String) async throws {
        try await TestService.run { service async throws in
            let (answer, rest) = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(request)
                socket.finishSending()
                return (try socket.answer(), try socket.everything())
            }
            #expect(answer.status == 400)
            #expect(answer.problem == "bad-request")
            #expect(answer["Connection"] == "close" || rest.isEmpty)
            #expect(rest.isEmpty)
        }
    }

    @Test(arguments: [
        "/jobs/../open", "/%2e%2e/open", "/jobs/%2e%2e", "/%00", "/%", "/a%2fb", "/caf%e9", "http://evil.example/open",
    ])
    func `a path that could be read in two ways is 400`(path: String) async throws {
        try await TestService.run { service async throws in
            let answer = try await RawSocket.ask(service.web, TestService.head("GET", path))
            #expect(answer.status == 400)
            #expect(answer.problem == "bad-path")
        }
    }

    @Test func `half a head is not waited for for ever`() async throws {
        var limits = TestService.patientLimits
        limits.headTime = .milliseconds(50)
        try await TestService.run(limits: limits) { service async throws in
            let answer = try await RawSocket.talk(to: service.web) { socket in
                try socket.send("GET /open HTTP/1.1\r\nHost: lo")
                return try socket.answer()
            }
            #expect(answer.status == 408)
            #expect(answer.problem == "too-slow")
            #expect(answer.body.contains("The head of a request must arrive within 50 ms"))
        }
    }

    @Test func `a head that grows by a byte again and again has no more time`() async throws {
        var limits = TestService.patientLimits
        limits.headTime = .milliseconds(100)
        try await TestService.run(limits: limits) { service async throws in
            let answer = try await RawSocket.talk(to: service.web) { socket in
                try socket.send("GET /open HTTP/1.1\r\nHost: localhost\r\nX: ")
                socket.drip(UInt8(ascii: "x"))
                return try socket.answer()
            }
            #expect([408, 431].contains(answer.status))
        }
    }

    @Test func `a body that grows by a byte again and again has no more time`() async throws {
        var limits = TestService.patientLimits
        limits.bodyTime = .milliseconds(100)
        try await TestService.run(limits: limits) { service async throws in
            let answer = try await RawSocket.talk(to: service.web) { socket in
                try socket.send("POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n")
                socket.drip(UInt8(ascii: "x"))
                return try socket.answer()
            }
            #expect(answer.status == 408)
            #expect(answer.body.contains("The body of a request must arrive within 100 ms"))
            #expect(answer["Connection"] == "close")
        }
    }

    @Test func `a connection that says nothing is closed without an answer`() async throws {
        var limits = TestService.patientLimits
        // Long enough for a request on a busy machine.
        limits.headTime = .seconds(2)
        limits.keepAliveTime = .milliseconds(20)
        try await TestService.run(limits: limits) { service async throws in
            #expect(try await RawSocket.talk(to: service.web) { try $0.isClosed() })
            let (answer, isClosed) = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("GET", "/open", keepAlive: true))
                return (try socket.answer(), try socket.isClosed())
            }
            #expect(answer.body == "open")
            #expect(isClosed)
        }
    }

    @Test func `a head that is too large is 431`() async throws {
        try await TestService.run { service async throws in
            let long = try await RawSocket.ask(
                service.web, TestService.head("GET", "/open", "X: " + String(repeating: "x", count: 20_000)))
            #expect(long.status == 431)
            #expect(long.problem == "head-too-large")
            #expect(long.body.contains("The limits are 16384 bytes and 64 fields"))
            let many = (0..<70).map { "X-\($0): y" }.joined(separator: "\r\n")
            #expect(try await RawSocket.ask(service.web, TestService.head("GET", "/open", many)).status == 431)
        }
    }

    @Test func `a body of the largest size is taken, and a larger one is 413`() async throws {
        try await TestService.run { service async throws in
            let largest = 1 << 20
            let fits =
                TestService.head("POST", "/open", "Content-Length: \(largest)") + String(repeating: "x", count: largest)
            #expect(try await RawSocket.ask(service.web, fits).body == "\(largest)")

            let announced = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("POST", "/open", "Content-Length: \(largest + 1)", keepAlive: true))
                return (try socket.answer(), try socket.isClosed())
            }
            #expect(announced.0.status == 413)
            #expect(announced.0.problem == "too-large")
            #expect(announced.1)

            let chunk = String(1 << 18, radix: 16) + "\r\n" + String(repeating: "x", count: 1 << 18) + "\r\n"
            let chunked =
                TestService.head("POST", "/open", "Transfer-Encoding: chunked")
                + String(repeating: chunk, count: 5) + "0\r\n\r\n"
            #expect(try await RawSocket.ask(service.web, chunked).status == 413)
        }
    }

    @Test func `a client that waits for 100 gets it, and one that is refused does not`() async throws {
        try await TestService.run { service async throws in
            let answers = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("POST", "/open", "Content-Length: 3", "Expect: 100-continue"))
                let first = try socket.answer()
                try socket.send("abc")
                return (first, try socket.answer())
            }
            #expect(answers.0.status == 100)
            #expect(answers.1.body == "3")
            let refused = try await RawSocket.ask(
                service.web, TestService.head("POST", "/submit", "Content-Length: 3", "Expect: 100-continue"))
            #expect(refused.status == 401)
            let odd = try await RawSocket.ask(
                service.web, TestService.head("POST", "/open", "Content-Length: 3", "Expect: money"))
            #expect(odd.status == 417)
        }
    }

    @Test func `several requests on one connection are answered in order`() async throws {
        try await TestService.run { service async throws in
            let bodies = try await RawSocket.talk(to: service.web) { socket in
                var text = ""
                for id in 1...20 { text += TestService.head("GET", "/jobs/\(id)", keepAlive: true) }
                text += TestService.head("POST", "/open", "Content-Length: 2", keepAlive: true) + "ab"
                text += TestService.head("GET", "/jobs/last")
                try socket.send(text)
                var bodies: [String] = []
                for _ in 1...22 { bodies.append(try socket.answer().body) }
                #expect(try socket.isClosed())
                return bodies
            }
            #expect(bodies == (1...20).map { "job \($0)" } + ["2", "job last"])
        }
    }

    @Test func `requests before a bad one are answered first`() async throws {
        try await TestService.run { service async throws in
            let answers = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(
                    TestService.head("GET", "/jobs/1", keepAlive: true)
                        + TestService.head("GET", "/jobs/2", keepAlive: true)
                        + "nonsense\r\n\r\n")
                return [try socket.answer(), try socket.answer(), try socket.answer()]
            }
            #expect(answers.map(\.status) == [200, 200, 400])
        }
    }

    @Test func `a client that has finished sending gets its answer`() async throws {
        try await TestService.run { service async throws in
            let answer = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("GET", "/open", keepAlive: true))
                socket.finishSending()
                return (try socket.answer(), try socket.isClosed())
            }
            #expect(answer.0.body == "open")
            #expect(answer.1)
        }
    }

    @Test func `a client that goes away in the middle of a body costs nothing`() async throws {
        try await TestService.run { service async throws in
            for _ in 0..<20 {
                try await RawSocket.talk(to: service.web) { socket in
                    try socket.send(TestService.head("POST", "/open", "Content-Length: 100") + "half")
                }
            }
            #expect(try await RawSocket.ask(service.web, TestService.head("GET", "/open")).body == "open")
            #expect(!service.log.text.contains("error:"))
        }
    }

    /// `curl --http2` asks so. The decoder takes no further request, so the connection must not stay open.
    @Test func `a request for another protocol is answered by this one`() async throws {
        try await TestService.run { service async throws in
            let (answer, isClosed) = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(
                    "GET /open HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                        + "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n")
                return (try socket.answer(), try socket.isClosed())
            }
            #expect(answer.body == "open")
            #expect(answer["Connection"] == "close")
            #expect(isClosed)
            let tunnel = try await RawSocket.ask(
                service.web, "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(tunnel.status == 400)
        }
    }

    @Test func `what is refused before it is a request is logged`() async throws {
        try await TestService.run { service async throws in
            _ = try await RawSocket.ask(service.web, "nonsense\r\n\r\n")
            #expect(service.log.text.contains("info: Refused peer=127.0.0.1 problem=bad-request status=400"))
        }
    }

    @Test func `HTTP 1 point 0 is answered as such`() async throws {
        try await TestService.run { service async throws in
            let answer = try await RawSocket.talk(to: service.web) { socket in
                try socket.send("GET /chunks HTTP/1.0\r\nHost: localhost\r\n\r\n")
                return try socket.answer()
            }
            #expect(answer.head.hasPrefix("HTTP/1.0 200"))
            #expect(answer["Transfer-Encoding"] == nil)
            #expect(answer.body == "one two three")
        }
    }

    @Test func `the 257th connection is told so, and the control socket still answers`() async throws {
        var limits = TestService.patientLimits
        limits.connections = 4
        try await TestService.run(limits: limits) { service async throws in
            let refused = try await RawSocket.talk(to: service.web) { first in
                var others: [RawSocket] = [first]
                try first.send(TestService.head("GET", "/open", keepAlive: true))
                _ = try first.answer()
                for _ in 0..<3 {
                    let other = try RawSocket(to: service.web)
                    try other.send(TestService.head("GET", "/open", keepAlive: true))
                    _ = try other.answer()
                    others.append(other)
                }
                let last = try RawSocket(to: service.web)
                try last.send(TestService.head("GET", "/open", keepAlive: true))
                let answer = try last.answer()
                withExtendedLifetime(others) {}
                return (answer, try last.isClosed())
            }
            #expect(refused.0.status == 503)
            #expect(refused.0.problem == "too-many-connections")
            #expect(refused.0["Retry-After"] == "5")
            #expect(refused.1)
            #expect(try await RawSocket.ask(service.control, TestService.head("GET", "/open")).body == "open")
        }
    }

    @Test func `300 connections, of which all but the allowed ones are refused, leave the service working`()
        async throws
    {
        var limits = TestService.patientLimits
        // None of the first connections is closed while the others are opened.
        limits.headTime = .seconds(600)
        try await TestService.run(limits: limits) { service async throws in
            let statuses = try await RawSocket.talk(to: service.web) { first in
                var sockets = [first]
                for _ in 1..<300 { sockets.append(try RawSocket(to: service.web)) }
                // Those beyond the limit get their answer without a request. Others wait for one. A busy machine may let in later ones
                // first.
                return try RawSocket.readable(300 - 256, of: sockets).map { try $0.answer().status }
            }
            #expect(statuses == Array(repeating: 503, count: 300 - 256))
            #expect(try await RawSocket.ask(service.control, TestService.head("GET", "/open")).body == "open")
        }
    }
}
