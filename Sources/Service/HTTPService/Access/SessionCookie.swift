/// The cookie of a browser that has shown a token.
package enum SessionCookie {
    /// The value of `Set-Cookie` that begins a session.
    ///
    /// - Parameter isSecure: Whether the browser uses TLS. Then the cookie has the prefix `__Host-`: neither another host nor
    ///   a page without TLS can set or read it.
    package static func header(for secret: SessionSecret, lifetime: Duration, isSecure: Bool) -> String {
        "\(name(isSecure))=\(secret.text); Path=/; Max-Age=\(lifetime.components.seconds); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    /// The value of `Set-Cookie` that ends a session.
    package static func removal(isSecure: Bool) -> String {
        "\(name(isSecure))=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    private static func name(_ isSecure: Bool) -> String { isSecure ? "__Host-penumbra" : "penumbra" }

    /// The secret in the headers of a request. Nil without one, and for a value that is none.
    package static func secret(in headers: Headers) -> SessionSecret? {
        let pairs = headers.all("Cookie").flatMap { $0.split(separator: ";") }.map { $0.trimming(" ") }
        for name in [name(true), name(false)] {
            for pair in pairs where pair.hasPrefix(name + "=") {
                if let secret = SessionSecret(pair.dropFirst(name.count + 1)) { return secret }
            }
        }
        return nil
    }
}
