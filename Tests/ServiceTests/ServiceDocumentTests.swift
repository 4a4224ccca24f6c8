import Foundation
import Glibc
import TestSupport
import Testing

/// The service's page: its commands work as they stand, one after the other, and answer what is shown below them.
@Suite(.serialized) struct ServiceDocumentTests {
    private static let project = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL
    private static let page = project.appending(path: "docs/service.md")

    let farm: Farm

    /// The folder that the page begins with.
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

    @Test func `the service's page shows what its commands do`() async throws {
        let port = try FreePort.find()
        let commands = ShownCommand.all(in: try String(contentsOf: Self.page, encoding: .utf8))
        #expect(commands.count >= 50)
        defer { endService() }
        for command in commands {
            let text = command.text.replacingOccurrences(of: "8642", with: "\(port)")
            let result = try await farm.run(
                "/usr/bin/env",
                [
                    "-i", "HOME=\(farm.path)", "PATH=\(Farm.programs):/usr/bin:/bin", "/bin/bash", "-e", "-c",
                    "exec 2>&1\n\(text)",
                ])
            let context: Comment = "docs/service.md:\(command.line): \(text)\n\(result.output)"
            // What follows a command that failed would fail, too.
            try #require(result.code == command.code, context)
            let missing = command.firstMissing(in: result.output)
            try #require(missing == nil, context)
        }
    }

    /// A service that a failed test has left.
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
