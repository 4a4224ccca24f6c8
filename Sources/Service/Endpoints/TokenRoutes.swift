import Confinement
import Coordination
package import HTTPService
import JobModel
package import QueueStorage
package import Queueing
import ServiceAPI
import Supervision
import Synchronization

/// Tokens. Administrators make them, and see everything of them but their secrets.
extension Service {
    var tokenRoutes: [Route] {
        [
            .api(.get, "/tokens", .admin) { request in
                let found = try await supervisor.onStore { try $0.tokens() }
                return try .json(encoding: TokenList(tokens: found.tokens.map(TokenEntry.init)))
            },
            .api(.post, "/tokens", .admin, handler: addToken),
            .api(.patch, "/tokens/{id}", .admin, handler: changeToken),
            .api(.post, "/tokens/{id}/renew", .admin, handler: renewToken),
            .api(.delete, "/tokens/{id}", .admin, handler: revokeToken),
        ]
    }

    private struct TokenList: Encodable { let tokens: [TokenEntry] }

    private func addToken(_ request: APIRequest) async throws -> APIResponse {
        let body = try StrictJSON.decode(TokenRequest.self, from: request.body)
        let time = now()
        try Self.check(body.expires, at: time)
        try Self.check(body.maxPriority, of: body.scope)
        let (roots, warning) = try await folders(of: body)
        var random = SystemRandomNumberGenerator()
        let text = TokenText(using: &random)
        let token = StoredToken(
            id: "\(text.id)", name: body.name, digest: try text.digest().bytes, scope: body.scope, roots: roots,
            maxPriority: body.maxPriority, created: time, expires: body.expires)
        let entry = AuditEntry(
            at: time, caller: try request.queueCaller().owner.text, address: "\(request.peer)", action: "token.add",
            subject: token.id, detail: "\(token.name), \(token.scope.rawValue)")
        let others = try await supervisor.onStore { store in
            try store.add(token, audit: entry)
            return try store.tokens().tokens.filter {
                $0.name == token.name && $0.id != token.id && $0.revoked == nil
            }
        }
        let warnings = [warning, Self.warning(others)].compactMap { $0 }
        return try .json(
            encoding: TokenCreated(
                TokenEntry(token), token: text.text,
                warning: warnings.isEmpty ? nil : warnings.joined(separator: "\n")), status: 201,
            headers: ["Location": "\(APIPath.root)/tokens/\(token.id)"])
    }

    private static func check(_ expires: WallTime?, at now: WallTime) throws(Problem) {
        guard let expires, expires <= now else { return }
        throw Problem(
            status: 422, kind: "value", title: "A value is not accepted",
            detail: "expires: \(expires) has passed", remedy: "Give a later time, or none.")
    }

    private static func check(_ maxPriority: Priority?, of scope: TokenScope) throws(Problem) {
        guard maxPriority != nil, scope == .admin else { return }
        throw Problem(
            status: 422, kind: "value", title: "A value is not accepted",
            detail: "max_priority: an administrator has no limit, because he could change it",
            remedy: "Take the scope submit, or leave out the limit.")
    }

    /// Gives a token another limit of priorities. Its jobs keep their priorities.
    private func changeToken(_ request: APIRequest) async throws -> APIResponse {
        let body = try StrictJSON.decode(TokenChange.self, from: request.body)
        guard let id = TokenID(request.parameters["id"] ?? "") else { throw Self.unknown(request) }
        let (time, caller) = (now(), try request.queueCaller().owner.text)
        let (address, limit) = ("\(request.peer)", body.maxPriority)
        let token = try await supervisor.onStore { store in
            guard let token = try store.token("\(id)") else { return nil as StoredToken? }
            try Self.check(limit, of: token.scope)
            return try store.changeToken("\(id)", maxPriority: limit) { before in
                AuditEntry(
                    at: time, caller: caller, address: address, action: "token.change", subject: "\(id)",
                    detail: "\(before.name): max_priority \(Self.words(before.maxPriority)) to \(Self.words(limit))")
            }
        }
        guard let token else { throw Self.unknown(request) }
        return try .json(encoding: TokenEntry(token))
    }

    private static func words(_ limit: Priority?) -> String { limit.map { "\($0.value)" } ?? "none" }

    /// What an administrator has to know who gives a person a second token.
    private static func warning(_ others: [StoredToken]) -> String? {
        guard let last = others.last else { return nil }
        return
            "\(others.map(\.id).joined(separator: ", ")) \(others.count == 1 ? "is" : "are") called '\(last.name)', too; the new "
            + "token cannot change the jobs of the other\n   = to give a person a new token for the same jobs, use 'penumbra "
            + "token renew \(last.id)'"
    }

