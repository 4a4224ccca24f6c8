import Foundation
import Glibc

/// A real cron with one crontab, which the machine's own never sees; `Support/cron-sandbox` says how.
final class CronSandbox {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Support/cron-sandbox")

    /// Whether cron is installed and may be started: as root, or by sudo without a password.
    static let isPossible: Bool = {
        let process = Process()
        process.executableURL = script
        process.arguments = ["--check"]
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    private let process = Process()
    /// The sandbox ends when nobody holds the other end any more, however this process ends.
    private let leash = Pipe()
    private let mailFolder: URL

    /// - Parameter lines: of the crontab; jobs start in the workspace, which is their home.
    init(_ lines: String..., in workspace: Workspace) throws {
        let text = (["HOME=\(workspace.path)"] + lines).map { $0 + "\n" }.joined()
        try workspace.write(text, to: "cron/crontab")
        mailFolder = URL(filePath: "\(workspace.path)/cron/mails")
        try FileManager.default.createDirectory(at: mailFolder, withIntermediateDirectories: true)
        process.executableURL = Self.script
        process.arguments = ["\(workspace.path)/cron/crontab", mailFolder.path, "300"]
        process.standardInput = leash
        try process.run()
    }

    deinit { stop() }

    /// Looks again until the condition holds. False when it does not for minutes, or when the sandbox has ended.
    func wait(until condition: () throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(180)
        while try !condition() {
            guard process.isRunning, ContinuousClock.now < end else { return try condition() }
            try await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    /// Afterwards no job runs, and all mails are there.
    func stop() {
        // Closed already when it was stopped before.
        try? leash.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// What cron sent, each with its headers.
    func mails() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: mailFolder.path).filter { $0.hasSuffix(".mail") }.map {
            try String(contentsOf: mailFolder.appending(path: $0), encoding: .utf8)
        }
    }
}
