import Catalogs
import ExamplePictures
import Foundation
import Geometry
import Raster
import Testing

/// `precision` and `depth`, with real workers.
@Suite(.serialized) struct PrecisionTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func render(
        _ filters: String, _ save: String, output: String = "out/{stem}.png", inputs: String = "photos/a.png",
        more: String = ""
    ) async throws -> Program.Result {
        try workspace.writeManifest(
            inputs: inputs, filters: filters, output: output, more: "save: {\(save)}\nverify: full\n\(more)")
        return try await Program.run(Program.penumbra, ["run", "job.yaml"], in: workspace)
    }

    private func picture(_ name: String) throws -> AnyRaster { try PictureFiles.read("\(workspace.path)/\(name)") }

    /// All 256 levels in each channel, in different orders.
    private func writeLevels() throws {
        let rect = PixelRect(x: 0, y: 0, width: 256, height: 3)
        let samples = (0..<256 * 3).flatMap { index -> [UInt8] in
            let level = UInt8(truncatingIfNeeded: index)
            return [level, level &* 37, 255 - level]
        }
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/levels", withIntermediateDirectories: true)
        try PictureFiles.write(
            .u8(Raster(rect: rect, layout: .rgb, samples: samples)), to: "\(workspace.path)/levels/all.png")
    }

    @Test(arguments: [
        ("-3", "3", "precision: auto", true), ("-3", "3", "", true), ("-3", "3", "precision: 16", true),
        ("-3", "3", "precision: input", false), ("-3", "3", "precision: 8", false),
        ("3", "-3", "precision: float", true), ("3", "-3", "precision: 16", false),
    ])
    func `an exposure and its opposite give the picture back, if filters are precise enough`(
        first: String, second: String, save: String, isSame: Bool
    ) async throws {
        try writeLevels()
        let result = try await render(
            "[{color-adjust: {exposure: \(first)}}, {color-adjust: {exposure: \(second)}}]", save,
            inputs: "levels/*")
        #expect(result.code == 0, "\(result.errors)")
        let (before, after) = (try picture("levels/all.png"), try picture("out/all.png"))
        #expect(after.format == .u8)
        #expect((before == after) == isSame)
    }

    @Test(arguments: ["8", "16", "float"], ["input", "8", "16"])
    func `an output has the same bytes as frame and as tiles, whatever its samples are`(
        precision: String, depth: String
    ) async throws {
        for (folder, more) in [("frames", "shard: frame"), ("tiles", "shard: tile\ntile: 50")] {
            let result = try await render(
                "[{gaussian: {radius: 3}}, {motion: {radius: 9, angle: 20}}]",
                "precision: \(precision), depth: \(depth)", output: "\(folder)/{stem}.png", inputs: "photos/*",
                more: more)
            #expect(result.code == 0, "\(result.errors)")
        }
        for name in ["a.png", "b.png", "c.png"] {
            #expect(try workspace.read("frames/\(name)") == workspace.read("tiles/\(name)"))
            let samples = try picture("frames/\(name)").format
            #expect(samples == (depth == "input" ? try input(name).format : depth == "8" ? .u8 : .u16))
        }
    }

    /// The input whose output has this name.
    private func input(_ name: String) throws -> AnyRaster {
        try picture("photos/\(workspace.exists("photos/\(name)") ? name : "c.jpg")")
    }

    @Test func `without filters that compute, a file's samples only change as its depth asks`() async throws {
        let before = try picture("photos/a.png")
        for (save, samples) in [("precision: 8, depth: 16", SampleFormat.u16), ("precision: float", .u8)] {
            let result = try await render("[{crop: {x: 3, y: 0, width: 90%, height: 50%}}]", save)
            #expect(result.code == 0, "\(result.errors)")
            let after = try picture("out/a.png")
            let cropped = before.cropped(to: PixelRect(x: 3, y: 0, width: after.rect.width, height: after.rect.height))
            #expect(after == cropped.translated(x: -3, y: 0).converted(to: samples))
        }
    }

    @Test func `floats keep what lies above white`() async throws {
        let result = try await render(
            "[{color-adjust: {exposure: 2}}]", "depth: float", output: "out/{stem}.tif")
        #expect(result.code == 0, "\(result.errors)")
        guard case .f32(let raster) = try picture("out/a.tif") else {
            Issue.record("the output has floats")
            return
        }
        #expect(raster.samples.contains { $0 > 1 })
    }

    @Test func `a format without the samples costs the pictures that would have it`() async throws {
        let result = try await render(
            "[gaussian]", "depth: 16", output: "out/{stem}.{ext}", inputs: "photos/*")
        #expect(result.code == 1)
        #expect(
            result.errors.contains("photos/c.jpg: JPEG has no samples for 'depth: 16'; it has '8', and TIFF has all"),
            "\(result.errors)")
        #expect(workspace.exists("out/a.png") && !workspace.exists("out/c.jpg"))
    }

    @Test func `the plan says which samples filters get`() async throws {
        func plan(_ filters: String, _ save: String, _ more: String...) async throws -> String {
            try workspace.writeManifest(inputs: "photos/a.png", filters: filters, more: "save: {\(save)}")
            return try await Program.run(Program.penumbra, ["plan", "job.yaml"] + more, in: workspace).output
        }
        let two = "[{color-adjust: {exposure: 1}}, vignette]"
        #expect(try await plan(two, "").contains("160×120 rgb u8 as u16"))
        #expect(try await plan(two, "", "--json").contains(#""filterSamples":"u16","format":"u8""#))
        #expect(try await plan(two, "precision: input").contains("160×120 rgb u8  "))
        #expect(try await plan("[gaussian]", "").contains("160×120 rgb u8  "))
        #expect(try await plan("[gaussian]", "dither: true").contains("160×120 rgb u8 as u16"))
        #expect(try await plan("[gaussian]", "depth: 16").contains("160×120 rgb u8 as u16"))
        // A median of many floats costs more than both files.
        #expect(
            try await plan("[{median: {radius: 20}}, {median: {radius: 30}}]", "").contains("160×120 rgb u8  "))
    }

    @Test(arguments: ["precision: auto", "precision: float", "dither: true"])
    func `a preview compares chains that get other samples than the picture has`(save: String) async throws {
        try workspace.writeManifest(
            inputs: "photos/a.png", filters: "[gaussian, vignette]", more: "save: {\(save)}")
        for more in [["--compare", "side"], ["--compare", "split"], []] {
            let result = try await Program.run(
                Program.penumbra, ["preview", "job.yaml", "photos/a.png", "-o", "preview.png"] + more, in: workspace)
            #expect(result.code == 0, "\(result.errors)")
            try workspace.remove("preview.png")
        }
    }

    @Test func `tiles, frames and other renderings make the same choice`() async throws {
        for (folder, more) in [("frames", "shard: frame"), ("tiles", "shard: tile\ntile: 50")] {
            let result = try await render(
                "[{gaussian: {radius: 3}}, vignette]", "", output: "\(folder)/{stem}.png", inputs: "photos/*",
                more: more)
            #expect(result.code == 0, "\(result.errors)")
            let verified = try await Program.run(Program.penumbra, ["verify", folder, "--rerender"], in: workspace)
            #expect(verified.code == 0, "\(verified.errors)")
        }
        for name in ["a.png", "b.png", "c.png"] {
            #expect(try workspace.read("frames/\(name)") == workspace.read("tiles/\(name)"))
        }
    }

    @Test func `outputs of earlier versions stay, unless the manifest wants those of this one`() async throws {
        func run(_ more: String) async throws -> String {
            try workspace.writeManifest(
                inputs: "photos/a.png", filters: "[gaussian, vignette]", more: "existing: update\n\(more)")
            return try await Program.run(Program.penumbra, ["run", "job.yaml"], in: workspace).output
        }
        // The recipe is that of a version without a choice.
        _ = try await run("save: {precision: input}")
        #expect(try await run("").contains("0 published, 1 skipped"))
        #expect(try await run("upgrade: rerender").contains("1 published"))
    }

    @Test func `another precision makes outputs anew, and receipts tell it`() async throws {
        func run(_ save: String) async throws -> String {
            try workspace.writeManifest(
                inputs: "photos/a.png", filters: "[gaussian, vignette]",
                more: "existing: update\nreceipts: sidecar\nsave: {\(save)}")
            return try await Program.run(Program.penumbra, ["run", "job.yaml"], in: workspace).output
        }
        _ = try await run("precision: 16, depth: 16")
        #expect(try await run("precision: 16, depth: 16").contains("0 published, 1 skipped"))
        #expect(!(try await run("precision: float, depth: 16").contains("0 published, 1 skipped")))
        let receipt = String(decoding: try workspace.read("out/a.png.receipt.json"), as: UTF8.self)
        #expect(receipt.contains(#""precision""#) && receipt.contains(#""float""#))
    }
}
