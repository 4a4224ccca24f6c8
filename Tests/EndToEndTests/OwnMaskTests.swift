import Foundation
import Testing

/// Masks that each picture has of its own: `mask: masks/{stem}.pgm`.
@Suite(.serialized) struct OwnMaskTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        // a.png has 160 × 120 pixels.
        try workspace.drawOldPhotos()
        for name in ["a", "b", "c"] { try drawMask(name) }
        try writeJob()
    }

    /// White from a column on, and black before it.
    private func drawMask(_ name: String, white: Int = 20, width: Int = 40, height: Int = 40) throws {
        let row = (0..<width).map { UInt8($0 < white ? 0 : 255) }
        var data = Data("P5\n\(width) \(height)\n255\n".utf8)
        for _ in 0..<height { data.append(contentsOf: row) }
        try workspace.write(data, to: "masks/\(name).pgm")
        try workspace.age("masks/\(name).pgm")
    }

    private func writeJob(
        _ name: String = "job.yaml", mask: String = "'masks/{stem}.pgm'", inputs: String = "photos/*",
        output: String = "out/{stem}.png", more: String = "shard: frame"
    ) throws {
        try workspace.writeManifest(
            name, inputs: inputs, filters: "[{gaussian: {radius: 6, mask: \(mask)}}]", output: output,
            more: "existing: update\n\(more)")
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    @Test func `each picture has its mask, and a changed mask renders that picture alone again`() async throws {
        try drawMask("b", white: 5)
        let first = try await penumbra("run", "job.yaml")
        #expect(first.code == 0, "\(first.errors)")
        for name in ["a", "b"] {
            try writeJob(
                "one.yaml", mask: "masks/\(name).pgm", inputs: "photos/\(name).png", output: "one/{stem}.png")
            #expect(try await penumbra("run", "one.yaml").code == 0)
            #expect(try workspace.read("out/\(name).png") == workspace.read("one/\(name).png"))
        }
        try drawMask("b", white: 30)
        let plan = try await penumbra("plan", "job.yaml")
        #expect(plan.output.hasPrefix("test: 3 frames, 1 to render"), "\(plan.output)")
        #expect(plan.output.contains("masks/b.pgm has changed"), "\(plan.output)")
        #expect(try await penumbra("run", "job.yaml").output.hasPrefix("test: 1 published, 2 skipped"))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a picture without its mask fails alone, and so does one whose mask is no picture`() async throws {
        try workspace.remove("masks/b.pgm")
        try workspace.write("no picture", to: "masks/c.pgm")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "photos/b.png: its 'mask' is missing: there is no masks/b.pgm; add it, black if nothing is to be changed\n"
            ),
            "\(result.errors)")
        #expect(result.errors.contains("masks/c.pgm, the "), "\(result.errors)")
        #expect(workspace.files(below: "out").filter { $0.hasSuffix("png") } == ["a.png"])
        for name in ["b", "c"] { try drawMask(name) }
        let second = try await penumbra("run", "job.yaml")
        #expect(second.output.hasPrefix("test: 2 published, 1 skipped"), "\(second.output)\(second.errors)")
    }

    @Test func `several pictures may share a mask, and folders may distinguish them`() async throws {
        try workspace.copy("photos/a.png", to: "photos/x/a.png")
        try writeJob(inputs: "photos/**/a.png", output: "out/{dir}/{stem}.png")
        #expect(try await penumbra("run", "job.yaml").code == 0)
        #expect(try workspace.read("out/a.png") == workspace.read("out/x/a.png"))
        try workspace.copy("masks/a.pgm", to: "masks/x/a.pgm")
        try writeJob(mask: "'masks/{dir}/{stem}.pgm'", inputs: "photos/**/a.png", output: "out/{dir}/{stem}.png")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 2))
    }

    @Test func `a black mask of one picture leaves it as it is`() async throws {
        try drawMask("a", white: 40)
        try writeJob(inputs: "photos/a.png")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 0, "\(result.errors)")
        try workspace.writeManifest(
            "same.yaml", inputs: "photos/a.png", filters: "[{gaussian: {radius: 0}}]", output: "same/{stem}.png")
        #expect(try await penumbra("run", "same.yaml").code == 0)
        #expect(try workspace.read("out/a.png") == workspace.read("same/a.png"))
    }

    @Test func `a mask that fits the picture after a quarter turn is refused`() async throws {
        try drawMask("a", width: 30, height: 40)
        try writeJob(inputs: "photos/a.png")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "photos/a.png: the 'mask' of 'gaussian' has 30 × 40 pixels, and the picture 160 × 120 pixels; turn the mask\n"
            ),
            "\(result.errors)")
    }

    @Test func `a mask that a pattern finds as an input is refused by name`() async throws {
        try workspace.copy("photos/a.png", to: "all/a.png")
        try workspace.copy("photos/a.png", to: "all/masks/a.png")
        try writeJob(mask: "'all/masks/{stem}.png'", inputs: "all/**/*.png", output: "out/{dir}/{stem}.png")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "all/masks/a.png: filters use it for \(workspace.path)/all/a.png, too; leave it out by 'exclude'\n"),
            "\(result.errors)")
        #expect(workspace.exists("out/a.png") && !workspace.exists("out/masks/a.png"))
    }

    @Test func `a picture may be its own mask, and no output takes the place of a mask`() async throws {
        try writeJob(mask: "'photos/{stem}.{ext}'")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 0, "\(result.errors)")
        try workspace.copy("photos/a.png", to: "drawn/a.png")
        try writeJob("over.yaml", mask: "'drawn/{stem}.png'", inputs: "photos/a.png", output: "drawn/{stem}.png")
        let before = try workspace.read("drawn/a.png")
        let refused = try await penumbra("run", "over.yaml")
        #expect(refused.code == 65)
        #expect(refused.errors.contains("drawn/a.png"), "\(refused.errors)")
        #expect(try workspace.read("drawn/a.png") == before)
    }

    @Test func `masks of each picture stand before filters that move pixels`() async throws {
        try workspace.writeManifest(
            inputs: "photos/a.png",
            filters: "[{crop: {x: 10%, y: 10%, width: 50%, height: 50%}}, {invert: {mask: 'masks/{stem}.pgm'}}]",
            output: "out/{stem}.png")
        let result = try await penumbra("check", "job.yaml")
        #expect(result.code == 65)
        #expect(
            result.errors.contains(
                "error: the pictures of 'mask' of 'invert' belong to the pictures as they are in their files, and 'crop' before it "
                    + "moves these\n"), "\(result.errors)")
        #expect(result.errors.hasSuffix("  = write 'invert' before 'crop'\n"))
    }

    @Test func `65: a folder of masks that is not there is an error in its line, before the job begins`() async throws {
        try writeJob(mask: "'maks/{stem}.pgm'")
        for command in ["check", "plan", "run"] {
            let result = try await penumbra(command, "job.yaml")
            #expect(result.code == 65)
            #expect(
                result.errors.contains(
                    ": error: the pictures of 'mask', 'maks/{stem}.pgm': there is no folder 'maks'\n")
                    && result.errors.hasPrefix("job.yaml:"), "\(result.errors)")
            #expect(result.errors.hasSuffix("  = look for a misspelt name, or mount its disk\n"))
        }
        #expect(!workspace.exists("out"))
    }

    @Test func `a preview shows the mask of its picture, and refuses what a run would refuse`() async throws {
        #expect(try await penumbra("preview", "job.yaml", "photos/a.png", "-o", "p.png").code == 0)
        try workspace.remove("masks/b.pgm")
        let result = try await penumbra("preview", "job.yaml", "photos/b.png", "-o", "q.png")
        #expect(result.code == 1)
        #expect(result.errors.contains("photos/b.png: its 'mask' is missing: there is no masks/b.pgm;"))
        #expect(!workspace.exists("q.png"))
    }

    @Test func `tiles and every number of workers give the same bytes`() async throws {
        try workspace.draw("photos/d.png", width: 700, height: 500)
        try drawMask("d")
        #expect(try await penumbra("run", "job.yaml", "--workers", "1").code == 0)
        let bytes = try workspace.contents(below: "out")
        try writeJob(more: "shard: tile\ntile: 90\nverify: audit")
        #expect(try await penumbra("run", "job.yaml", "--force", "--workers", "2").code == 0)
        #expect(try workspace.contents(below: "out") == bytes)
    }

    @Test func `a depth picture of each photo is found in the same way`() async throws {
        func write(_ name: String, depth: String, output: String) throws {
            try workspace.writeManifest(
                name, inputs: "photos/a.png",
                filters: "[{lens-blur: {radius: 4, depth: \(depth), focus: 100, range: 30}}]", output: output)
        }
        try write("own.yaml", depth: "'masks/{stem}.pgm'", output: "own/{stem}.png")
        try write("one.yaml", depth: "masks/a.pgm", output: "one/{stem}.png")
        for name in ["own.yaml", "one.yaml"] {
            let result = try await penumbra("run", name)
            #expect(result.code == 0, "\(result.errors)")
        }
        #expect(try workspace.read("own/a.png") == workspace.read("one/a.png"))
    }

    @Test func `64: blur takes no mask of each picture`() async throws {
        let result = try await penumbra("blur", "photos/a.png", "--filter", "gaussian: {mask: 'masks/{stem}.pgm'}")
        #expect(result.code == 64)
        #expect(
            result.errors
                == "--filter: 'blur' takes no mask of each picture\n   = write a job with 'mask: masks/{stem}.png', and run it by "
                + "'penumbra run'\n")
    }
}
