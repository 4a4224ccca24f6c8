import Foundation
import Glibc
import Testing

/// Disks that were mounted last night and are not now.
@Suite(.serialized) struct LostPlacesTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
    }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private func empty(_ folder: String) throws {
        try workspace.remove(folder)
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/\(folder)", withIntermediateDirectories: true)
    }

    @Test(arguments: [["run", "--quiet"], ["plan"], ["adopt"], ["run", "--delete-orphans=all"], ["run", "--force"]])
    func `66: a folder of outputs that is empty now is not filled`(command: [String]) async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try empty("out")
        let result = try await Program.run(Program.penumbra, command + ["job.yaml"], in: workspace)
        #expect(result.code == 66)
        #expect(
            result.errors == """
                job.yaml: error: \(workspace.path)/out is empty: the 3 outputs of this job and their index are gone
                   = is a disk not mounted? If they were removed or moved on purpose, --allow-gone makes them again in \
                \(workspace.path)/out

                """)
        #expect(workspace.allFiles(below: "out") == [])
        #expect(workspace.leftovers() == [])
        #expect(try await Program.night(workspace, "--allow-gone") == NightSummary(published: 3))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a folder of outputs that was removed on a disk that is mounted is made again`() async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.remove("out")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    @Test func `a job that published nothing yet may have any folder`() async throws {
        try workspace.writeNightly(inputs: "[photos/*, more/*]")
        try workspace.draw("more/d.png", width: 20, height: 20)
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/out", withIntermediateDirectories: true)
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
    }

    @Test(.enabled(if: geteuid() == 0, "mounts need rights"))
    func `66: outputs below a mount point are not written to the disk below it`() async throws {
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/disk", withIntermediateDirectories: true)
        try workspace.writeNightly(output: "disk/out/{stem}.png")
        let script = """
            mount -t tmpfs none disk 2>/dev/null || exit 200
            '\(Program.penumbra)' run --quiet job.yaml || exit 201
            umount disk
            '\(Program.penumbra)' run --quiet job.yaml
            """
        let result = try await Program.run("/usr/bin/unshare", ["-m", "/bin/bash", "-c", script], in: workspace)
        // Nothing may be mounted in some containers.
        guard result.code != 200 else { return }
        #expect(result.code == 66)
        #expect(
            result.errors == """
                job.yaml: error: \(workspace.path)/disk is not mounted, which had the 3 outputs of this job
                   = is a disk not mounted? If they were removed or moved on purpose, --allow-gone makes them again in \
                \(workspace.path)/disk/out

                """)
        #expect(workspace.allFiles(below: "disk") == [])
        #expect(!workspace.exists("disk/out"))
    }

    @Test(arguments: [[], ["--quiet"], ["--delete-orphans=all"], ["--only", "d.png"]])
    func `66: inputs that match nothing any more are told while others match`(options: [String]) async throws {
        try workspace.draw("more/d.png", width: 20, height: 20)
        try workspace.age("more/d.png")
        try workspace.writeNightly(inputs: "[photos/*, more/*]")
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
        try empty("photos")
        let result = try await Program.run(Program.penumbra, ["run", "job.yaml"] + options, in: workspace)
        #expect(result.code == 66)
        #expect(
            result.errors.hasSuffix(
                """
                job.yaml: error: nothing matches 'photos/*' any more, which matched 3 files in the last run
                   = is a disk not mounted? If that can happen, --allow-empty makes it no error

                """))
        #expect(workspace.files(below: "out").count == 4)
        // It was said once that this is right.
        #expect(try await Program.night(workspace, "--allow-empty") == NightSummary(skipped: 1))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        try workspace.copy("more/d.png", to: "photos/e.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 1))
        try workspace.remove("photos/e.png")
        #expect(try await Program.night(workspace).exitCode == 66)
    }
}
