import Foundation
@testable import HTTPService
import Queueing

/// Reads a request: the target in the first line, and fields of the head in the others.
@c(LLVMFuzzerTestOneInput)
public func fuzzRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let lines = Input(start, count).text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if let target = try? RequestTarget(lines[0]) { check(target, lines[0]) }
    check(headers(lines.dropFirst()))
    _ = (
        TokenText(lines[0]), TokenID(lines[0]), SessionSecret(lines[0]),
        InternetEndpoint(lines[0], port: 80)?.isLoopback
    )
    if let bytes = Base32.decode(lines[0][...]) {
        precondition(Base32.encode(bytes) == lines[0], "each value has one spelling")
    }
    if let filter = try? JobFilter(text: lines[0]) {
        precondition((try? JobFilter(text: filter.text)) == filter, "a filter that is written again is the same")
    }
    return 0
}

private func headers(_ lines: ArraySlice<String>) -> Headers {
    var headers = Headers()
    for line in lines {
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        if parts.count == 2 { headers.add(parts[0], parts[1]) }
    }
    return headers
}

private func check(_ target: RequestTarget, _ text: String) {
    for segment in target.segments {
        precondition(segment != "." && segment != ".." && !segment.contains("/"), "no segment leads elsewhere")
    }
    // Foundation decodes the same, except that it knows no plus sign.
    let path = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
    precondition(String(path).removingPercentEncoding == target.path, "Foundation decodes the same path")
    _ = (target.holdsToken, try? target.query.value("limit"))
    for method in ["GET", "HEAD", "DELETE", "OPTIONS", "BREW"] {
        guard case .route(let route, let parameters)? = try? routes.match(method, target) else { continue }
        precondition(parameters.values.allSatisfy { !$0.isEmpty }, "a parameter of \(route.pattern) has a value")
    }
}

private func check(_ headers: Headers) {
    _ = (headers.areSafe, headers["Host"])
    for secure in [false, true] {
        let cookie = SessionCookie(service: "ab12", isSecure: secure)
        precondition(cookie.secrets(in: headers).count <= SessionCookie.mostValues, "few values are looked up")
    }
    let request = APIRequest(headers: headers)
    _ = (request.takesGzip, try? request.requireMatch(EntityTag("a.b")))
    _ = APIResponse(status: 200).tagged(EntityTag("a.b"), for: request).status
    // A refusal is an ordinary result.
    try? HostNames(["farm.example.org"]).check(headers["Host"] ?? "")
    try? BrowserRules.check(headers, host: headers["Host"] ?? "", hasCookie: true)
    for name in [headers["Host"] ?? ""] where HostNames.isName(name) {
        precondition(!name.isEmpty && name.utf8.count <= 253, "a name of a host is short")
    }
}

private let routes: RouteTable = {
    let patterns: [(RequestMethod, String)] = [
        (.get, "/api/v1/jobs"), (.get, "/api/v1/jobs/{id}"), (.get, "/api/v1/jobs/actions"),
        (.delete, "/api/v1/jobs/{id}"),
        (.get, "/api/v1/runs/{run}/frames/{frame}"), (.get, "/api/v1/runs/{run}/frames/{frame}/crop"), (.get, "/"),
    ]
    return RouteTable(patterns.map { method, path in Route(method, path, .open) { _ in APIResponse(status: 200) } })
}()
