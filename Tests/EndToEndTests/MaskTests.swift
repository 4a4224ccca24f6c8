import Foundation
import Testing

/// Pictures that filters read beside their input: the `mask` of `variable`.
@Suite(.serialized) struct MaskTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try drawMask(50, 40)
        try writeJob()
    }

    /// Horizontal shades of gray, some hours old.
    private func drawMask(_ width: Int, _ height: Int, brightest: Int = 255, to name: String = "masks/m.pgm") throws {
        let row = (0..<width).map { UInt8($0 * brightest / max(width - 1, 1)) }
        var data = Data("P5\n\(width) \(height)\n255\n".utf8)
        for _ in 0..<height { data.append(contentsOf: row) }
        try workspace.write(data, to: name)
        try workspace.age(name)
    }

    private func writeJob(
        mask: String = "masks/m.pgm", output: String = "out/{stem}.png", inputs: String = "photos/*", more: String = ""
    ) throws {
        try workspace.writeManifest(
            inputs: inputs, filters: "[{variable: {radius: 6, mask: \(mask)}}]", output: output,
            more: more.contains("shard") ? "existing: update\n\(more)" : "shard: frame\nexisting: update\n\(more)")
    }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private static let all = NightSummary(published: 3)
    private static let none = NightSummary(skipped: 3)

    @Test func `a mask decides how much of the blur each pixel gets`() async throws {
        #expect(try await Program.night(workspace) == Self.all)
        try workspace.writeManifest("sharp.yaml", filters: "[{gaussian: {radius: 0}}]", output: "sharp/{stem}.png")
        #expect(try await run("run", "sharp.yaml").code == 0)
        #expect(try workspace.read("out/a.png") != workspace.read("sharp/a.png"))
        try drawMask(9, 9, brightest: 0)
        #expect(try await Program.night(workspace) == Self.all)
        #expect(try workspace.read("out/a.png") == workspace.read("sharp/a.png"))
    }

    @Test func `tiles, streams and every number of workers give the same bytes`() async throws {
        try workspace.draw("photos/d.png", width: 700, height: 500)
        #expect(try await Program.night(workspace, "--workers", "1").published == 4)
        let whole = try workspace.contents(below: "out")
        try writeJob(more: "shard: tile\ntile: 90\nverify: audit")
        #expect(try await Program.night(workspace, "--force", "--workers", "2").published == 4)
        #expect(try workspace.contents(below: "out") == whole)
    }

    @Test func `what a mask takes is a part of a frame's memory`() async throws {
        try drawMask(5000, 4000)
        try writeJob(more: "shard: auto")
        let result = try await Program.run(
            "plan", "job.yaml", in: workspace, environment: ["PENUMBRA_MEMORY": "64M", "PENUMBRA_WORKERS": "1"])
        #expect(result.output.contains("the frame takes 40 MB, a worker may take 32 MB"), "\(result.output)")
    }

    @Test func `a mask that is not there is shown where it is named`() async throws {
        try writeJob(mask: "masks/n.pgm")
        let result = try await run("check", "job.yaml")
        #expect(result.code == 65)
        #expect(
            result.errors == """
                job.yaml:3:40: error: the picture of 'mask', 'masks/n.pgm': no such file
                3 | filters: [{variable: {radius: 6, mask: masks/n.pgm}}]
                  |                                        ^^^^^^^^^^^
                  = write the path of a picture that Penumbra can read; this one leads to \(workspace.path)/masks/n.pgm

                """)
        try writeJob(mask: "masks")
        #expect(try await run("check", "job.yaml").errors.contains("the picture of 'mask', 'masks': is a folder\n"))
        try writeJob()
        #expect(try await run("check", "job.yaml").code == 0)
    }

    @Test func `a mask that is no picture is shown where it is named, before anything starts`() async throws {
        try workspace.write("white is the full radius\n", to: "masks/notes.txt")
        try writeJob(mask: "masks/notes.txt")
        for command in ["check", "plan", "run"] {
            let result = try await run(command, "job.yaml")
            #expect(result.code == 65)
            #expect(!workspace.exists("out"))
            #expect(
                result.errors == """
                    job.yaml:3:40: error: the picture of 'mask', 'masks/notes.txt': not a picture that Penumbra reads \
                    ('penumbra formats' lists them)
                    3 | filters: [{variable: {radius: 6, mask: masks/notes.txt}}]
                      |                                        ^^^^^^^^^^^^^^^
                      = write the path of a picture that Penumbra can read; this one leads to \(workspace.path)/masks/notes.txt

                    """)
        }
        try drawMask(300, 200)
        try writeJob(more: "max_pixels: 50000")
        #expect(
            try await run("check", "job.yaml").errors.contains("300 × 200 pixels are more than max_pixels: 50000; "))
    }

    @Test func `a mask and a gradient are one too many`() async throws {
        try workspace.writeManifest(filters: "[{variable: {mask: masks/m.pgm, angle: 3}}]")
        let result = try await run("check", "job.yaml")
        #expect(result.errors.contains("'angle' does not go with 'mask'"))
        #expect(result.errors.contains("= remove one of them"))
    }

    @Test func `outputs are as fresh as what their mask holds`() async throws {
        #expect(try await Program.night(workspace) == Self.all)
        #expect(try await Program.night(workspace) == Self.none)
        try workspace.age("masks/m.pgm", hours: 1)
        #expect(try await Program.night(workspace) == Self.none, "touched")
        try workspace.copy("masks/m.pgm", to: "other.pgm")
        try writeJob(mask: "other.pgm")
        #expect(try await Program.night(workspace) == Self.none, "the same bytes elsewhere")
        try drawMask(50, 40, brightest: 200, to: "other.pgm")
        let reasons = try await Program.reasons(workspace)
        #expect(Set(reasons.values) == ["mask \(workspace.path)/masks/m.pgm → \(workspace.path)/other.pgm"])
        #expect(try await Program.night(workspace) == Self.all)
        try drawMask(50, 40, brightest: 100, to: "other.pgm")
        #expect(Set(try await Program.reasons(workspace).values) == ["mask \(workspace.path)/other.pgm has changed"])
        #expect(try await Program.night(workspace) == Self.all)
    }

    @Test func `a broken mask fails its frames by its own name, and is tried again when it is whole`() async throws {
        try workspace.write("P5\n50 40\n255\nshort", to: "masks/m.pgm")
        let result = try await run("run", "job.yaml")
        #expect(result.code == 1)
        #expect(result.errors.contains("value wrong for this picture"), "\(result.errors)")
        #expect(result.errors.contains("\(workspace.path)/masks/m.pgm, the picture of 'mask' of variable: broken PPM"))
        // Nothing is wrong with the pictures.
        #expect(try await Program.night(workspace) == NightSummary(failed: 3, exitCode: 1))
        try drawMask(50, 40)
        #expect(try await run("retry", "test").code == 0)
        #expect(workspace.files(below: "out").count == 3)
        #expect(try await Program.night(workspace) == Self.none)
    }

    @Test func `a mask may be no larger than inputs may be`() async throws {
        try drawMask(300, 200)
        try writeJob(more: "max_pixels: 50000")
        let result = try await run("run", "job.yaml")
        #expect(result.code == 65)
        #expect(
            result.errors.contains(
                "the picture of 'mask', 'masks/m.pgm': 300 × 200 pixels are more than max_pixels: 50000; raise it if the "
                    + "picture is meant"), "\(result.errors)")
    }

    @Test func `no output is ever written over a mask`() async throws {
        try workspace.copy("photos/a.png", to: "out/a.png")
        let before = try workspace.read("out/a.png")
        try writeJob(mask: "out/a.png")
        for command in [["run", "job.yaml", "--force"], ["plan", "job.yaml"]] {
            let result = try await Program.run(Program.penumbra, command, in: workspace)
            #expect(result.code == 65)
            #expect(
                result.errors.contains("would overwrite \(workspace.path)/out/a.png, which a filter reads"),
                "\(result.errors)")
        }
        let preview = try await run("preview", "job.yaml", "-o", "out/a.png")
        #expect(preview.errors == "out/a.png: the preview would overwrite out/a.png, which a filter reads\n")
        let applied = try await run(
            "apply", "variable: {mask: photos/b.png}", "photos/a.png", "-o", "photos/b.png", "--force")
        #expect(applied.code == 65)
        #expect(try workspace.read("out/a.png") == before)
    }

    @Test func `what is rendered again reads the mask that there was`() async throws {
        #expect(try await Program.night(workspace) == Self.all)
        let again = try await run("verify", "job.yaml", "--rerender")
        #expect(again.code == 0)
        #expect(again.output.contains("3 as published"), "\(again.output)")
        try drawMask(50, 40, brightest: 100)
        let changed = try await run("verify", "job.yaml", "--rerender")
        let reason = "the picture \(workspace.path)/masks/m.pgm, which a filter reads, changed since"
        #expect((changed.output + changed.errors).contains(reason), "\(changed.errors)")
    }

    @Test func `a command's masks start from the current folder, and are kept by whole paths`() async throws {
        #expect(try await Program.night(workspace) == Self.all)
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/jobs", withIntermediateDirectories: true)
        let result = try await run(
            "apply", "gaussian: {radius: 0} | variable: {radius: 6, mask: masks/m.pgm, light: encoded}", "photos/a.png",
            "-o", "mine/{stem}.png", "--save-manifest", "jobs/kept.yaml")
        #expect(result.code == 0, "\(result.errors)")
        #expect(try workspace.read("mine/a.png") == workspace.read("out/a.png"))
        try workspace.remove("mine/a.png")
        #expect(try await run("run", "jobs/kept.yaml").code == 0)
        #expect(try workspace.read("mine/a.png") == workspace.read("out/a.png"))
    }

    @Test func `a preview shows the blur by the mask`() async throws {
        let size = ["--size", "160x120", "--at", "50%,50%"]
        #expect(try await Program.night(workspace) == Self.all)
        for (mask, name) in [("masks/m.pgm", "one.png"), ("masks/dark.pgm", "two.png")] {
            try drawMask(5, 5, brightest: 0, to: "masks/dark.pgm")
            try writeJob(mask: mask)
            let arguments = ["preview", "job.yaml", "photos/a.png", "-o", name] + size
            let result = try await Program.run(Program.penumbra, arguments, in: workspace)
            #expect(result.code == 0, "\(result.errors)")
        }
        #expect(try workspace.read("one.png") != workspace.read("two.png"))
    }

    @Test func `names by content change with the mask's bytes, and not with its place`() async throws {
        try writeJob(output: "out/{stem}-{hash8}.png", inputs: "photos/a.png")
        #expect(try await Program.night(workspace).published == 1)
        let first = workspace.files(below: "out")
        try workspace.copy("masks/m.pgm", to: "other.pgm")
        try writeJob(mask: "other.pgm", output: "out/{stem}-{hash8}.png", inputs: "photos/a.png")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        try drawMask(50, 40, brightest: 99, to: "other.pgm")
        #expect(try await Program.night(workspace).published == 1)
        #expect(workspace.files(below: "out").count == 2)
        #expect(Set(first).isSubset(of: workspace.files(below: "out")))
    }

    @Test func `a list sets masks for single files`() async throws {
        try drawMask(5, 5, brightest: 0, to: "masks/dark.pgm")
        let lines = [
            #"{"path": "photos/a.png"}"#,
            #"{"path": "photos/b.png", "set": {"filters[0].variable.mask": "masks/dark.pgm"}}"#,
        ]
        try workspace.write(lines.joined(separator: "\n") + "\n", to: "list.jsonl")
        let result = try await run("run", "job.yaml", "--files-from", "list.jsonl")
        #expect(result.code == 0, "\(result.errors)")
        try drawMask(5, 5, brightest: 255, to: "masks/dark.pgm")
        let plan = try await run("plan", "job.yaml", "--files-from", "list.jsonl")
        #expect(
            plan.output.contains("mask \(workspace.path)/masks/dark.pgm has changed"), "\(plan.output)\(plan.errors)")
    }

    @Test func `a receipt tells of the mask's bytes`() async throws {
        try writeJob(more: "receipts: sidecar")
        #expect(try await Program.night(workspace) == Self.all)
        let receipt = String(decoding: try workspace.read("out/a.png.receipt.json"), as: UTF8.self)
        #expect(receipt.contains(/masks\/m\.pgm [0-9a-f]{32}"/), "\(receipt)")
    }
}
