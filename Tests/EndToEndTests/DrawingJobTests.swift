import Foundation
import TestSupport
import Testing

/// Jobs of PDF and SVG, which are drawn in the size that `dpi` asks for.
@Suite(.serialized) struct DrawingJobTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        let shapes = """
            <svg xmlns="http://www.w3.org/2000/svg" width="36" height="20"><circle cx="18" cy="10" r="8" fill="#c03020"/></svg>
            """
        try workspace.write(Data(shapes.utf8), to: "drawings/a.svg")
        try workspace.age("drawings/a.svg")
    }

    private func write(_ more: String) throws {
        try workspace.writeManifest(
            inputs: "drawings/*.svg", filters: "[{gaussian: {radius: 2}}]", output: "out/{stem}.png",
            more: "existing: update\n\(more)")
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    @Test func `a drawing has the size of the resolution, in frames, tiles, plans and previews alike`() async throws {
        try write("dpi: 144\nshard: frame\nverify: audit")
        #expect(try await penumbra("plan", "job.yaml").output.contains("72×40"))
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let frame = try workspace.read("out/a.png")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        #expect(try await penumbra("verify", "job.yaml", "--rerender").code == 0)

        try write("dpi: 144\nshard: tile\ntile: 32\nverify: audit")
        #expect(try await Program.night(workspace, "--force") == NightSummary(published: 1))
        #expect(try workspace.read("out/a.png") == frame)
    }

    @Test func `another resolution renders again, and says so`() async throws {
        try write("")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let usual = try workspace.read("out/a.png")
        try write("dpi: 72")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1), "72 is what there is without the key")
        try write("dpi: 300")
        #expect(try await penumbra("plan", "job.yaml").output.contains("dpi 72 → 300"))
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try workspace.read("out/a.png") != usual)
    }
}