    /// Makes a new secret for a token. Its jobs stay its own.
    private func renewToken(_ request: APIRequest) async throws -> APIResponse {
        let body = try StrictJSON.decode(
            TokenRenewal.self, from: request.body.isEmpty ? Array("{}".utf8) : request.body)
        let time = now()
        try Self.check(body.expires, at: time)
        guard let id = TokenID(request.parameters["id"] ?? "") else { throw Self.unknown(request) }
        var random = SystemRandomNumberGenerator()
        let text = TokenText(renewing: id, using: &random)
        let digest = try text.digest().bytes
        let entry = AuditEntry(
            at: time, caller: try request.queueCaller().owner.text, address: "\(request.peer)", action: "token.renew",
            subject: "\(id)")
        let token = try await supervisor.onStore { store in
            try store.renewToken("\(id)", digest: digest, expires: body.expires, audit: entry)
                ? try store.token("\(id)") : nil
        }
        guard let token else { throw Self.unknown(request) }
        tokenWasRevoked(id)
        return try .json(encoding: TokenCreated(TokenEntry(token), token: text.text))
    }

    private static func unknown(_ request: APIRequest) -> Problem {
        Problem(
            status: 404, kind: "no-token", title: "There is no such token",
            detail: "'\(VisibleText.line(String((request.parameters["id"] ?? "").prefix(100))))' is no token",
            remedy: "'penumbra token list' lists them.")
    }

    /// Checks the folders of a new token.
    ///
    /// - Returns: their real paths, and why its jobs will not run on this machine.
    private func folders(of body: TokenRequest) async throws -> (roots: [String], warning: String?) {
        guard !body.roots.isEmpty else { return ([], nil) }
        guard body.scope != .admin else {
            throw Problem(
                status: 422, kind: "value", title: "A value is not accepted",
                detail: "roots: an administrator has no folders, because he could make a token without",
                remedy: "Take the scope submit, or leave out the folders.")
        }
        let protected = supervisor.protectedPaths
        let roots: [String]
        do {
            roots = try await Blocking.run { () throws(RootError) in
                try RootCheck(body.roots, apartFrom: protected).roots
            }
        } catch {
            throw Problem(status: 422, kind: "value", title: "A value is not accepted", message: error.message)
        }
        guard case .missing(let reason) = Landlock.support else { return (roots, nil) }
        return (roots, FarmManifestChecker.words(withoutLandlock: reason))
    }

    private func revokeToken(_ request: APIRequest) async throws -> APIResponse {
        try request.refuseBody()
        let id = request.parameters["id"] ?? ""
        let time = now()
        let entry = AuditEntry(
            at: time, caller: try request.queueCaller().owner.text, address: "\(request.peer)", action: "token.revoke",
            subject: id)
        guard try await supervisor.onStore({ try $0.revokeToken(id, audit: entry, at: time) }) else {
            throw Self.unknown(request)
        }
        if let token = TokenID(id) { tokenWasRevoked(token) }
        return .empty()
    }
}

extension TokenEntry {
    fileprivate init(_ token: StoredToken) {
        self.init(
            id: token.id, name: token.name, scope: token.scope, roots: token.roots, maxPriority: token.maxPriority,
            created: token.created, expires: token.expires, used: token.used, revoked: token.revoked)
    }
}

/// Tokens and sessions as the database has them.
package final class StoredTokens: Authenticator {
    private let store: QueueStore
    /// The last use of each token since ``storeUses()``. It has at most as many entries as there are tokens.
    private let uses = Mutex<[String: WallTime]>([:])

    package init(_ store: QueueStore) { self.store = store }

    package func token(_ id: TokenID) async throws -> TokenRecord? {
        let token = try await Blocking.run { [store] () throws -> StoredToken? in try store.token("\(id)") }
        guard let token, let digest = SecretDigest(bytes: token.digest) else { return nil }
        return TokenRecord(
            digest: digest, name: token.name, scope: token.scope, roots: token.roots.isEmpty ? nil : token.roots,
            maxPriority: token.maxPriority, expires: token.expires, isRevoked: token.revoked != nil)
    }

    package func session(_ digest: SecretDigest) async throws -> SessionRecord? {
        let session = try await Blocking.run { [store] () throws -> StoredSession? in try store.session(digest.bytes) }
        guard let session, let token = TokenID(session.token) else { return nil }
        return SessionRecord(token: token, expires: session.expires)
    }

    package func noteUse(of token: TokenID, at time: WallTime) { uses.withLock { $0["\(token)"] = time } }

    /// Stores when tokens were used last. Blocks.
    package func storeUses() throws {
        let taken = uses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
        do {
            try store.touchTokens(taken)
        } catch {
            uses.withLock { uses in uses.merge(taken) { later, _ in later } }
            throw error
        }
    }
}
