import FoundationEssentials
import JobModel

/// The answer of a route's handler.
package struct APIResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        case stream(ByteStream)
    }

    package var status: Int
    package var headers: Headers
    package var body: Body

    package init(status: Int = 200, headers: Headers = Headers(), body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Bytes of JSON, in which characters that a terminal would obey are escaped. Answers of the API are never kept by
    /// caches.
    package static func json(_ bytes: [UInt8], status: Int = 200, headers: Headers = Headers()) -> APIResponse {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return APIResponse(status: status, headers: headers, body: .bytes(VisibleText.json(bytes)))
    }

    package static func json(
        encoding value: some Encodable, status: Int = 200, headers: Headers = Headers()
    ) throws -> APIResponse { json(try JSONBytes.encode(value), status: status, headers: headers) }

    /// Lines of text. Whoever reads them in a terminal sees no characters that it obeys.
    package static func text(_ text: String, status: Int = 200) -> APIResponse {
        APIResponse(
            status: status, headers: ["Content-Type": "text/plain; charset=utf-8"],
            body: .bytes(Array(VisibleText.lines(text).utf8)))
    }

    package static func empty(status: Int = 204, headers: Headers = Headers()) -> APIResponse {
        APIResponse(status: status, headers: headers)
    }

    /// A document, script, style sheet or picture of the service's page. It may load only what the service itself serves.
    ///
    /// - Parameter gzip: the same bytes compressed, for clients that take them so. They have a tag of their own.
    package static func page(
        _ bytes: [UInt8], gzip: [UInt8]? = nil, contentType: String, for request: APIRequest
    ) throws -> APIResponse {
        let compressed = request.takesGzip ? gzip : nil
        let bytes = compressed ?? bytes
        var response = APIResponse(headers: ["Content-Type": contentType], body: .bytes(bytes))
        if gzip != nil { response.headers["Vary"] = "Accept-Encoding" }
        response.headers["Content-Security-Policy"] =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
            + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response = response.tagged(try EntityTag(of: bytes), for: request)
        if compressed != nil, response.status == 200 { response.headers["Content-Encoding"] = "gzip" }
        return response
    }
}

enum JSONBytes {
    /// Keys are sorted, so that equal values have equal bytes and equal tags.
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}

/// A body whose chunks are sent as they come.
package struct ByteStream: Sendable {
    /// Sends chunks, and waits while the connection is full. It throws once the client has gone.
    package struct Writer: Sendable {
        let send: @Sendable ([UInt8]) async throws -> Void

        package init(send: @escaping @Sendable ([UInt8]) async throws -> Void) { self.send = send }

        package func write(_ bytes: [UInt8]) async throws { try await send(bytes) }
    }

    /// Whether the stream goes on until somebody ends it. Its connection then does not count as one of a listener's.
    package let isEndless: Bool
    /// Writes all chunks. Its task is cancelled when the client goes away, its token is revoked, or the service stops.
    package let write: @Sendable (Writer) async throws -> Void

    package init(isEndless: Bool = false, write: @escaping @Sendable (Writer) async throws -> Void) {
        self.isEndless = isEndless
        self.write = write
    }
}
