import Foundation
import Testing

/// What an earlier version has stored is read, and gone on with. `Tests/StoredFiles/make` has written the archives.
@Suite struct StoredFilesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "StoredFiles").path

    /// Each has an archive.
    private static let versions = ["0.1", "0.2"]

    /// A farm as `version` left it.
    private func farm(of version: String) async throws -> Workspace {
        let workspace = try Workspace()
        let unpacked = try await Program.run(
            "/usr/bin/python3",
            ["\(Self.folder)/unpack", "\(Self.folder)/\(version).tar.gz", "\(workspace.path)/farm"], in: workspace)
        #expect(unpacked.code == 0, "\(unpacked.errors)")
        return workspace
    }

    private func run(_ arguments: String..., in workspace: Workspace) async throws -> Program.Result {
        let state = ["--state-dir", "\(workspace.path)/farm/state"]
        return try await Program.run(
            "/usr/bin/env", ["-C", "\(workspace.path)/farm", Program.penumbra] + arguments + state, in: workspace)
    }

    private func outputs(_ job: String, _ workspace: Workspace) throws -> [String: Data] {
        let names = workspace.files(below: "farm/out/\(job)").filter { $0.hasSuffix(".png") }
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try workspace.read("farm/out/\(job)/\($0)")) })
    }

    private static let broken = "broken PNG: only 0 of 32 rows could be read (libpng read error)"

    @Test(arguments: versions) func `runs of a database are listed, with what became of them`(version: String)
        async throws
    {
        let workspace = try await farm(of: version)
        let status = try await run("status", "--all", in: workspace)
        let lines = status.output.split(separator: "\n").dropFirst().map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).dropFirst().joined(separator: " ")
        }
        #expect(
            lines.map { String($0.prefix(while: { !$0.isNumber })) } == [
                "finished failed ", "prepared interrupted ", "killed interrupted ", "ended failed ",
            ])
        #expect(lines.first?.hasSuffix("20 19 published, 1 failed") == true, "\(status.output)")
        let show = try await run("show", "ended", in: workspace)
        #expect(show.output.contains(Self.broken), "\(show.output)")
        let logs = try await run("logs", "ended", in: workspace)
        #expect(logs.output.contains("  1/frame  attempt 1, worker 1: done"), "\(logs.output)")
    }

    @Test(arguments: versions) func `a run that was killed is resumed by what its request asks for`(version: String)
        async throws
    {
        let workspace = try await farm(of: version)
        let before = try outputs("killed", workspace).count
        #expect(before > 0 && before < 19)
        let resume = try await run("resume", "killed", in: workspace)
        #expect(resume.code == 1, "\(resume.errors)")
        #expect(
            resume.output.hasPrefix("killed: \(19 - before) published, \(before) skipped, 1 failed in "),
            "\(resume.output)")
        #expect(try outputs("killed", workspace) == outputs("ended", workspace))
    }

    @Test(arguments: versions) func `failed frames of a stored run are tried again`(version: String) async throws {
        let workspace = try await farm(of: version)
        let retry = try await run("retry", "ended", in: workspace)
        #expect(retry.code == 1)
        #expect(retry.output.hasPrefix("ended: 0 published, 1 failed in "), "\(retry.output)\(retry.errors)")
    }

    @Test(arguments: versions) func `outputs of a stored index and database are up to date`(version: String)
        async throws
    {
        let workspace = try await farm(of: version)
        let again = try await run("run", "ended.yaml", in: workspace)
        // The broken picture is another file now.
        #expect(again.code == 1)
        #expect(
            again.output.hasPrefix("ended: 0 published, 19 skipped, 1 failed in "), "\(again.output)\(again.errors)")
        try FileManager.default.removeItem(atPath: "\(workspace.path)/farm/state")
        let indexed = try await run("run", "ended.yaml", in: workspace)
        #expect(indexed.output.hasPrefix("ended: 0 published, 19 skipped, 1 failed in "), "\(indexed.output)")
        let verify = try await run("verify", "out/ended", in: workspace)
        #expect(verify.output.hasPrefix("verified 19 outputs: 19 as published in "), "\(verify.output)")
        for name in [".penumbra-index", "index.json"] {
            try FileManager.default.removeItem(atPath: "\(workspace.path)/farm/out/ended/\(name)")
        }
        try FileManager.default.removeItem(atPath: "\(workspace.path)/farm/state")
        let receipt = try await run("verify", "out/ended/00.png", in: workspace)
        #expect(receipt.output.hasPrefix("verified 1 output: 1 as published in "), "\(receipt.output)\(receipt.errors)")
    }

    @Test(arguments: versions) func `a stored run of shards is gone on with, and has both coordinators' attempts`(
        version: String
    ) async throws {
        let workspace = try await farm(of: version)
        let status = try await run("status", "--run-dir", "prepared", in: workspace)
        #expect(status.output.contains(" prepared  detached "), "\(status.output)")
        let resume = try await run("resume", "--run-dir", "prepared", "--engine", "local", in: workspace)
        #expect(resume.code == 1, "\(resume.errors)")
        #expect(resume.output.hasPrefix("prepared: 19 published, 1 failed in "), "\(resume.output)")
        #expect(try outputs("prepared", workspace) == outputs("ended", workspace))
        let logs = try await run("logs", "--run-dir", "prepared", in: workspace)
        #expect(logs.output.split(separator: "\n").count { $0.contains(" 1/probe ") } == 2, "\(logs.output)")
    }

    @Test(arguments: versions) func `the end of a stored run in a folder is told`(version: String) async throws {
        let workspace = try await farm(of: version)
        let wait = try await run("wait", "--run-dir", "finished", in: workspace)
        #expect(wait.code == 1, "\(wait.output)\(wait.errors)")
        let show = try await run("show", "--run-dir", "finished", in: workspace)
        #expect(show.output.contains(Self.broken), "\(show.output)")
    }

    @Test(arguments: versions) func `a stored original is put back`(version: String) async throws {
        let workspace = try await farm(of: version)
        let blurred = try workspace.read("farm/album/face.png")
        let known = try await run("is-blurred", "album", in: workspace)
        #expect(known.code == 0, "\(known.output)\(known.errors)")
        let unblur = try await run("unblur", "album", in: workspace)
        #expect(unblur.code == 0, "\(unblur.errors)")
        #expect(try workspace.read("farm/album/face.png") != blurred)
        #expect(try workspace.read("farm/album/face.png") == workspace.read("farm/photos/07.png"))
    }
}
