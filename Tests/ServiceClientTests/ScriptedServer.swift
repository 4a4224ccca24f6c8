import Foundation
import Glibc
import ServiceClient
import Synchronization
import TestSupport

/// A server at a real socket that answers each connection with given bytes, whatever was asked. It has a thread of its
/// own.
final class ScriptedServer: Sendable {
    /// What happens with one connection after its request has come.
    enum Step: Sendable {
        /// Writes the bytes and closes.
        case answer([UInt8])
        /// Writes each byte by itself.
        case dribble([UInt8])
        /// Writes, and stays open until the client goes away.
        case stay([UInt8])
        /// Writes without reading the request.
        case unasked([UInt8])

        static func answer(_ text: String) -> Step { .answer(Array(text.utf8)) }
        static func stay(_ text: String) -> Step { .stay(Array(text.utf8)) }
    }

    let folder: TemporaryFolder
    var path: String { folder.file("control.sock") }
    private let requests = Mutex<[String]>([])
    private let listener: Int32

    /// After the last step, nobody listens any more.
    init(_ steps: [Step]) throws {
        folder = try TemporaryFolder()
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(folder.file("control.sock").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let descriptor = listener
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard bound == 0, listen(listener, 16) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { self.serve(steps) }
    }

    /// The requests so far, as they came.
    var received: [String] { requests.withLock { $0 } }

    func client(token: BearerToken? = nil, _ change: (inout APIClient.Options) -> Void = { _ in }) throws -> APIClient {
        var options = APIClient.Options()
        options.pause = { _ in }
        change(&options)
        return APIClient(try ServiceAddress(text: path), token: token, options: options)
    }

    private func serve(_ steps: [Step]) {
        for (index, step) in steps.enumerated() {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            // Closed before the last answer ends, so that a client that comes again finds nobody.
            if index == steps.count - 1 { close(listener) }
            carryOut(step, connection)
            close(connection)
        }
        if steps.isEmpty { close(listener) }
    }

    private func carryOut(_ step: Step, _ connection: Int32) {
        switch step {
        case .answer(let bytes):
            readRequest(connection)
            write(bytes, connection)
        case .dribble(let bytes):
            readRequest(connection)
            for byte in bytes { write([byte], connection) }
        case .stay(let bytes):
            readRequest(connection)
            write(bytes, connection)
            while !read(connection).isEmpty {}
        case .unasked(let bytes): write(bytes, connection)
        }
    }

    private func readRequest(_ connection: Int32) {
        var bytes: [UInt8] = []
        while true {
            let more = read(connection)
            bytes += more
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let length = text[..<end.lowerBound].split(separator: "\r\n")
                    .first { $0.hasPrefix("Content-Length: ") }
                    .flatMap { Int($0.dropFirst("Content-Length: ".count)) }
                if text[end.upperBound...].utf8.count >= length ?? 0 || more.isEmpty {
                    return requests.withLock { $0.append(text) }
                }
            } else if more.isEmpty {
                return requests.withLock { $0.append(text) }
            }
        }
    }

    private func read(_ connection: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    private func write(_ bytes: [UInt8], _ connection: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}

/// Carries a body out on a thread of its own, because calls of the client block.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { answer in
        Thread.detachNewThread { answer.resume(returning: body()) }
    }
}

/// The error of a body that blocks. Nil if it has none.
func failure(_ body: @escaping @Sendable () throws -> Void) async -> ServiceError? {
    await onThread {
        do {
            try body()
            return nil
        } catch {
            return error as? ServiceError
        }
    }
}
