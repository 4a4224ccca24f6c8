import Foundation
import Testing

/// Pictures that failed, on the nights that follow.
@Suite(.serialized) struct BrokenPictureTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.write(try workspace.read("photos/c.jpg").prefix(3000), to: "photos/cut.jpg")
        try workspace.write("no picture", to: "photos/notes.png")
        for name in ["photos/cut.jpg", "photos/notes.png"] { try workspace.age(name) }
        try workspace.writeNightly()
    }

    @Test func `a picture that a setting was too small for is tried again with another one`() async throws {
        try workspace.write(Data("P5 4200 4200 255\n".utf8) + Data(count: 4200 * 4200), to: "large/l.pgm")
        try workspace.age("large/l.pgm")
        let more = "existing: update\nshard: tile\ntile: "
        try workspace.writeManifest(inputs: "large/*", filters: "[{gaussian: {radius: 1}}]", more: more + "16")
        let first = try await Program.run("run", "job.yaml", in: workspace)
        #expect(first.code == 1)
        #expect(first.errors.contains("take a larger 'tile' or 'tile: auto'"))
        try workspace.writeManifest(inputs: "large/*", filters: "[{gaussian: {radius: 1}}]", more: more + "auto")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
    }

    @Test func `a broken picture is told once as a failure, and then as what is known`() async throws {
        let first = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(first.code == 1)
        #expect(first.errors.hasPrefix("test: 2 frames failed: broken or unreadable picture\n"))
        #expect(first.errors.contains("\n  photos/cut.jpg: broken JPEG: "))
        #expect(first.errors.hasSuffix("\n   = replace the pictures, or leave them out\n"))

        let second = try await Program.run("run", "job.yaml", in: workspace)
        #expect(second.code == 0)
        #expect(second.output.contains("test: 0 published, 3 skipped, 2 still broken in "))
        let lines = second.errors.split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        #expect(lines.first == "2 pictures still broken, and not tried again")
        #expect(
            lines.last?.wholeMatch(
                of:
                    #/  photos/notes.png: not a picture that Penumbra reads \('penumbra formats' lists them\) \(since \d{4}-\d\d-\d\d\)/#
            ) != nil)

        let quiet = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(quiet.code == 0 && quiet.output == "" && quiet.errors == "")
        let strict = try await Program.run("run", "--quiet", "--strict", "job.yaml", in: workspace)
        #expect(strict.code == 1 && strict.output == "" && strict.errors == "test: " + second.errors)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3, stillBroken: 2))
        #expect(
            try await Program.reasons(workspace)["notes.png"]?.wholeMatch(
                of: #/skipped: still broken since \d{4}-\d\d-\d\d: not a picture that Penumbra reads .*/#)
                != nil)
    }

    @Test func `broken pictures are tried again on request`() async throws {
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 1)
        let again = try await Program.run("run", "--quiet", "--retry-broken", "job.yaml", in: workspace)
        #expect(again.code == 1)
        #expect(again.errors.hasPrefix("test: 2 frames failed: broken or unreadable picture\n"))
        let next = try await Program.run("run", "job.yaml", in: workspace)
        #expect(next.code == 0 && next.output.contains("test: 0 published, 3 skipped, 2 still broken in "))
    }

    @Test(.timeLimit(.minutes(5)))
    func `a picture that failed before its run was killed is told by the next run, and once`() async throws {
        let gate = try await Gate(in: workspace)
        try workspace.remove("photos/cut.jpg")
        // The broken one comes first; the next one waits at the gate.
        try FileManager.default.moveItem(
            atPath: "\(workspace.path)/photos/notes.png", toPath: "\(workspace.path)/photos/0.png")
        try workspace.writeManifest(filters: "[\(Gate.filter)]", more: "existing: update\n\(Gate.patience)")
        let killed = try RunningProgram(["run", "job.yaml", "--workers", "1", "--quiet"], in: workspace)
        var failed = ""
        while killed.isRunning, !failed.contains("0.png") {
            failed = try await Program.run("show", in: workspace).output
        }
        kill(killed.processID, SIGKILL)
        #expect(killed.finish().errors == "")

        try gate.open(for: 10)
        let next = try await Program.run("run", "job.yaml", "--quiet", in: workspace)
        #expect(next.code == 1)
        #expect(
            next.errors.hasPrefix("test: 1 frame failed: broken or unreadable picture\n  photos/0.png: not a picture "))
        let show = try await Program.run("show", in: workspace)
        #expect(show.output.contains("1 failed") && !show.output.contains("still broken"), "\(show.output)")
        let last = try await Program.run("run", "job.yaml", "--quiet", in: workspace)
        #expect((last.code, last.errors) == (0, ""))
    }

    /// Drawing it takes some two seconds for 40 octaves, and minutes for 3000.
    private func drawTurbulence(_ name: String, octaves: Int, more: String = "") throws {
        try workspace.write(
            """
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:z="z" width="1000" height="1000"><filter id="f">\
            <feTurbulence baseFrequency="0.1" numOctaves="\(octaves)"\(more)/></filter>\
            <rect width="1000" height="1000" filter="url(#f)"/></svg>
            """, to: name)
        try workspace.age(name)
    }

    /// The namespaced attribute hides the other one from a look at the text.
    private func drawEndless(_ name: String) throws {
        try drawTurbulence(name, octaves: 3000, more: " z:numOctaves=\"1\"")
    }

    private let slow =
        "SVG that takes more than 1 s of processor time to draw; simplify it, draw it to a PNG first, or set "
        + "PENUMBRA_DRAWING_SECONDS to more seconds"

    @Test func `a drawing that takes too long is given up each night, and holds up no other picture`() async throws {
        for name in ["cut.jpg", "notes.png"] { try workspace.remove("photos/\(name)") }
        try drawEndless("photos/endless.svg")
        let limit = ["PENUMBRA_DRAWING_SECONDS": "1"]
        let first = try await Program.run("run", "--workers", "1", "job.yaml", in: workspace, environment: limit)
        #expect(first.code == 1)
        #expect(first.errors.contains("\n  photos/endless.svg: \(slow)\n"), "\(first.errors)")
        #expect(workspace.files(below: "out").count == 3)
        #expect(workspace.leftovers() == [])
        // With another limit it may be drawn.
        let second = try await Program.run("run", "--quiet", "job.yaml", in: workspace, environment: limit)
        #expect(second.code == 1)
        #expect(second.errors.contains("\n  photos/endless.svg: \(slow)\n"), "\(second.errors)")
    }

    @Test func `a drawing that its text condemns is drawn once the limit allows it`() async throws {
        for name in ["cut.jpg", "notes.png"] { try workspace.remove("photos/\(name)") }
        try drawTurbulence("photos/noise.svg", octaves: 40)
        let first = try await Program.run(
            "run", "--quiet", "job.yaml", in: workspace, environment: ["PENUMBRA_DRAWING_SECONDS": "0.1"])
        #expect(first.code == 1)
        #expect(
            first.errors.contains(
                "\n  photos/noise.svg: SVG with about 2 s of drawing, most of it for 'feTurbulence' (the limit is 1 s); simplify "
                    + "it, draw it to a PNG first, or set PENUMBRA_DRAWING_SECONDS to more seconds\n"),
            "\(first.errors)")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 3))
    }

    @Test func `a slow drawing that a filter lays over pictures is named, and condemns none of them`() async throws {
        for name in ["cut.jpg", "notes.png"] { try workspace.remove("photos/\(name)") }
        try drawEndless("layers/endless.svg")
        try workspace.writeManifest(
            filters: "[{overlay: {picture: layers/endless.svg}}]", more: "shard: frame\nexisting: update")
        let limit = ["PENUMBRA_DRAWING_SECONDS": "1"]
        let first = try await Program.run("run", "--quiet", "job.yaml", in: workspace, environment: limit)
        #expect(first.code == 1)
        #expect(
            first.errors.contains(
                "\(workspace.path)/layers/endless.svg, the picture of 'picture' of overlay: \(slow)\n"),
            "\(first.errors)")
        #expect(!first.errors.contains("/proc/self/fd"))
        try drawTurbulence("layers/endless.svg", octaves: 1)
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    @Test func `a slow drawing whose name is not UTF-8 is named readably`() async throws {
        try drawEndless("slow.svg")
        let shell = "mkdir odd && mv slow.svg \"$(printf 'odd/caf\\351.svg')\""
        #expect(try await Program.run("/bin/sh", ["-c", shell], in: workspace).code == 0)
        try workspace.writeNightly(inputs: "odd/*")
        let result = try await Program.run(
            "run", "--quiet", "job.yaml", in: workspace, environment: ["PENUMBRA_DRAWING_SECONDS": "1"])
        #expect(result.code == 1)
        #expect(result.errors.contains(": \(slow)\n") && result.errors.contains("odd/caf"), "\(result.errors)")
        #expect(!result.errors.contains("/proc/self/fd"))
    }

    @Test func `a picture is tried again when it was mended, when its chain has changed, and by force`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3, failed: 2, exitCode: 1))
        try workspace.remove("photos/cut.jpg")
        try workspace.copy("photos/c.jpg", to: "photos/cut.jpg")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 3, stillBroken: 1))
        #expect(try workspace.read("out/cut.png") == workspace.read("out/c.png"))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 4, stillBroken: 1))
        #expect(try await Program.night(workspace, "--force") == NightSummary(published: 4, failed: 1, exitCode: 1))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 4, stillBroken: 1))
        try workspace.writeNightly(radius: "7")
        #expect(try await Program.night(workspace) == NightSummary(published: 4, failed: 1, exitCode: 1))
    }

    @Test func `an output stays when its picture breaks`() async throws {
        _ = try await Program.night(workspace)
        let before = try workspace.read("out/a.png")
        try workspace.write("no picture any more", to: "photos/a.png")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 2, stillBroken: 2, failed: 1, exitCode: 1))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 2, stillBroken: 3))
        #expect(try workspace.read("out/a.png") == before)
    }

    @Test func `a picture that was too large is tried again when the limit is raised`() async throws {
        try workspace.writeNightly(more: "max_pixels: 20k\nexclude: [photos/cut.jpg, photos/notes.png]")
        #expect(try await Program.night(workspace) == NightSummary(published: 2, failed: 1, exitCode: 1))
        _ = try await Program.night(workspace)
        try workspace.writeNightly(more: "max_pixels: 200k\nexclude: [photos/cut.jpg, photos/notes.png]")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
    }

    @Test func `names that need the picture do not try a broken one again`() async throws {
        try workspace.writeNightly(output: "out/{stem}-{width}.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 3, failed: 2, exitCode: 1))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3, stillBroken: 2))
    }

    @Test func `a region that lies outside of a picture fails it, so that nobody takes it for redacted`() async throws {
        let workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 60, height: 40)
        try workspace.draw("photos/b.png", width: 120, height: 40)
        try workspace.writeManifest(
            filters: "[{pixelate: {size: 8, within: {x: 80, y: 0, width: 20, height: 20}}}]")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "photos/a.png: the 'within' of 'pixelate' lies outside of the picture's 60 × 40 pixels"))
        #expect(workspace.files(below: "out") == ["b.png"])
    }
}
