import Foundation
import Glibc
import Testing

/// Nights with a real cron, which hands a job no more of an environment than four variables.
@Suite(
    .serialized,
    .enabled(if: CronSandbox.isPossible, "cron is not installed, or neither root nor sudo -n may start it"))
struct CronTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    /// The first night is a reboot, which cron answers at once; the second is the next full minute.
    @Test(.timeLimit(.minutes(5)))
    func `a nightly job publishes, and the next night finds nothing to do and sends no mail`() async throws {
        try workspace.writeManifest("night 100%.yaml", more: "existing: update")
        let first = try CronSandbox(recorded(try await line("night 100%.yaml", schedule: "@reboot")), in: workspace)
        #expect(try await first.wait { codes() == "0\n" }, "\(codes())")
        first.stop()
        #expect(try first.mails() == [])
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
        let published = outputs()

        let second = try CronSandbox(recorded(try await line("night 100%.yaml", schedule: "* * * * *")), in: workspace)
        #expect(try await second.wait { codes() == "0\n0\n" }, "\(codes())")
        second.stop()
        #expect(try second.mails() == [])
        #expect(outputs() == published)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a broken picture is mailed by name, once`() async throws {
        try workspace.write("no picture", to: "photos/notes.png")
        try workspace.writeManifest()
        let cron = try CronSandbox(try await line("job.yaml", schedule: "@reboot"), in: workspace)
        #expect(try await cron.wait { try !cron.mails().isEmpty })
        cron.stop()
        let mails = try cron.mails()
        #expect(mails.count == 1)
        let parts = try #require(mails.first).split(separator: "\n\n", maxSplits: 1)
        #expect(parts.count == 2 && parts[1].contains("photos/notes.png"), "\(mails)")
        #expect(parts.last?.hasPrefix("test: 1 frame failed: ") == true, "\(mails)")
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    private func line(_ manifest: String, schedule: String) async throws -> String {
        let result = try await Program.run(
            "export", "--to", "crontab", manifest, "--schedule", schedule, "--state-dir", "state", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("\(schedule) /") && result.output.hasSuffix("\n"))
        return String(result.output.dropLast())
    }

    /// Tells that it has run, and how that ended, also when it is silent.
    private func recorded(_ line: String) -> String { "\(line); echo $? >>codes" }

    private func codes() -> String {
        // Not there before the first night.
        (try? workspace.read("codes")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private struct Stamp: Hashable {
        let name: String
        let inode: UInt64
        let seconds: Int
        let nanoseconds: Int
    }

    /// A file that is written again has another inode or time.
    private func outputs() -> [Stamp] {
        workspace.files(below: "out").map { name in
            var found = stat()
            stat("\(workspace.path)/out/\(name)", &found)
            return Stamp(
                name: name, inode: UInt64(found.st_ino), seconds: found.st_mtim.tv_sec,
                nanoseconds: found.st_mtim.tv_nsec)
        }
    }
}
