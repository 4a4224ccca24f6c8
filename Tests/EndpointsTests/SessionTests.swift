import Endpoints
import Foundation
import HTTPService
import Queueing
import QueueStorage
import ServiceAPI
import Supervision
import Synchronization
import TestSupport
import Testing

/// How browsers sign in and out.
@Suite struct SessionTests {
    private let farm: IdleFarm
    private let token: TokenText

    init() throws {
        farm = try IdleFarm()
        var generator = SplitMix64(seed: 5)
        token = TokenText(using: &generator)
        try farm.add(token)
    }

    /// Knows the one token.
    private func signIn(expires: WallTime? = nil, roots: [String]? = nil) -> SignIn {
        SignIn { [token] text in
            guard text == token.text else { throw Problem.unknownToken }
            return TokenIdentity(id: token.id, name: "anna", scope: .submit, roots: roots, expires: expires)
        }
    }

    private static func cookie(isSecure: Bool) -> SessionCookie { SessionCookie(service: "1a2b", isSecure: isSecure) }

    private func request(
        _ method: RequestMethod, _ body: String = "", caller: Caller? = nil, isSecure: Bool = false,
        signIn: SignIn? = nil
    ) -> APIRequest {
        APIRequest(
            method: method, path: "/api/v1/session", headers: ["Host": "localhost:8642"], body: Array(body.utf8),
            caller: caller, peer: .internet("192.0.2.7"), sessionCookie: Self.cookie(isSecure: isSecure),
            signIn: signIn ?? self.signIn())
    }

    private var rightBody: String { #"{"token": "\#(token.text)"}"# }

    /// The secret in a `Set-Cookie` header of an answer.
    private func secret(in answer: APIResponse, isSecure: Bool = false) throws -> SessionSecret {
        let header = try #require(answer.headers["Set-Cookie"])
        return try #require(
            Self.cookie(isSecure: isSecure).secrets(in: ["Cookie": String(header.prefix { $0 != ";" })]).first)
    }

    private func entry(_ answer: APIResponse) throws -> SessionEntry {
        guard case .bytes(let bytes) = answer.body else { throw Problem.internalError }
        return try JSONDecoder().decode(SessionEntry.self, from: Data(bytes))
    }

    /// The caller of a request with the cookie of an answer.
    private func caller(_ answer: APIResponse) async throws -> Caller {
        let digest = try secret(in: answer).digest()
        let session = try #require(try await StoredTokens(farm.store).session(digest))
        return .token(
            TokenIdentity(
                id: session.token, name: "anna", scope: .submit, expires: session.expires, session: digest))
    }

