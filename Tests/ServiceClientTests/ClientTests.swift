import Foundation
import JobModel
import ServiceAPI
import ServiceClient
import Synchronization
import TestSupport
import Testing

/// The client at a real socket, whose server lies, breaks off, and comes back.
@Suite struct ClientTests {
    private static func answer(_ body: String, status: String = "200 OK", type: String = "application/json") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    // MARK: Requests

    @Test func `a request says what it wants, and its answer is read`() async throws {
        let server = try ScriptedServer([.answer(Self.answer(#"{"drained":true,"later":1}"#))])
        let client = try server.client(token: try token("pnb_ab_cd"))
        let request = ClientRequest(
            .post, "/drain", body: Array(#"{"drained":true}"#.utf8), key: "k-1", condition: "\"e\"")
        let answer = await onThread { Result { try client.call(request, as: DrainRequest.self) } }
        #expect(try answer.get() == DrainRequest(isDrained: true))
        #expect(
            server.received == [
                "POST /api/v1/drain HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, application/problem+json\r\n"
                    + "Connection: close\r\nUser-Agent: penumbra\r\nAuthorization: Bearer pnb_ab_cd\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 16\r\nIdempotency-Key: k-1\r\nIf-Match: \"e\"\r\n\r\n"
                    + #"{"drained":true}"#
            ])
    }

    @Test func `an answer that comes byte by byte is read`() async throws {
        let text = "HTTP/1.1 200 OK\r\nETag: \"7\"\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
        let server = try ScriptedServer([.dribble(Array(text.utf8))])
        let client = try server.client()
        let answer = try await onThread { Result { try client.send(ClientRequest(.get, "/jobs")) } }.get()
        #expect(answer.body == Array("abc".utf8))
        #expect(answer.etag == "\"7\"")
    }

    @Test func `an answer that comes before the request is read is an answer`() async throws {
        let server = try ScriptedServer([
            .unasked(Array(Self.answer("{}", status: "413 Too Large", type: "application/problem+json").utf8))
        ])
        let client = try server.client()
        let body = [UInt8](repeating: 32, count: 8 << 20)
        let error = await failure { _ = try client.send(ClientRequest(.post, "/jobs", body: body)) }
        #expect(error?.status == 413)
    }

    @Test func `nobody listens`() async throws {
        let server = try ScriptedServer([])
        let path = server.folder.file("none.sock")
        let client = APIClient(try ServiceAddress(text: path))
        let error = await failure { _ = try client.send(ClientRequest(.get, "/jobs", key: "k")) }
        #expect(error?.message == "no service listens at \(path)\n   = start one: 'penumbra serve'")
        #expect(error?.outcome == .unavailable)
    }

    @Test func `a request with a key is sent again with the same key, if its connection breaks`() async throws {
        let server = try ScriptedServer([
            .answer(""), .answer("HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n{"),
            .answer(Self.answer("{}", status: "201 Created")),
        ])
        let client = try server.client()
        let request = ClientRequest(.post, "/jobs", body: Array("{}".utf8), key: "same")
        let answer = try await onThread { Result { try client.send(request) } }.get()
        #expect(answer.status == 201)
        #expect(server.received.count == 3)
        #expect(Set(server.received).count == 1)
        #expect(server.received.first?.contains("Idempotency-Key: same\r\n") == true)
    }

    @Test func `a request without a key is not sent again`() async throws {
        let server = try ScriptedServer([.answer("")])
        let client = try server.client()
        let error = await failure { _ = try client.send(ClientRequest(.post, "/jobs", body: [])) }
        #expect(
            error?.message
                == """
                the service at \(server.path) has ended the connection before its answer was complete
                   = look whether it still runs, and repeat the command
                """)
        #expect(error?.outcome == .unavailable)
        #expect(server.received.count == 1)
    }

    private static func tooMany(wait: String) -> ScriptedServer.Step {
        .answer(
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: \(wait)\r\nContent-Type: application/problem+json\r\n"
                + "Content-Length: 2\r\n\r\n{}")
    }

    @Test func `a service that asks to wait is asked again after that time, also without a key`() async throws {
        let server = try ScriptedServer([Self.tooMany(wait: "7"), Self.tooMany(wait: "0"), .answer(Self.answer("{}"))])
        let pauses = Mutex<[Duration]>([])
        let client = try server.client { $0.pause = { pause in pauses.withLock { $0.append(pause) } } }
        let answer = try await onThread { Result { try client.send(ClientRequest(.post, "/jobs", body: [])) } }.get()
        #expect(answer.status == 200)
        #expect(pauses.withLock(\.self) == [.seconds(7), .seconds(1)])
        #expect(Set(server.received).count == 1)
    }

    @Test(arguments: ["61", "tomorrow", "-1"])
    func `a service that asks to wait for too long, or for no number of seconds, has refused the request`(
        wait: String
    ) async throws {
        let server = try ScriptedServer([Self.tooMany(wait: wait)])
        let client = try server.client()
        #expect(await failure { _ = try client.send(ClientRequest(.get, "/jobs")) }?.status == 429)
        #expect(server.received.count == 1)
    }

    @Test func `a service that asks to wait again and again is not waited for without an end`() async throws {
        let server = try ScriptedServer(Array(repeating: Self.tooMany(wait: "20"), count: 4))
        let client = try server.client()
        #expect(await failure { _ = try client.send(ClientRequest(.get, "/jobs")) }?.status == 429)
        #expect(server.received.count == 4)
    }

    @Test func `requests are not repeated without an end`() async throws {
        let server = try ScriptedServer(Array(repeating: .answer(""), count: 3))
        let client = try server.client { $0.attempts = 3 }
        let error = await failure { _ = try client.send(ClientRequest(.get, "/jobs")) }
        #expect(error?.problem == .connection)
        #expect(server.received.count == 3)
    }

    @Test func `a service that stays away after it was there is reported`() async throws {
        let server = try ScriptedServer([.answer("")])
        let client = try server.client()
        let error = await failure { _ = try client.send(ClientRequest(.get, "/jobs")) }
        #expect(error?.problem == .noService)
    }

    @Test func `a service that says nothing is not waited for without an end`() async throws {
        let server = try ScriptedServer([.stay("HTTP/1.1 200 OK\r\n")])
        let client = try server.client { $0.silence = .milliseconds(50) }
        let error = await failure { _ = try client.send(ClientRequest(.get, "/jobs")) }
        #expect(
            error?.message
                == """
                the service at \(server.path) has not answered within 50 ms
                   = look whether it is stopped, or very busy, and repeat the command
                """)
    }

    @Test func `an answer has a limit of time as a whole, too`() async throws {
        let server = try ScriptedServer([.stay("HTTP/1.1 200 OK\r\n")])
        let client = try server.client {
            $0.silence = .seconds(600)
            $0.total = .milliseconds(50)
        }
        let error = await failure { _ = try client.send(ClientRequest(.get, "/jobs")) }
        #expect(error?.message.contains(" has not answered within 50 ms\n") == true)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "its length is no number, or is given twice"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "its body has more than 16777216 bytes"),
        ("220 mail.example ESMTP\r\n", "it does not begin with a status line of HTTP/1.1"),
        (answer("<html>", type: "text/html"), "it is no JSON"),
        (answer("{"), "the body cannot be read as JSON: line 1, column 2: a key in quotation marks is expected"),
        (answer("[]"), "an object is expected, and this is a list"),
        (answer(#"{"a\u001b":1}"#), "the key 'drained' is missing"),
    ])
    func `a lying service is found out`(answer: String, words: String) async throws {
        let server = try ScriptedServer([.answer(answer)])
        let client = try server.client()
        let error = await failure { _ = try client.call(ClientRequest(.get, "/jobs"), as: DrainRequest.self) }
        #expect(
            error?.message
                == """
                the answer of \(server.path) is wrong: \(words)
                   = look whether a Penumbra service of this version listens there
                """)
        #expect(error?.outcome == .unavailable)
    }

    @Test func `a head without an end is cut off`() async throws {
        let server = try ScriptedServer([.answer("HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 1 << 20))])
        let client = try server.client()
        let error = await failure { _ = try client.send(ClientRequest(.get, "/jobs")) }
        #expect(error?.message.contains("is wrong: its head is longer than 64 KiB") == true)
    }

    @Test(arguments: [("/a b", nil), ("/a\r\nX: y", nil), ("jobs", nil), ("/jobs", "a\r\nX: y"), ("/jobs", "ü")])
    func `nothing can add lines to a request`(path: String, key: String?) async throws {
        let client = APIClient(try ServiceAddress(text: "/nowhere/control.sock"))
        let error = await failure { _ = try client.send(ClientRequest(.get, path, key: key)) }
        #expect(error?.problem == .address)
        #expect(error?.outcome == .usage)
    }

    // MARK: Events

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"

    /// The events that a follower gets before it stops.
    private func events(
        _ server: ScriptedServer, most: Int, after id: String? = nil, reconnects: Int = 30
    ) async throws -> (events: [ServerEvent], error: ServiceError?) {
        let client = try server.client { $0.reconnects = reconnects }
        return await onThread {
            var events: [ServerEvent] = []
            do throws(ServiceError) {
                try client.follow("/events", after: id) { event in
                    events.append(event)
                    return events.count < most ? .goOn : .stop
                }
                return (events, nil)
            } catch {
                return (events, error)
            }
        }
    }

    @Test func `a stream that breaks goes on behind its last event`() async throws {
        let server = try ScriptedServer([
            .answer(Self.head + "id: B-1\nevent: job\ndata: 1\n\nid: B-2\ndata: cut"),
            .answer(Self.head + ": here\n\n"),
            .answer(Self.head + "id: B-2\ndata: 2\n\nevent: reset\ndata: {}\n\n"),
        ])
        let (events, error) = try await events(server, most: 3)
        #expect(error == nil)
        #expect(
            events == [
                ServerEvent(name: "job", data: "1", id: "B-1"), ServerEvent(name: "message", data: "2", id: "B-2"),
                ServerEvent(name: "reset", data: "{}", id: "B-2"),
            ])
        #expect(server.received.map { $0.contains("Last-Event-ID: B-1\r\n") } == [false, true, true])
        #expect(server.received.allSatisfy { $0.contains("Accept: text/event-stream, ") })
    }

    @Test func `a heartbeat is no event for a follower, and its number counts`() async throws {
        let server = try ScriptedServer([
            .answer(Self.head + "event: alive\nid: B-7\ndata: {}\n\n"), .stay(Self.head + "event: job\ndata: 8\n\n"),
        ])
        let (events, error) = try await events(server, most: 1)
        #expect(error == nil)
        #expect(events == [ServerEvent(name: "job", data: "8", id: "B-7")])
        #expect(server.received.map { $0.contains("Last-Event-ID: B-7\r\n") } == [false, true])
    }

    @Test func `a follower names the event that it knows`() async throws {
        let server = try ScriptedServer([.stay(Self.head + "data: x\n\n")])
        #expect(try await events(server, most: 1, after: "A-9").events.map(\.id) == ["A-9"])
        #expect(server.received.first?.contains("Last-Event-ID: A-9\r\n") == true)
    }

    @Test func `a service that is busy is asked again`() async throws {
        let server = try ScriptedServer([
            .answer("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), .stay(Self.head + "data: x\n\n"),
        ])
        #expect(try await events(server, most: 1).events.count == 1)
    }

    @Test func `without a token, a command says which of its options takes one`() async throws {
        let body = #"""
            {"type":"/problems/unauthorized","title":"This address needs a token","status":401,"remedy":"Send 'Authorization: …'."}
            """#
        let server = try ScriptedServer([
            .answer(Self.answer(body, status: "401 No", type: "application/problem+json"))
        ])
        let (_, error) = try await events(server, most: 1)
        #expect(
            error?.message == """
                This address needs a token
                   = give a token: --token-file FILE, PENUMBRA_TOKEN, or 'token_file' in a config file
                   = an administrator of the service makes one: 'penumbra token add NAME'
                """)
    }

    @Test func `a stream that is refused ends with the words of the service`() async throws {
        let body = #"{"type":"/problems/revoked","title":"t","status":401,"detail":"the token was revoked"}"#
        let server = try ScriptedServer([
            .answer(Self.answer(body, status: "401 No", type: "application/problem+json"))
        ])
        let (events, error) = try await events(server, most: 1)
        #expect(events.isEmpty)
        #expect(error?.message == "the token was revoked")
        #expect(error?.kind == "revoked")
    }

    @Test func `a service that has no more events ends the following`() async throws {
        let server = try ScriptedServer([.answer("HTTP/1.1 204 No Content\r\n\r\n")])
        let (events, error) = try await events(server, most: 1)
        #expect(events.isEmpty && error == nil)
    }

    @Test func `what is no stream of events is not followed`() async throws {
        let server = try ScriptedServer([.answer(Self.answer("{}"))])
        #expect(
            try await events(server, most: 1).error?.message.contains("is wrong: it is no stream of events") == true)
    }

    @Test func `streams are not opened without an end`() async throws {
        let server = try ScriptedServer(Array(repeating: .answer(Self.head), count: 4))
        let error = try await events(server, most: 1, reconnects: 3).error
        #expect(error?.problem == .connection)
        #expect(server.received.count == 4)
    }

    private func token(_ text: String) throws -> BearerToken {
        try #require(try BearerToken.find(environment: [BearerToken.variable: text], file: nil))
    }
}
