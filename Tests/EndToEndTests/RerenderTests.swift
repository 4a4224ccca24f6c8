import Foundation
import Testing

/// `penumbra verify --rerender`: outputs are rendered again, and compared with what was recorded.
@Suite(.serialized) struct RerenderTests {
    let workspace: Workspace

    init() async throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    private func rerender(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(
            Program.penumbra, ["verify", "job.yaml", "--rerender"] + arguments, in: workspace,
            environment: ["TMPDIR": "\(workspace.path)/tmp"])
    }

    /// What it says of rendering again, without the time that it took.
    private func counts(_ result: Program.Result) -> String? {
        result.output.split(separator: "\n").first { $0.hasPrefix("rendered again") }
            .map { String($0).replacing(#/ in [0-9.]+ m?s/#, with: "") }
    }

    /// Changes the database behind Penumbra's back.
    private func edit(_ sql: String) async throws { try await workspace.editDatabase(sql) }

    /// The encoder of the outputs, as it was recorded.
    private func encoder() async throws -> String {
        let result = try await rerender("--json")
        let lines = try VerifyLine.all(in: result.output)
        return try #require(lines.first { $0.event == "rerendered" }?.publishedEncoder)
    }

    @Test func `what is rendered again has the same bytes, in tiles too, and nothing of it stays`() async throws {
        let result = try await rerender()
        #expect(result.code == 0, "\(result.errors)")
        #expect(counts(result) == "rendered again 3 outputs: 3 as published")
        #expect(workspace.allFiles(below: "tmp") == [])
        #expect(workspace.leftovers() == [])
        #expect(try await encoder().wholeMatch(of: /libvips [0-9.]+, libpng16 [0-9.]+, libz [0-9.]+/) != nil)
    }

    @Test func `outputs of tiles, several outputs, folders and pages are rendered again alike`() async throws {
        try workspace.draw("photos/large.jpg", width: 900, height: 700)
        try workspace.age("photos/large.jpg")
        try workspace.write(
            """
            job: test
            inputs: photos/*
            outputs:
              - path: many/{stem}.jpg
                filters: [{thumbnail: {size: 40}}]
                save: {metadata: strip}
              - path: many/zoom/{stem}.dzi
                filters: [{thumbnail: {size: 100}}]
              - path: many/{stem}.webp
                filters: [{thumbnail: {size: 50}}, {gaussian: {radius: 2}}]
                save: {dither: true}
            """, to: "job.yaml")
        #expect(try await Program.night(workspace).published == 4)
        #expect(try await counts(rerender()) == "rendered again 15 outputs: 15 as published")
        // An output that came later decodes the pictures otherwise; those before it stay what they were.
        let more = String(decoding: try workspace.read("job.yaml"), as: UTF8.self)
        try workspace.write(
            more + "\n  - path: many/{stem}-large.png\n    filters: [{thumbnail: {size: 600}}]\n", to: "job.yaml")
        #expect(try await Program.night(workspace).published == 4)
        #expect(try await counts(rerender()) == "rendered again 19 outputs: 19 as published")
        try workspace.writeManifest(output: "tiled/{stem}.tif", more: "shard: tile\ntile: 64\nexisting: update")
        #expect(try await Program.night(workspace).published == 4)
        #expect(try await counts(rerender("--sample", "100%")) == "rendered again 23 outputs: 23 as published")
    }

    @Test func `another encoder of the same pixels is no damage, and both are named`() async throws {
        let now = try await encoder()
        try await edit("UPDATE encodings SET text = replace(text, 'libpng16 1', 'libpng16 0.1')")
        try await edit("UPDATE outputs SET low = low + 1 WHERE path LIKE '%/a.png'")
        let result = try await rerender()
        #expect(result.code == 1, "the file is not what was recorded")
        #expect(counts(result) == "rendered again 3 outputs: 2 as published, 1 encoder differs")
        let before = now.replacing("libpng16 1", with: "libpng16 0.1")
        #expect(
            result.errors.hasSuffix("1 output: pixels equal, encoder differs: \(before) → \(now)\n  out/a.png\n"))
        // The same encoder has to write the same bytes.
        try await edit("UPDATE encodings SET text = replace(text, 'libpng16 0.1', 'libpng16 1')")
        let lying = try await rerender()
        #expect(counts(lying) == "rendered again 3 outputs: 2 as published, 1 bytes differ")
        #expect(
            lying.errors.hasSuffix(
                "1 output: pixels equal, bytes differ, though the encoder is the same\n  out/a.png\n"))
    }

