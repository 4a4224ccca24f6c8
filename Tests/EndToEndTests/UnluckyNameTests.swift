import Foundation
import Testing

/// Pictures with names that collide, or do not fit, fail alone.
@Suite(.serialized) struct UnluckyNameTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
    }

    @Test func `1: unlucky names are all listed, and the rest is rendered`() async throws {
        let long = String(repeating: "x", count: 248)
        try workspace.draw("photos/a.jpg", width: 20, height: 20)
        try workspace.copy("photos/b.png", to: "photos/\(long).png")
        try workspace.writeNightly(output: "out/{stem}-thumb.png")
        for _ in 1...2 {
            let result = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
            #expect(result.code == 1)
            let out = "\(workspace.path)/out"
            #expect(
                result.errors == """
                    test: 3 frames failed: output refused
                      photos/a.jpg: would be written to \(out)/a-thumb.png, as would \(workspace.path)/photos/a.png; add \
                    {ext} or {index} to 'output', or exclude all but one
                      photos/a.png: would be written to \(out)/a-thumb.png, as would \(workspace.path)/photos/a.jpg; add \
                    {ext} or {index} to 'output', or exclude all but one
                      photos/\(long).png: the output's name has over 255 bytes: \(out)/\(long)-thumb.png; use {index} or {hash8} \
                    in place of {stem}

                    """)
            #expect(workspace.files(below: "out") == ["b-thumb.png", "c-thumb.png"])
        }
        let plan = try await Program.run("plan", "job.yaml", in: workspace)
        #expect(plan.code == 1)
        #expect(plan.errors.hasPrefix("3 frames failed: output refused\n"))
    }

    @Test func `1: outputs that two jobs of a command would write fail in both, and all others are rendered`()
        async throws
    {
        try workspace.draw("more/d.png", width: 20, height: 20)
        try workspace.writeNightly()
        try workspace.writeNightly("other.yaml", inputs: "[photos/a.png, more/*]")
        let plan = try await Program.run("plan", "job.yaml", "other.yaml", in: workspace)
        #expect(plan.code == 1)
        #expect(plan.errors.split(separator: "\n").filter { $0 == "1 frame failed: output refused" }.count == 2)
        let result = try await Program.run("run", "--quiet", "job.yaml", "other.yaml", in: workspace)
        #expect(result.code == 1)
        let words = ["other.yaml", "job.yaml"].map { manifest in
            """
            test: 1 frame failed: output refused
              photos/a.png: would be written to \(workspace.path)/out/a.png, as would \(workspace.path)/photos/a.png of the job \
            'test' in \(manifest); give the jobs different output folders, or names with {job}

            """
        }
        #expect(result.errors == words.joined())
        #expect(workspace.files(below: "out") == ["b.png", "c.png", "d.png"])
    }

    @Test func `65: two jobs of a command that would write all the same outputs are refused`() async throws {
        try workspace.writeNightly()
        try workspace.writeNightly("other.yaml", radius: "9")
        let result = try await Program.run("run", "job.yaml", "other.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors == """
                \(workspace.path)/out/a.png: both 'test' and 'test' would write this output
                   = give the jobs different output folders, or names with {job}

                """)
        #expect(workspace.files(below: "out") == [])
    }

    @Test func `check finds manifests that share outputs, without a look at the inputs`() async throws {
        try workspace.writeNightly()
        try workspace.writeNightly("other.yaml", radius: "9")
        let same = try await Program.run("check", "job.yaml", "other.yaml", in: workspace)
        #expect(same.code == 65)
        #expect(same.errors.contains(": both 'test' and 'test' would write this output\n"), "\(same.errors)")

        let manifest = String(decoding: try workspace.read("other.yaml"), as: UTF8.self)
        try workspace.write(manifest.replacing("photos/*", with: "scans/*"), to: "other.yaml")
        let maybe = try await Program.run("check", "job.yaml", "other.yaml", in: workspace)
        #expect(maybe.code == 0)
        #expect(
            maybe.errors.contains("warning: out/{stem}.png: both 'test' and 'test' write there; 'penumbra plan'"),
            "\(maybe.errors)")

        try workspace.write(manifest.replacing("out/", with: "elsewhere/"), to: "other.yaml")
        let apart = try await Program.run("check", "job.yaml", "other.yaml", in: workspace)
        #expect((apart.code, apart.errors) == (0, ""))
    }

    @Test func `1: a picture that collides later costs neither the others nor the output that is there`() async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let before = try workspace.contents(below: "out")
        try workspace.draw("photos/a.jpg", width: 20, height: 20)
        try workspace.draw("photos/d.jpg", width: 20, height: 20)
        #expect(
            try await Program.night(workspace, "--delete-orphans=all")
                == NightSummary(published: 1, skipped: 2, failed: 2, exitCode: 1))
        #expect(try workspace.contents(below: "out").filter { $0.key != "d.png" } == before)
    }

    @Test func `1: a format that cannot be written fails its picture alone`() async throws {
        try workspace.write("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", to: "photos/d.svg")
        try workspace.writeNightly(output: "out/{stem}.{ext}")
        let result = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors.hasPrefix(
                "test: 1 frame failed: output refused\n  photos/d.svg: '{ext}' gives '.svg', which Penumbra cannot write; it writes "
            ))
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.jpg"])
    }

    @Test func `1: however many names collide, each is listed`() async throws {
        for number in 1...12 {
            for ext in ["png", "jpg"] { try workspace.draw("photos/p\(number).\(ext)", width: 8, height: 8) }
        }
        try workspace.writeNightly()
        let result = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(result.code == 1)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.first == "test: 24 frames failed: output refused")
        #expect(lines.count == 25)
        #expect(lines.allSatisfy { !$0.contains("more") })
    }

    @Test func `1: a folder in the place of an output fails its frame every night`() async throws {
        try workspace.write("mine", to: "out/a.png/note.txt")
        try workspace.writeNightly()
        for _ in 1...2 {
            let result = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
            #expect(result.code == 1)
            #expect(
                result.errors == """
                    test: 1 frame failed: output refused
                      photos/a.png: a folder is in the place of the output \(workspace.path)/out/a.png; move the folder away, or \
                    write to another folder

                    """)
            #expect(workspace.files(below: "out") == ["a.png/note.txt", "b.png", "c.png"])
        }
    }

    @Test func `1: a list does not replace what was made of another picture that is still there`() async throws {
        try workspace.draw("photos/a.jpg", width: 20, height: 20)
        try workspace.writeNightly()
        try workspace.write("photos/a.png\n", to: "one.txt")
        try workspace.write("photos/a.jpg\n", to: "other.txt")
        let one = try await Program.run("run", "--quiet", "--files-from", "one.txt", "job.yaml", in: workspace)
        #expect(one.code == 0)
        let before = try workspace.read("out/a.png")

        let other = try await Program.run("run", "--quiet", "--files-from", "other.txt", "job.yaml", in: workspace)
        #expect(other.code == 1)
        #expect(
            other.errors == """
                test: 1 frame failed: output refused
                  photos/a.jpg: would be written to \(workspace.path)/out/a.png, which was made of \
                \(workspace.path)/photos/a.png; add {ext} or {index} to 'output'; --force replaces it

                """)
        #expect(try workspace.read("out/a.png") == before)

        let forced = try await Program.run(
            "run", "--quiet", "--force", "--files-from", "other.txt", "job.yaml", in: workspace)
        #expect(forced.code == 0)
        #expect(forced.errors == "")
        #expect(try workspace.read("out/a.png") != before)
        let back = try await Program.run(
            "run", "--quiet", "--force", "--files-from", "one.txt", "job.yaml", in: workspace)
        #expect(back.code == 0)
        #expect(try workspace.read("out/a.png") == before)

        // A picture that got another name is another matter.
        try workspace.remove("photos/a.png")
        let renamed = try await Program.run("run", "--quiet", "--files-from", "other.txt", "job.yaml", in: workspace)
        #expect(renamed.code == 0)
        #expect(try workspace.read("out/a.png") != before)
    }

    @Test func `65: a job of which every frame collides is refused`() async throws {
        try workspace.writeNightly(output: "out/all.png")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors.contains(
                "job.yaml: error: 3 inputs would be written to the one output \(workspace.path)/out/all.png:\n"))
        #expect(!workspace.exists("out"))
    }
}