    @Test func `a right token begins a session of twelve hours, and a cookie holds its secret`() async throws {
        let answer = try await farm.send(request(.post, rightBody))
        #expect(answer.status == 201)
        let secret = try secret(in: answer)
        #expect(
            answer.headers["Set-Cookie"]
                == "penumbra-1a2b=\(secret.text); Path=/; Max-Age=43200; HttpOnly; SameSite=Strict")
        let expires = farm.time + .seconds(43200)
        #expect(
            try entry(answer)
                == SessionEntry(name: "anna", scope: .submit, owner: .token("\(token.id)"), roots: [], expires: expires)
        )
        let record = try await StoredTokens(farm.store).session(secret.digest())
        #expect(record == SessionRecord(token: token.id, expires: expires))
        let audit = try #require(try farm.store.auditEntries(limit: 9).first).entry
        #expect(audit.action == "session.begin")
        #expect(audit.caller == "token:\(token.id)")
        #expect(audit.address == "192.0.2.7")
    }

    @Test func `by TLS the cookie is bound to its host`() async throws {
        let answer = try await farm.send(request(.post, rightBody, isSecure: true))
        let secret = try secret(in: answer, isSecure: true)
        #expect(
            answer.headers["Set-Cookie"]
                == "__Host-penumbra-1a2b=\(secret.text); Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure")
    }

    @Test func `a session ends with its token`() async throws {
        let expires = farm.time + .seconds(90)
        let answer = try await farm.send(request(.post, rightBody, signIn: signIn(expires: expires, roots: ["/srv"])))
        #expect(answer.headers["Set-Cookie"]?.contains("; Max-Age=90;") == true)
        #expect(try entry(answer).expires == expires)
        #expect(try entry(answer).roots == ["/srv"])
        let late = await #expect(throws: Problem.self) {
            try await farm.send(request(.post, rightBody, signIn: signIn(expires: farm.time)))
        }
        #expect(late == .unknownToken)
    }

    @Test(arguments: [
        (#"{"token": "pnb_wrong"}"#, 401), (#"{"token": ""}"#, 401), (#"{"token": 7}"#, 422), ("{}", 422), ("", 422),
        (#"{"token": "x", "more": 1}"#, 422), ("[]", 422),
    ])
    func `nothing else begins a session`(body: String, status: Int) async throws {
        let problem = await #expect(throws: Problem.self) { try await farm.send(request(.post, body)) }
        #expect(problem?.status == status)
        #expect(try farm.store.auditEntries(limit: 9).isEmpty)
    }

    @Test func `who asks is told who he is`() async throws {
        let caller = try await caller(farm.send(request(.post, rightBody)))
        let answer = try await farm.send(request(.get, caller: caller))
        #expect(answer.status == 200)
        #expect(
            try entry(answer)
                == SessionEntry(
                    name: "anna", scope: .submit, owner: .token("\(token.id)"), roots: [],
                    expires: farm.time + .seconds(43200)))
        #expect(answer.headers["Set-Cookie"] == nil)
    }

    @Test func `a session that is ended is gone, with its streams and its cookie`() async throws {
        let begun = try await farm.send(request(.post, rightBody))
        let digest = try secret(in: begun).digest()
        let answer = try await farm.send(request(.delete, caller: try await caller(begun)))
        #expect(answer.status == 204)
        #expect(
            answer.headers["Set-Cookie"] == "penumbra-1a2b=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
        #expect(try await StoredTokens(farm.store).session(digest) == nil)
        #expect(farm.endedSessions == [digest])
        #expect(try farm.store.auditEntries(limit: 1).first?.entry.action == "session.end")
    }

    @Test func `a browser that signs in again has one session`() async throws {
        let first = try await farm.send(request(.post, rightBody))
        let second = try await farm.send(request(.post, rightBody, caller: try await caller(first)))
        let digest = try secret(in: first).digest()
        #expect(try await StoredTokens(farm.store).session(digest) == nil)
        #expect(try await StoredTokens(farm.store).session(secret(in: second).digest()) != nil)
        #expect(farm.endedSessions == [digest])
    }

    @Test func `the oldest session of a token gives way to the one that is too many`() async throws {
        var answers: [APIResponse] = []
        for _ in 0...QueueStore.mostSessions {
            answers.append(try await farm.send(request(.post, rightBody)))
            farm.advance(by: .seconds(1))
        }
        #expect(farm.endedSessions == [try secret(in: answers[0]).digest()])
        #expect(try await StoredTokens(farm.store).session(secret(in: answers[1]).digest()) != nil)
    }

    @Test func `a request with a token in its header has no session to end`() async throws {
        let caller = Caller.token(TokenIdentity(id: token.id, name: "anna", scope: .submit))
        let problem = await #expect(throws: Problem.self) { try await farm.send(request(.delete, caller: caller)) }
        #expect(problem?.status == 409)
        #expect(problem?.title == "The request belongs to no session")
    }

    @Test(arguments: [RequestMethod.get, .post, .delete])
    func `the control socket has no sessions, and says where to sign in`(method: RequestMethod) async throws {
        let problem = await #expect(throws: Problem.self) {
            try await farm.send(
                request(method, method == .post ? rightBody : "", caller: .user(uid: 0, isAdmin: true)))
        }
        #expect(problem?.status == 409)
        #expect(problem?.title == "The control socket has no sessions")
        #expect(
            problem?.remedy == "Sign in at a port of the service ('penumbra serve --listen'), or at its web socket.")
    }
}
