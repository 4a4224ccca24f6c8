import Foundation
import Geometry
import Raster
import TestSupport
import Testing

/// Jobs whose filters measure each picture first: `trim` and `deskew`.
@Suite(.serialized) struct MeasuredJobTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try drawPage("photos/a.pgm", width: 300, height: 200, x: 40..<220, y: 30..<150)
        try drawPage("photos/b.pgm", width: 120, height: 250, x: 0..<100, y: 7..<240)
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    /// White, with a pattern that is dark everywhere. Its time is some hours ago.
    private func drawPage(_ name: String, width: Int, height: Int, x: Range<Int>, y: Range<Int>) throws {
        var data = Data("P5\n\(width) \(height)\n255\n".utf8)
        for row in 0..<height {
            for column in 0..<width {
                let isContent = x.contains(column) && y.contains(row)
                data.append(isContent ? UInt8((row * 37 + column * 11) % 200) : 252)
            }
        }
        try workspace.write(data, to: name)
        try workspace.age(name)
    }

    private func write(_ filters: String, to name: String = "job.yaml", output: String = "out", more: String = "")
        throws
    {
        try workspace.writeManifest(
            name, inputs: "photos/*.pgm", filters: filters, output: "\(output)/{stem}.png",
            more: "existing: update\n\(more)")
    }

    @Test func `each picture is cut to its contents, the same in whole frames, tiles and audits`() async throws {
        let filters = "[{trim: {margin: 5}}, {gaussian: {radius: 2}}]"
        try write(filters, more: "shard: frame\nverify: audit")
        let plan = try await penumbra("plan", "job.yaml")
        #expect(plan.output.contains("300×200 gray u8 → 190×130"), "\(plan.output)")
        #expect(plan.output.contains("120×250 gray u8 → 105×243"), "\(plan.output)")
        #expect(try await Program.night(workspace) == NightSummary(published: 2))
        let frames = try workspace.contents(below: "out")

        try write(
            "[{crop: {x: 35, y: 25, width: 190, height: 130}}, {gaussian: {radius: 2}}]", to: "crop.yaml",
            output: "crop")
        #expect(try await penumbra("run", "crop.yaml").code == 0)
        #expect(try workspace.read("crop/a.png") == frames["a.png"])

        try write(filters, more: "shard: tile\ntile: 64\nverify: audit")
        #expect(try await Program.night(workspace, "--force", "--workers", "2") == NightSummary(published: 2))
        #expect(try workspace.contents(below: "out") == frames)
        #expect(try await penumbra("verify", "job.yaml", "--rerender").code == 0)
    }

    @Test func `an unchanged picture is not measured again, and another border gives another output`() async throws {
        try write("[trim]")
        #expect(try await Program.night(workspace) == NightSummary(published: 2))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 2))
        let before = try workspace.contents(below: "out")
        try drawPage("photos/a.pgm", width: 300, height: 200, x: 50..<220, y: 30..<150)
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 1))
        let after = try workspace.contents(below: "out")
        #expect(after["a.png"] != before["a.png"] && after["b.png"] == before["b.png"])
    }

    @Test func `a picture that was written just now is cut, too, and one without contents stays whole`() async throws {
        try drawPage("photos/c.pgm", width: 30, height: 20, x: 0..<0, y: 0..<0)
        try workspace.write(workspace.read("photos/a.pgm"), to: "photos/young.pgm")
        try write("[trim]")
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
        #expect(try workspace.read("out/young.png") == workspace.read("out/a.png"))
        try workspace.writeManifest(
            "same.yaml", inputs: "photos/c.pgm", filters: "[{gaussian: {radius: 0}}]", output: "same/{stem}.png")
        #expect(try await penumbra("run", "same.yaml").code == 0)
        #expect(try workspace.read("out/c.png") == workspace.read("same/c.png"))
    }

    @Test func `outputs may be trimmed differently, or not`() async throws {
        try workspace.write(
            """
            job: test
            inputs: photos/a.pgm
            outputs:
              - {path: 'out/{stem}-tight.png', filters: [trim]}
              - {path: 'out/{stem}-wide.png', filters: [{trim: {margin: 10%}}, {thumbnail: {size: 90}}]}
              - {path: 'out/{stem}.png', filters: [{thumbnail: {size: 90}}]}

            """, to: "job.yaml")
        struct Plan: Decodable {
            struct Output: Decodable { let extent: PixelRect }
            let outputs: [Output]
        }
        let plan = try await penumbra("plan", "job.yaml", "--json").output.split(separator: "\n")
        let outputs = plan.compactMap { try? JSONDecoder().decode(Plan.self, from: Data($0.utf8)) }.first?.outputs
        #expect(
            outputs?.map(\.extent) == [
                PixelRect(x: 40, y: 30, width: 180, height: 120), PixelRect(x: 0, y: 0, width: 90, height: 60),
                PixelRect(x: 0, y: 0, width: 90, height: 60),
            ])
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(workspace.files(below: "out") == ["a-tight.png", "a-wide.png", "a.png"])
    }

    @Test func `the frames of an animation are cut alike, as one task and as many`() async throws {
        let filters = "[{trim: {}}, {thumbnail: {size: 90}}, {gaussian: {radius: 4}}]"
        func write(_ more: String) throws {
            try workspace.writeManifest(
                inputs: "photos/*.pgm", filters: filters, output: "out/{stem}.webp",
                more: "animate: {crossfade: {duration: 0.1}}\nexisting: update\n\(more)")
        }
        try write("shard: tile")
        #expect(try await Program.night(workspace, "--workers", "2") == NightSummary(published: 2))
        let tiled = try workspace.contents(below: "out")
        try write("shard: frame\nverify: audit")
        #expect(try await Program.night(workspace, "--force") == NightSummary(published: 2))
        #expect(try workspace.contents(below: "out") == tiled)
    }

    @Test func `pages are turned back, and level ones stay as they are`() async throws {
        func drawPage(_ name: String, _ degrees: Double) throws {
            let page = TextPage.picture(width: 431, height: 587, degrees: degrees)
            try workspace.write(Data("P5\n431 587\n255\n".utf8) + Data(page.samples), to: name)
            try workspace.age(name)
        }
        for name in ["a", "b"] { try workspace.remove("photos/\(name).pgm") }
        try drawPage("photos/level.pgm", 0)
        try drawPage("photos/turned.pgm", 3)
        try write("[{deskew: {shape: same}}]", more: "verify: audit")
        let plan = try await penumbra("plan", "job.yaml")
        #expect(plan.output.contains("level.pgm   431×587 gray u8 "), "\(plan.output)")
        #expect(try await Program.night(workspace) == NightSummary(published: 2))
        let frames = try workspace.contents(below: "out")
        try write("[{deskew: {shape: same}}]", more: "shard: tile\ntile: 200")
        #expect(try await Program.night(workspace, "--force", "--workers", "2") == NightSummary(published: 2))
        #expect(try workspace.contents(below: "out") == frames)
        // What was turned back is level.
        try workspace.writeManifest(
            "again.yaml", inputs: "out/turned.png", filters: "[deskew]", output: "again/{stem}.png")
        #expect(try await penumbra("run", "again.yaml").code == 0)
        try workspace.writeManifest(
            "same.yaml", inputs: "out/turned.png", filters: "[{gaussian: {radius: 0}}]", output: "same/{stem}.png")
        #expect(try await penumbra("run", "same.yaml").code == 0)
        #expect(try workspace.read("again/turned.png") == workspace.read("same/turned.png"))
    }

    @Test func `a preview shows the picture as it is cut`() async throws {
        try write("[trim, {gaussian: {radius: 3}}]")
        let result = try await penumbra("preview", "job.yaml", "photos/a.pgm", "-o", "p.png", "--compare", "side")
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test func `65: a filter that measures the picture must be the first one`() async throws {
        try write("[{gaussian: {radius: 2}}, trim]")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 65)
        #expect(
            result.errors.hasPrefix(
                "job.yaml:3:36: error: 'trim' measures the picture as it is in its file, and 'gaussian' before it changes the "
                    + "picture\n"), "\(result.errors)")
        #expect(!workspace.exists("out"))
    }
}
