import HTTPService
import Testing

@Suite struct RequestTargetTests {
    @Test func `a path and a query are decoded`() throws {
        let target = try RequestTarget("/api/v1/jobs/night%20run?label=a%3Db&label=c+d&empty=&flag")
        #expect(target.segments == ["api", "v1", "jobs", "night run"])
        #expect(target.query.parameters.map(\.name) == ["label", "label", "empty", "flag"])
        #expect(target.query.all("label") == ["a=b", "c d"])
        #expect(try target.query.value("empty") == "")
        #expect(try target.query.value("missing") == nil)
    }

    @Test(arguments: [
        "", "*", "jobs", "http://localhost/jobs", "//", "/a/../b", "/a/..", "/.", "/%2e%2e/b", "/%2E./b", "/a%2fb",
        "/a%2Fb",
        "/%00", "/a%0ab", "/%7f", "/%", "/%4", "/%zz", "/%ff", "/%c0%af", "/a b", "/a#b", "/\u{e9}", "/a?%", "/a?%ff=1",
        "/a?=1", "/a?x=%00",
    ])
    func `a path that could be read in two ways is refused`(text: String) {
        if text == "//" {
            // Two empty segments match no route.
            #expect(throws: Never.self) { try RequestTarget(text) }
        } else {
            #expect { try RequestTarget(text) } throws: { ($0 as? Problem)?.status == 400 }
        }
    }

    @Test func `a long path and many parameters are refused`() {
        #expect(throws: Problem.self) { try RequestTarget("/" + String(repeating: "a", count: 8 << 10)) }
        let pairs = Array(repeating: "a=1", count: 65).joined(separator: "&")
        #expect(throws: Problem.self) { try RequestTarget("/?" + pairs) }
        #expect(throws: Never.self) { try RequestTarget("/?" + pairs.dropLast(4)) }
    }

    @Test func `a parameter that may occur once is refused twice`() throws {
        let query = try RequestTarget("/?limit=1&limit=2").query
        #expect(throws: Problem.repeatedParameter("limit")) { try query.value("limit") }
    }

    @Test(arguments: [
        "/?token=abc", "/?TOKEN=abc", "/?access_token=1", "/?x=pnb_abc", "/?x=PNB_abc", "/?pnb_abc=1", "/?x=%70nb_abc",
        "/pnb_abcdefgh_x", "/jobs/pnb_1",
    ])
    func `a token in an address is found`(text: String) throws { #expect(try RequestTarget(text).holdsToken) }

    @Test(arguments: ["/", "/jobs?state=failed", "/tokens", "/jobs?label=tokens%3D1", "/pnb"])
    func `other addresses hold no token`(text: String) throws { #expect(try !RequestTarget(text).holdsToken) }
}
