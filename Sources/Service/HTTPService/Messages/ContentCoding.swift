/// Which codings a client takes for an answer (RFC 9110, section 12.5.3).
extension APIRequest {
    /// Whether `Accept-Encoding` names gzip, or everything, with a weight that is not 0.
    package var takesGzip: Bool {
        var weights: [String: Double] = [:]
        for item in headers.all("Accept-Encoding").joined(separator: ",").split(separator: ",") {
            let parts = item.split(separator: ";").map { $0.trimming(" ") }
            guard let name = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }.map { $0.dropFirst(2) }
            // A weight that cannot be read refuses the coding.
            weights[String(name).asciiLowercased] = weight.map { Double($0) ?? 0 } ?? 1
        }
        return (weights["gzip"] ?? weights["*"] ?? 0) > 0
    }
}
