import Foundation
import JobModel
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

@Suite struct AddressTests {
    @Test(arguments: [
        ("/srv/s/control.sock", ServiceAddress.Place.socket(path: "/srv/s/control.sock"), ""),
        ("unix:/srv/control.sock", .socket(path: "/srv/control.sock"), ""),
        ("unix:///srv/control.sock", .socket(path: "/srv/control.sock"), ""),
        ("http://127.0.0.1:8642", .port(8642, isIPv6: false), ""),
        ("http://localhost:1/", .port(1, isIPv6: false), ""),
        ("http://[::1]:65535/a/b//", .port(65535, isIPv6: true), "/a/b"),
    ])
    func `an address names a socket or a port of this machine`(
        text: String, place: ServiceAddress.Place, prefix: String
    ) throws {
        let address = try ServiceAddress(text: text)
        #expect(address.place == place)
        #expect(address.prefix == prefix)
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", "control.sock", "./control.sock", "unix:control.sock", "http://127.0.0.1", "http://localhost/",
        "http://127.0.0.1:", "http://127.0.0.1:0", "http://127.0.0.1:65536", "http://127.0.0.1:+5", "ftp://127.0.0.1:5",
        "http://127.0.0.1:5/a?b", "http://127.0.0.1:5/a b", "/a\u{0}b",
    ])
    func `what is no address is refused`(text: String) {
        #expect(
            message(text)
                == """
                '\(VisibleText.line(text))' is no address of a service
                   = write the absolute path of its socket, or http://127.0.0.1:PORT
                """)
    }

    @Test(arguments: [
        "https://farm.example", "https://farm.example:8642/penumbra", "http://farm.example:8642", "http://farm",
        "http://127.0.0.2:5",
        "http://127.0.0.1.example:80", "http://a@127.0.0.1:5", "http://[::2]:5", "http://:5",
    ])
    func `another machine is reached by a forwarded port`(text: String) {
        #expect(
            message(text)
                == """
                '\(text)' is not on this machine, and is not reached directly
                   = forward a port: ssh -L 8642:127.0.0.1:8642 HOST
                   = then write http://127.0.0.1:8642
                """)
    }

    @Test(arguments: ["https://127.0.0.1:8642", "https://localhost", "https://[::1]", "https://[::1]:443/penumbra"])
    func `an address of this machine with TLS is a proxy's, which commands do not use`(text: String) {
        #expect(
            message(text)
                == """
                '\(text)' needs TLS, which commands do not speak
                   = write http://127.0.0.1:PORT with the service's own port, in place of a proxy's, or the path of its socket
                """)
    }

    @Test func `the path of a socket has a limit of the kernel`() throws {
        let longest = "/" + String(repeating: "a", count: 106)
        _ = try ServiceAddress(text: longest)
        #expect(
            message(longest + "a")
                == """
                the path of the socket '\(longest)a' has 108 bytes, and at most 107 are possible
                   = use a service folder with a shorter path
                """)
    }

    private func message(_ text: String) -> String? {
        do throws(ServiceError) {
            _ = try ServiceAddress(text: text)
            return nil
        } catch {
            #expect(error.outcome == .usage)
            return error.message
        }
    }
}

@Suite struct BearerTokenTests {
    private func message(_ body: () throws -> BearerToken?) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            #expect((error as? ServiceError)?.outcome == .usage)
            return (error as? ServiceError)?.message
        }
    }

    /// A file with a text and rights.
    private func file(_ text: String, _ mode: Int, in folder: TemporaryFolder) throws -> String {
        let path = folder.file("token")
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test func `a token comes from the environment, or else from a file`() throws {
        let folder = try TemporaryFolder()
        let path = try file("pnb_a_b\n", 0o600, in: folder)
        #expect(try BearerToken.find(environment: [:], file: nil) == nil)
        #expect(try BearerToken.find(environment: [:], file: path) != nil)
        #expect(try BearerToken.find(environment: ["PENUMBRA_TOKEN": ""], file: path) != nil)
        // The environment comes first, so the file is not read.
        #expect(try BearerToken.find(environment: ["PENUMBRA_TOKEN": "pnb_a_b"], file: "/nowhere") != nil)
    }

    @Test func `a token does not show itself`() throws {
        let token = try #require(try BearerToken.find(environment: ["PENUMBRA_TOKEN": "pnb_a_b"], file: nil))
        #expect("\(token)" == "a token")
        #expect(!String(reflecting: token).contains("pnb_"))
        #expect(!String(describing: [token]).contains("pnb_"))
    }

    @Test(arguments: ["secret", "pnb_a b", "pnb_a\r\nX: y", "pnb_" + String(repeating: "a", count: 600)])
    func `what is no token is refused, and not shown`(text: String) {
        #expect(
            message { try BearerToken.find(environment: ["PENUMBRA_TOKEN": text], file: nil) }
                == "PENUMBRA_TOKEN has no token\n   = a token begins with pnb_: 'penumbra token add' makes one")
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644])
    func `a file that others may read is refused`(mode: Int) throws {
        let folder = try TemporaryFolder()
        let path = try file("pnb_a_b", mode, in: folder)
        #expect(
            message { try BearerToken(file: path) }
                == """
                others may read the token's file \(path)
                   = chmod 600 \(path)
                   = if others may have read it, revoke the token: 'penumbra token revoke'
                """)
    }

    @Test func `a file that is none, or has no token, is refused`() throws {
        let folder = try TemporaryFolder()
        #expect(
            message { try BearerToken(file: folder.file("none")) }
                == "cannot read the token's file \(folder.file("none")): No such file or directory")
        #expect(
            message { try BearerToken(file: folder.path) } == "the token's file \(folder.path) is no regular file")
        let path = try file("\n", 0o600, in: folder)
        #expect(
            message { try BearerToken(file: path) }
                == "the token's file \(path) has no token\n   = a token begins with pnb_: 'penumbra token add' makes one"
        )
    }
}

