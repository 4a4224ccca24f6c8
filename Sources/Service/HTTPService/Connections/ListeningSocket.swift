import Glibc

/// A socket that accepts connections. It is closed with its owner, unless the descriptor was taken.
struct ListeningSocket: ~Copyable {
    let kind: Listener.Kind
    /// For people: a path, or an address with its port.
    let name: String
    /// The port of an internet socket.
    let port: UInt16?
    /// The file of a socket that this process has created.
    let createdFile: CreatedFile?
    private var descriptor: Int32

    /// Two files are one if their device and inode are equal: a later service may have replaced the file.
    struct CreatedFile: Hashable, Sendable {
        let path: String
        let device: UInt
        let inode: UInt
    }

    private init(kind: Listener.Kind, name: String, port: UInt16?, createdFile: CreatedFile?, descriptor: Int32) {
        self.kind = kind
        self.name = name
        self.port = port
        self.createdFile = createdFile
        self.descriptor = descriptor
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Hands the descriptor over to somebody who closes it.
    mutating func takeDescriptor() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }

    static let backlog: Int32 = 256
    private static let longestPath = 107

    // MARK: Unix domain sockets

    /// Creates a socket file, and replaces one that a dead service has left.
    ///
    /// No other user can connect in between, because the file has its mode from the beginning.
    static func unix(_ kind: Listener.Kind, path: String) throws(ListenerError) -> ListeningSocket {
        func failure(_ problem: ListenerError.Problem) -> ListenerError { ListenerError(place: path, problem: problem) }
        guard path.hasPrefix("/") else { throw failure(.notAbsolute) }
        guard path.utf8.count <= longestPath else { throw failure(.pathTooLong(bytes: path.utf8.count)) }
        if kind == .control { try checkFolder(of: path) }
        try removeDead(path)

        let descriptor = socket(AF_UNIX, streamType, 0)
        guard descriptor >= 0 else { throw failure(.system(call: "socket", code: errno)) }
        var isDone = false
        defer { if !isDone { close(descriptor) } }
        let mode: mode_t = kind == .control ? 0o600 : 0o660
        // Linux gives the file the mode of the socket, less the umask.
        guard fchmod(descriptor, mode) == 0 else { throw failure(.system(call: "fchmod", code: errno)) }
        guard withUnixAddress(path, { Glibc.bind(descriptor, $0, $1) }) == 0 else { throw failure(problem(of: errno)) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure(.system(call: "lstat", code: errno)) }
        // Only ever adds what the umask took away.
        guard chmod(path, mode) == 0 else { throw failure(.system(call: "chmod", code: errno)) }
        guard listen(descriptor, backlog) == 0 else { throw failure(.system(call: "listen", code: errno)) }
        isDone = true
        return ListeningSocket(
            kind: kind, name: path, port: nil,
            createdFile: CreatedFile(path: path, device: UInt(status.st_dev), inode: UInt(status.st_ino)),
            descriptor: descriptor)
    }

