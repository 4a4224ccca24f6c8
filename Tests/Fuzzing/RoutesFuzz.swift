import Catalogs
import Dispatch
import Endpoints
import Foundation
@testable import HTTPService
import JobModel
import Queueing
@testable import ServiceAPI
import Settings
import Supervision
import TestSupport

/// Sends up to six requests to a new service, from the check of access to the end of the answer. A zero byte is between two of
/// them. The first character of a request says who asks (see ``Asker``), and the rest is as in HTTP: a method and a target, the
/// lines of a head, an empty line, and a body.
@c(LLVMFuzzerTestOneInput)
public func fuzzRoutes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let requests = Input(start, count).parts(6)
    wait {
        var client = try Client()
        for request in requests { try await client.send(request) }
    }
    return 0
}

/// Waits for what is asynchronous. Its errors are findings.
private func wait(_ body: @escaping @Sendable () async throws -> Void) {
    let end = DispatchSemaphore(value: 0)
    Task {
        do { try await body() } catch { fatalError("\(error)") }
        end.signal()
    }
    end.wait()
}

private enum Asker: UInt8 {
    case root = 48
    case admin, submitter, submitterWithFolders, reader, nobody, otherUser
}

/// Sends requests to a service in this process.
private struct Client {
    private let farm: IdleFarm
    private let access: AccessControl
    private let tokens: [Asker: TokenText]
    /// The cookie of the last session that has begun.
    private var cookie = ""

    init() throws {
        Self.useScratchFolder
        farm = try IdleFarm(WillingFarm())
        var generator = SplitMix64(seed: 1)
        var tokens: [Asker: TokenText] = [:]
        for (asker, scope) in [
            (Asker.admin, TokenScope.admin), (.submitter, .submit), (.submitterWithFolders, .submit), (.reader, .read),
        ] {
            let token = TokenText(using: &generator)
            try farm.add(token, scope: scope, roots: asker == .submitterWithFolders ? ["/srv"] : [])
            tokens[asker] = token
        }
        self.tokens = tokens
        var limits = HTTPLimits()
        (limits.writesPerSecond, limits.readsPerSecond, limits.wrongTokensPerMinute) = (1000, 1000, 1000)
        access = AccessControl(
            table: farm.service.routes, hosts: HostNames(), authenticator: StoredTokens(farm.store), serviceID: "ab12",
            limits: limits,
            clock: ServiceClock(now: { .zero }, wallTime: { [farm] in farm.time }, sleep: { _ in }))
    }

    /// Its folder is in the scratch folder of the fuzzer.
    private static let useScratchFolder: Void = {
        let folder = FileManager.default.currentDirectoryPath + "/scratch"
        // If it cannot be made, the first service reports that.
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        setenv("TMPDIR", folder, 1)
    }()

    mutating func send(_ bytes: [UInt8]) async throws {
        guard let first = bytes.first, let asker = Asker(rawValue: first) else { return }
        var lines = String(decoding: bytes.dropFirst(), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let words = lines.removeFirst().split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return }
        let end = lines.firstIndex(of: "") ?? lines.endIndex
        let body = lines[min(end + 1, lines.endIndex)...].joined(separator: "\n")
        do {
            check(try await answer(words[0], words[1], headers(lines[..<end], asker), filled(body), asker))
        } catch let problem as Problem {
            check(problem.response)
        } catch is WillingFarm.Nothing {
            // The service answers 500 to errors that it does not know, and these are the farm's.
        }
    }

    private mutating func answer(
        _ method: String, _ target: String, _ headers: Headers, _ body: String, _ asker: Asker
    ) async throws -> APIResponse {
        let target = try RequestTarget(target)
        guard !target.holdsToken else { throw Problem.tokenInAddress }
        let peer = asker == .root || asker == .otherUser ? PeerAddress.local("control") : .internet("192.0.2.7")
        let admission = try await access.admit(
            AccessControl.Head(method: method, target: target, headers: headers, isSecure: false), from: peer,
            credentials: credentials(asker))
        guard case .route(let route, let parameters, let caller) = admission else { return .empty() }
        let request = APIRequest(
            method: route.method, path: target.path, parameters: parameters, query: target.query, headers: headers,
            body: Array(body.utf8), caller: caller, peer: peer, sessionCookie: access.sessionCookie(isSecure: false),
            signIn: SignIn { [access] in try await access.signIn($0, from: peer) })
        let response = try await route.handler(request)
        if let begun = response.headers["Set-Cookie"] { cookie = String(begun.prefix { $0 != ";" }) }
        if case .stream(let stream) = response.body { try await read(stream) }
        return response
    }

