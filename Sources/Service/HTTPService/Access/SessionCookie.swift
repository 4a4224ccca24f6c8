/// The cookie of a browser that has shown a token.
///
/// Cookies belong to a host name, and not to a port or a path. So the name of the cookie has the ID of the service, and a
/// browser can be signed in to several services of one host.
package struct SessionCookie: Hashable, Sendable {
    package let name: String
    private let isSecure: Bool

    /// - Parameters:
    ///   - service: The ID of the service: letters and digits. The name ends with it, unless it is empty.
    ///   - isSecure: Whether the browser uses TLS. Then the cookie has the prefix `__Host-`: neither another host nor a page
    ///     without TLS can set or read it, and a cookie without the prefix is not accepted.
    package init(service: String, isSecure: Bool) {
        name = (isSecure ? "__Host-penumbra" : "penumbra") + (service.isEmpty ? "" : "-\(service)")
        self.isSecure = isSecure
    }

    /// The value of `Set-Cookie` that begins a session. The path is the whole host, so that it holds behind every prefix.
    package func header(for secret: SessionSecret, lifetime: Duration) -> String {
        header(secret.text, lifetime: lifetime)
    }

    /// The value of `Set-Cookie` that ends a session.
    package var removal: String { header("", lifetime: .zero) }

    private func header(_ value: String, lifetime: Duration) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(max(0, lifetime.components.seconds)); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    /// The most values of one request that are looked up.
    package static let mostValues = 4

    /// The secrets in the headers of a request, in the order of the headers. Values that are no secrets are left out.
    ///
    /// Another program of the host can set a cookie of the same name with a longer path. The browser then sends both, and the
    /// other one first.
    package func secrets(in headers: Headers) -> [SessionSecret] {
        let pairs = headers.all("Cookie").flatMap { $0.split(separator: ";") }.map { $0.trimming(" ") }
        let values = pairs.lazy.filter { $0.hasPrefix(name + "=") }.compactMap {
            SessionSecret($0.dropFirst(name.count + 1))
        }
        return Array(values.prefix(Self.mostValues))
    }
}
