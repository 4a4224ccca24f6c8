import Catalogs
import ExamplePictures
import Foundation
import Geometry
import Raster
import Testing

/// Several outputs of one decoding, animations and pages, with real workers.
@Suite(.serialized) struct OutputsTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func run(_ manifest: String, _ more: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["run", manifest] + more, in: workspace)
    }

    /// Filters of each output; the second one needs the whole picture at once.
    private static let chains = [
        "small": "- thumbnail: {size: 90}", "turned": "- rotate: {angle: right}\n      - gaussian: {radius: 3}",
        "same": "", "cut": "- crop: {x: 0, y: 0, width: 100%, height: 30%}",
    ]

    private func writeManifest(verify: String = "full") throws {
        let outputs = Self.chains.sorted { $0.key < $1.key }.map { name, filters in
            "  - path: all/{stem}-\(name).png\n" + (filters.isEmpty ? "" : "    filters:\n      \(filters)\n")
        }
        try workspace.write(
            "job: all\ninputs: photos/*\nexisting: overwrite\nfilters:\n  - gaussian: {radius: 2}\nverify: \(verify)\noutputs:\n"
                + outputs.joined(),
            to: "all.yaml")
    }

    @Test func `of several outputs each that is kept is told by its own path, also beside those that are made`()
        async throws
    {
        for name in ["a.png", "b.png", "c.jpg"] { try workspace.age("photos/\(name)") }
        try workspace.write(
            """
            job: two
            inputs: photos/*
            filters: [{gaussian: {radius: 2}}]
            outputs:
              - path: two/{stem}.png
              - path: two/{stem}.jpg

            """, to: "two.yaml")
        func edit(_ name: String) throws { try workspace.write(workspace.read(name) + Data([0]), to: name) }
        func lines(_ words: String, _ outputs: String...) -> String {
            "two: 1 output is left as it is: \(words)\n" + outputs.map { "  \($0)\n" }.joined()
        }
        let edited = "output was edited or damaged; accept with 'penumbra adopt', render again with --force"
        #expect(try await run("two.yaml", "--quiet").errors == "")
        try edit("two/b.jpg")
        #expect(try await run("two.yaml", "--quiet").errors == lines(edited, "two/b.jpg"))
        try edit("two/b.png")
        #expect(try await run("two.yaml", "--quiet").errors == lines(edited, "two/b.png"))
        #expect(try await run("two.yaml", "--quiet").errors == "")

        try workspace.remove("two/a.png")
        try edit("two/a.jpg")
        let mixed = try await run("two.yaml", "--json")
        let frame = try #require(mixed.output.split(separator: "\n").first { $0.contains(#""state":"published""#) })
        let path = "\(workspace.path)/two/a.jpg"
        #expect(frame.contains(#""keptOutputs":[{"path":"\#(path)","reason":"\#(edited)"}]"#))
        #expect(mixed.output.contains(#""outputsKept":3"#))
        #expect(try NightSummary(mixed) == NightSummary(published: 1, skipped: 1, kept: 1))
        #expect(workspace.exists("two/a.png"))
        // It was told, in JSON.
        #expect(try await run("two.yaml", "--quiet").errors == "")

        // The picture changed: one output is made anew, and the other one is told to be behind.
        try workspace.remove("photos/a.png")
        try workspace.copy("photos/b.png", to: "photos/a.png")
        let behind = "output was edited or damaged, and would be rendered again (input changed); --force replaces it"
        let night = try await run("two.yaml", "--quiet", "--strict")
        #expect(night.code == 1)
        #expect(night.errors.contains(lines(behind, "two/a.jpg")))
        let last = try await run("two.yaml")
        #expect(last.output.hasPrefix("two: 0 published, 1 skipped, 2 kept in "))
    }

    @Test func `each output has the bytes that a job of its own gives`() async throws {
        try writeManifest()
        let result = try await run("all.yaml")
        #expect(result.code == 0, "\(result.errors)")
        for (name, filters) in Self.chains {
            let lines = filters.isEmpty ? "" : "  " + filters.replacing("      - ", with: "  - ") + "\n"
            try workspace.write(
                "job: one\ninputs: photos/*\nexisting: overwrite\nfilters:\n  - gaussian: {radius: 2}\n\(lines)"
                    + "output: one/{stem}-\(name).png\nsave: {precision: input}\n",
                to: "one.yaml")
            let one = try await run("one.yaml")
            #expect(one.code == 0, "\(one.errors)")
        }
        #expect(workspace.files(below: "all").count == 12)
        for file in workspace.files(below: "all") {
            #expect(try workspace.read("all/\(file)") == workspace.read("one/\(file)"), "\(file)")
        }
    }

    @Test func `a picture that breaks off leaves none of its outputs, and the others are done`() async throws {
        let whole = try workspace.read("photos/c.jpg")
        try workspace.write(whole.prefix(whole.count / 2), to: "photos/c.jpg")
        try writeManifest()
        let result = try await run("all.yaml")
        #expect(result.code == 1)
        #expect(result.errors.contains("photos/c.jpg: broken JPEG: only "))
        #expect(workspace.files(below: "all").count == 8)
        #expect(workspace.files(below: "all").allSatisfy { !$0.hasPrefix(".") && !$0.hasPrefix("c") })
    }

    @Test func `an output that cannot be written fails its frame, whatever the others do`() async throws {
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/all/b-small.png", withIntermediateDirectories: true)
        try writeManifest(verify: "digest")
        let result = try await run("all.yaml")
        #expect(result.code == 1)
        #expect(result.errors.contains("all/b-small.png: a folder is in the way"))
        #expect(workspace.files(below: "all").allSatisfy { !$0.hasPrefix(".") })
        #expect(workspace.exists("all/a-small.png") && workspace.exists("all/c-turned.png"))
    }

    @Test func `only outputs that are missing are written again under existing: skip`() async throws {
        try writeManifest(verify: "digest")
        #expect(try await run("all.yaml").code == 0)
        let before = try workspace.read("all/a-small.png")
        try workspace.write("edited", to: "all/a-cut.png")
        try FileManager.default.removeItem(atPath: "\(workspace.path)/all/a-small.png")
        let again = try await run("all.yaml", "--set", "existing=skip", "--json")
        #expect(again.code == 0, "\(again.errors)")
        #expect(try workspace.read("all/a-small.png") == before)
        #expect(try workspace.read("all/a-cut.png") == Data("edited".utf8))
        #expect(again.output.contains(#""reason":"all outputs are there""#))
        #expect(workspace.files(below: "all").allSatisfy { !$0.hasPrefix(".") })
    }

    @Test func `a dithered output has the same bytes as frame and as tiles, beside others and alone`() async throws {
        let outputs = "outputs:\n  - path: both/{stem}-d.png\n    save: {dither: true}\n  - path: both/{stem}.png\n"
        try workspace.write(
            "job: both\ninputs: photos/*\nfilters:\n  - gaussian: {radius: 9}\nverify: full\n\(outputs)",
            to: "both.yaml")
        #expect(try await run("both.yaml").code == 0)
        for (folder, more) in [("frames", "shard: frame"), ("tiles", "shard: tile\ntile: 50")] {
            try workspace.writeManifest(
                filters: "[{gaussian: {radius: 9}}]", output: "\(folder)/{stem}-d.png",
                more: "save: {dither: true}\nverify: full\n\(more)\n")
            let result = try await run("job.yaml")
            #expect(result.code == 0, "\(result.errors)")
        }
        for name in ["a-d.png", "b-d.png", "c-d.png"] {
            let bytes = try workspace.read("both/\(name)")
            #expect(try workspace.read("frames/\(name)") == bytes && workspace.read("tiles/\(name)") == bytes)
        }
        let (plain, dithered) = (
            try PictureFiles.read("\(workspace.path)/both/a.png"),
            try PictureFiles.read("\(workspace.path)/both/a-d.png")
        )
        guard case .u8(let one) = plain, case .u8(let other) = dithered else {
            Issue.record("both have 8 bits")
            return
        }
        #expect(plain != dithered)
        #expect(zip(one.samples, other.samples).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    @Test func `what plan prints has every output`() async throws {
        try writeManifest()
        let plan = try await Program.run("plan", "all.yaml", "--limit", "1", in: workspace)
        #expect(plan.code == 0)
        #expect(plan.output.contains("decoded once for 4 outputs"))
        for name in ["all/a-cut.png", "all/a-same.png", "all/a-small.png", "all/a-turned.png"] {
            #expect(plan.output.contains(name))
        }
        #expect(plan.output.contains("160×120 rgb u8 → 90×68") && plan.output.contains("160×120 rgb u8 → 120×160"))
    }

    @Test func `two outputs that meet at one path are refused`() async throws {
        try workspace.write(
            "job: clash\ninputs: photos/a.png\nfilters: [gaussian]\noutputs:\n  - path: x/{stem}.png\n"
                + "  - path: x/a.png\n",
            to: "clash.yaml")
        let result = try await run("clash.yaml")
        #expect(result.code == 65)
        #expect(
            result.errors.contains("photos/a.png: several outputs would be written to \(workspace.path)/x/a.png"))
        #expect(!workspace.exists("x"))
    }
}