    /// Only the user of the service may be able to reach, or replace, the control socket.
    private static func checkFolder(of path: String) throws(ListenerError) {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        let folder = end == path.startIndex ? "/" : String(path[..<end])
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw ListenerError(
                place: path, problem: errno == ENOENT ? .folderMissing : .system(call: "stat", code: errno))
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw ListenerError(place: folder, problem: .folderIsOpen(mode: UInt32(status.st_mode & 0o7777)))
        }
    }

    /// Removes a socket file at which nobody answers. Two services at once are kept apart by the service's lock, not here.
    private static func removeDead(_ path: String) throws(ListenerError) {
        func failure(_ problem: ListenerError.Problem) -> ListenerError { ListenerError(place: path, problem: problem) }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw failure(errno == ENOTDIR ? .folderMissing : problem(of: errno))
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw failure(.otherFile) }
        let probe = socket(AF_UNIX, streamType, 0)
        guard probe >= 0 else { throw failure(.system(call: "socket", code: errno)) }
        defer { close(probe) }
        // Never blocks: a full queue of connections is EAGAIN, which is an answer, too.
        let isAnswered = withUnixAddress(path) { Glibc.connect(probe, $0, $1) } == 0 || errno == EAGAIN
        if isAnswered { throw failure(.served) }
        guard errno == ECONNREFUSED else { throw failure(problem(of: errno)) }
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(problem(of: errno)) }
    }

    /// Removes the file of a socket, unless another service has replaced it.
    static func remove(_ file: CreatedFile) {
        var status = stat()
        guard lstat(file.path, &status) == 0, UInt(status.st_dev) == file.device, UInt(status.st_ino) == file.inode
        else { return }
        // If it stays, the next service finds it dead.
        _ = unlink(file.path)
    }

    private static func problem(of code: Int32) -> ListenerError.Problem {
        switch code {
        case ENOENT: .folderMissing
        case EACCES, EPERM, EROFS: .noPermission(isPort: false)
        case EADDRINUSE: .served
        default: .system(call: "bind", code: code)
        }
    }

    private static func withUnixAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static var streamType: Int32 {
        Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    }

    // MARK: Ports

    static func internet(_ address: String, port: UInt16) throws(ListenerError) -> ListeningSocket {
        let place = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
        func failure(_ problem: ListenerError.Problem) -> ListenerError {
            ListenerError(place: place, problem: problem)
        }
        guard let endpoint = InternetEndpoint(address, port: port) else { throw failure(.notAnAddress) }
        let descriptor = socket(endpoint.family, streamType, 0)
        guard descriptor >= 0 else {
            throw failure(errno == EAFNOSUPPORT ? .addressMissing : .system(call: "socket", code: errno))
        }
        var isDone = false
        defer { if !isDone { close(descriptor) } }
        var one: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        // A service that starts again would otherwise wait for the connections of the last one to be forgotten.
        guard setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size) == 0,
            endpoint.family == AF_INET || setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, size) == 0
        else { throw failure(.system(call: "setsockopt", code: errno)) }
        guard endpoint.withAddress({ Glibc.bind(descriptor, $0, $1) }) == 0, listen(descriptor, backlog) == 0 else {
            switch errno {
            case EADDRINUSE: throw failure(.portInUse)
            case EACCES: throw failure(.noPermission(isPort: true))
            case EADDRNOTAVAIL: throw failure(.addressMissing)
            case let code: throw failure(.system(call: "bind", code: code))
            }
        }
        guard let bound = InternetEndpoint(boundTo: descriptor) else {
            throw failure(.system(call: "getsockname", code: errno))
        }
        isDone = true
        return ListeningSocket(
            kind: .http, name: "\(bound)", port: bound.port, createdFile: nil, descriptor: descriptor)
    }

    // MARK: Sockets from systemd

    static func inherited(
        _ descriptor: Int32, _ kind: Listener.Kind, isBehindProxy: Bool
    ) throws(ListenerError) -> ListeningSocket {
        let place = "socket '\(kind.rawValue)' (descriptor \(descriptor))"
        func failure(_ problem: ListenerError.Problem) -> ListenerError {
            ListenerError(place: place, problem: problem)
        }
        guard option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN, of: descriptor) == 1
        else { throw failure(.notListening) }
        let endpoint = InternetEndpoint(boundTo: descriptor)
        let isUnix = option(SO_DOMAIN, of: descriptor) == AF_UNIX
        guard kind == .http ? endpoint != nil : isUnix else { throw failure(.wrongFamily(name: kind.rawValue)) }
        if let endpoint, !endpoint.isLoopback, !isBehindProxy { throw failure(.notBehindProxy) }
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
        else { throw failure(.system(call: "fcntl", code: errno)) }
        return ListeningSocket(
            kind: kind, name: endpoint.map { "\($0)" } ?? place, port: endpoint?.port, createdFile: nil,
            descriptor: descriptor)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
}
