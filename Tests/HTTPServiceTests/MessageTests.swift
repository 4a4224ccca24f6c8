import HTTPService
import Queueing
import Testing

@Suite struct MessageTests {
    private func text(_ problem: Problem) -> String {
        guard case .bytes(let bytes) = problem.response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a problem is the JSON of RFC 9457`() {
        let problem = Problem(
            status: 422, kind: "manifest", title: "The manifest has errors", detail: "two",
            errors: [
                .init(line: 3, column: 7, message: "unknown filter 'gausian'", remedy: "did you mean 'gaussian'?"),
                .init(message: "no output"),
            ])
        #expect(
            text(problem)
                == #"{"detail":"two","errors":[{"column":7,"line":3,"message":"unknown filter 'gausian'","#
                + #""remedy":"did you mean 'gaussian'?"},{"message":"no output"}],"status":422,"#
                + #""title":"The manifest has errors","type":"/problems/manifest"}"#)
        #expect(problem.response.headers["Content-Type"] == "application/problem+json")
        #expect(problem.response.status == 422)
    }

    @Test func `text from outside cannot act on a terminal`() {
        let problem = Problem.notFound("/a\u{1b}[2J\u{202e}b")
        #expect(!text(problem).unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202e}" })
    }

    @Test func `the framework's problems say what to do`() {
        #expect(
            text(.tooManyRequests(retryAfter: 2))
                == #"{"remedy":"Wait 2 s.","status":429,"title":"The token has sent too many requests","#
                + #""type":"/problems/too-many-requests"}"#)
        #expect(
            text(.tooSlow("body", .milliseconds(1500)))
                == #"{"detail":"The body of a request must arrive within 1500 ms","status":408,"#
                + #""title":"The request came too slowly","type":"/problems/too-slow"}"#)
        #expect(Problem.tooManyRequests(retryAfter: 2).headers["retry-after"] == "2")
        #expect(Problem.unauthorized.headers["WWW-Authenticate"] == "Bearer")
    }

    /// The example of RFC 9110.
    @Test func `dates are those of HTTP`() {
        #expect(HTTPDate.text(WallTime(seconds: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(WallTime(seconds: 0)) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }

    @Test func `a user of the machine is admin, or has no access at all`() throws {
        for access in Access.allCases {
            try Caller.user(uid: 0, isAdmin: true).check(access)
            #expect(throws: Problem.otherUser(1001)) { try Caller.user(uid: 1001, isAdmin: false).check(access) }
        }
    }

    @Test func `headers are found without case, and replaced`() {
        var headers: Headers = ["ETag": "\"a\"", "x": "1", "X": "2"]
        #expect(headers["etag"] == "\"a\"")
        #expect(headers.all("X") == ["1", "2"])
        headers["x"] = "3"
        #expect(headers.all("X") == ["3"])
        headers["x"] = nil
        #expect(headers["X"] == nil)
    }

    @Test func `a header that would begin another one is not safe`() {
        #expect((["Location": "/jobs/1", "X": "é\t"] as Headers).areSafe)
        for (name, value) in [("A", "b\r\nC: d"), ("A", "\n"), ("A", "\0"), ("A b", "c"), ("", "c"), ("A:", "b")] {
            #expect(!([name: value] as Headers).areSafe, "\(name): \(value)")
        }
    }

    @Test func `a version that the client has is 304`() throws {
        let tag = try EntityTag(of: [1, 2, 3])
        #expect(try tag == EntityTag(of: [1, 2, 3]))
        #expect(try tag != EntityTag(of: [1, 2]))
        func status(_ header: String?, method: RequestMethod = .get) -> Int {
            var headers = Headers()
            headers["If-None-Match"] = header
            return APIResponse.json([1]).tagged(tag, for: APIRequest(method: method, headers: headers)).status
        }
        #expect(status(nil) == 200)
        #expect(status("\(tag)") == 304)
        #expect(status("W/\(tag)") == 304)
        #expect(status("\"other\", \(tag)") == 304)
        #expect(status("*") == 304)
        #expect(status("\"other\"") == 200)
        #expect(status("\(tag)", method: .post) == 200)
    }

    @Test func `what is shown beside a version decides on 304, and not on 412`() throws {
        let tag = try EntityTag(version: "abc", details: [1])
        let moved = try EntityTag(version: "abc", details: [2])
        #expect(tag.value.hasPrefix("abc.") && tag != moved)
        func status(_ seen: EntityTag) -> Int {
            let request = APIRequest(headers: ["If-None-Match": "\"x\", W/\(seen)"])
            return APIResponse.text("job").tagged(tag, for: request).status
        }
        #expect(status(tag) == 304)
        #expect(status(moved) == 200)
        for seen in ["\(tag)", "\(moved)", "W/\(moved)", "\"abc\"", "\"x\", \(moved)", "*"] {
            #expect(throws: Never.self) { try APIRequest(headers: ["If-Match": seen]).requireMatch(EntityTag("abc")) }
        }
        for seen in ["\"abd.1\"", "\"ab\"", "abc", "\"", ""] {
            #expect(throws: Problem.self) { try APIRequest(headers: ["If-Match": seen]).requireMatch(EntityTag("abc")) }
        }
    }

    @Test func `a change of another version is 412`() throws {
        let tag = EntityTag("17-3")
        try APIRequest().requireMatch(tag)
        try APIRequest(headers: ["If-Match": "\"17-3\""]).requireMatch(tag)
        try APIRequest(headers: ["If-Match": "*"]).requireMatch(tag)
        #expect(throws: Problem.changedMeanwhile(tag)) {
            try APIRequest(headers: ["If-Match": "\"17-2\""]).requireMatch(tag)
        }
    }

    @Test(arguments: [
        ("gzip", true), ("GZip", true), ("br, gzip;q=0.1", true), ("*", true), ("br, *;q=0.5", true),
        ("gzip; q=1", true),
        ("", false), ("identity", false), ("br", false), ("gzip;q=0", false), ("*, gzip;q=0", false), ("*;q=0", false),
        ("gzip;q=much", false), ("gzipped", false),
    ])
    func `a client takes gzip if it says so`(accepted: String, takesGzip: Bool) {
        #expect(APIRequest(headers: ["Accept-Encoding": accepted]).takesGzip == takesGzip)
    }

    @Test func `a client that says nothing of codings gets the bytes as they are`() {
        #expect(!APIRequest().takesGzip)
    }
}
