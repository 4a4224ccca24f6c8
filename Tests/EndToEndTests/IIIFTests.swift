import ExamplePictures
import Foundation
import Geometry
import Raster
import Testing

/// Outputs of the IIIF Image API.
@Suite(.serialized) struct IIIFTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/2026/a.png", width: 700, height: 400)
        try manifest()
    }

    private func manifest(_ save: String = "id: 'https://example.org/iiif/{dir}/{stem}', tile_size: 256") throws {
        try workspace.writeManifest(
            inputs: "photos/**/*.png", output: "iiif/{dir}/{stem}.iiif", more: "existing: update\nsave: {\(save)}\n")
    }

    private func run(_ more: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["run", "job.yaml"] + more, in: workspace)
    }

    private func info(_ name: String) throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: workspace.read("\(name)/info.json"))
        return try #require(json as? [String: Any])
    }

    @Test func `a folder has the same files, whatever rendered its pixels, and its address`() async throws {
        var folders: [[String: Data]] = []
        for shard in ["frame", "tile"] {
            let result = try await run(
                "--set", "shard=\(shard)", "--set", "verify=full", "--set", "existing=overwrite")
            #expect(result.code == 0, "\(result.errors)")
            let files = workspace.files(below: "iiif")
            folders.append(
                Dictionary(uniqueKeysWithValues: try files.map { ($0, try workspace.read("iiif/\($0)")) }))
        }
        #expect(folders[0] == folders[1])
        let info = try info("iiif/2026/a")
        #expect(info["id"] as? String == "https://example.org/iiif/2026/a")
        #expect(info["width"] as? Int == 700 && info["height"] as? Int == 400)
        let tile = try PictureFiles.read("\(workspace.path)/iiif/2026/a/512,256,188,144/188,144/0/default.jpg")
        #expect(tile.rect.width == 188 && tile.rect.height == 144)
        let whole = try PictureFiles.read("\(workspace.path)/iiif/2026/a/full/max/0/default.jpg")
        #expect(whole.rect.width == 700)
    }

    @Test func `a folder takes the place of the one before, whole, and of one of another format`() async throws {
        try workspace.writeManifest(inputs: "photos/**/*.png", output: "iiif/{dir}/{stem}.dzi")
        #expect(try await run().code == 0)
        #expect(workspace.exists("iiif/2026/a/a.dzi"))
        try manifest()
        let result = try await run("--set", "existing=overwrite")
        #expect(result.code == 0, "\(result.errors)")
        #expect(!workspace.exists("iiif/2026/a/a.dzi") && workspace.exists("iiif/2026/a/info.json"))
        try workspace.write("of an older picture", to: "iiif/2026/a/9,9,9,9/9,9/0/default.jpg")
        #expect(try await run("--set", "existing=overwrite", "--set", "filters[0].gaussian.radius=9").code == 0)
        #expect(!workspace.exists("iiif/2026/a/9,9,9,9"))
        try workspace.write("mine", to: "iiif/2026/a/letter.txt")
        #expect(try await run("--set", "existing=overwrite", "--set", "filters[0].gaussian.radius=8").code == 1)
        #expect(try workspace.read("iiif/2026/a/letter.txt") == Data("mine".utf8))
    }

    @Test func `another address renders the outputs again, and the same one none`() async throws {
        #expect(try await run().code == 0)
        #expect(try await run("--json").output.contains(#""state":"skipped""#))
        try manifest("id: 'https://example.com/{dir}/{stem}'")
        #expect(try await run().code == 0)
        #expect(try info("iiif/2026/a")["id"] as? String == "https://example.com/2026/a")
    }

    @Test func `outputs are verified and rendered again with the address of their picture`() async throws {
        try workspace.draw("photos/2026/b c.png", width: 300, height: 200)
        #expect(try await run().code == 0)
        #expect(try info("iiif/2026/b c")["id"] as? String == "https://example.org/iiif/2026/b%20c")
        let result = try await Program.run("verify", "--rerender", "iiif", in: workspace)
        #expect(result.code == 0, "\(result.errors)\(result.output)")
        try workspace.write("{}", to: "iiif/2026/a/info.json")
        #expect(try await Program.run("verify", "iiif", in: workspace).code == 1)
    }

    @Test func `a folder is adopted by the size in its description`() async throws {
        #expect(try await run().code == 0)
        for name in ["state", "iiif/2026/.penumbra-index", "iiif/.penumbra-index"] where workspace.exists(name) {
            try workspace.remove(name)
        }
        let result = try await Program.run("adopt", "job.yaml", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(try await run("--json").output.contains(#""state":"skipped""#))
    }

    @Test func `pictures that the job's inputs would match are refused before anything starts`() async throws {
        try workspace.writeManifest(
            inputs: "'**/*.{png,jpg}'", output: "iiif/{dir}/{stem}.iiif",
            more: "save: {id: 'https://example.org/iiif/{dir}/{stem}'}\n")
        let result = try await run()
        #expect(result.code == 65)
        #expect(result.errors.contains("would be an input of the next run"))
        #expect(result.errors.contains("- iiif/**/*/**/default.jpg"), "\(result.errors)")
        #expect(!workspace.exists("iiif"))
    }
}
