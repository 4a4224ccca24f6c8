import Glibc

/// A connection to a service. Its calls block, each no longer than the given time.
struct Connection: ~Copyable {
    private let descriptor: Int32

    deinit { close(descriptor) }

    init(to place: ServiceAddress.Place, within limit: Duration) throws(ExchangeFault) {
        let family =
            switch place {
            case .socket: AF_UNIX
            case .port(_, let isIPv6): isIPv6 ? AF_INET6 : AF_INET
            }
        let opened = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard opened >= 0 else { throw .notConnected(code: errno) }
        // Connecting blocks, because a socket in the file system cannot wait for its place in another way. This limits it.
        var time = timeval(tv_sec: Int(limit.components.seconds) + 1, tv_usec: 0)
        setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let code = Self.connect(opened, place)
        guard code == 0, fcntl(opened, F_SETFL, O_NONBLOCK) == 0 else {
            let failure = code == 0 ? errno : code
            close(opened)
            switch failure {
            case ENOENT, ECONNREFUSED, ENOTDIR: throw .noListener
            case EAGAIN, EINPROGRESS, EALREADY: throw .silent(limit)
            default: throw .notConnected(code: failure)
            }
        }
        descriptor = opened
    }

    /// 0, or the error.
    private static func connect(_ descriptor: Int32, _ place: ServiceAddress.Place) -> Int32 {
        switch place {
        case .socket(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            let isShort = withUnsafeMutableBytes(of: &address.sun_path) { space in
                // The rest stays zero and ends the path.
                guard bytes.count < space.count else { return false }
                space.copyBytes(from: bytes)
                return true
            }
            return isShort ? connect(descriptor, to: &address) : ENAMETOOLONG
        case .port(let port, isIPv6: false):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            return connect(descriptor, to: &address)
        case .port(let port, isIPv6: true):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return connect(descriptor, to: &address)
        }
    }

    private static func connect<Address>(_ descriptor: Int32, to address: inout Address) -> Int32 {
        let size = socklen_t(MemoryLayout<Address>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                while true {
                    if Glibc.connect(descriptor, pointer, size) == 0 || errno == EISCONN { return 0 }
                    // A signal came. The kernel goes on connecting, and the next call waits again.
                    guard errno == EINTR else { return errno }
                }
            }
        }
    }

    /// Sends bytes until all are sent, or until an answer comes: a service may refuse a request before it has read all of
    /// it. A connection that the other side has ended is no error, because its answer may be there.
    func send(_ bytes: [UInt8], until deadline: Deadline) throws(ExchangeFault) {
        var sent = 0
        while sent < bytes.count {
            let events = try wait(for: POLLIN | POLLOUT, until: deadline)
            guard events & POLLOUT != 0 else { return }
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
                continue
            }
            switch errno {
            case EINTR, EAGAIN: continue
            case EPIPE, ECONNRESET: return
            default: throw .broken(code: errno)
            }
        }
    }

    /// The next bytes. Empty at the end.
    func receive(until deadline: Deadline) throws(ExchangeFault) -> [UInt8] {
        while true {
            _ = try wait(for: POLLIN, until: deadline)
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { space, count in
                let received = recv(descriptor, space.baseAddress, space.count, 0)
                failure = received < 0 ? errno : 0
                count = max(0, received)
            }
            if failure == 0 { return bytes }
            guard failure == EINTR || failure == EAGAIN else { throw .broken(code: failure) }
        }
    }

    private func wait(for events: Int32, until deadline: Deadline) throws(ExchangeFault) -> Int32 {
        var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let count = poll(&waiting, 1, deadline.milliseconds)
            if count > 0 { return Int32(waiting.revents) }
            if count == 0 { throw .silent(deadline.limit) }
            guard errno == EINTR else { throw .broken(code: errno) }
        }
    }
}

/// When something has to be done.
struct Deadline {
    /// How long it was away at first, for messages.
    let limit: Duration
    private let end: ContinuousClock.Instant

    init(in limit: Duration) {
        self.limit = limit
        end = .now + limit
    }

    /// The earlier one of two.
    static func earlier(_ a: Deadline, _ b: Deadline) -> Deadline { a.end < b.end ? a : b }

    /// The time that is left, for `poll`. Rounded up, so that it does not return just before.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = max(.zero, end - .now).components
        return Int32(
            clamping: min(seconds, 1 << 20) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
