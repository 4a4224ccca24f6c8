import Foundation
import Glibc
import Testing

/// `existing: update`, night after night.
@Suite(.serialized) struct UpdateTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
    }

    private func reasons(_ options: String...) async throws -> [String: String] {
        try await Program.reasons(workspace)
    }

    private func firstNight() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    /// Replaces a photograph by another one that is as large, by its name and bytes.
    private func draw(_ name: String, like other: String) throws {
        try workspace.remove(name)
        try workspace.copy(other, to: name)
    }

    private static let upToDate = "skipped: up to date"
    private static let foreign =
        "kept: no record in this state folder; accept with 'penumbra adopt', replace with --force"

    @Test func `the second night does nothing`() async throws {
        #expect(try await reasons() == ["a.png": "new", "b.png": "new", "c.jpg": "new"])
        try await firstNight()
        let before = try workspace.contents(below: "out")
        let index = try workspace.read("out/.penumbra-index")
        let second = try await Program.run("run", "job.yaml", in: workspace)
        #expect(second.code == 0)
        #expect(second.output.contains("test: 0 published, 3 skipped in "))
        #expect(second.errors == "")
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).output == "")
        #expect(try workspace.contents(below: "out") == before)
        #expect(try workspace.read("out/.penumbra-index") == index)
        #expect(
            try await reasons() == ["a.png": Self.upToDate, "b.png": Self.upToDate, "c.jpg": Self.upToDate])
    }

    @Test func `plan tells for each frame why it would run`() async throws {
        try await firstNight()
        try workspace.draw("photos/d.png", width: 20, height: 30)
        try draw("photos/a.png", like: "photos/b.png")
        try workspace.remove("out/b.png")
        let expected = ["a.png": "input changed", "b.png": "output missing", "c.jpg": Self.upToDate, "d.png": "new"]
        #expect(try await reasons() == expected)
        #expect(try await reasons() == expected, "a look changes nothing")
        #expect(try await Program.night(workspace) == NightSummary(published: 3, skipped: 1))
        #expect(try await reasons().values.allSatisfy { $0 == Self.upToDate })

        try workspace.write("mine", to: "out/a.png")
        try workspace.write("mine", to: "out/b.png")
        try draw("photos/b.png", like: "photos/d.png")
        try workspace.write("mine", to: "out/e.png")
        try workspace.copy("photos/d.png", to: "photos/e.png")
        #expect(
            try await reasons() == [
                "a.png": "kept: output was edited or damaged; accept with 'penumbra adopt', render again with --force",
                "b.png": "kept: output was edited or damaged, and would be rendered again (input changed); "
                    + "--force replaces it",
                "c.jpg": Self.upToDate, "d.png": Self.upToDate, "e.png": Self.foreign,
            ])
    }

    @Test func `plan shows one frame's reason in its table`() async throws {
        try await firstNight()
        try workspace.writeNightly(radius: "7")
        let result = try await Program.run("plan", "job.yaml", "--only", "b.png", in: workspace)
        #expect(
            result.output == """
                test: 1 frame, 1 to render, 0.0 MP
                  frame  input         size           output     rendered as          halo   because
                  2      photos/b.png  151×97 rgb u8  out/b.png  one frame, streamed  41 px  radius 5 → 7; shard: frame

                """)
    }

    @Test func `a change of the manifest is told in its words, and made`() async throws {
        try await firstNight()
        let before = try workspace.contents(below: "out")
        try workspace.writeNightly(radius: "7")
        #expect(Set(try await reasons().values) == ["radius 5 → 7"])
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let after = try workspace.contents(below: "out")
        #expect(after.keys.sorted() == before.keys.sorted())
        #expect(after.keys.allSatisfy { after[$0] != before[$0] })
        try workspace.writeNightly(radius: "7", more: "save: {metadata: strip, compression: 9}")
        #expect(Set(try await reasons().values) == ["metadata keep → strip, compression 6 → 9"])
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 7}}, {flip: {axis: vertical}}]", more: "shard: frame\nexisting: update")
        #expect(Set(try await reasons().values) == ["filters gaussian → gaussian, flip"])
    }

    @Test func `a template that has changed is followed, and the old outputs stay`() async throws {
        for template in ["out/{stem}.png", "out/{stem}-{width}.png"] {
            try workspace.writeNightly(output: template)
            try await firstNight()
            try workspace.writeNightly(output: template.replacing("out/", with: "thumbs/new-"))
            try await firstNight()
            #expect(try workspace.contents(below: "out") != [:])
            #expect(try workspace.contents(below: "thumbs").count == 3)
            try workspace.remove("out")
            try workspace.remove("thumbs")
        }
    }

    /// Tells which tasks the workers get.
    private func logTasks() throws -> [String: String] {
        try workspace.write(
            "#!/bin/bash\ntee -a '\(workspace.path)/tasks' | '\(Program.worker)' \"$@\"\n", to: "worker.sh")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(workspace.path)/worker.sh")
        return ["PENUMBRA_WORKER": "\(workspace.path)/worker.sh"]
    }

    private func loggedTasks() throws -> Int {
        guard workspace.exists("tasks") else { return 0 }
        let text = String(decoding: try workspace.read("tasks"), as: UTF8.self)
        try workspace.remove("tasks")
        return text.ranges(of: #""start":{"#).count
    }

    @Test func `a file that was only touched is read once, and not rendered`() async throws {
        let environment = try logTasks()
        func night() async throws -> NightSummary {
            try NightSummary(
                await Program.run("run", "--json", "job.yaml", in: workspace, environment: environment))
        }
        #expect(try await night() == NightSummary(published: 3))
        let before = try workspace.contents(below: "out")
        _ = try loggedTasks()
        #expect(try await night() == NightSummary(skipped: 3))
        #expect(try loggedTasks() == 0)
        try workspace.age("photos/a.png", hours: 1)
        try workspace.age("out/b.png", hours: 1)
        try workspace.age("photos/c.jpg", hours: 1)
        try workspace.age("out/c.png", hours: 1)
        #expect(try await night() == NightSummary(skipped: 3))
        #expect(try loggedTasks() == 3)
        #expect(try await night() == NightSummary(skipped: 3))
        #expect(try loggedTasks() == 0)
        #expect(try workspace.contents(below: "out") == before)
    }

    @Test func `a changed picture whose output was copied back is rendered`() async throws {
        try await firstNight()
        try workspace.remove("photos/a.png")
        try workspace.draw("photos/a.png", width: 161, height: 120)
        try workspace.age("out/a.png", hours: 1)
        #expect(try await reasons()["a.png"] == "input changed")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
    }

    /// Other bytes at the same time, of the same number, in the same file.
    private func changeSilently(_ name: String) throws {
        let time = try #require(try workspace.modified(name))
        var bytes = try workspace.read(name)
        bytes[bytes.count / 2] ^= 1
        let file = try #require(FileHandle(forWritingAtPath: "\(workspace.path)/\(name)"))
        try file.write(contentsOf: bytes)
        try file.close()
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: "\(workspace.path)/\(name)")
    }

    @Test func `other bytes under the same size and time are found by their content alone`() async throws {
        // In the middle of it an uncompressed TIFF has pixels, which may have any value.
        try workspace.writeNightly(
            "tiff.yaml", radius: "0", output: "tiffs/{stem}.tif", more: "save: {compression: none}")
        #expect(try await Program.run("run", "tiff.yaml", in: workspace).code == 0)
        for compare in ["stamp", "size", "content"] {
            try workspace.writeNightly(
                inputs: "tiffs/*", output: "out/{stem}-\(compare).tif", more: "compare: \(compare)")
            try await firstNight()
            #expect(try await Program.night(workspace) == NightSummary(skipped: 3), "\(compare)")
        }
        for name in workspace.files(below: "tiffs") { try workspace.age("tiffs/\(name)") }
        for compare in ["stamp", "size", "content"] {
            try workspace.writeNightly(
                inputs: "tiffs/*", output: "out/{stem}-\(compare).tif", more: "compare: \(compare)")
            #expect(try await Program.night(workspace) == NightSummary(skipped: 3), "\(compare)")
        }
        let picture = "tiffs/\(workspace.files(below: "tiffs")[0])"
        try changeSilently(picture)
        for compare in ["stamp", "size"] {
            try workspace.writeNightly(
                inputs: "tiffs/*", output: "out/{stem}-\(compare).tif", more: "compare: \(compare)")
            #expect(try await Program.night(workspace) == NightSummary(skipped: 3), "\(compare)")
        }
        try workspace.writeNightly(inputs: "tiffs/*", output: "out/{stem}-content.tif", more: "compare: content")
        #expect(
            try await Program.reasons(workspace).values.sorted() == ["input changed", Self.upToDate, Self.upToDate])
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `names from the bytes are as they were on the second night`() async throws {
        for more in ["", "compare: content"] {
            try workspace.writeNightly(output: "out/{stem}-{hash8}.png", more: more)
            _ = try await Program.night(workspace)
            let names = workspace.files(below: "out")
            #expect(names.count == 3)
            #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
            #expect(workspace.files(below: "out") == names)
        }
        try draw("photos/a.png", like: "photos/b.png")
        let names = Set(workspace.files(below: "out"))
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
        #expect(Set(workspace.files(below: "out")).subtracting(names).map { $0.hasPrefix("a-") } == [true])
    }

    @Test func `a database that is lost costs nothing`() async throws {
        try await firstNight()
        let before = try workspace.contents(below: "out")
        try workspace.remove("state")
        #expect(try await reasons().values.allSatisfy { $0 == Self.upToDate })
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
        #expect(try workspace.contents(below: "out") == before)
        try workspace.remove("out/.penumbra-index")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
        try workspace.remove("state")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a damaged database is told with the way out of it`() async throws {
        try await firstNight()
        for name in workspace.files(below: "state/penumbra") where name.hasPrefix("penumbra.sqlite-") {
            try workspace.remove("state/penumbra/\(name)")
        }
        try workspace.write(
            String(repeating: "This is no database. ", count: 500), to: "state/penumbra/penumbra.sqlite")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 74)
        #expect(result.errors.contains("the database is damaged: "))
        #expect(result.errors.contains("= move it away and run again: "))
        try workspace.remove("state/penumbra/penumbra.sqlite")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a touched picture that is made anew is known by its new output`() async throws {
        try await firstNight()
        for name in ["a.png", "b.png"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
                ofItemAtPath: "\(workspace.path)/photos/\(name)")
        }
        try workspace.writeNightly(radius: "7")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `what nobody knows to be Penumbra's is left as it is`() async throws {
        try await firstNight()
        try workspace.remove("state")
        try workspace.remove("out/.penumbra-index")
        try workspace.writeNightly(radius: "7")
        let before = try workspace.contents(below: "out")
        #expect(Set(try await reasons().values) == [Self.foreign])
        let kept = try await Program.run("run", "job.yaml", in: workspace)
        #expect(kept.code == 0)
        #expect(kept.output.contains("test: 0 published, 3 kept in "))
        #expect(
            kept.errors == """
                3 outputs are left as they are: no record in this state folder; accept with 'penumbra adopt', replace with --force
                  out/a.png
                  out/b.png
                  out/c.png

                """)
        let quiet = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(quiet.code == 0 && quiet.output == "" && quiet.errors == "")
        #expect(try await Program.night(workspace, "--strict") == NightSummary(kept: 3, exitCode: 1))
        #expect(try workspace.contents(below: "out") == before)
        #expect(try await Program.night(workspace, "--force") == NightSummary(published: 3))
        #expect(try workspace.contents(below: "out") != before)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `the command that accepts kept outputs can be copied, whatever state folder the run had`() async throws {
        try await firstNight()
        try workspace.remove("out/.penumbra-index")
        let (other, before) = (["--state-dir", "\(workspace.path)/other"], try workspace.contents(below: "out"))
        let kept = try await Program.run(Program.penumbra, ["run", "--quiet", "job.yaml"] + other, in: workspace)
        #expect(
            kept.errors.hasPrefix(
                "test: 3 outputs are left as they are: no record in the state folder \(workspace.path)/other; accept with "
                    + "'penumbra adopt --state-dir \(workspace.path)/other', replace with --force\n"), "\(kept.errors)")
        #expect(try await Program.run(Program.penumbra, ["adopt", "job.yaml"] + other, in: workspace).code == 0)
        let next = try await Program.run(Program.penumbra, ["run", "--json", "job.yaml"] + other, in: workspace)
        #expect(try NightSummary(next) == NightSummary(skipped: 3))
        #expect(try workspace.contents(below: "out").filter { before[$0.key] != nil } == before)
    }

    @Test func `lists that are cut say how many are left out, and what names them`() async throws {
        for number in 10..<32 {
            try workspace.write("mine", to: "out/\(number).png")
            try workspace.copy("photos/a.png", to: "photos/\(number).png")
            try workspace.write("no picture", to: "photos/broken\(number).png")
        }
        let run = try await Program.run("run", "job.yaml", in: workspace)
        #expect(run.code == 1)
        let rest = run.errors.split(separator: "\n").filter { $0.hasPrefix("  …") }
        #expect(
            rest == [
                "  … and 2 more; 'penumbra show test' names all", "  … and 2 more; 'penumbra plan --json' names all",
            ], "\(run.errors)")
        let shown = try await Program.run("show", "test", in: workspace)
        #expect(shown.output.contains("broken31.png"))
    }

    @Test func `outputs that are kept are told once, and so all of them`() async throws {
        for number in 100..<130 { try workspace.copy("photos/a.png", to: "photos/\(number).png") }
        for number in 100..<130 { try workspace.write("mine", to: "out/\(number).png") }
        let told = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(told.code == 0)
        for number in 100..<130 { #expect(told.errors.contains("  out/\(number).png\n")) }
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).errors == "")
    }

    @Test func `an output that was edited stays until it is forced`() async throws {
        try await firstNight()
        try workspace.write("my own version", to: "out/a.png")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 2, kept: 1))
        #expect(try await Program.night(workspace, "--strict") == NightSummary(skipped: 2, kept: 1, exitCode: 1))
        try workspace.writeNightly(radius: "7")
        #expect(try await Program.night(workspace) == NightSummary(published: 2, kept: 1))
        #expect(try workspace.read("out/a.png") == Data("my own version".utf8))
        #expect(try await Program.night(workspace, "--force", "--only", "a.png") == NightSummary(published: 1))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a link at an output's path is not Penumbra's, whatever it leads to`() async throws {
        let leads = "\(workspace.path)/elsewhere.png"
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/out", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/out/a.png", withDestinationPath: leads)
        #expect(try await Program.night(workspace) == NightSummary(published: 2, kept: 1))
        #expect(!workspace.exists("elsewhere.png"))

        try FileManager.default.moveItem(atPath: "\(workspace.path)/out/b.png", toPath: leads)
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/out/b.png", withDestinationPath: leads)
        let before = try workspace.contents(below: "out")
        try workspace.writeNightly(radius: "7")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, kept: 2))
        try workspace.remove("photos/b.png")
        _ = try await Program.night(workspace, "--delete-orphans=all")
        let after = try workspace.contents(below: "out")
        #expect(after["a.png"] == before["a.png"] && after["b.png"] == before["b.png"])
        #expect(workspace.exists("elsewhere.png"))
    }

    @Test(arguments: ["out/{stem}.png", "out/{stem}-{hash8}.png"])
    func `a file that is still being written is left for the next run`(output: String) async throws {
        try workspace.writeNightly(output: output, more: "min_age: 1h")
        try workspace.draw("photos/d.png", width: 20, height: 30)
        // Photographs keep their old times; when their names were changed is young.
        let night = try await Program.night(workspace)
        #expect(night == NightSummary(skipped: 4))
        #expect(
            try await reasons()["d.png"]?.wholeMatch(
                of: /skipped: changed \d+ s ago; 'min_age' leaves it for the next run/) != nil)
        try workspace.writeNightly(output: output)
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
    }
}
