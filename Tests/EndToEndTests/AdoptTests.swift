import Foundation
import Testing

/// `penumbra adopt`: outputs that are there already.
@Suite(.serialized) struct AdoptTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
    }

    private func adopt(_ options: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["adopt", "job.yaml"] + options, in: workspace)
    }

    /// Nobody knows any more who made the outputs.
    private func forgetAll() throws {
        for name in ["state", "out/.penumbra-index", "zoom/.penumbra-index"] where workspace.exists(name) {
            try workspace.remove(name)
        }
    }

    @Test func `folders of Deep Zoom are adopted beside files`() async throws {
        try workspace.write(
            "job: test\ninputs: photos/*\nfilters:\n  - gaussian: {radius: 5}\noutputs:\n  - path: out/{stem}.png\n"
                + "  - path: zoom/{stem}.dzi\n", to: "job.yaml")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try forgetAll()
        #expect(try await Program.night(workspace) == NightSummary(kept: 3))
        let result = try await adopt()
        #expect(result.code == 0)
        #expect(result.output == "test: 3 frames adopted\n")
        #expect(result.errors == "")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `each output is adopted for itself, and the others are named`() async throws {
        try workspace.write(
            "job: test\ninputs: photos/*\nfilters:\n  - gaussian: {radius: 5}\noutputs:\n  - path: out/{stem}.png\n"
                + "  - path: zoom/{stem}.dzi\n", to: "job.yaml")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try forgetAll()
        try workspace.write("no picture", to: "out/a.png")
        try workspace.write("<Image/>", to: "zoom/b/b.dzi")
        try workspace.write(String(repeating: " ", count: 70_000), to: "zoom/c/c.dzi")
        try workspace.remove("out/c.png")
        let result = try await adopt("--quiet")
        #expect(result.code == 1)
        #expect(result.output == "")
        #expect(
            result.errors == """
                test: not adopted because of 3 files
                  out/a.png: not a picture that Penumbra reads ('penumbra formats' lists them)
                  zoom/b: b.dzi in it does not tell the picture's size
                  zoom/c: c.dzi in it cannot be read (it is larger than 65536 bytes)

                """)
        let reasons = try await Program.reasons(workspace)
        #expect(reasons["c.jpg"]?.hasPrefix("new") == true)
        #expect(try await Program.night(workspace) == NightSummary(published: 1, kept: 2))
    }

    @Test func `outputs that Penumbra published stay its own when others are adopted`() async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace, "--only", "a.png") == NightSummary(published: 1))
        try workspace.copy("photos/b.png", to: "out/b.png")
        #expect(
            try await adopt().output == "test: 1 frame adopted, 1 with missing outputs, which the next run renders\n")
        for name in ["a.png", "b.png"] { try workspace.remove("photos/\(name)") }
        let removed = try await Program.run("run", "job.yaml", "--delete-orphans=all", in: workspace)
        #expect(removed.code == 0)
        #expect(workspace.files(below: "out") == ["b.png", "c.png"])
    }

    @Test func `a broken picture is not adopted with its old output, and stays told`() async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.write("no picture", to: "photos/a.png")
        let unknown = try await adopt()
        #expect(unknown.code == 1)
        #expect(
            unknown.errors == """
                test: not adopted because of 1 file
                  photos/a.png: not a picture that Penumbra reads ('penumbra formats' lists them)

                """)
        // A header says nothing of the rest of a file, but what a run has found out stays known.
        let whole = try workspace.read("photos/c.jpg")
        try workspace.write(whole.prefix(whole.count / 2), to: "photos/c.jpg")
        let night = try await Program.night(workspace)
        #expect(night.failed == 2)
        let known = try await adopt("-q")
        #expect(known.code == 1)
        #expect(known.errors.contains("  photos/c.jpg: broken JPEG: only "))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1, stillBroken: 2))
    }

    @Test func `outputs of another job that is still there are not adopted`() async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.writeOtherJob(radius: "3")
        let refused = try await Program.run("adopt", "other.yaml", in: workspace)
        #expect(refused.code == 1)
        #expect(refused.output == "other: 0 frames adopted\n")
        let reason =
            "published by the job 'test' of \(workspace.path)/job.yaml, which is still there; write to another folder, or remove "
            + "that manifest and give 'penumbra adopt --moved'"
        #expect(
            refused.errors == """
                other: not adopted because of 3 files
                  out/a.png: \(reason)
                  out/b.png: \(reason)
                  out/c.png: \(reason)

                """)
        #expect(try await Program.run("verify", "job.yaml", in: workspace).code == 0)
        try workspace.remove("job.yaml")
        #expect(try await Program.run("adopt", "--moved", "other.yaml", in: workspace).code == 0)
    }
}
