import Foundation
import Glibc
import Synchronization

/// A server on the loopback that keeps all requests, and answers each with 204.
final class HookReceiver: Sendable {
    struct Request: Sendable {
        let head: String
        let body: String

        /// The value of a header of the head.
        func header(_ name: String) -> String? {
            let lines = head.components(separatedBy: "\r\n")
            return lines.first { $0.lowercased().hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    let port: UInt16
    private let listener: Int32
    private let received = Mutex<[Request]>([])

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isReady else { throw POSIXError(.EADDRNOTAVAIL) }
        // The thread ends when the listener is shut down, and does not keep this value.
        Thread.detachNewThread { [weak self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                let request = Self.answer(connection)
                guard let self else { break }
                if let request { received.withLock { $0.append(request) } }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var requests: [Request] { received.withLock { $0 } }

    private static func answer(_ connection: Int32) -> Request? {
        defer { close(connection) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(connection, &piece, piece.count)
            guard count > 0 else { return nil }
            bytes += piece.prefix(count)
            guard let request = request(bytes) else { continue }
            let answer = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            _ = answer.withCString { write(connection, $0, answer.utf8.count) }
            return request
        }
    }

    /// Nil before the head and the whole body have come.
    private static func request(_ bytes: [UInt8]) -> Request? {
        let parts = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n\r\n")
        guard parts.count > 1 else { return nil }
        let request = Request(head: parts[0], body: parts.dropFirst().joined(separator: "\r\n\r\n"))
        let length = request.header("content-length").flatMap { Int($0) } ?? 0
        return request.body.utf8.count >= length ? request : nil
    }
}
