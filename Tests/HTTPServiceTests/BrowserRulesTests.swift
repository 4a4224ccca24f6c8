import HTTPService
import Testing

@Suite struct BrowserRulesTests {
    private func isAllowed(_ headers: Headers, hasCookie: Bool) -> Bool {
        (try? BrowserRules.check(headers, host: "farm:8322", hasCookie: hasCookie)) != nil
    }

    @Test(
        arguments: [
            ["Sec-Fetch-Site": "same-origin"], ["Origin": "http://farm:8322"], ["Origin": "https://farm:8322"],
            ["Origin": "http://FARM:8322", "Sec-Fetch-Site": "same-origin"],
        ] as [Headers])
    func `the own page may use its cookie`(headers: Headers) { #expect(isAllowed(headers, hasCookie: true)) }

    @Test(
        arguments: [
            [:], ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"],
            ["Origin": "null"], ["Origin": "http://evil.example"], ["Origin": "http://farm"],
            ["Origin": "http://farm:8322.evil"],
            ["Origin": "farm:8322"], ["Origin": ""], ["Sec-Fetch-Site": "cross-site", "Origin": "http://farm:8322"],
            ["Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"],
        ] as [Headers])
    func `nobody else may use it`(headers: Headers) { #expect(!isAllowed(headers, hasCookie: true)) }

    @Test(arguments: [
        ("farm.example.org", true), ("FARM-7.local.", true), ("192.168.0.7", true), ("[fe80::1]", true), ("a_b", true),
        ("", false), (".", false), ("a b", false), ("farm:80", false), ("fe80::1", false), ("a/b", false),
        ("[]", false),
        ("ä", false),
    ])
    func `a host is named without a port`(text: String, isName: Bool) { #expect(HostNames.isName(text) == isName) }

    @Test func `a name with a full stop at its end is the name without it`() throws {
        try HostNames(["FARM-7.local."]).check("farm-7.local:8322")
    }

    @Test func `two values are as bad as a wrong one`() {
        var headers: Headers = ["Origin": "http://farm:8322"]
        headers.add("origin", "http://evil.example")
        #expect(!isAllowed(headers, hasCookie: true))
    }

    @Test func `a program without a cookie says nothing, and a foreign page is refused without one, too`() {
        #expect(isAllowed([:], hasCookie: false))
        #expect(isAllowed(["Sec-Fetch-Site": "none"], hasCookie: false))
        #expect(!isAllowed(["Sec-Fetch-Site": "cross-site"], hasCookie: false))
        #expect(!isAllowed(["Origin": "http://evil.example"], hasCookie: false))
    }

    @Test(arguments: [
        "localhost", "LOCALHOST", "localhost:1", "localhost:", "127.0.0.1:8322", "[::1]", "[::1]:8322", "farm.example",
        "Farm.Example.:443",
    ])
    func `the service has its names on every port`(host: String) throws { try HostNames(["farm.example"]).check(host) }

    @Test(arguments: [
        "", ".", ":80", "evil.example", "localhost.evil.example", "evil.localhost", "localhost:80:80", "localhost:x",
        "localhost@evil", "[::1", "::1", "127.0.0.2", "localhost/", "localhost,evil",
    ])
    func `other names are 421`(host: String) {
        #expect { try HostNames(["farm.example"]).check(host) } throws: { ($0 as? Problem)?.status == 421 }
    }
}
