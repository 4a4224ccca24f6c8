import Coordination
import Glibc

/// Where a test connects to.
enum Place: Sendable {
    case port(UInt16)
    case ipv6(UInt16)
    case unix(String)
}

struct SocketFailure: Error {
    let call: String
    let code: Int32
}

/// A socket of a test that sends exactly the given bytes. Its calls block, so each script has a thread of its own.
final class RawSocket {
    private let descriptor: Int32
    /// What has come and was not read.
    private var pending: [UInt8] = []
    private var isAtEnd = false

    /// Runs a script on a connection.
    static func talk<Value: Sendable>(
        to place: Place, _ script: @escaping @Sendable (RawSocket) throws -> Value
    ) async throws -> Value {
        try await Blocking.run { () throws -> Value in try script(RawSocket(to: place)) }
    }

    /// One request, with the answer.
    static func ask(_ place: Place, _ request: String) async throws -> Answer {
        try await talk(to: place) { socket in
            try socket.send(request)
            return try socket.answer()
        }
    }

    init(to place: Place) throws {
        let code: Int32
        switch place {
        case .port(let port):
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
            code = Self.connect(descriptor, &address)
        case .ipv6(let port):
            descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, "::1", &address.sin6_addr)
            code = Self.connect(descriptor, &address)
        case .unix(let path):
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            code = Self.connect(descriptor, &address)
        }
        guard code == 0 else { throw SocketFailure(call: "connect", code: errno) }
        // A test that waits for something that never comes fails, and does not hang.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw SocketFailure(call: "send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends a byte again and again until the other side has closed the connection.
    func drip(_ byte: UInt8) {
        while (try? send([byte])) != nil {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if Glibc.poll(&poll, 1, 5) > 0 { return }
        }
    }

    /// Waits until so many of the sockets have something to read, or are at their end.
    static func readable(_ count: Int, of sockets: [RawSocket]) throws -> [RawSocket] {
        var entries = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var found: [RawSocket] = []
        while found.count < count {
            guard poll(&entries, nfds_t(entries.count), 60_000) > 0 else {
                throw SocketFailure(call: "poll", code: errno)
            }
            for index in entries.indices where entries[index].fd >= 0 && entries[index].revents != 0 {
                found.append(sockets[index])
                // It is not looked at any more.
                entries[index].fd = -1
            }
        }
        return found
    }

    /// Sends nothing more. The other direction stays open.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// False at the end of the connection.
    private func receive() throws -> Bool {
        guard !isAtEnd else { return false }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 {
            pending += buffer[..<count]
            return true
        }
        guard count == 0 || errno == ECONNRESET else { throw SocketFailure(call: "recv", code: errno) }
        isAtEnd = true
        return false
    }

    /// Everything until the end of the connection.
    func everything() throws -> String {
        while try receive() {}
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
    }

    /// What comes up to a text, and the text. Less if the connection ends before.
    func text(through end: String) throws -> String {
        let end = Array(end.utf8)
        var searched = 0
        while true {
            if let range = pending[searched...].firstRange(of: end) {
                defer { pending.removeFirst(range.upperBound) }
                return String(decoding: pending[..<range.upperBound], as: UTF8.self)
            }
            searched = max(0, pending.count - end.count)
            guard try receive() else { return try everything() }
        }
    }

    func bytes(_ count: Int) throws -> [UInt8] {
        while pending.count < count, try receive() {}
        defer { pending.removeFirst(min(count, pending.count)) }
        return Array(pending.prefix(count))
    }

    /// The next answer, with the body that its head announces.
    func answer(toHead isHead: Bool = false) throws -> Answer {
        let head = try text(through: "\r\n\r\n")
        var answer = Answer(head: head)
        if isHead || [100, 204, 304].contains(answer.status) { return answer }
        if let length = answer["Content-Length"].flatMap({ Int($0) }) {
            answer.body = String(decoding: try bytes(length), as: UTF8.self)
        } else if answer["Transfer-Encoding"] == "chunked" {
            while let chunk = try chunk() { answer.body += chunk }
        } else {
            answer.body = try everything()
        }
        return answer
    }

    /// The next chunk of a stream. Nil at its proper end, and if the connection ends.
    func chunk() throws -> String? {
        let size = try text(through: "\r\n")
        guard let count = Int(size.prefix { $0.isHexDigit }, radix: 16) else { return nil }
        let data = try bytes(count + 2)
        return count == 0 ? nil : String(decoding: data.dropLast(2), as: UTF8.self)
    }

    /// Whether the other side has closed the connection: nothing more comes.
    func isClosed() throws -> Bool { try everything().isEmpty }
}

struct Answer: Sendable {
    let head: String
    var body = ""

    /// 0 if the connection ended without an answer.
    var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }

    subscript(name: String) -> String? {
        for line in head.split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == name.lowercased() { return String(parts[1]).trimmed }
        }
        return nil
    }

    /// The `type` of a problem, without its folder.
    var problem: String? {
        guard self["Content-Type"] == "application/problem+json",
            let start = body.firstRange(of: #""type":"/problems/"#)
        else { return nil }
        return String(body[start.upperBound...].prefix { $0 != "\"" })
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
