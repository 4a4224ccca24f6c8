/// The headers that every answer has.
enum ResponseHeaders {
    /// Adds what the answer does not say itself: no sniffing of types, no caches, no use by pages of other sites.
    static func complete(_ headers: Headers) -> Headers {
        var headers = headers
        let always = [
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
            // An answer of the API that is opened as a page may load and run nothing.
            ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ]
        for (name, value) in always where headers[name] == nil { headers[name] = value }
        return headers
    }
}
