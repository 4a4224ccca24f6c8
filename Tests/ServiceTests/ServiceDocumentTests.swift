import Foundation
import Glibc
import TestSupport
import Testing

/// The guides of the service: their commands work as they stand, one after the other, and answer what is shown below them.
@Suite(.serialized) struct ServiceDocumentTests {
    private static let project = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    let farm: Farm

    /// The folder that every guide begins with.
    init() throws {
        farm = try Farm()
        try FileManager.default.createDirectory(atPath: farm.folder.file("photos"), withIntermediateDirectories: true)
        for name in ["cat.jpg", "coffee.jpg", "rocket.jpg"] {
            let photo = farm.folder.file("photos/\(name)")
            try FileManager.default.copyItem(
                atPath: Self.project.appending(path: "jobs/photos/\(name)").path, toPath: photo)
            // A picture that has just been written may not be whole yet.
            let hourAgo = Date(timeIntervalSinceNow: -3600)
            try FileManager.default.setAttributes([.modificationDate: hourAgo], ofItemAtPath: photo)
        }
    }

    private static func commands(of page: String) throws -> [ShownCommand] {
        ShownCommand.all(in: try String(contentsOf: project.appending(path: page), encoding: .utf8))
    }

    /// Those of the first guide, up to the answer of an empty queue.
    private static func startOfService() throws -> [ShownCommand] {
        let commands = try commands(of: ServicePages.first)
        let start = try #require(commands.firstIndex { $0.text.hasPrefix("penumbra serve ") })
        return Array(commands[start..<min(start + 3, commands.count)])
    }

    @Test func `the guides have commands`() throws {
        #expect(try ServicePages.guides.reduce(0) { $0 + (try Self.commands(of: $1).count) } >= 60)
    }

    @Test(arguments: ServicePages.guides)
    func `a guide of the service shows what its commands do`(page: String) async throws {
        let port = try FreePort.find()
        var commands = try Self.commands(of: page)
        if page != ServicePages.first { commands = try Self.startOfService() + commands }
        defer { endService() }
        for command in commands {
            let text = command.text.replacingOccurrences(of: "8642", with: "\(port)")
            let result = try await farm.run(
                "/usr/bin/env",
                [
                    "-i", "HOME=\(farm.path)", "PATH=\(Farm.programs):/usr/bin:/bin", "/bin/bash", "-e", "-c",
                    "exec 2>&1\n\(text)",
                ])
            let context: Comment = "\(page):\(command.line): \(text)\n\(result.output)"
            // What follows a command that failed would fail, too.
            try #require(result.code == command.code, context)
            let missing = command.firstMissing(in: result.output)
            try #require(missing == nil, context)
        }
    }

    /// The service that a guide, or a failed test, has left.
    private func endService() {
        let lock = farm.folder.file(".local/state/penumbra-service/service.lock")
        let text = try? String(contentsOfFile: lock, encoding: .utf8)
        guard let process = text.flatMap({ pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }) else { return }
        // The number may be of another process by now.
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
        let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")
        if program?.hasSuffix("/penumbra-service") == true, folder == farm.path { kill(process, SIGKILL) }
    }
}
