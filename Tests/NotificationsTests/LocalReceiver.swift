import Foundation
import Glibc
import Synchronization

/// A server on the loopback that takes one request, and answers with a status.
final class LocalReceiver: Sendable {
    let port: UInt16
    private let listener: Int32
    private let request = Mutex("")
    private let end = DispatchSemaphore(value: 0)

    /// - Parameter answer: The whole answer. Empty: the connection is closed without one.
    init(answer: String) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isReady else { throw POSIXError(.EADDRNOTAVAIL) }
        Thread.detachNewThread { [self] in
            serve(answer)
            end.signal()
        }
    }

    deinit { close(listener) }

    /// The request, after the receiver has answered it.
    func received() -> String {
        end.wait()
        return request.withLock { $0 }
    }

    private func serve(_ answer: String) {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while !Self.isWhole(bytes) {
            let count = read(connection, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        request.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
        _ = answer.withCString { write(connection, $0, answer.utf8.count) }
    }

    /// Whether the head and the whole body have come.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let parts = String(decoding: bytes, as: UTF8.self).split(
            separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        let length = parts[0].lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        return length.flatMap { Int($0.dropFirst(16)) }.map { parts[1].utf8.count >= $0 } ?? true
    }
}
