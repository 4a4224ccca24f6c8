import Coordination
import Glibc
import HTTPService
import TestSupport
import Testing

@Suite struct ListenerTests {
    private func server(
        _ listeners: [Listener], isBehindProxy: Bool = false
    ) throws -> HTTPServer {
        var options = HTTPServer.Options(listeners: listeners)
        options.isBehindProxy = isBehindProxy
        return HTTPServer(
            options, routes: RouteTable(TestRoutes.all), authenticator: try TestTokens(), logger: TestLog().logger)
    }

    private func failure(_ listener: Listener, isBehindProxy: Bool = false) throws -> String? {
        do {
            try server([listener], isBehindProxy: isBehindProxy).bind()
            return nil
        } catch let error as ListenerError {
            return error.description
        }
    }

    /// A folder of mode 0700.
    private func folder() throws -> (TemporaryFolder, String) {
        let folder = try TemporaryFolder()
        try #require(mkdir(folder.file("private"), 0o700) == 0)
        return (folder, folder.file("private"))
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func `sockets are open to those whom they are for`() throws {
        let (outer, folder) = try folder()
        let server = try server([.control(path: folder + "/control.sock"), .web(path: outer.file("web.sock"))])
        let bound = try server.bind()
        #expect(bound.map(\.kind) == [.control, .web])
        #expect(mode(folder + "/control.sock") == 0o600)
        #expect(mode(outer.file("web.sock")) == 0o660)
    }

    @Test func `a server that never runs leaves no socket file`() throws {
        let (outer, folder) = try folder()
        do { try server([.control(path: folder + "/control.sock")]).bind() }
        #expect(mode(folder + "/control.sock") == 0)
        _ = outer
    }

    @Test func `a dead service's socket is replaced`() throws {
        let (outer, folder) = try folder()
        let path = folder + "/control.sock"
        try leaveDeadSocket(path)
        let bound = try server([.control(path: path)]).bind()
        #expect(bound.map(\.name) == [path])
        _ = outer
    }

    private func leaveDeadSocket(_ path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
    }

    @Test func `a live service's socket is not taken`() throws {
        let (outer, folder) = try folder()
        let path = folder + "/control.sock"
        let first = try server([.control(path: path)])
        try first.bind()
        #expect(
            try failure(.control(path: path)) == """
                \(path): error: another process answers at this socket
                   = stop that service first, or choose another folder by --service-dir
                """)
        withExtendedLifetime((outer, first)) {}
    }

