import Foundation
import TestSupport
import Testing

/// The page of a real service, as a browser uses it.
@Suite(.serialized) struct BrowserSessionTests {
    private let farm: Farm

    init() throws { farm = try Farm() }

    /// A browser with a cookie jar of its own.
    private struct Browser {
        let farm: Farm
        let root: String
        let jar: String

        init(_ farm: Farm, _ name: String) throws {
            self.farm = farm
            root = String(try #require(farm.log.firstMatch(of: /address=(http:\/\/localhost:[0-9]+\/)/)).1)
            jar = farm.folder.file("\(name).jar")
        }

        var cookies: String { (try? String(contentsOfFile: jar, encoding: .utf8)) ?? "" }

        func send(_ method: String, _ path: String, body: String? = nil) async throws -> (status: Int, body: String) {
            var words = ["-s", "-w", "\n%{http_code}", "-X", method, "-b", jar, "-c", jar]
            words += ["-H", "Sec-Fetch-Site: same-origin", "-H", "Origin: \(root.dropLast())"]
            if let body { words += ["-d", body] }
            let result = try await farm.run("/usr/bin/curl", words + [root + path])
            var lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
            let status = try #require(lines.popLast().flatMap { Int($0) }, "\(result.output)\(result.errors)")
            return (status, lines.joined(separator: "\n"))
        }

        func signIn(_ token: String) async throws {
            let answer = try await send("POST", "api/v1/session", body: #"{"token": "\#(token)"}"#)
            try #require(answer.status == 201, "\(answer.body)")
        }

        /// Follows all events, and returns once the first line has come.
        func follow() async throws -> Process {
            let events = "\(jar).events"
            let follower = Process()
            follower.executableURL = URL(filePath: "/usr/bin/curl")
            follower.arguments = ["-s", "-N", "-b", jar, "-o", events, root + "api/v1/events"]
            try follower.run()
            try await farm.wait {
                ((try? String(contentsOfFile: events, encoding: .utf8)) ?? "").hasPrefix("retry: ")
            }
            return follower
        }
    }

    private func newToken(_ scope: String) async throws -> String {
        try #require(try await farm.penumbra("token", "add", "anna", "--scope", scope).lines.first)
    }

    @Test func `a browser signs in, changes something, follows events, and signs out`() async throws {
        try farm.draw(1)
        try farm.writeManifest()
        try await farm.start("--listen", "127.0.0.1:0")
        let (browser, other) = (try Browser(farm, "one"), try Browser(farm, "two"))
        #expect(try await browser.send("GET", "").body.contains("<title>"))
        #expect(try await browser.send("GET", "api/v1/session").status == 401)
        let token = try await newToken("submit")
        try await browser.signIn(token)
        try await other.signIn(token)
        #expect(!browser.cookies.contains(token))
        #expect(try await browser.send("GET", "api/v1/session").body.contains(#""name":"anna""#))
        let body = #"{"manifest": "\#(farm.folder.file("night.yaml"))", "hold": true}"#
        #expect(try await browser.send("POST", "api/v1/jobs", body: body).status == 201)
        #expect(try await browser.send("GET", "api/v1/tokens").status == 403)

        let (follower, elsewhere) = (try await browser.follow(), try await other.follow())
        defer { elsewhere.terminate() }
        #expect(try await browser.send("DELETE", "api/v1/session").status == 204)
        // Only the stream of this browser ends.
        try await farm.wait { !follower.isRunning }
        #expect(follower.terminationStatus == 0)
        #expect(elsewhere.isRunning)
        #expect(!browser.cookies.contains("penumbra-"))
        #expect(try await browser.send("GET", "api/v1/session").status == 401)
        #expect(try await other.send("GET", "api/v1/session").status == 200)
        try await farm.end()
    }

    @Test func `a session survives a restart of the service, and ends when its token is revoked`() async throws {
        let port = try FreePort.find()
        try await farm.start("--listen", "127.0.0.1:\(port)")
        let browser = try Browser(farm, "one")
        let token = try await newToken("read")
        try await browser.signIn(token)
        try await farm.end(SIGKILL)
        try await farm.start("--listen", "127.0.0.1:\(port)")
        #expect(try await browser.send("GET", "api/v1/session").status == 200)
        let follower = try await browser.follow()
        let id = String(token.split(separator: "_")[1])
        #expect(try await farm.penumbra("token", "revoke", id).code == 0)
        try await farm.wait { !follower.isRunning }
        #expect(try await browser.send("GET", "api/v1/session").status == 401)
        #expect(try await browser.send("POST", "api/v1/session", body: #"{"token": "\#(token)"}"#).status == 401)
        try await farm.end()
    }

    @Test func `a session ends after twelve hours`() async throws {
        let port = try FreePort.find()
        try await farm.start("--listen", "127.0.0.1:\(port)")
        let browser = try Browser(farm, "one")
        try await browser.signIn(try await newToken("read"))
        for (hours, status) in [(11, 200), (13, 401)] {
            try await farm.end()
            let ahead = ["PENUMBRA_SERVICE_CLOCK_AHEAD": "\(hours * 3600)"]
            try await farm.start("--listen", "127.0.0.1:\(port)", environment: ahead)
            #expect(try await browser.send("GET", "api/v1/session").status == status, "\(hours) h")
        }
        try await farm.end()
    }
}