    private func credentials(_ asker: Asker) -> PeerCredentials? {
        switch asker {
        case .root: PeerCredentials(pid: 1, uid: 0, gid: 0)
        case .otherUser: PeerCredentials(pid: 1, uid: 4_000_000, gid: 1)
        case .admin, .submitter, .submitterWithFolders, .reader, .nobody: nil
        }
    }

    private func headers(_ lines: ArraySlice<Substring>, _ asker: Asker) -> Headers {
        var headers = Headers()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            headers.add(parts[0], String(filled(parts[1]).drop { $0 == " " }))
        }
        if headers["Host"] == nil { headers.add("Host", "localhost") }
        if let token = tokens[asker] { headers.add("Authorization", "Bearer \(token.text)") }
        return headers
    }

    /// With the token of somebody who may submit, and with the last cookie, which no input can know.
    private func filled(_ text: String) -> String {
        text.replacing("$TOKEN", with: tokens[.submitter]?.text ?? "").replacing("$COOKIE", with: cookie)
    }

    /// Reads a stream. One that never ends is left after its first bytes.
    private func read(_ stream: ByteStream) async throws {
        struct Left: Error {}
        do {
            try await stream.write(ByteStream.Writer { bytes in if stream.isEndless { throw Left() } })
        } catch is Left {
        }
    }
}

private func check(_ response: APIResponse) {
    precondition(response.headers.areSafe, "headers can be sent")
    precondition(
        (200..<600).contains(response.status) && response.status != 500, "an answer has a status that was meant")
    guard case .bytes(let bytes) = response.body else { return }
    switch response.headers["Content-Type"] {
    case "application/json", "application/problem+json":
        precondition(VisibleText.json(bytes) == bytes, "JSON has no characters that a terminal obeys")
        precondition((try? JSONReader.value(of: bytes, limit: 1 << 24)) != nil, "what counts as JSON is JSON")
    case let type? where type.hasPrefix("text/plain"):
        let text = String(decoding: bytes, as: UTF8.self)
        precondition(VisibleText.lines(text) == text, "texts have no characters that a terminal obeys")
    default: break
    }
}

/// A farm for which every manifest is right, and which has nothing else.
private struct WillingFarm: ServedFarm {
    struct Nothing: Error {}

    func check(
        _ place: ManifestSource.Place, name: String?, _ options: RunOptions
    ) async throws -> CheckedManifest {
        CheckedManifest(
            job: name ?? "night", digest: "ab", warnings: [ManifestFault(message: "it is strange", line: 1)])
    }
    func digest(of place: ManifestSource.Place) -> String? { "ab" }
    func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int?) -> Void) async throws(LaunchError) {
        throw LaunchError("there is no farm")
    }
    func hasProcess(holding lockPath: String) -> Bool { false }
    func terminate(holderOf lockPath: String) {}
    func job(of place: ManifestSource.Place, name: String?, _ options: RunOptions) async -> JobSpec? { nil }
    func catalog() async throws -> Catalog { throw Nothing() }
    func schema() async throws -> String { "{}" }
    func text(of place: ManifestSource.Place, name: String, _ options: RunOptions) async throws -> String {
        "job: \(name)"
    }
    func plan(
        _ place: ManifestSource.Place, name: String, _ options: RunOptions, for owner: Owner
    ) async throws -> String { "{}" }
    func verify(_ outputs: [String], for owner: Owner) async throws -> String { "{}" }
    func preview(_ query: PreviewQuery, for owner: Owner) async throws -> [UInt8] { [0x89] }
}
