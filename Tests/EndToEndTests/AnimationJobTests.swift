import ExamplePictures
import Foundation
import Testing

/// Animations as jobs: one frame is one task, however many files it becomes.
@Suite(.serialized) struct AnimationJobTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        var data = Data("P6\n30 20\n255\n".utf8)
        data.append(contentsOf: (0..<1800).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try workspace.write(data, to: "layers/label.ppm")
        try workspace.age("layers/label.ppm")
    }

    private func writeFade(output: String = "out/{stem}.webp", more: String = "") throws {
        try workspace.writeManifest(
            filters: "[{thumbnail: {size: 90}}, {gaussian: {radius: 4}}]", output: output,
            more: "animate: {crossfade: {duration: 0.2, repeat: 3}}\nexisting: update\n\(more)")
    }

    private func writeMove(output: String, more: String = "") throws {
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 2}}]", output: output,
            more: "animate: {move: {picture: layers/label.ppm, path: [{x: -10, y: 5%}, {x: 60%, y: 70%}], "
                + "duration: 0.2, spring: {damping: 0.4}}}\nexisting: update\n\(more)")
    }

    @Test(arguments: ["webp", "gif", "apng"])
    func `an animation holds all frames, at its rate, as often as was asked for`(format: String) async throws {
        try writeFade(output: "out/{stem}.\(format)", more: "verify: full")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let film = try Film(at: "\(workspace.path)/out/a.\(format)")
        #expect(film.frames == 7)
        #expect(film.width == 90)
        #expect(film.height == 68)
        switch format {
        case "gif": #expect(film.delays == [30, 40, 30, 30, 40, 30, 30])
        case "webp": #expect(film.delays == [33, 34, 33, 33, 34, 33, 33])
        default: #expect(film.fractions == Array(repeating: [1, 30], count: 7))
        }
        // A GIF tells how many times it is played again.
        #expect(film.repetitions == (format == "gif" ? 2 : 3))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test(arguments: ["webp", "gif", "apng"])
    func `an animation goes back, and a held frame is one frame with a longer time`(format: String) async throws {
        try workspace.writeManifest(
            filters: "[{thumbnail: {size: 90}}, {gaussian: {radius: 4}}]", output: "out/{stem}.\(format)",
            more: "animate: {crossfade: {duration: 0.2, fps: 20, there_and_back: true, hold: {first: 0.5, last: 1}}}\n"
                + "existing: update\nverify: full")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let film = try Film(at: "\(workspace.path)/out/a.\(format)")
        #expect(film.delays == [550, 50, 50, 50, 1050, 50, 50, 50])
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `several pictures move in one animation, in tasks and in whole frames alike`() async throws {
        func write(_ more: String) throws {
            try workspace.writeManifest(
                filters: "[{gaussian: {radius: 2}}]", output: "out/{stem}.webp",
                more: """
                    animate:
                      - crossfade: {duration: 0.2, fps: 10}
                      - move: {picture: layers/label.ppm, path: [{x: -10, y: 5%}, {x: 60%, y: 70%}], duration: 0.1}
                      - move: {picture: layers/label.ppm, path: [{x: 0, y: 0}, {x: 9, y: 70%}], delay: 0.2, duration: 0.2}
                    existing: update
                    \(more)
                    """)
        }
        try write("shard: tile")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try Film(at: "\(workspace.path)/out/a.webp").frames == 5)
        let tiled = try workspace.contents(below: "out")
        try write("shard: frame\nverify: audit")
        #expect(try await Program.night(workspace, "--force").published == 3)
        #expect(try workspace.contents(below: "out") == tiled)
    }

    @Test func `each frame is a task, and tasks, workers and whole frames give the same bytes`() async throws {
        try writeFade()
        let plan = try await Program.run(Program.penumbra, ["plan", "job.yaml"], in: workspace)
        #expect(plan.output.contains("160×120 rgb u8 as u16 → 90×68, 7 frames"), "\(plan.output)")
        #expect(plan.output.contains("7 tiles of 90×68"), "\(plan.output)")
        #expect(plan.output.contains("one task for each of the animation's 7 frames"), "\(plan.output)")
        #expect(try await Program.night(workspace, "--workers", "2").published == 3)
        let tiled = try workspace.contents(below: "out")
        try writeFade(more: "shard: frame\nverify: audit")
        #expect(try await Program.night(workspace, "--force", "--workers", "1").published == 3)
        #expect(try workspace.contents(below: "out") == tiled)
    }

    @Test func `pictures with numbers are the frames, each fresh by itself`() async throws {
        try writeMove(output: "out/{stem}-{frame:02}.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 21))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 21))
        let all = try workspace.contents(below: "out")
        #expect(Set(all.filter { $0.key.contains("a-") }.values).count == 7)
        try workspace.remove("out/b-03.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 20))
        #expect(try workspace.contents(below: "out") == all)
        let plan = try await Program.run(Program.penumbra, ["plan", "job.yaml", "--force"], in: workspace)
        #expect(plan.output.contains("a.png frame 7"), "\(plan.output)")
        try writeMove(output: "out/{stem}-{frame:02}.png", more: "shard: tile\ntile: 50\nverify: audit")
        #expect(try await Program.night(workspace, "--force").published == 21)
        #expect(try workspace.contents(below: "out") == all)
    }

    @Test(arguments: ["", "shard: tile\ntile: 50"])
    func `grain under a moving picture is another one in every frame`(shard: String) async throws {
        let move =
            "animate: {move: {picture: layers/label.ppm, path: [{x: -40, y: 0}, {x: -40, y: 5}], duration: 0.1}}\n"
        try workspace.writeManifest(
            filters: "[{grain: {amount: 20}}]", output: "out/{stem}-{frame}.png", more: move + shard)
        #expect(try await Program.night(workspace).published == 12)
        let all = try workspace.contents(below: "out")
        #expect(Set(all.filter { $0.key.contains("a-") }.values).count == 4)
        try workspace.writeManifest(
            filters: "[{grain: {amount: 20}}]", output: "film/{stem}.webp", more: move + "save: {lossless: true}")
        #expect(try await Program.night(workspace).published == 3)
        let film = try PictureFiles.readFrames("\(workspace.path)/film/a.webp")
        for (index, frame) in film.enumerated() {
            let single = try PictureFiles.read("\(workspace.path)/out/a-\(index + 1).png")
            #expect(frame.colors == single.colors, "\(index)")
        }
    }

    @Test func `a numbered picture is rendered again, and compared`() async throws {
        try writeMove(output: "out/{stem}-{frame:02}.png")
        _ = try await Program.night(workspace)
        let result = try await Program.run(Program.penumbra, ["verify", "--rerender", "out/a-05.png"], in: workspace)
        #expect(result.code == 0, "\(result.output) \(result.errors)")
    }

    @Test func `several outputs are animations of one decoding`() async throws {
        try workspace.writeManifest(
            "several.yaml", filters: "[{gaussian: {radius: 2}}]",
            more: "animate: {crossfade: {duration: 0.1}}"
        )
        let text = String(decoding: try workspace.read("several.yaml"), as: UTF8.self).replacing(
            "output: out/{stem}.png",
            with: "outputs:\n  - path: out/{stem}.webp\n  - path: out/{stem}.gif\n    filters: [{motion: {radius: 3}}]")
        try workspace.write(text, to: "several.yaml")
        let result = try await Program.run(Program.penumbra, ["run", "several.yaml"], in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(try Film(at: "\(workspace.path)/out/a.gif").frames == 4)
        #expect(try Film(at: "\(workspace.path)/out/a.webp").frames == 4)
        try writeAlone()
        #expect(try await Program.run(Program.penumbra, ["run", "alone.yaml"], in: workspace).code == 0)
        #expect(try workspace.read("alone/a.gif") == workspace.read("out/a.gif"))
    }

    private func writeAlone() throws {
        try workspace.writeManifest(
            "alone.yaml", filters: "[{gaussian: {radius: 2}}, {motion: {radius: 3}}]", output: "alone/{stem}.gif",
            more: "animate: {crossfade: {duration: 0.1}}")
    }

    @Test func `a preview shows the last frame, or the one that is asked for`() async throws {
        try writeFade()
        let first = try await Program.run(
            Program.penumbra,
            ["preview", "job.yaml", "photos/a.png", "-o", "first.png", "--set", "animate.crossfade.frame=1"],
            in: workspace)
        #expect(first.code == 0, "\(first.errors)")
        let last = try await Program.run(
            Program.penumbra, ["preview", "job.yaml", "photos/a.png", "-o", "last.png"], in: workspace)
        #expect(last.code == 0, "\(last.errors)")
        #expect(try workspace.read("first.png") != workspace.read("last.png"))
    }

    @Test func `an animation that cannot be is an error of the manifest`() async throws {
        try workspace.writeManifest(
            output: "out/{stem}-{frame}.png", more: "animate: {crossfade: {duration: 600, fps: 60}}")
        let result = try await Program.run(Program.penumbra, ["check", "job.yaml"], in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors.contains(
                "'duration' and 'fps' make 36001 frames; an animation has at most 10000"), "\(result.errors)")
    }
}

/// What a file of GIF, WebP or APNG tells of its frames, read from its bytes.
private struct Film {
    private(set) var frames = 0
    /// In milliseconds.
    private(set) var delays: [Int] = []
    /// The numerators and denominators of a PNG.
    private(set) var fractions: [[Int]] = []
    private(set) var repetitions: Int?
    private(set) var width = 0
    private(set) var height = 0

    init(at path: String) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        if bytes.starts(with: Array("GIF".utf8)) {
            readGIF(bytes)
        } else if bytes.dropFirst().starts(with: Array("PNG".utf8)) {
            readPNG(bytes)
        } else {
            readWebP(bytes)
        }
    }

    private mutating func readPNG(_ bytes: [UInt8]) {
        func number(_ start: Int, _ count: Int) -> Int { bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) } }
        var place = 8
        while place + 12 <= bytes.count {
            let (start, size) = (place + 8, number(place, 4))
            switch String(decoding: bytes[place + 4..<start], as: UTF8.self) {
            case "IHDR": (width, height) = (number(start, 4), number(start + 4, 4))
            case "acTL": repetitions = number(start + 4, 4)
            case "fcTL":
                frames += 1
                fractions.append([number(start + 20, 2), number(start + 22, 2)])
                delays.append(1000 * number(start + 20, 2) / number(start + 22, 2))
            default: break
            }
            place = start + size + 4
        }
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
    }

    private mutating func readWebP(_ bytes: [UInt8]) {
        var place = 12
        while place + 8 <= bytes.count {
            let name = String(decoding: bytes[place..<place + 4], as: UTF8.self)
            let (start, size) = (place + 8, Self.number(bytes, place + 4, 4))
            switch name {
            case "VP8X":
                (width, height) = (Self.number(bytes, start + 4, 3) + 1, Self.number(bytes, start + 7, 3) + 1)
            case "ANIM": repetitions = Self.number(bytes, start + 4, 2)
            case "ANMF":
                frames += 1
                delays.append(Self.number(bytes, start + 12, 3))
            default: break
            }
            place = start + size + size % 2
        }
    }

    /// Through all blocks: a table of colours behind the header and each frame, sub-blocks behind the rest.
    private mutating func readGIF(_ bytes: [UInt8]) {
        (width, height) = (Self.number(bytes, 6, 2), Self.number(bytes, 8, 2))
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        var place = 13 + table(bytes[10])
        func afterBlocks(_ start: Int) -> Int {
            var place = start
            while bytes[place] != 0 { place += Int(bytes[place]) + 1 }
            return place + 1
        }
        while bytes[place] != 0x3B {
            if bytes[place] == 0x2C {
                frames += 1
                place = afterBlocks(place + 10 + table(bytes[place + 9]) + 1)
                continue
            }
            if bytes[place + 1] == 0xF9 { delays.append(10 * Self.number(bytes, place + 4, 2)) }
            if bytes[place + 1] == 0xFF { repetitions = Self.number(bytes, place + 16, 2) }
            place = afterBlocks(place + 2)
        }
    }
}