    @Test func `other pixels are damage`() async throws {
        try await edit(#"UPDATE recipes SET text = replace(text, '"_0":5', '"_0":6')"#)
        let result = try await rerender("--quiet")
        #expect(result.code == 1)
        #expect(result.output == "")
        #expect(result.errors == "3 outputs: pixels differ\n  out/a.png\n  out/b.png\n  out/c.png\n")
        #expect(workspace.allFiles(below: "tmp") == [])
    }

    @Test func `other versions of filters are told, and explain other pixels`() async throws {
        try await edit(#"UPDATE recipes SET text = replace(text, '"version":"', '"version":"0.')"#)
        #expect(try await counts(rerender()) == "rendered again 3 outputs: 3 as published")
        try await edit(#"UPDATE recipes SET text = replace(text, '"_0":5', '"_0":6')"#)
        let result = try await rerender()
        #expect(result.code == 0)
        let title =
            "3 outputs: pixels differ, rendered by gaussian 0.4, this is gaussian 4; rendering version 0.5, this is 5"
        #expect(result.errors == "\(title)\n  out/a.png\n  out/b.png\n  out/c.png\n")
    }

    @Test func `outputs of older versions can only be equal or not`() async throws {
        try await edit("UPDATE outputs SET pixels_high = NULL, pixels_low = NULL, encoding = NULL")
        #expect(try await counts(rerender()) == "rendered again 3 outputs: 3 as published")
        try await edit(#"UPDATE recipes SET text = replace(text, '"_0":5', '"_0":6')"#)
        let result = try await rerender()
        #expect(result.code == 1)
        #expect(
            result.errors
                == "3 outputs: differs; pixels were not recorded\n  out/a.png\n  out/b.png\n  out/c.png\n")
    }

    @Test func `what cannot be compared is told, and is no fault of the output`() async throws {
        try workspace.draw("photos/a.png", width: 50, height: 60)
        try workspace.remove("photos/b.png")
        try await edit(#"UPDATE recipes SET text = replace(text, 'gaussian', 'emboss') WHERE 0"#)
        let result = try await rerender()
        #expect(result.code == 0)
        #expect(counts(result) == "rendered again 3 outputs: 1 as published, 2 skipped")
        #expect(
            result.errors == """
                1 output: not rendered again, the input changed since
                  out/a.png
                1 output: not rendered again, the input is gone
                  out/b.png

                """)
        try await edit(#"UPDATE recipes SET text = replace(text, 'gaussian', 'emboss')"#)
        let missing = try await rerender("--json")
        let lines = try VerifyLine.all(in: missing.output).filter { $0.event == "rerendered" }
        #expect(lines.map(\.state) == ["skipped", "skipped", "skipped"])
        #expect(lines[0].reason == "the filter 'emboss' is not installed")
    }

    @Test func `a sample is rendered again alone, and adopted outputs are not`() async throws {
        let sample = try await rerender("--sample", "1", "--seed", "4")
        #expect(sample.code == 0)
        #expect(counts(sample) == "rendered again 1 output: 1 as published")
        try await edit("UPDATE outputs SET adopted = 1")
        #expect(try await counts(rerender()) == "rendered again 3 outputs: 3 skipped")
    }

    @Test func `workers that crash are replaced, and what a killed verify left is removed`() async throws {
        try workspace.write("x", to: "tmp/penumbra-verify-old/lock")
        try workspace.write("x", to: "tmp/penumbra-verify-old/0/canvas")
        try workspace.write("x", to: "tmp/mine/penumbra-verify")
        #expect(try await rerender().code == 0)
        #expect(workspace.allFiles(below: "tmp") == ["mine/penumbra-verify"])
    }
}
