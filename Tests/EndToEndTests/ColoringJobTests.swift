import ExamplePictures
import Foundation
import Raster
import Testing

/// Tables of colours, from the manifest to real workers.
@Suite(.serialized) struct ColoringJobTests {
    private let workspace: Workspace
    private static let inverted = "LUT_1D_SIZE 2\n1 1 1\n0 0 0\n"
    private static let same = "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n"

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try write(Self.inverted)
        try workspace.writeManifest(
            inputs: "photos/a.png", filters: "[{lut: {file: looks/look.cube}}]", more: "existing: update")
    }

    private func write(_ table: String) throws {
        try workspace.write(table, to: "looks/look.cube")
        try workspace.age("looks/look.cube")
    }

    private func penumbra(_ arguments: String..., environment: [String: String] = [:]) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace, environment: environment)
    }

    private var output: AnyRaster { get throws { try PictureFiles.read("\(workspace.path)/out/a.png") } }

    @Test func `a table is applied, in tiles and in a sandbox too, and a new table makes outputs anew`() async throws {
        let before = try PictureFiles.read("\(workspace.path)/photos/a.png")
        guard case .u8(let raster) = before else {
            Issue.record("the photo has 8 bits")
            return
        }
        let inverted = AnyRaster.u8(
            Raster(rect: raster.rect, layout: raster.layout, samples: raster.samples.map { 255 - $0 }))
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try output == inverted)
        let bytes = try workspace.read("out/a.png")
        let tiled = try await penumbra(
            "run", "job.yaml", "--force", "--set", "shard=tile", "--set", "tile=50",
            environment: ["PENUMBRA_SANDBOX": "require"])
        #expect(tiled.code == 0, "\(tiled.errors)")
        #expect(try workspace.read("out/a.png") == bytes)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        try write(Self.same)
        #expect(try await penumbra("plan", "job.yaml").output.contains("looks/look.cube has changed"))
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try output == before)
    }

    @Test func `a table that is not there, or is none, is an error of the manifest`() async throws {
        try workspace.write(Self.inverted + "0.5 0.5\n", to: "looks/look.cube")
        for command in ["check", "run"] {
            let result = try await penumbra(command, "job.yaml")
            #expect(result.code == 65)
            #expect(result.errors.contains("job.yaml:3:24: error: "), "\(result.errors)")
            #expect(result.errors.contains("looks/look.cube"), "\(result.errors)")
            #expect(result.errors.contains("line 4: more than 2 colours, which its size allows"), "\(result.errors)")
        }
        try workspace.remove("looks/look.cube")
        let result = try await penumbra("check", "job.yaml")
        #expect(result.code == 65)
        #expect(
            result.errors.contains("error: the table of 'file', 'looks/look.cube': no such file\n"), "\(result.errors)")
        #expect(!workspace.exists("out"))
    }

    @Test func `values that no filter takes are errors of the manifest`() async throws {
        for (filters, message) in [
            ("[{levels: {black: 60, white: 40}}]", "'black' must be smaller than 'white'"),
            ("[{levels: {black: 100}}]", "'black' must be smaller than 'white'"),
            ("[{white-balance: {neutral: '#00ff80'}}]", "one channel of 'neutral' is 0"),
            ("[{lut: {strength: 50}}]", "'lut' has no 'file'"),
            ("\n  - perspective: {corners: [{x: 0, y: 0}, {x: 9, y: 9}]}", "'corners' has 2 places"),
            ("[{straighten: {angle: 46}}]", "'angle' cannot be 46"),
        ] {
            try workspace.writeManifest(inputs: "photos/a.png", filters: filters)
            for command in ["check", "run"] {
                let result = try await penumbra(command, "job.yaml")
                #expect(result.code == 65)
                #expect(result.errors.contains(message), "\(result.errors)")
            }
        }
        #expect(!workspace.exists("out"))
        let applied = try await penumbra("apply", "white-balance: {neutral: black}", "photos/a.png", "-o", "a.png")
        #expect(applied.code == 65 && !workspace.exists("a.png"), "\(applied.errors)")
    }
}