    @Test func `a file that is no socket is kept`() throws {
        let (outer, folder) = try folder()
        let path = folder + "/control.sock"
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        close(file)
        #expect(
            try failure(.control(path: path)) == """
                \(path): error: there is a file that is no socket
                   = move it away, or choose another folder by --service-dir
                """)
        #expect(mode(path) == 0o600)
        _ = outer
    }

    @Test func `the folder of the control socket is for its user alone`() throws {
        let folder = try TemporaryFolder()
        #expect(
            try failure(.control(path: folder.file("control.sock"))) == """
                \(folder.path): error: the folder of the control socket is open to other users (mode 0755, or another owner)
                   = it must belong to the user of the service, with mode 0700: chmod 0700 FOLDER
                """)
    }

    @Test func `a path that is too long, not whole, or without a folder is refused with words`() throws {
        let long = "/tmp/" + String(repeating: "x", count: 103)
        #expect(
            try failure(.web(path: long)) == """
                \(long): error: the path of a socket may have 107 bytes, and this one has 108
                   = choose a shorter folder by --service-dir
                """)
        #expect(
            try failure(.web(path: "web.sock")) == """
                web.sock: error: the path of a socket must begin with '/'
                   = write the whole path
                """)
        let folder = try TemporaryFolder()
        let missing = folder.file("missing/web.sock")
        #expect(
            try failure(.web(path: missing)) == """
                \(missing): error: the folder of the socket does not exist
                   = create it with mode 0700
                """)
    }

    @Test func `a port that is in use is refused with words`() throws {
        let first = try server([.loopback(port: 0)])
        let port = try #require(try first.bind().compactMap(\.port).first)
        #expect(
            try failure(.loopback(port: port)) == """
                127.0.0.1:\(port): error: another process uses this port
                   = choose another port by --listen, or stop that process
                """)
        withExtendedLifetime(first) {}
    }

    @Test func `other networks are for proxies`() throws {
        #expect(
            try failure(.address("0.0.0.0", port: 0)) == """
                0.0.0.0:0: error: the service speaks no TLS, so it does not listen on addresses of other networks
                   = listen on 127.0.0.1, or set behind_proxy: true if a proxy with TLS is in front
                """)
        #expect(try failure(.address("0.0.0.0", port: 0), isBehindProxy: true) == nil)
        #expect(try failure(.address("127.0.0.1", port: 0)) == nil)
        #expect(
            try failure(.address("farm.example", port: 0)) == """
                farm.example: error: this is not an IP address
                   = write an address such as 127.0.0.1 or ::1, not a name
                """)
        #expect(
            try failure(.address("192.0.2.1", port: 0), isBehindProxy: true) == """
                192.0.2.1:0: error: this machine does not have this address
                   = 'ip address' lists the addresses
                """)
    }

    @Test func `if one socket fails, none stays open`() throws {
        let (outer, folder) = try folder()
        let path = folder + "/control.sock"
        #expect(throws: ListenerError.self) {
            try server([.control(path: path), .address("nowhere", port: 0)]).bind()
        }
        #expect(mode(path) == 0)
        _ = outer
    }

    @Test func `systemd's sockets are known by their names`() throws {
        let environment = ["LISTEN_PID": "17", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "control:web:http"]
        #expect(
            try InheritedSockets.listeners(in: environment, process: 17) == [
                .inherited(descriptor: 3, .control), .inherited(descriptor: 4, .web), .inherited(descriptor: 5, .http),
            ])
    }

    @Test(
        arguments: [
            [:], ["LISTEN_PID": "18", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "http"], ["LISTEN_PID": "17"],
            ["LISTEN_PID": "17", "LISTEN_FDS": "0"], ["LISTEN_PID": "17", "LISTEN_FDS": "-1"],
            ["LISTEN_PID": "17", "LISTEN_FDS": "x"],
        ] as [[String: String]])
    func `sockets for another process are none`(environment: [String: String]) throws {
        #expect(try InheritedSockets.listeners(in: environment, process: 17).isEmpty)
    }

    @Test func `an unknown name of a socket is refused with words`() {
        let environment = ["LISTEN_PID": "17", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "penumbra.socket"]
        #expect {
            try InheritedSockets.listeners(in: environment, process: 17)
        } throws: {
            "\($0)" == """
                LISTEN_FDNAMES: error: systemd has passed a socket with the unknown name 'penumbra.socket'
                   = write FileDescriptorName=control, web or http in the .socket unit
                """
        }
        #expect(throws: ListenerError.self) {
            try InheritedSockets.listeners(in: ["LISTEN_PID": "17", "LISTEN_FDS": "1"], process: 17)
        }
        #expect(throws: ListenerError.self) {
            try InheritedSockets.listeners(in: ["LISTEN_PID": "17", "LISTEN_FDS": "17"], process: 17)
        }
    }

    @Test func `an inherited socket has to listen, and to be of its kind`() throws {
        let idle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(idle) }
        #expect(
            try failure(.inherited(descriptor: idle, .http)) == """
                socket 'http' (descriptor \(idle)): error: the socket from systemd does not listen
                   = use ListenStream= and Accept=no in the .socket unit
                """)
        try #require(listen(idle, 1) == 0)
        #expect(
            try failure(.inherited(descriptor: idle, .control)) == """
                socket 'control' (descriptor \(idle)): error: the socket 'control' from systemd has the wrong kind of address
                   = control and web are paths, http is a port
                """)
    }

    @Test func `a request that came before the service is answered`() async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Bool in
                Glibc.bind(descriptor, pointer, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        try #require(port)
        let place = Place.port(UInt16(bigEndian: address.sin_port))
        let server = try server([.inherited(descriptor: descriptor, .http)])
        async let answer = RawSocket.ask(place, TestService.head("GET", "/open"))
        let bound = try server.bind()
        #expect(bound.first?.name == "127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
        async let run: Void = server.run()
        #expect(try await answer.body == "open")
        server.stop()
        try await run
    }
}