extension OutputsTests {
    private var frames: [AnyRaster] {
        (0..<4).map {
            Scene.eclipse(width: 60 + 8, height: 40).cropped(to: PixelRect(x: 2 * $0, y: 0, width: 60, height: 40))
                .translated(x: -2 * $0, y: 0)
        }
    }

    @Test func `grain differs from frame to frame, begins with a still's, and comes out the same again`() async throws {
        let frames = frames
        try PictureFiles.write(
            frames: frames, to: "\(workspace.path)/moving.webp", options: ["lossless": .boolean(true)])
        for (index, frame) in frames.enumerated() {
            try PictureFiles.write(frame, to: "\(workspace.path)/still/\(index).png".createdFolder)
        }
        try workspace.write(
            "job: moving\ninputs: moving.webp\nfilters:\n  - grain: {amount: 20}\nverify: audit\n"
                + "output: out/moving.webp\nsave: {lossless: true}\n",
            to: "moving.yaml")
        let result = try await run("moving.yaml")
        #expect(result.code == 0, "\(result.errors)")
        let still = try await Program.run(
            Program.penumbra,
            ["apply", "grain: {amount: 20}"] + (0..<4).map { "still/\($0).png" } + ["-o", "stills/"], in: workspace)
        #expect(still.code == 0, "\(still.errors)")
        let moved = try PictureFiles.readFrames("\(workspace.path)/out/moving.webp")
        for (index, frame) in moved.enumerated() {
            let alone = try PictureFiles.read("\(workspace.path)/stills/\(index).png")
            #expect((frame.colors == alone.colors) == (index == 0), "\(index)")
        }
        let again = try await run("moving.yaml", "--force", "--workers", "1")
        #expect(again.code == 0, "\(again.errors)")
        #expect(try PictureFiles.readFrames("\(workspace.path)/out/moving.webp").map(\.colors) == moved.map(\.colors))
    }

