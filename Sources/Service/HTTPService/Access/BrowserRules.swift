/// What protects people whose browser shows pages of others, too.
///
/// A page of another site can make a browser send requests, with the cookies of this service. Browsers say in
/// `Sec-Fetch-Site` and `Origin` where a request comes from, and pages cannot change that.
package enum BrowserRules {
    /// Refuses requests that change something and come from another site's page.
    ///
    /// - Parameter hasCookie: A request with a cookie has to prove that it comes from the own page. Other clients send
    ///   neither header and no cookie.
    package static func check(_ headers: Headers, host: String, hasCookie: Bool) throws(Problem) {
        let sites = headers.all("Sec-Fetch-Site")
        let origins = headers.all("Origin")
        guard sites.allSatisfy({ $0 == "same-origin" || ($0 == "none" && !hasCookie) }) else { throw .foreignPage }
        // TLS is a proxy's, so the service does not know the scheme of its own page.
        guard
            origins.allSatisfy({ $0.equalsIgnoringCase("http://\(host)") || $0.equalsIgnoringCase("https://\(host)") })
        else { throw .foreignPage }
        if hasCookie, sites.isEmpty, origins.isEmpty { throw .foreignPage }
    }
}

/// The names by which a service may be called. A page of another site cannot use them for its own address: without this
/// rule it could point its own name at this machine, and read all answers (DNS rebinding).
package struct HostNames: Hashable, Sendable {
    let names: [String]

    /// - Parameter more: Beside `localhost`, `127.0.0.1` and `[::1]`. Without a port.
    package init(_ more: [String] = []) {
        names = ["localhost", "127.0.0.1", "[::1]"] + more.compactMap { Self.name(in: $0) }
    }

    /// Whether a text is a host's name without a port: `farm.example.org`, `192.168.0.7` or `[fe80::1]`.
    package static func isName(_ text: String) -> Bool {
        func consists(_ text: Substring, of others: String) -> Bool {
            !text.isEmpty
                && text.utf8.allSatisfy { byte in
                    UnicodeScalar(byte).properties.isASCIIHexDigit || others.utf8.contains(byte)
                }
        }
        guard text.utf8.count <= 253 else { return false }
        if text.hasPrefix("["), text.hasSuffix("]") { return consists(text.dropFirst().dropLast(), of: ":.") }
        return text != "." && consists(text[...], of: "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ.-_")
    }

    /// - Parameter host: The value of the header `Host`. Each port is right: rebinding changes names.
    package func check(_ host: String) throws(Problem) {
        guard let name = Self.name(in: host), names.contains(name) else { throw .unknownHost(names) }
    }

    private static func split(_ host: String) -> (name: Substring, port: Substring) {
        let end = host.hasPrefix("[") ? host.firstIndex(of: "]").map(host.index(after:)) : host.firstIndex(of: ":")
        let name = host[..<(end ?? host.endIndex)]
        return (name, host[name.endIndex...])
    }

    private static func name(in host: String) -> String? {
        let (name, port) = split(host)
        guard port.isEmpty || (port.first == ":" && port.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) })
        else {
            return nil
        }
        // A full stop at the end is the same name.
        let plain = name.hasSuffix(".") ? name.dropLast() : name
        return plain.isEmpty ? nil : String(plain).asciiLowercased
    }
}