/// Words and exit codes of answers that are errors.
@Suite struct ServiceErrorTests {
    private func error(_ status: Int, _ body: String?, type: String = "application/problem+json") async throws
        -> ServiceError
    {
        let body = body ?? ""
        let server = try ScriptedServer([
            .answer(
                "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        ])
        let client = try server.client()
        return try #require(await failure { _ = try client.send(ClientRequest(.get, "/jobs")) })
    }

    @Test(arguments: [
        (400, "/problems/json", RunOutcome.usage), (401, "/problems/token", .usage), (403, "/problems/scope", .usage),
        (404, "/problems/not-found", .missingInput), (405, "/problems/method", .usage),
        (408, "/problems/slow", .unavailable),
        (409, "/problems/state", .busy), (409, "/problems/ended", .usage), (409, "/problems/needs", .usage),
        (409, "/problems/config", .usage),
        (410, "/problems/gone", .missingInput), (412, "/problems/changed", .busy),
        (413, "/problems/too-large", .usage), (421, "/problems/host", .usage), (422, "/problems/value", .usage),
        (422, "/problems/manifest", .badManifest), (422, "/problems/no-manifest", .missingInput),
        (429, "/problems/rate", .busy),
        (500, "/problems/internal", .unavailable),
        (502, "about:blank", .unavailable), (503, "/problems/busy", .busy), (507, "/problems/full", .storage),
        (301, "about:blank", .unavailable),
    ])
    func `each status has an exit code`(status: Int, type: String, outcome: RunOutcome) async throws {
        let error = try await error(status, #"{"type":"\#(type)","detail":"words"}"#)
        #expect(error.outcome == outcome)
        #expect(error.status == status)
        #expect(error.message == "words")
    }

    @Test func `remedies and places are shown, and control characters are not`() async throws {
        let error = try await error(
            422,
            #"{"type":"/problems/manifest","detail":"2 problems\u001b[2J","remedy":"one\ntwo","errors":[{"line":14,"column":5,"#
                + #""message":"unknown filter","remedy":"did you mean 'gaussian'?"},{"message":"no\nplace"}]}"#)
        #expect(
            error.message
                == """
                2 problems\\u{1b}[2J
                   = one
                   = two
                line 14, column 5: unknown filter
                   = did you mean 'gaussian'?
                no\\u{a}place
                """)
        #expect(error.items.count == 2)
        #expect(error.kind == "manifest")
    }

    @Test func `of many problems the first ones are shown`() async throws {
        let items = Array(repeating: #"{"message":"m"}"#, count: 103).joined(separator: ",")
        let error = try await error(422, #"{"detail":"d","errors":[\#(items)]}"#)
        #expect(error.message.hasSuffix("\nm\n3 more problems are not shown"))
    }

    @Test(arguments: [
        (500, "the service has answered with status 500\n   = look whether a Penumbra service listens at this address"),
        (
            502,
            "the service has answered with status 502\n   = a proxy has answered: look whether the service runs behind it"
        ),
    ])
    func `an answer that is no problem is reported by its status`(status: Int, message: String) async throws {
        #expect(try await error(status, "<html>", type: "text/html").message == message)
        #expect(try await error(status, "{", type: "application/problem+json").message == message)
        #expect(try await error(status, nil).message == message)
    }
}
