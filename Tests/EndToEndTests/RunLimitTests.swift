import Foundation
import Glibc
import Testing

/// What ends a run early, or keeps it from beginning.
@Suite(.serialized) struct RunLimitTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
    }

    @Test func `two jobs that write into one folder exclude each other`() async throws {
        try workspace.writeManifest("other.yaml", output: "out/{stem}-other.png")
        try workspace.write(
            try String(decoding: workspace.read("other.yaml"), as: UTF8.self).replacing(
                "job: test", with: "job: other"),
            to: "other.yaml")
        let first = try RunningProgram(["run", "job.yaml"], in: workspace)
        // The ledger is opened under the locks.
        first.wait { workspace.exists("state/penumbra/penumbra.sqlite") }
        kill(first.processID, SIGSTOP)
        let second = try await Program.run("run", "other.yaml", in: workspace)
        #expect(second.code == 75)
        #expect(second.errors == "other: another run writes to out; --lock-wait TIME, such as 5m, waits for it\n")
        #expect(!workspace.files(below: "out").contains { $0.hasSuffix("-other.png") })
        // Another user has another state folder.
        let third = try await Program.run(
            "run", "job.yaml", "--state-dir", "\(workspace.path)/state2", in: workspace)
        #expect(third.code == 75)
        let waiting = try RunningProgram(["run", "other.yaml", "--lock-wait", "600"], in: workspace)
        // It has its job's lock, and comes to that of the folder.
        waiting.wait { waiting.openFiles.contains { $0.contains("/locks/other-") } }
        kill(first.processID, SIGCONT)
        #expect(first.finish().code == 0)
        #expect(waiting.finish().code == 0)
        #expect(workspace.files(below: "out").count == 6)
        #expect(workspace.leftovers() == [])
    }

    @Test func `one folder by two names is one folder`() async throws {
        try workspace.write("", to: "out/.keep")
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/alias", withDestinationPath: "out")
        try workspace.write(
            """
            job: test
            inputs: photos/*
            filters: [{gaussian: {radius: 5}}]
            outputs:
              - path: out/{stem}.png
              - path: alias/{stem}.jpg

            """, to: "job.yaml")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a deadline ends a run cleanly, and the next one goes on`() async throws {
        for number in 0..<60 { try workspace.copy("photos/a.png", to: "photos/n\(number).png") }
        try workspace.writeManifest(
            filters: "[{motion: {radius: 300, samples: continuous}}, {gaussian: {radius: 90}}]",
            more: "existing: update\nshard: frame")
        let result = try await Program.run(
            "run", "job.yaml", "--workers", "1", "--deadline", "0", "--quiet", in: workspace)
        #expect(result.code == 3)
        let done = workspace.files(below: "out").count
        let left = 63 - done
        #expect(
            result.errors
                == "test: the deadline is reached; \(left) frame\(left == 1 ? "" : "s") left for the next run\n"
        )
        #expect(workspace.leftovers() == [])
        #expect(try await Program.night(workspace) == NightSummary(published: left, skipped: done))
        #expect(try await Program.night(workspace, "--deadline", "1h") == NightSummary(skipped: 63))
    }

    @Test(arguments: [("3", 3), ("10%", 20)])
    func `too many failures end a run`(limit: String, count: Int) async throws {
        for number in 10..<40 {
            try workspace.write("no picture", to: "photos/n\(number).png")
            try workspace.age("photos/n\(number).png")
        }
        try workspace.writeNightly(more: "max_failures: \(limit)")
        let first = try await Program.run("run", "job.yaml", "--workers", "1", "--json", in: workspace)
        #expect(
            try NightSummary(first)
                == NightSummary(published: 3, failed: count, left: 30 - count, exitCode: 1))
        let second = try await Program.run("run", "job.yaml", "--workers", "1", "--quiet", in: workspace)
        if count == 3 {
            #expect(second.code == 1)
            #expect(
                second.errors.hasSuffix(
                    "test: stopped after 3 failures: 'max_failures' allows fewer than 3; 24 frames left\n"))
        } else {
            #expect(second.errors.hasPrefix("test: 10 frames failed: broken or unreadable picture\n"))
        }
    }

    @Test func `a full disk leaves the outputs of the night before`() async throws {
        try workspace.draw("photos/d.png", width: 900, height: 700)
        try workspace.writeNightly(output: "out/{stem}.tif", more: "save: {compression: none}")
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
        let before = try workspace.contents(below: "out")
        try workspace.writeNightly(radius: "7", output: "out/{stem}.tif", more: "save: {compression: none}")
        // A limit on file sizes is met like a full disk, and needs no rights.
        let full = try await Program.run(
            "/bin/bash", ["-c", "ulimit -f 400; exec \(Program.penumbra) run --quiet --workers 1 job.yaml"],
            in: workspace)
        #expect(full.code == 74)
        #expect(full.errors.contains("free some space or choose another place, then run it again"))
        #expect(full.errors.split(separator: "\n").count == 1)
        #expect(workspace.leftovers() == [])
        #expect(try workspace.contents(below: "out")["d.tif"] == before["d.tif"])
        let next = try await Program.night(workspace)
        #expect(next.exitCode == 0 && next.published + next.skipped == 4 && next.published > 0)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 4))
    }
}