    @Test(arguments: ["shard: frame", "shard: tile\ntile: 32"])
    func `a frame that is an output of its own has the pixels that it has in the animation`(shard: String) async throws
    {
        try PictureFiles.write(
            frames: frames, to: "\(workspace.path)/moving.webp", options: ["lossless": .boolean(true)])
        func manifest(_ output: String, _ more: String) -> String {
            "job: moving\ninputs: moving.webp\nfilters:\n  - gaussian: {radius: 1}\n  - grain: {amount: 20}\n"
                + "output: \(output)\nverify: audit\n\(more)\n"
        }
        try workspace.write(manifest("film/moving.webp", "save: {lossless: true}"), to: "film.yaml")
        try workspace.write(manifest("out/{frame}.png", shard), to: "frames.yaml")
        for name in ["film.yaml", "frames.yaml"] {
            let result = try await run(name)
            #expect(result.code == 0, "\(result.errors)")
        }
        let film = try PictureFiles.readFrames("\(workspace.path)/film/moving.webp")
        #expect(film.count == 4)
        for (index, frame) in film.enumerated() {
            #expect(try frame.colors == PictureFiles.read("\(workspace.path)/out/\(index + 1).png").colors, "\(index)")
        }
        let verified = try await Program.run(
            Program.penumbra, ["verify", "--rerender", "out/1.png", "out/4.png"], in: workspace)
        #expect(verified.code == 0, "\(verified.output) \(verified.errors)")
    }

