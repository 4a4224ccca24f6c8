import Foundation
import Glibc
import TestSupport
import Testing

/// The service behind nginx, as docs/how-to/run-the-service.md sets it up. Without nginx these tests are skipped.
@Suite(.serialized, .enabled(if: Nginx.program != nil)) struct ProxyTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../docs/how-to/run-the-service.md"
    )
    .standardizedFileURL

    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(2)
        try farm.writeManifest()
    }

    /// The page's configuration, with ports of this test and without TLS. It says that there is TLS.
    private func configuration(listening port: UInt16, service: UInt16) throws -> String {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let block = try #require(
            text.components(separatedBy: "```nginx\n").dropFirst().first?.components(separatedBy: "```").first)
        let server = block.split(separator: "\n").filter { !$0.contains("ssl_certificate") }.joined(separator: "\n")
            .replacingOccurrences(of: "listen 443 ssl;", with: "listen 127.0.0.1:\(port);")
            .replacingOccurrences(of: "127.0.0.1:8642", with: "127.0.0.1:\(service)")
            .replacingOccurrences(of: "X-Forwarded-Proto $scheme", with: "X-Forwarded-Proto https")
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(farm.folder.file("nginx/\($0)"));"
        }
        return """
            pid \(farm.folder.file("nginx/pid"));
            error_log \(farm.folder.file("nginx/log"));
            daemon off;
            events {}
            http {
            access_log off;
            \(folders.joined(separator: "\n"))
            \(server)
            }

            """
    }

    private func startProxy(listening outside: UInt16, service inside: UInt16) throws -> Process {
        try farm.write(try configuration(listening: outside, service: inside), to: "nginx/nginx.conf")
        let proxy = Process()
        proxy.executableURL = URL(filePath: try #require(Nginx.program))
        proxy.arguments = ["-p", farm.folder.file("nginx"), "-c", farm.folder.file("nginx/nginx.conf")]
        proxy.standardError = FileHandle.nullDevice
        try proxy.run()
        return proxy
    }

    @Test
    func `commands, streams and refusals pass a proxy with a prefix, which answers 502 while the service is away`()
        async throws
    {
        let (outside, inside) = (try FreePort.find(), try FreePort.find())
        let proxy = try startProxy(listening: outside, service: inside)
        defer {
            proxy.terminate()
            proxy.waitUntilExit()
        }
        let options = ["--listen", "127.0.0.1:\(inside)", "--host", "farm.example.org"]
        try await farm.start(options[0], options[1], options[2], options[3], "--behind-proxy")
        let token = try await farm.penumbra("token", "add", "anna", "--scope", "submit")
        try farm.write(token.output, to: "token")
        #expect(chmod(farm.folder.file("token"), 0o600) == 0)
        let server = ["--server", "http://127.0.0.1:\(outside)/penumbra", "--token-file", farm.folder.file("token")]
        func remote(_ words: String...) async throws -> Farm.Result {
            try await farm.run("\(Farm.programs)/penumbra", words + server)
        }
        /// The status of an answer to a request with this name.
        func status(host: String) async throws -> String {
            let address = "http://127.0.0.1:\(outside)/penumbra/healthz"
            return try await farm.run(
                "/usr/bin/curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: \(host)", address]
            ).output
        }
        try await farm.wait { FileManager.default.fileExists(atPath: farm.folder.file("nginx/pid")) }
        #expect(try await remote("submit", "night.yaml", "--wait", "--quiet").code == 0)
        #expect(try await remote("wait", "night").output == "night: done; 2 frames: 2 published\n")
        #expect(try await status(host: "farm.example.org") == "200")
        #expect(try await status(host: "elsewhere.example.org") == "421")

        // An event comes through before the stream ends.
        let follower = Process()
        follower.executableURL = URL(filePath: "/usr/bin/curl")
        follower.arguments = [
            "-s", "-N", "-o", farm.folder.file("events"), "-H",
            "Authorization: Bearer \(token.output.trimmingCharacters(in: .whitespacesAndNewlines))",
            "\(server[1])/api/v1/events",
        ]
        try follower.run()
        try await farm.wait { ((try? farm.read("events")) ?? "").hasPrefix("retry: ") }
        try await farm.penumbra("submit", "night.yaml", "--hold")
        try await farm.wait { ((try? farm.read("events")) ?? "").contains("event: job\n") }
        #expect(follower.isRunning)

        #expect(try await farm.end() == 0)
        // The stream ends with the service.
        try await farm.wait { !follower.isRunning }
        #expect(try await status(host: "farm.example.org") == "502")
        let away = try await remote("queue")
        #expect(away.code == 69)
        #expect(away.errors.contains("   = a proxy has answered: look whether the service runs behind it\n"))
        try await farm.start(options[0], options[1], options[2], options[3], "--behind-proxy")
        #expect(try await remote("queue").code == 0)
        try await farm.end()
    }
}

extension ProxyTests {
    @Test func `the page and its cookie work behind a prefix and TLS`() async throws {
        let (outside, inside) = (try FreePort.find(), try FreePort.find())
        let proxy = try startProxy(listening: outside, service: inside)
        defer {
            proxy.terminate()
            proxy.waitUntilExit()
        }
        try await farm.start(
            "--listen", "127.0.0.1:\(inside)", "--host", "farm.example.org", "--behind-proxy")
        // The proxy's address is another one.
        #expect(!farm.log.contains("address=http"))
        let token = try await farm.penumbra("token", "add", "anna", "--scope", "submit").lines[0]
        try await farm.wait { FileManager.default.fileExists(atPath: farm.folder.file("nginx/pid")) }
        let root = "http://127.0.0.1:\(outside)/penumbra"
        func curl(_ words: String...) async throws -> String {
            try await farm.run("/usr/bin/curl", ["-s", "-S"] + words).output
        }
        #expect(try await curl("-o", "/dev/null", "-w", "%{http_code}", root) == "301")
        let document = try await curl("\(root)/")
        let file = try #require(document.firstMatch(of: /"(page\/[^"]+\.js)"/)?.1)
        #expect(try await curl("-o", "/dev/null", "-w", "%{http_code}", "\(root)/\(file)") == "200")
        // A browser says where its page is from, with the port.
        let origin = ["-H", "Host: farm.example.org:\(outside)", "-H", "Origin: https://farm.example.org:\(outside)"]
        func session(_ method: String, _ more: [String]) async throws -> String {
            try await farm.run(
                "/usr/bin/curl", ["-s", "-i", "-X", method] + origin + more + ["\(root)/api/v1/session"]
            ).output
        }
        let begun = try await session("POST", ["-d", #"{"token": "\#(token)"}"#])
        let cookie = try #require(
            begun.firstMatch(of: /(?i)set-cookie: (__Host-penumbra-[a-z0-9]+=[a-z2-7]+); Path=\/; .*; Secure/)?.1,
            "\(begun)")
        #expect(try await session("GET", ["-H", "Cookie: \(cookie)"]).contains(#""name":"anna""#))
        #expect(try await session("DELETE", ["-H", "Cookie: \(cookie)"]).hasPrefix("HTTP/1.1 204"))
        #expect(try await session("GET", ["-H", "Cookie: \(cookie)"]).hasPrefix("HTTP/1.1 401"))
        try await farm.end()
    }
}

private enum Nginx {
    /// Nil if it is not installed.
    static let program: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin"]).map { "\($0)/nginx" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }()
}
