import ExamplePictures
import Foundation
import Geometry
import Raster
import Testing

/// Outputs that are folders.
@Suite(.serialized) struct DeepZoomTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 700, height: 400)
        try workspace.writeManifest(
            output: "zoom/{stem}.dzi", more: "save: {tile_format: png, overlap: 0, tile_size: 256}\n")
    }

    private func run(_ more: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["run", "job.yaml"] + more, in: workspace)
    }

    @Test(arguments: ["frame", "tile"])
    func `a folder has the pixels of the output, in tiles`(shard: String) async throws {
        let result = try await run("--set", "shard=\(shard)", "--set", "verify=full")
        #expect(result.code == 0, "\(result.errors)")
        try workspace.writeManifest("plain.yaml")
        #expect(try await Program.run("run", "plain.yaml", in: workspace).code == 0)
        let whole = try PictureFiles.read("\(workspace.path)/out/a.png")
        let description = String(decoding: try workspace.read("zoom/a/a.dzi"), as: UTF8.self)
        #expect(description.contains(#"Height="400""#) && description.contains(#"Width="700""#))
        for (column, row) in [(0, 0), (1, 1), (2, 1)] {
            let tile = try PictureFiles.read("\(workspace.path)/zoom/a/a_files/10/\(column)_\(row).png")
            let rect = tile.rect.translated(x: 256 * column, y: 256 * row)
            let isEqual = tile == whole.cropped(to: rect).translated(x: -rect.x, y: -rect.y)
            #expect(isEqual)
        }
        #expect(workspace.files(below: "zoom").allSatisfy { $0.hasPrefix("a/a") })
    }

    @Test func `a folder takes the place of the one before, whole`() async throws {
        #expect(try await run().code == 0)
        let before = try workspace.read("zoom/a/a_files/10/0_0.png")
        try workspace.write("of an older picture", to: "zoom/a/a_files/12/9_9.png")
        #expect(try await run("--set", "filters[0].gaussian.radius=9").code == 0)
        #expect(try workspace.read("zoom/a/a_files/10/0_0.png") != before)
        #expect(!workspace.exists("zoom/a/a_files/12"))
        #expect(workspace.files(below: "zoom").allSatisfy { $0.hasPrefix("a/a") })
        let skipped = try await run("--set", "existing=skip", "--json")
        #expect(skipped.output.contains(#""state":"skipped""#))
    }

    @Test func `a folder with anything else in it is left as it is`() async throws {
        try workspace.write("mine", to: "zoom/a/letter.txt")
        let result = try await run()
        #expect(result.code == 1)
        #expect(result.errors.contains("zoom/a: a folder with other things in it is in the way; it is left as it is"))
        #expect(workspace.files(below: "zoom") == ["a/letter.txt"])
        try FileManager.default.removeItem(atPath: "\(workspace.path)/zoom/a")
        try workspace.write("a file", to: "zoom/a")
        #expect(try await run().code == 1)
        #expect(try workspace.read("zoom/a") == Data("a file".utf8))
    }

    @Test(arguments: ["zoom/a/a_files/mine/notes.txt", "zoom/a/a_files/10/notes.txt", "zoom/a/a_files/notes.txt"])
    func `a file among the tiles is left as it is`(file: String) async throws {
        #expect(try await run().code == 0)
        let before = try workspace.read("zoom/a/a_files/10/0_0.png")
        try workspace.write("mine", to: file)
        #expect(try await run("--set", "filters[0].gaussian.radius=9").code == 1)
        #expect(try workspace.read(file) == Data("mine".utf8))
        #expect(try workspace.read("zoom/a/a_files/10/0_0.png") == before)
    }

    @Test func `a repair renders a folder again that has lost the file of its picture, and leaves other files`()
        async throws
    {
        try workspace.writeManifest(output: "zoom/{stem}.dzi", more: "existing: update\n")
        #expect(try await run().code == 0)
        let description = try workspace.read("zoom/a/a.dzi")
        try workspace.remove("zoom/a/a.dzi")
        func repair() async throws -> Program.Result {
            try await Program.run(
                Program.penumbra, ["verify", "job.yaml", "--repair", "--force"], in: workspace)
        }
        let repaired = try await repair()
        #expect(repaired.code == 0, "\(repaired.output) \(repaired.errors)")
        #expect(try workspace.read("zoom/a/a.dzi") == description)
        try workspace.remove("zoom/a/a.dzi")
        try workspace.write("mine", to: "zoom/a/letter.txt")
        let refused = try await repair()
        #expect(refused.code != 0 && !workspace.exists("zoom/a/a.dzi"))
        #expect(
            refused.errors.contains("zoom/a: a folder with other things in it is in the way; it is left as it is"),
            "\(refused.errors)")
        #expect(try workspace.read("zoom/a/letter.txt") == Data("mine".utf8))
    }

    @Test func `a folder without a picture in it is no output`() async throws {
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/zoom/a", withIntermediateDirectories: true)
        let result = try await run("--set", "existing=skip")
        #expect(result.code == 0, "an empty folder is not taken for the output")
        #expect(workspace.exists("zoom/a/a.dzi"))
    }

    @Test(arguments: ["scan.zip.png", "IMG[3].png", "b.dz.png", "a.szi.png"])
    func `a picture's name means nothing to the encoder`(name: String) async throws {
        try FileManager.default.moveItem(
            atPath: "\(workspace.path)/photos/a.png", toPath: "\(workspace.path)/photos/\(name)")
        #expect(try await run().code == 0)
        let stem = name.dropLast(4)
        #expect(workspace.exists("zoom/\(stem)/\(stem).dzi"))
        #expect(workspace.exists("zoom/\(stem)/\(stem)_files/0/0_0.png"))
        #expect(try await run().code == 0)
    }

    @Test func `two runs give the same bytes`() async throws {
        #expect(try await run().code == 0)
        let files = workspace.files(below: "zoom")
        let before = try files.map { try workspace.read("zoom/\($0)") }
        #expect(try await run().code == 0)
        #expect(workspace.files(below: "zoom") == files)
        #expect(try files.map { try workspace.read("zoom/\($0)") } == before)
    }

    @Test func `no other output may lie in the folder`() async throws {
        try workspace.write(
            "job: clash\ninputs: photos/a.png\nfilters: [gaussian]\noutputs:\n  - path: zoom/{stem}.dzi\n"
                + "  - path: zoom/{stem}/full.jpg\n",
            to: "job.yaml")
        let result = try await run()
        #expect(result.code == 65)
        #expect(
            result.errors.contains(
                "the output \(workspace.path)/zoom/a/full.jpg would lie in \(workspace.path)/zoom/a, a folder that is an output"
            ))
        #expect(!workspace.exists("zoom"))
    }

    @Test func `tiles that the job's inputs would match are refused before anything starts`() async throws {
        try workspace.writeManifest(inputs: "'**/*.png'", output: "zoom/{stem}.dzi")
        let result = try await run()
        #expect(result.code == 65)
        #expect(result.errors.contains("would be an input of the next run"))
        #expect(!workspace.exists("zoom"))
        // What the message says to add is enough for ever.
        try workspace.writeManifest(
            inputs: "'**/*.png'", output: "zoom/{stem}.dzi",
            more: "save: {tile_format: png}\nexclude:\n  - zoom/*/*_files/**\n")
        #expect(result.errors.contains("- zoom/*/*_files/**"))
        #expect(try await run().code == 0)
        #expect(try await run().code == 0)
    }
}
