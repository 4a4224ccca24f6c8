import Foundation
import Testing

/// Pictures over pictures, panels and frosted glass, as jobs.
@Suite(.serialized) struct LayerJobTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try drawLayer(shade: 200)
    }

    /// A gray square, some hours old.
    private func drawLayer(shade: UInt8, to name: String = "layers/label.pgm") throws {
        var data = Data("P5\n30 20\n255\n".utf8)
        data.append(contentsOf: [UInt8](repeating: shade, count: 600))
        try workspace.write(data, to: name)
        try workspace.age(name)
    }

    private func writeScene(more: String = "shard: frame") throws {
        try workspace.writeManifest(
            filters: "[{backdrop: [{x: 10%, y: 20%, width: 60%, height: 50%, radius: 4, corner_radius: 9, gloss: 40}, "
                + "{x: 40, y: 50, width: 60, height: 40, border_width: 2}]}, {material: {style: dark, within: "
                + "{x: 5, y: 5, width: 50%, height: 30}}}]",
            more: "layers: [{picture: layers/label.pgm, x: 20.5, y: 30%, opacity: 80}]\nexisting: update\n\(more)")
    }

    @Test func `tiles and every number of workers give the same bytes`() async throws {
        try workspace.draw("photos/d.png", width: 700, height: 500)
        try writeScene()
        #expect(try await Program.night(workspace, "--workers", "1").published == 4)
        let whole = try workspace.contents(below: "out")
        try writeScene(more: "shard: tile\ntile: 90\nverify: audit")
        #expect(try await Program.night(workspace, "--force", "--workers", "2").published == 4)
        #expect(try workspace.contents(below: "out") == whole)
    }

    @Test func `a layer that changed makes its outputs again, and a hidden one is not seen`() async throws {
        try writeScene()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
        let before = try workspace.read("out/a.png")
        try drawLayer(shade: 20)
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try workspace.read("out/a.png") != before)
    }

    @Test func `a layer that is broken fails the job's pictures every night, and is not laid to them`() async throws {
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 2}}]",
            more: "layers: [{picture: layers/label.png}]\nexisting: update")
        try workspace.copy("photos/a.png", to: "layers/label.png")
        let whole = try workspace.read("layers/label.png")
        try workspace.write(whole.prefix(whole.count / 2), to: "layers/label.png")
        try workspace.age("layers/label.png")
        for _ in 1...2 {
            let night = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
            #expect(night.code == 1)
            #expect(night.errors.contains("layers/label.png"), "\(night.errors)")
        }
    }

    @Test func `a hidden layer leaves the picture as it is`() async throws {
        let layer = "layers: [{picture: layers/label.pgm, hidden: true}]"
        try workspace.writeManifest("hidden.yaml", filters: "[{gaussian: {radius: 2}}]", more: layer)
        #expect(try await Program.run(Program.penumbra, ["run", "hidden.yaml"], in: workspace).code == 0)
        let hidden = try workspace.read("out/a.png")
        try workspace.writeManifest(
            "without.yaml", filters: "[{gaussian: {radius: 2}}]", output: "without/{stem}.png", more: "color: srgb")
        #expect(try await Program.run(Program.penumbra, ["run", "without.yaml"], in: workspace).code == 0)
        #expect(try workspace.read("without/a.png") == hidden)
    }

    @Test func `a layer that is no picture is shown where it is named`() async throws {
        try workspace.write("no picture", to: "layers/notes.txt")
        try workspace.writeManifest(more: "layers: [{picture: layers/notes.txt}]")
        let result = try await Program.run(Program.penumbra, ["check", "job.yaml"], in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors.contains("the picture of 'picture', 'layers/notes.txt': not a picture that Penumbra reads"),
            "\(result.errors)")
    }

    @Test func `a layer that is missing is one error, and a hidden one no warning`() async throws {
        try workspace.writeManifest(more: "layers: [{picture: layers/none.pgm}]")
        let missing = try await Program.run(Program.penumbra, ["check", "job.yaml"], in: workspace)
        #expect(missing.code == 65)
        #expect(missing.errors.components(separatedBy: "error: ").count == 2, "\(missing.errors)")
        #expect(missing.errors.contains("'layers/none.pgm': no such file"))
        try workspace.writeManifest(more: "layers: [{picture: layers/label.pgm, hidden: true}]")
        #expect(try await Program.run(Program.penumbra, ["check", "job.yaml"], in: workspace).errors == "")
    }

    @Test func `a sweep finds filters among layers and panels`() async throws {
        try writeScene()
        func preview(_ sweep: String) async throws -> Program.Result {
            try await Program.run(
                Program.penumbra,
                ["preview", "job.yaml", "photos/a.png", "--size", "20", "--sweep", sweep, "-o", "p.png"], in: workspace)
        }
        #expect(try await preview("material.radius=2,5").code == 0)
        #expect(try await preview("opacity=20,50").code == 0)
        #expect(
            try await preview("gloss=1,2").errors
                == "--sweep: several filters have a parameter 'gloss'\n   = write one of filters[0].backdrop[0].gloss, "
                + "filters[0].backdrop[1].gloss\n")
        #expect(try await preview("filters[0].backdrop[1].gloss=1,2").code == 0)
    }

    @Test func `no output is written over a layer`() async throws {
        try workspace.writeManifest(
            output: "layers/label.pgm", more: "layers: [{picture: layers/label.pgm}]\nexisting: overwrite")
        let before = try workspace.read("layers/label.pgm")
        let result = try await Program.run(Program.penumbra, ["run", "job.yaml"], in: workspace)
        #expect(result.code != 0)
        #expect(try workspace.read("layers/label.pgm") == before)
    }
}
