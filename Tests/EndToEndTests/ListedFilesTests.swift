import Foundation
import Glibc
import Testing

/// Inputs as people have them.
@Suite(.serialized) struct ListedFilesTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
    }

    private func list(_ text: String) async throws -> Program.Result {
        try await Program.run("run", "job.yaml", "--files-from", "-", in: workspace, input: Data(text.utf8))
    }

    @Test func `a list has a file a line, or ended by NULs`() async throws {
        #expect(try await list("photos/a.png\n\n./photos/../photos/b.png\r\n").code == 0)
        #expect(workspace.files(below: "out") == ["a.png", "b.png"])
        #expect(
            try await list("photos/c.jpg\0\(workspace.path)/photos/a.png\0").output.hasPrefix(
                "test: 1 published, 1 skipped"))
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a record sets what is made of its picture alone`() async throws {
        let text = """
            {"path": "photos/a.png", "set": {"filters[0].gaussian.radius": 20, "save.compression": 1}}
            {"path": "photos/b.png"}

            """
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let before = try workspace.contents(below: "out")
        #expect(try await list(text).output.contains("test: 1 published, 1 skipped in "))
        #expect(try await list(text).output.contains("test: 0 published, 2 skipped in "))
        let after = try workspace.contents(below: "out")
        #expect(after["a.png"] != before["a.png"])
        #expect(after["b.png"] == before["b.png"] && after["c.png"] == before["c.png"])
        #expect(try await Program.reasons(workspace)["a.png"] == "radius 20 → 5, compression 1 → 6")
    }

    @Test func `each picture of a list has its own focal point, and another one makes it again alone`() async throws {
        try workspace.write(
            """
            job: test
            inputs: photos/*.png
            filters: [{thumbnail: {size: 20x20, fit: cover}}]
            output: out/{stem}.png

            """, to: "job.yaml")
        func text(_ focus: String) -> String {
            """
            {"path": "photos/a.png", "set": {"filters[0].thumbnail.focus_x": "\(focus)"}}
            {"path": "photos/b.png", "set": {"filters[0].thumbnail.focus_x": "0%"}}

            """
        }
        #expect(try await list(text("50%")).output.contains("test: 2 published"))
        let before = try workspace.contents(below: "out")
        #expect(try await list(text("100%")).output.contains("test: 1 published, 1 skipped in "))
        let after = try workspace.contents(below: "out")
        #expect(after["a.png"] != before["a.png"] && after["b.png"] == before["b.png"])
        let outside = try await list(text("101%"))
        #expect(outside.code == 1)
        #expect(outside.errors.contains("photos/a.png: 'focus_x' and 'focus_y' name a place outside of "))
    }

    @Test func `a listed file that is gone fails by name, and the others are made`() async throws {
        let result = try await list("photos/a.png\nphotos/gone.png\n")
        #expect(result.code == 1)
        #expect(result.errors == "1 frame failed: input missing or not readable\n  photos/gone.png: no such file\n")
        #expect(workspace.files(below: "out") == ["a.png"])
    }

    @Test func `a folder in a list fails by name`() async throws {
        try workspace.copy("photos/a.png", to: "photos/x/d.png")
        let result = try await list("photos/a.png\nphotos/x\n")
        #expect(result.code == 1)
        #expect(
            result.errors == """
                1 frame failed: input missing or not readable
                  photos/x: is a folder; list the files in it

                """)
        #expect(workspace.files(below: "out") == ["a.png"])
    }

    @Test func `all that is wrong with a list is told, and nothing is made`() async throws {
        let broken = try await list("photos/a.png\n{\"path\": 3}\n{\"pat\n")
        #expect(broken.code == 65)
        #expect(broken.errors.contains("standard input:2: error: 'path' is no text\n"))
        #expect(broken.errors.contains("standard input:3: error: a line that begins with '{' is a JSON record, "))
        let inputs = try await list("{\"path\": \"photos/a.png\", \"set\": {\"inputs\": \"x\"}}\n")
        #expect(inputs.code == 65)
        #expect(
            inputs.errors == """
                standard input:1: set inputs="x": a list of files can set 'filters' and 'save' for single files, and nothing \
                else
                   = write the rest into the manifest, or give it by --set

                """)
        let value = try await list("photos/b.png\n{\"path\": \"photos/a.png\", \"set\": {\"tile\": \"x\"}}\n")
        #expect(value.code == 65)
        #expect(value.errors.hasPrefix("standard input:2: set tile="))
        let empty = try await list("\n")
        #expect(empty.code == 66)
        #expect(empty.errors.contains("standard input: the list names no file"))
        #expect(workspace.files(below: "out") == [])
    }

    @Test func `names with spaces, newlines, quotes and other letters are what they are, each night`() async throws {
        let names = [
            #"a "quoted" 'one'"#, "new\nline", "tab\there", "日本 ä", "back\\slash", "{brace}", "*", "-dash", "%E9",
        ]
        for name in names { try workspace.copy("photos/a.png", to: "odd/deep er/\(name).png") }
        try workspace.writeNightly(inputs: #""odd/**/*""#, output: "out/{dir}/{stem}.png")
        #expect(try await Program.night(workspace) == NightSummary(published: names.count))
        #expect(Set(workspace.files(below: "out")) == Set(names.map { "deep er/\($0).png" }))
        #expect(try await Program.night(workspace) == NightSummary(skipped: names.count))
        try workspace.remove("state")
        #expect(try await Program.night(workspace) == NightSummary(skipped: names.count))
        let nul = names.map { "odd/deep er/\($0).png\0" }.joined()
        #expect(try await list(nul).output.contains("test: 0 published, \(names.count) skipped in "))
    }

    @Test func `a name that is not UTF-8 is rendered under a readable one, each night`() async throws {
        let odd = Array("\(workspace.path)/photos/caf".utf8) + [0xe9] + Array(".png".utf8) + [0]
        #expect(rename("\(workspace.path)/photos/a.png", odd.map { CChar(bitPattern: $0) }) == 0)
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(workspace.files(below: "out") == ["b.png", "c.png", "caf%E9.png"])
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
        try workspace.remove("state")
        #expect(try await Program.night(workspace, "--delete-orphans=all") == NightSummary(skipped: 3))
        #expect(workspace.files(below: "out") == ["b.png", "c.png", "caf%E9.png"])
    }

    @Test func `extensions may be capitals, and what a Mac leaves beside files is no picture`() async throws {
        try workspace.copy("photos/c.jpg", to: "photos/D.JPG")
        try workspace.write("resource fork", to: "photos/._D.JPG")
        try workspace.write("settings", to: "photos/.DS_Store")
        try workspace.writeNightly(inputs: "photos/*.{png,jpg}")
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
        #expect(workspace.files(below: "out") == ["D.png", "a.png", "b.png", "c.png"])
    }

    @Test func `a link is the picture that it leads to, and is only read`() async throws {
        try workspace.copy("photos/a.png", to: "elsewhere/x.png")
        for (link, target) in [
            ("photos/link.png", "../elsewhere/x.png"), ("photos/nowhere.png", "../elsewhere/none.png"),
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(workspace.path)/\(link)", withDestinationPath: target)
        }
        let before = (try workspace.contents(below: "photos"), try workspace.contents(below: "elsewhere"))
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
        #expect(try workspace.read("out/link.png") == workspace.read("out/a.png"))
        try workspace.remove("elsewhere/x.png")
        try workspace.copy("photos/b.png", to: "elsewhere/x.png")
        #expect(try await Program.reasons(workspace)["link.png"] == "input changed")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 3))
        #expect(try workspace.contents(below: "photos") == before.0)
    }

    @Test func `a source that may only be read is enough`() async throws {
        let folder = "\(workspace.path)/photos"
        for name in workspace.files(below: "photos") { chmod("\(folder)/\(name)", 0o444) }
        chmod(folder, 0o555)
        defer { chmod(folder, 0o755) }
        let before = (try workspace.contents(below: "photos"), try workspace.modified("photos"))
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
        #expect(try workspace.contents(below: "photos") == before.0)
        #expect(try workspace.modified("photos") == before.1)
    }
}