    @Test func `every frame of an animation is filtered as a picture is`() async throws {
        let frames = frames
        try PictureFiles.write(
            frames: frames, to: "\(workspace.path)/moving.webp", options: ["lossless": .boolean(true)])
        for (index, frame) in frames.enumerated() {
            try PictureFiles.write(frame, to: "\(workspace.path)/still/\(index).png".createdFolder)
        }
        try workspace.write(
            "job: moving\ninputs: moving.webp\nfilters:\n  - gaussian: {radius: 3}\nverify: full\noutputs:\n"
                + "  - path: out/moving.webp\n    save: {lossless: true}\n  - path: out/moving.gif\n"
                + "  - path: out/first.png\n",
            to: "moving.yaml")
        let result = try await run("moving.yaml")
        #expect(result.code == 0, "\(result.errors)")
        let still = try await Program.run(
            Program.penumbra,
            ["apply", "gaussian: {radius: 3}"] + (0..<4).map { "still/\($0).png" } + ["-o", "stills/"],
            in: workspace)
        #expect(still.code == 0, "\(still.errors)")
        let moved = try PictureFiles.readFrames("\(workspace.path)/out/moving.webp")
        #expect(moved.count == 4)
        for (index, frame) in moved.enumerated() {
            let expected = try PictureFiles.read("\(workspace.path)/stills/\(index).png")
            #expect(frame.colors == expected.colors)
        }
        #expect(try PictureFiles.readFrames("\(workspace.path)/out/moving.gif").count == 4)
        let first = try PictureFiles.read("\(workspace.path)/out/first.png")
        #expect(try first.colors == PictureFiles.read("\(workspace.path)/stills/0.png").colors)
        let plan = try await Program.run("plan", "moving.yaml", "--force", in: workspace)
        #expect(plan.output.contains("60×40 rgba u8, 4 frames"))
        #expect(plan.output.contains("one frame, held: an animation, frame by frame"))
    }

