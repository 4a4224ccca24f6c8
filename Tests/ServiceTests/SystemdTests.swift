import Foundation
import Glibc
import Queueing
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// The service under systemd: its sockets, its notices, and the units that are shipped.
@Suite(.serialized) struct SystemdTests {
    private static let project = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL
    private static let units = project.appending(path: "packaging/systemd")
    private static let launcher = project.appending(path: "Tests/ServiceTests/Support/systemd.py").path

    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(2)
        try farm.writeManifest()
    }

    /// The words that start the service as systemd does, with open sockets.
    private func launcher(_ sockets: String...) -> [String] { ["/usr/bin/python3", Self.launcher] + sockets + ["--"] }

    @Test func `sockets are taken over by their names, and are left to the next service`() async throws {
        let web = farm.folder.file("run/web.sock")
        let control = farm.serviceFolder.controlSocket
        try await farm.start(launcher: launcher("control=\(control)", "web=\(web)"))
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        // By the socket for a proxy everybody needs a token, also the service's own user.
        let asked = try await farm.penumbra("queue", "--server", web)
        #expect(asked.code == 64)
        #expect(asked.errors.contains("This address needs a token"))
        #expect(try await farm.end() == 0)
        // They are systemd's, which listens at them while no service runs.
        #expect(farm.exists("run/web.sock"))
        #expect(FileManager.default.fileExists(atPath: control))
    }

    @Test func `a socket of an unknown name ends the start with words`() async throws {
        try await farm.start(launcher: launcher("controls=\(farm.serviceFolder.controlSocket)"))
        #expect(try await farm.exitCode() == 69)
        #expect(farm.log.contains("controls"))
    }

    @Test func `systemd hears when the service is ready, and when it stops`() async throws {
        let notices = try NoticeSocket(at: farm.folder.file("notify"))
        try await farm.start(environment: ["NOTIFY_SOCKET": farm.folder.file("notify")])
        try await farm.wait { notices.receive() == "READY=1" }
        #expect(try await farm.end() == 0)
        try await farm.wait { notices.receive() == "STOPPING=1" }
    }

    @Test func `the name of the notices' socket may be abstract`() async throws {
        let name = "penumbra-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let notices = try NoticeSocket(at: "\0\(name)")
        try await farm.start(environment: ["NOTIFY_SOCKET": "@\(name)"])
        try await farm.wait { notices.receive() == "READY=1" }
        try await farm.end()
    }

    // MARK: Units

    /// The values of a unit file, by section and key, in order.
    private func unit(_ name: String) throws -> [String: [String]] {
        let text = try String(contentsOf: Self.units.appending(path: name), encoding: .utf8)
        var (values, section): ([String: [String]], String) = ([:], "")
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                section = String(line.dropFirst().dropLast())
            } else {
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                try #require(parts.count == 2, "\(name): \(line)")
                values["\(section).\(parts[0])", default: []].append(parts[1])
            }
        }
        return values
    }

    @Test func `each shipped socket has a name that the service knows, and rights that fit it`() async throws {
        let expected = [
            "penumbra.socket": ("control", "0600"), "penumbra-web.socket": ("web", "0660"),
            "penumbra-http.socket": ("http", nil),
        ]
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.units.path).filter {
            $0.hasSuffix(".socket")
        }
        #expect(Set(names) == Set(expected.keys))
        for (name, (socket, mode)) in expected {
            let unit = try unit(name)
            #expect(unit["Socket.FileDescriptorName"] == [socket], "\(name)")
            #expect(unit["Socket.SocketMode"] == mode.map { [$0] }, "\(name)")
            // A socket of another name belongs to the service only if it says so.
            #expect(name == "penumbra.socket" || unit["Socket.Service"] == ["penumbra.service"], "\(name)")
        }
        // Commands look for the service at the socket in its folder.
        #expect(try unit("penumbra.socket")["Socket.ListenStream"] == ["%S/penumbra-service/control.sock"])
        #expect(
            try unit("penumbra-http.socket")["Socket.ListenStream"]?.allSatisfy { $0.hasPrefix("127.0.0.1:") } == true)
    }

    @Test func `the other sockets close and open together with the control socket`() throws {
        for name in ["penumbra-http.socket", "penumbra-web.socket"] {
            let unit = try unit(name)
            // Systemd opens no socket of a service that runs. It stops the service with the control socket.
            #expect(unit["Unit.PartOf"] == ["penumbra.socket"], "\(name)")
            #expect(unit["Install.WantedBy"] == ["sockets.target penumbra.socket"], "\(name)")
        }
        #expect(try unit("penumbra.service")["Unit.Requires"] == ["penumbra.socket"])
    }

    @Test func `the shipped unit starts the service with options that it has, and says when it is ready`() async throws
    {
        let unit = try unit("penumbra.service")
        #expect(unit["Service.Type"] == ["notify"])
        var words = try #require(unit["Service.ExecStart"]?.first).split(separator: " ").map(String.init)
        #expect(words.first == "/usr/local/lib/penumbra/penumbra-service")
        words = words.map { $0.replacingOccurrences(of: "%S", with: farm.folder.file("lib")) }
        let folders = unit["Service.StateDirectory"]?.first?.split(separator: " ").map { farm.folder.file("lib/\($0)") }
        #expect(Set(words.filter { $0.hasPrefix("/") }.dropFirst()) == Set(folders ?? []))
        // Help is printed only if all options before it are known.
        let help = try await farm.run(
            "\(Farm.programs)/penumbra-service", Array(words.dropFirst()) + ["--workers", "0"])
        #expect(help.code == 64)
        #expect(help.errors.contains("--workers takes 1 to 1024, not 0."))
    }

    @Test(arguments: ["penumbra.service", "penumbra@.service"])
    func `outputs of a unit can be shared with a group, and messages name the unit`(name: String) throws {
        let unit = try unit(name)
        #expect(unit["Service.UMask"] == ["0002"])
        #expect(unit["Service.Environment"] == ["PENUMBRA_UNIT=%n"])
    }

    @Test func `the shipped unit allows what the service needs`() throws {
        let unit = try unit("penumbra.service")
        let calls = (unit["Service.SystemCallFilter"] ?? []).joined(separator: " ")
        for call in ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"] {
            #expect(calls.contains(call))
        }
        for refused in ["MemoryDenyWriteExecute", "ProcSubset", "PrivateUsers"] {
            #expect(unit["Service.\(refused)"] == nil, "\(refused)")
        }
        #expect(unit["Service.OOMPolicy"] == ["continue"])
        #expect(unit["Service.KillMode"] == ["mixed"])
        #expect(unit["Service.NoNewPrivileges"] == ["yes"])
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
    func `systemd finds nothing wrong with the shipped units`() async throws {
        var files: [String] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.units.path).sorted() {
            let text = try String(contentsOf: Self.units.appending(path: name), encoding: .utf8)
            // It looks for the programs, too.
            try farm.write(
                text.replacingOccurrences(of: "/usr/local/lib/penumbra/", with: "\(Farm.programs)/")
                    .replacingOccurrences(of: "/usr/local/bin/", with: "\(Farm.programs)/"),
                to: "units/\(name)")
            files.append(farm.folder.file("units/\(name)"))
        }
        let result = try await farm.run("/usr/bin/systemd-analyze", ["verify", "--man=no"] + files)
        #expect(result.code == 0)
        let words = result.errors.split(separator: "\n").filter { $0.contains("/units/penumbra") }
        #expect(words.isEmpty, "\(result.errors)")
    }
}

/// A socket for the notices of a service.
private final class NoticeSocket {
    private let descriptor: Int32

    /// - Parameter path: one that begins with a zero byte is the name of an abstract socket.
    init(at path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        try #require(bytes.count < room)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(result == 0)
    }

    deinit { close(descriptor) }

    /// The next notice; nil if none has come.
    func receive() -> String? {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
