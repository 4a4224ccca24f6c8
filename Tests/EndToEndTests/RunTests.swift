import Foundation
import Glibc
import Testing

@Suite(.serialized) struct RunTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    @Test func `a job's pictures are published, and nothing else is left`() async throws {
        try workspace.writeManifest()
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.errors == "")
        #expect(result.output.contains("test: 3 published in "))
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
        #expect(workspace.files(below: "state/penumbra/runs") == [])
    }

    @Test func `the bytes are the same whatever the tiles, workers and mode`() async throws {
        try workspace.writeManifest(filters: "[{gaussian: {radius: 6}}, {motion: {radius: 9, angle: 33}}]")
        var variants: [[Data]] = []
        for options in [
            ["--workers", "1"], ["--set", "shard=tile", "--set", "tile=64"],
            ["--set", "shard=tile", "--set", "tile=37", "--workers", "1"], ["--set", "shard=frame", "--workers", "3"],
        ] {
            let result = try await Program.run(Program.penumbra, ["run", "job.yaml"] + options, in: workspace)
            #expect(result.code == 0, "\(options): \(result.errors)")
            variants.append(try ["a", "b", "c"].map { try workspace.read("out/\($0).png") })
        }
        for variant in variants { #expect(variant == variants[0]) }
    }

    @Test func `a single process is enough for every level of verification`() async throws {
        for (shard, verify) in [("frame", "audit"), ("tile", "audit"), ("frame", "full"), ("tile", "full")] {
            try workspace.writeManifest(more: "shard: \(shard)\ntile: 50\nverify: \(verify)")
            let result = try await Program.run("run", "job.yaml", "--workers", "1", in: workspace)
            #expect(result.code == 0, "\(shard) \(verify): \(result.errors)")
        }
    }

    @Test func `one frame for two workers is audited by a fresh one`() async throws {
        try workspace.writeManifest(more: "shard: frame\nverify: audit")
        let result = try await Program.run("run", "job.yaml", "--workers", "2", "--only", "a.png", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test func `broken pictures fail by name and the others are published`() async throws {
        try workspace.write("", to: "photos/empty.jpg")
        try workspace.write("no picture", to: "photos/notes.png")
        try workspace.write(try workspace.read("photos/c.jpg").prefix(3000), to: "photos/cut.jpg")
        try workspace.writeManifest()
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 1)
        let lines = result.errors.split(separator: "\n").map(String.init)
        #expect(lines.first == "3 frames failed: broken or unreadable picture")
        #expect(lines.contains("  photos/empty.jpg: empty file"))
        #expect(
            lines.contains("  photos/notes.png: not a picture that Penumbra reads ('penumbra formats' lists them)"))
        #expect(lines.contains { $0.hasPrefix("  photos/cut.jpg: broken JPEG: ") })
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    @Test func `a picture above max_pixels is refused by the setting's name`() async throws {
        try workspace.writeManifest(more: "max_pixels: 20k")
        let result = try await Program.run("run", "job.yaml", "--only", "c.jpg", in: workspace)
        #expect(result.code == 1)
        #expect(result.errors.hasPrefix("1 frame failed: larger than allowed\n"))
        #expect(
            result.errors.contains(
                "photos/c.jpg: 200 × 130 pixels are more than max_pixels: 20000; "
                    + "raise it if the picture is meant"))
    }

    @Test func `a pattern that nothing matches is told, and stops nothing`() async throws {
        try workspace.writeManifest(inputs: "[photos/*, photos/*.webp]")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.errors == "job.yaml: warning: nothing matches 'photos/*.webp' of 'inputs'\n")
        #expect(try await Program.run("run", "job.yaml", "--quiet", in: workspace).errors == "")
    }

    @Test func `pictures of every size and turn are the same as frames and as tiles`() async throws {
        let filters = "[{thumbnail: {size: 70x50, fit: cover}}, {gaussian: {radius: 2}}, {rotate: {angle: 20}}]"
        try workspace.writeManifest(filters: filters)
        var variants: [[Data]] = []
        for options in [["--set", "shard=frame"], ["--set", "shard=tile", "--set", "tile=23"]] {
            let result = try await Program.run(
                Program.penumbra, ["run", "job.yaml", "--set", "verify=full"] + options, in: workspace)
            #expect(result.code == 0, "\(options): \(result.errors)")
            variants.append(try ["a", "b", "c"].map { try workspace.read("out/\($0).png") })
        }
        #expect(variants[0] == variants[1])
    }

    @Test func `plan tells what streams, what is kept, and what is cut away`() async throws {
        try workspace.writeManifest(filters: "[{thumbnail: {size: 5000}}]")
        let kept = try await Program.run("plan", "job.yaml", in: workspace)
        #expect(kept.output.contains(", kept "))
        #expect(kept.output.contains("one frame, streamed"))
        try workspace.writeManifest(filters: "[{flip: {axis: vertical}}]")
        let held = try await Program.run("plan", "job.yaml", in: workspace)
        #expect(held.output.contains("one frame, held: its first rows need its last ones"))
        try workspace.writeManifest(filters: "[{crop: {x: 9000}}]")
        let empty = try await Program.run("plan", "job.yaml", in: workspace)
        #expect(empty.code == 1)
        #expect(empty.errors.contains("'crop' keeps nothing of "))
    }

    @Test func `a value that does not suit one picture fails that picture, by a name of its own`() async throws {
        try workspace.draw("photos/small.png", width: 40, height: 30)
        try workspace.writeManifest(filters: "[{crop: {x: 60}}]", more: "existing: update")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors == """
                1 frame failed: value wrong for this picture
                  photos/small.png: 'crop' keeps nothing of 40 × 30 pixels

                """)
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
        let again = try await Program.run("run", "job.yaml", in: workspace)
        #expect(again.code == 0)
        #expect(again.errors.hasPrefix("1 picture still broken, and not tried again\n  photos/small.png: 'crop' "))
        let status = try await Program.run("status", "--json", in: workspace)
        #expect(status.output.contains(#""value wrong for this picture":1"#))
    }

    @Test func `quiet says nothing when all is well`() async throws {
        try workspace.writeManifest()
        let result = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.output == "")
        #expect(result.errors == "")
    }

    @Test func `JSON lines begin with the schema and end with the summary`() async throws {
        try workspace.write("broken", to: "photos/d.png")
        try workspace.writeManifest()
        let result = try await Program.run("run", "--json", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(result.errors == "")
        let lines = try result.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(lines.first?["schema"] as? Int == 1)
        #expect(lines.count == 6)
        let states = lines.compactMap { $0["state"] as? String }.sorted()
        #expect(states == ["failed", "published", "published", "published"])
        #expect(lines.last?["event"] as? String == "summary")
        #expect(lines.last?["published"] as? Int == 3)
        #expect(lines.last?["exitCode"] as? Int == 1)
        let causes = try #require(lines.last?["failedByCause"] as? [String: Int])
        #expect(causes["broken or unreadable picture"] == 1)
        #expect(causes["plugin fault"] == 0)
        #expect(lines.last?["notes"] as? [String] == [])
    }

    @Test func `a name that is not UTF-8 fails by name, and exactly in JSON`() async throws {
        let odd = Array("\(workspace.path)/photos/".utf8) + [0x62, 0xe9] + Array(".png".utf8)
        let path = (odd + [0]).map { CChar(bitPattern: $0) }
        let file = open(path, O_CREAT | O_WRONLY, 0o644)
        #expect(file >= 0)
        close(file)
        try workspace.writeManifest()
        let result = try await Program.run("run", "--json", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(result.output.contains(#""path_base64":"\#(Data(odd).base64EncodedString())""#))
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    @Test func `existing outputs are replaced, skipped or refused as the manifest says`() async throws {
        try workspace.write("mine", to: "out/a.png")
        try workspace.writeManifest(more: "existing: skip")
        let skipping = try await Program.run("run", "job.yaml", in: workspace)
        #expect(skipping.code == 0)
        #expect(skipping.output.contains("test: 2 published, 1 skipped in "))
        #expect(try workspace.read("out/a.png") == Data("mine".utf8))

        try workspace.writeManifest(more: "existing: error")
        let refusing = try await Program.run("run", "job.yaml", in: workspace)
        #expect(refusing.code == 1)
        #expect(refusing.errors.contains("out/a.png: is there already; --force replaces it"))
        #expect(try await Program.run("plan", "job.yaml", "--set", "existing=error", in: workspace).code == 1)
        #expect(try workspace.read("out/a.png") == Data("mine".utf8))

        try workspace.writeManifest()
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(try workspace.read("out/a.png") != Data("mine".utf8))
    }

    @Test func `names that need the picture are known before anything starts`() async throws {
        try workspace.writeManifest(output: "out/{stem}-{width}x{height}-{hash8}.png")
        let result = try await Program.run("run", "job.yaml", "--only", "b.png", in: workspace)
        #expect(result.code == 0)
        let names = workspace.files(below: "out")
        #expect(names.count == 1)
        #expect(names.first?.wholeMatch(of: /b-151x97-[0-9a-f]{8}\.png/) != nil)
    }

    @Test func `only and limit choose frames, and keep their numbers`() async throws {
        try workspace.writeManifest(output: "out/{index:03}.png")
        _ = try await Program.run("run", "job.yaml", "--only", "b.*", in: workspace)
        #expect(workspace.files(below: "out") == ["002.png"])
        _ = try await Program.run("run", "job.yaml", "--limit", "1", in: workspace)
        #expect(workspace.files(below: "out") == ["001.png", "002.png"])
    }
}