    @Test func `a WebP without the alpha of its opaque picture is verified`() async throws {
        let samples = (0..<4 * 64 * 48).map { (index: Int) -> UInt8 in index % 4 == 3 ? 255 : UInt8(index % 251) }
        let picture = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 64, height: 48), layout: .rgba, samples: samples))
        try PictureFiles.write(picture, to: "\(workspace.path)/opaque.png")
        try workspace.write(
            "job: opaque\ninputs: opaque.png\nfilters:\n  - gaussian: {radius: 1}\nverify: full\n"
                + "output: out/{stem}.webp\n",
            to: "opaque.yaml")
        let result = try await run("opaque.yaml")
        #expect(result.code == 0, "\(result.errors)")
    }

    /// libvips would decode so large a file into a file in `/tmp`, where a worker may not write.
    @Test func `a WebP with more than 100 MB of pixels is read and verified in the sandbox`() async throws {
        try workspace.draw("photos/large.png", width: 6100, height: 5800)
        try workspace.write(
            "job: large\ninputs: photos/*\nfilters: [{gaussian: {radius: 1}}]\nverify: full\noutput: out/{stem}.webp\n"
                + "save: {quality: 50, effort: 0}\n",
            to: "large.yaml")
        let result = try await run("large.yaml")
        #expect(result.code == 0, "\(result.errors)")
        let small = try await Program.run(
            "apply", "resize: {size: 61x58}", "out/large.webp", "-o", "small.png", in: workspace)
        #expect(small.code == 0, "\(small.errors)")
    }

    @Test func `a page that fails is named`() async throws {
        try PictureFiles.write(
            frames: frames, to: "\(workspace.path)/moving.webp", options: ["lossless": .boolean(true)])
        try workspace.write("mine", to: "out/3.png/file")
        try workspace.write(
            "job: pages\ninputs: moving.webp\nfilters: [{gaussian: {radius: 1}}]\noutput: out/{frame}.png\n",
            to: "pages.yaml")
        let result = try await run("pages.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains("\n  moving.webp page 3: a folder is in the place of the output"), "\(result.errors)"
        )
        let shown = try await Program.run("show", in: workspace)
        #expect(shown.output.contains("\n  1p3  moving.webp page 3: output refused: "), "\(shown.output)")
        let tasks = try await Program.run("logs", "pages", "1p2", in: workspace)
        #expect(tasks.code == 0 && !tasks.output.isEmpty, "\(tasks.errors)")
    }

    @Test func `a plan gives each output its own reason`() async throws {
        try workspace.draw("photos/a.png", width: 40, height: 30)
        try workspace.write(
            "job: two\ninputs: photos/*\nfilters: [{gaussian: {radius: 1}}]\noutputs:\n  - path: first/{stem}.png\n"
                + "  - path: second/{stem}.png\n  - path: third/{stem}.png\n",
            to: "two.yaml")
        #expect(try await run("two.yaml").code == 0)
        try workspace.write("mine", to: "first/a.png")
        try FileManager.default.removeItem(atPath: "\(workspace.path)/second/a.png")
        let plan = try await Program.run("plan", "two.yaml", in: workspace)
        let lines = plan.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        let kept = "kept: output was edited or damaged; accept with 'penumbra adopt', render again with --force"
        #expect(lines.contains { $0.hasSuffix("first/a.png one frame, streamed 4 px \(kept)") }, "\(plan.output)")
        #expect(lines.contains { $0.contains("second/a.png output missing; ") }, "\(plan.output)")
        #expect(lines.contains { $0.hasSuffix("third/a.png skipped: up to date") }, "\(plan.output)")
        let summary = try await Program.run("plan", "two.yaml", "--summary", in: workspace)
        #expect(summary.output.contains("  1 output kept beside rendered ones: output was edited"), "\(summary.output)")
    }

    @Test func `every frame of an animated PNG is filtered, and a PNG of it is its first frame`() async throws {
        try PictureFiles.write(frames: frames, to: "\(workspace.path)/moving.apng")
        // Most animated PNG files are called as others are.
        try workspace.copy("moving.apng", to: "called.png")
        for (index, frame) in frames.enumerated() {
            try PictureFiles.write(frame, to: "\(workspace.path)/still/\(index).png".createdFolder)
        }
        for name in ["moving.apng", "called.png"] {
            try workspace.write(
                "job: moving\ninputs: \(name)\nfilters:\n  - gaussian: {radius: 3}\nverify: full\noutputs:\n"
                    + "  - path: out/{stem}.apng\n  - path: out/{stem}.png\n", to: "moving.yaml")
            let result = try await run("moving.yaml")
            #expect(result.code == 0, "\(result.errors)")
        }
        let still = try await Program.run(
            Program.penumbra,
            ["apply", "gaussian: {radius: 3}"] + (0..<4).map { "still/\($0).png" } + ["-o", "stills/"],
            in: workspace)
        #expect(still.code == 0, "\(still.errors)")
        for name in ["moving", "called"] {
            let moved = try PictureFiles.readFrames("\(workspace.path)/out/\(name).apng")
            #expect(moved.count == 4)
            for (index, frame) in moved.enumerated() {
                #expect(try frame == PictureFiles.read("\(workspace.path)/stills/\(index).png"))
            }
            let first = try PictureFiles.readFrames("\(workspace.path)/out/\(name).png")
            #expect(try first == [PictureFiles.read("\(workspace.path)/stills/0.png")])
        }
    }

    @Test func `frames that are alike may be joined, and the file is verified nonetheless`() async throws {
        let held = [frames[0], frames[0], frames[0], frames[1], frames[1]]
        try PictureFiles.write(frames: held, to: "\(workspace.path)/held.webp", options: ["lossless": .boolean(true)])
        for name in ["held.webp", "held.gif"] {
            try workspace.write(
                "job: held\ninputs: held.webp\nfilters:\n  - gaussian: {radius: 1}\noutput: out/\(name)\nverify: full\n",
                to: "held.yaml")
            let result = try await run("held.yaml")
            #expect(result.code == 0, "\(result.errors)")
        }
    }

    @Test func `{frame} makes an output of every page`() async throws {
        try PictureFiles.write(
            frames: frames, to: "\(workspace.path)/moving.webp", options: ["lossless": .boolean(true)])
        let result = try await Program.run(
            "apply", "gaussian: {radius: 3}", "moving.webp", "-o", "pages/{stem}-{frame:02}-{width}.png", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "pages") == (1...4).map { "moving-0\($0)-60.png" })
        #expect(try workspace.read("pages/moving-01-60.png") != workspace.read("pages/moving-04-60.png"))
    }
}

extension AnyRaster {
    /// Samples without alpha.
    var colors: [UInt8] {
        guard case .u8(let raster) = self else { return [] }
        return raster.samples.enumerated().filter { !layout.hasAlpha || $0.offset % 4 != 3 }.map(\.element)
    }
}

extension String {
    /// The path, whose folder is there now.
    fileprivate var createdFolder: String {
        let folder = URL(filePath: self).deletingLastPathComponent()
        // What goes wrong shows when the file is written.
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return self
    }
}
