import Foundation
import Glibc
import Testing

/// `penumbra verify`: what has become of outputs.
@Suite(.serialized) struct VerifyTests {
    let workspace: Workspace

    init() async throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    private func verify(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["verify"] + arguments, in: workspace)
    }

    /// Without the time that it took.
    private func counts(_ result: Program.Result) -> String {
        String(result.output.prefix { $0 != "\n" }).replacing(#/ in [0-9.]+ m?s, .*/#, with: "")
    }

    @Test(arguments: ["job.yaml", "out", "out/"])
    func `outputs that nobody has touched are as published`(argument: String) async throws {
        let result = try await verify(argument)
        #expect(result.code == 0)
        #expect(counts(result) == "verified 3 outputs: 3 as published")
        #expect(result.errors == "")
        let quiet = try await verify(argument, "--quiet")
        #expect(quiet.code == 0 && quiet.output == "" && quiet.errors == "")
    }

    @Test func `every kind of damage is told by its name, and each output once`() async throws {
        let size = try workspace.read("out/a.png").count
        try workspace.corrupt("out/a.png", .truncated(at: 100))
        try workspace.remove("out/b.png")
        let other = try workspace.read("out/c.png").count
        try workspace.corrupt("out/c.png", .flipped(bit: 8 * 200))
        let result = try await verify("job.yaml", "out/a.png", "out")
        #expect(result.code == 1)
        #expect(counts(result) == "verified 3 outputs: 1 changed, 1 missing, 1 truncated")
        #expect(
            result.output.hasSuffix(
                """
                   = compared with the records in state/penumbra, or else with an index or a receipt beside the output
                   = if nobody edited such an output on purpose, remove it: the next run renders it again
                   = the next run renders a missing output again

                """), "\(result.output)")
        #expect(
            result.errors == """
                1 output missing
                  out/b.png: missing
                1 output truncated
                  out/a.png: truncated (100 of \(Self.grouped(size)) bytes)
                1 output changed
                  out/c.png: changed (\(Self.grouped(other)) bytes, as before)

                """)
        let quiet = try await verify("job.yaml", "--quiet")
        #expect(quiet.code == 1 && quiet.output == "" && quiet.errors == result.errors)
    }

    private static func grouped(_ number: Int) -> String {
        number < 1000 ? "\(number)" : "\(number / 1000),\(String(format: "%03d", number % 1000))"
    }

    /// Changes a byte as a bad disk does: the size and the time stay.
    private func rot(_ name: String) async throws {
        let command =
            "cp -p \(name) saved && printf x | dd of=\(name) bs=1 seek=300 conv=notrunc status=none && touch -r saved \(name)"
        #expect(try await Program.run("/bin/sh", ["-c", command], in: workspace).code == 0)
    }

    @Test func `damaged and missing outputs are made again, and nothing else`() async throws {
        let names = ["out/a.png", "out/b.png", "out/c.png"]
        let before = try names.map { try workspace.read($0) }
        try await rot("out/a.png")
        try workspace.remove("out/b.png")
        let whole = try workspace.modified("out/c.png")
        let result = try await verify("job.yaml", "--repair")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("repaired 2 outputs\n"), "\(result.output)")
        #expect(result.errors.contains("out/a.png: changed") && result.errors.contains("out/b.png: missing"))
        #expect(try names.map { try workspace.read($0) } == before)
        #expect(try workspace.modified("out/c.png") == whole)
        let again = try await verify("job.yaml", "--repair", "--rerender")
        #expect(again.code == 0 && counts(again) == "verified 3 outputs: 3 as published")
        // The next night finds nothing to do.
        #expect(try await Program.night(workspace).published == 0)
    }

    @Test func `what somebody may have edited stays, unless it is forced`() async throws {
        let before = try workspace.read("out/a.png")
        try workspace.write("edited", to: "out/a.png")
        let result = try await verify("job.yaml", "--repair")
        #expect(result.code == 1)
        #expect(
            result.output.hasSuffix(
                "repaired 0 outputs; 1 output is not as published\n   = 1 output may have been edited: 'penumbra adopt' "
                    + "accepts edits, and --force replaces them\n"), "\(result.output)")
        #expect(try workspace.read("out/a.png") == Data("edited".utf8))
        #expect(try await verify("job.yaml", "--repair", "--force").code == 0)
        #expect(try workspace.read("out/a.png") == before)
        let usage = try await verify("job.yaml", "--force")
        #expect(usage.code == 64 && usage.errors.contains("--force belongs to --repair; give both."))
    }

    @Test func `other outputs of the same picture stay as they are`() async throws {
        try workspace.write(
            "job: two\ninputs: photos/a.png\nfilters: [gaussian]\noutputs: [{path: 'two/{stem}.png'}, {path: 'two/{stem}.jpg'}]\n",
            to: "two.yaml")
        #expect(try await Program.run(Program.penumbra, ["run", "two.yaml"], in: workspace).code == 0)
        try workspace.write("edited", to: "two/a.jpg")
        try workspace.remove("two/a.png")
        let result = try await verify("two/a.png", "--repair", "--force")
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.exists("two/a.png"))
        #expect(try workspace.read("two/a.jpg") == Data("edited".utf8))
    }

    @Test func `what cannot be made again stays damaged, and does not stop the rest`() async throws {
        try await rot("out/a.png")
        try workspace.remove("out/b.png")
        try workspace.write("no picture", to: "photos/b.png")
        let result = try await verify("job.yaml", "--repair")
        #expect(result.code == 1)
        #expect(result.output.hasSuffix("repaired 1 output; 1 output is not as published\n"), "\(result.output)")
        #expect(result.errors.contains("photos/b.png"))
        #expect(!workspace.exists("out/b.png"))
        let json = try await verify("out", "--repair", "--json")
        #expect(json.code == 1)
        #expect(
            json.output.contains(#"{"damaged":1,"edited":0,"event":"repair","repaired":0,"withoutInput":0}"#),
            "\(json.output)")
    }

    @Test func `an output whose picture is gone is not to be removed, and both commands say so`() async throws {
        try workspace.remove("photos/a.png")
        try await rot("out/a.png")
        let remedy =
            "\n   = photos/a.png is not there, so that no run can render 1 damaged output of it again: restore it, or the outputs, "
            + "from a backup\n"
        let found = try await verify("job.yaml")
        #expect(found.code == 1 && found.output.hasSuffix(remedy), "\(found.output)")
        #expect(!found.output.contains("remove it"))
        let result = try await verify("job.yaml", "--repair")
        #expect(result.code == 1)
        #expect(
            result.output.hasSuffix("repaired 0 outputs; 1 output is not as published" + remedy), "\(result.output)")
    }

    @Test
    func `a folder of pictures that is away may be on a disk, and an edited output is not replaced from a backup`()
        async throws
    {
        try FileManager.default.moveItem(atPath: "\(workspace.path)/photos", toPath: "\(workspace.path)/elsewhere")
        try workspace.write("edited", to: "out/a.png")
        let result = try await verify("out/a.png", "--repair")
        #expect(result.code == 1)
        #expect(
            result.output.hasSuffix(
                "1 output may have been edited: 'penumbra adopt' accepts edits\n   = photos/a.png is not there, so that no run can "
                    + "render 1 damaged output of it again: is a disk not mounted, or a folder moved? Else restore it, or the "
                    + "outputs, from a backup\n"), "\(result.output)")
    }

    @Test(arguments: [[], ["--repair"], ["--repair", "--force"]])
    func `a folder in the place of an output is named, and stays`(options: [String]) async throws {
        try workspace.remove("out/a.png")
        try workspace.write("mine", to: "out/a.png/notes.txt")
        let result = try await Program.run(Program.penumbra, ["verify", "job.yaml"] + options, in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "out/a.png: unreadable: a folder of something else is in its place; move the folder away\n"),
            "\(result.errors)")
        #expect(workspace.exists("out/a.png/notes.txt"))
    }

    @Test func `a job whose manifest is gone, wrong, or another job's, costs its own outputs`() async throws {
        try workspace.writeManifest("other.yaml", output: "other/{stem}.png", more: "existing: update")
        let other = String(decoding: try workspace.read("other.yaml"), as: UTF8.self)
        try workspace.write(other.replacing("job: test", with: "job: other"), to: "other.yaml")
        #expect(try await Program.run(Program.penumbra, ["run", "other.yaml"], in: workspace).code == 0)
        for (manifest, message) in [
            ("job: [", "other.yaml:1"),
            (other, "other.yaml: is the job 'test' now, and the damaged outputs are of the job 'other'"),
        ] {
            for name in ["out/a.png", "other/a.png"] where workspace.exists(name) { try workspace.remove(name) }
            try workspace.write(manifest, to: "other.yaml")
            let result = try await verify("out", "other", "--repair")
            #expect(result.code == 1)
            #expect(result.errors.contains(message), "\(result.errors)")
            #expect(workspace.exists("out/a.png") && !workspace.exists("other/a.png"))
            #expect(
                result.output.hasSuffix("repaired 1 output; 1 output is not as published\n"), "\(result.output)")
        }
    }

    @Test func `outputs that were swapped are told whose bytes they hold`() async throws {
        let (a, b) = (try workspace.read("out/a.png"), try workspace.read("out/b.png"))
        try workspace.overwrite("out/a.png", b)
        try workspace.overwrite("out/b.png", a)
        let result = try await verify("out")
        #expect(result.code == 1)
        #expect(
            result.errors == """
                2 outputs swapped
                  out/a.png: swapped with out/b.png
                  out/b.png: swapped with out/a.png

                """)
        // Whose bytes they are is known where the other one is not looked at.
        #expect(try await verify("out/a.png").errors == "1 output swapped\n  out/a.png: swapped with out/b.png\n")
    }

    @Test func `of twins the one is named that has the other's bytes`() async throws {
        // The outputs of these are one byte for byte.
        try workspace.copy("photos/b.png", to: "photos/a2.png")
        try workspace.copy("photos/b.png", to: "photos/z.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 2, skipped: 3))
        let (c, z) = (try workspace.read("out/c.png"), try workspace.read("out/z.png"))
        try workspace.overwrite("out/c.png", z)
        try workspace.overwrite("out/z.png", c)
        #expect(
            try await verify("out").errors == """
                2 outputs swapped
                  out/c.png: swapped with out/z.png
                  out/z.png: swapped with out/c.png

                """)
    }

    @Test func `the right twin is named where it is not looked at, and a copy is not called swapped`() async throws {
        try workspace.copy("photos/b.png", to: "photos/a2.png")
        try workspace.copy("photos/b.png", to: "photos/z.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 2, skipped: 3))
        let (c, z) = (try workspace.read("out/c.png"), try workspace.read("out/z.png"))
        try workspace.overwrite("out/c.png", z)
        try workspace.overwrite("out/z.png", c)
        #expect(try await verify("out/c.png").errors == "1 output swapped\n  out/c.png: swapped with out/z.png\n")
        #expect(try await verify("out/z.png").errors == "1 output swapped\n  out/z.png: swapped with out/c.png\n")
        try workspace.overwrite("out/z.png", z)
        for wanted in ["out", "out/c.png"] {
            #expect(
                try await verify(wanted).errors
                    == "1 output changed\n  out/c.png: changed (it holds the bytes of out/a2.png)\n")
        }
        let lines = try VerifyLine.all(in: await verify("out/c.png", "--json").output)
        let line = try #require(lines.first { $0.path != nil })
        #expect((line.state, line.swappedWith) == ("changed", nil))
        #expect(line.copyOf == "\(workspace.path)/out/a2.png")
    }

    @Test func `of three outputs that went round each is told whose bytes it holds`() async throws {
        let (a, b, c) = (
            try workspace.read("out/a.png"), try workspace.read("out/b.png"), try workspace.read("out/c.png")
        )
        try workspace.overwrite("out/a.png", b)
        try workspace.overwrite("out/b.png", c)
        try workspace.overwrite("out/c.png", a)
        #expect(
            try await verify("out").errors == """
                3 outputs changed
                  out/a.png: changed (it holds the bytes of out/b.png)
                  out/b.png: changed (it holds the bytes of out/c.png)
                  out/c.png: changed (it holds the bytes of out/a.png)

                """)
    }

    @Test func `links, pipes and folders in an output's place are no outputs`() async throws {
        for name in ["a.png", "b.png", "c.png"] { try workspace.remove("out/\(name)") }
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/out/a.png", withDestinationPath: "\(workspace.path)/photos/a.png")
        #expect(mkfifo("\(workspace.path)/out/b.png", 0o600) == 0)
        try workspace.write("x", to: "out/c.png/x")
        let result = try await verify("job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.hasPrefix(
                """
                2 outputs changed
                  out/a.png: changed (no file, or a link)
                  out/b.png: changed (no file, or a link)
                1 output unreadable
                  out/c.png: unreadable: a folder of something else is in its place; move the folder away

                """))
    }

    @Test func `what nobody published is not known, and the rest is looked at`() async throws {
        let result = try await verify("photos/a.png", "out/a.png", "nowhere.png")
        #expect(result.code == 1)
        #expect(counts(result) == "verified 1 output: 1 as published")
        #expect(
            result.errors == """
                2 files not known
                  photos/a.png: not known: no job of this state folder published it
                  nowhere.png: not known, and not there

                """)
    }

    @Test func `a job that never ran has nothing to verify, and a manifest may be missing`() async throws {
        try workspace.write(
            "job: never\ninputs: photos/*\nfilters: [{gaussian: {radius: 1}}]\noutput: never/{stem}.png\n",
            to: "never.yaml")
        let never = try await verify("never.yaml")
        #expect(never.code == 66)
        #expect(never.errors == "never: nothing is known of its outputs; has it run with this state folder?\n")
        #expect(try await verify("gone.yaml").code == 66)
        // Damage counts more.
        try workspace.remove("out/a.png")
        #expect(try await verify("job.yaml", "never.yaml").code == 1)
        #expect(try await verify("").code == 64)
        #expect(try await verify("job.yaml", "--seed", "3").code == 64)
        #expect(try await verify("job.yaml", "--sample", "0%").code == 64)
    }

    @Test func `the inputs and the database may be gone`() async throws {
        try workspace.remove("photos")
        #expect(try await verify("job.yaml").code == 0)
        try workspace.remove("state")
        for argument in ["job.yaml", "out", "out/a.png"] { #expect(try await verify(argument).code == 0) }
        try workspace.corrupt("out/a.png", .flipped(bit: 9))
        for argument in ["job.yaml", "out", "out/a.png"] { #expect(try await verify(argument).code == 1) }
        #expect(!workspace.exists("state/penumbra/penumbra.sqlite"))
    }

    @Test func `verify changes nothing at all`() async throws {
        _ = try await verify("job.yaml")
        let before = try workspace.everything()
        try workspace.corrupt("out/a.png", .truncated(at: 5))
        let damaged = try workspace.everything()
        #expect(damaged != before)
        for options in [[], ["--rerender"], ["--sample", "2", "--rerender", "--json"]] {
            _ = try await Program.run(Program.penumbra, ["verify", "job.yaml", "out"] + options, in: workspace)
            #expect(try workspace.everything() == damaged, "\(options)")
        }
    }

    @Test func `a sample is told with its seed, and the same seed chooses the same`() async throws {
        try workspace.remove("out/b.png")
        var chosen: Set<[String]> = []
        for seed in 1...8 {
            let one = try await sample("2", seed: seed)
            #expect(one == (try await sample("2", seed: seed)))
            #expect(one.count == 2)
            chosen.insert(one)
        }
        #expect(chosen.count == 3, "\(chosen)")
        let result = try await verify("job.yaml", "--sample", "34%", "--seed", "7")
        #expect(counts(result).hasPrefix("verified 2 of 3 outputs (--seed 7): "))
        #expect(try await verify("job.yaml", "--sample", "0.1%").output.hasPrefix("verified 1 of 3 outputs (--seed "))
    }

    private func sample(_ size: String, seed: Int) async throws -> [String] {
        let result = try await verify("job.yaml", "--json", "--sample", size, "--seed", "\(seed)")
        return try VerifyLine.all(in: result.output).filter { $0.event == "verified" }.compactMap(\.path)
    }

    @Test func `JSON tells of every output what was published and what is there`() async throws {
        try workspace.corrupt("out/b.png", .truncated(at: 10))
        let result = try await verify("job.yaml", "--json")
        #expect(result.code == 1 && result.errors == "")
        let lines = try VerifyLine.all(in: result.output)
        let outputs = lines.filter { $0.event == "verified" }
        #expect(outputs.map(\.state) == ["as published", "truncated", "as published"])
        #expect(outputs.map(\.job) == ["test", "test", "test"])
        #expect(outputs[1].bytes == 10)
        #expect(outputs[1].digest != outputs[1].publishedDigest)
        #expect(outputs[0].digest == outputs[0].publishedDigest)
        #expect(lines.first { $0.event == "verification" }?.states == ["as published": 2, "truncated": 1])
        #expect(lines.last?.exitCode == 1)
    }

    @Test func `outputs that a run replaces meanwhile are as published`() async throws {
        try workspace.draw("photos/d.png", width: 700, height: 600)
        #expect(try await Program.night(workspace).published == 1)
        for radius in ["6", "7"] {
            try workspace.writeNightly(radius: radius)
            let run = try RunningProgram(["run", "job.yaml", "--force", "--workers", "1"], in: workspace)
            repeat {
                let result = try await verify("job.yaml", "out", "--workers", "1")
                #expect(result.code == 0, "\(result.errors)")
            } while run.isRunning
            #expect(run.finish().code == 0)
        }
    }

    @Test func `an interrupted verify says so, with the signal's exit code`() async throws {
        for number in 0..<200 { try workspace.copy("photos/a.png", to: "photos/n\(number).png") }
        #expect(try await Program.night(workspace).failed == 0)
        let verify = try RunningProgram(["verify", "job.yaml", "--workers", "1", "--rerender"], in: workspace)
        verify.wait { !verify.workers.isEmpty }
        kill(verify.processID, SIGTERM)
        let result = verify.finish()
        #expect(result.code == 143)
        #expect(result.errors == "stopped by SIGTERM; nothing was changed\n")
    }

    @Test func `odd names are looked at, and shown so that they break no line`() async throws {
        let photo = try workspace.read("photos/a.png")
        try workspace.write(photo, to: "photos/new\nline.png")
        let odd = Array("\(workspace.path)/photos/odd".utf8) + [0xE9] + Array(".png".utf8)
        let file = try #require(fopen(odd.map { CChar(bitPattern: $0) } + [0], "w"))
        #expect(fwrite(Array(photo), 1, photo.count, file) == photo.count)
        fclose(file)
        #expect(try await Program.night(workspace).published == 2)
        #expect(try await counts(verify("job.yaml")) == "verified 5 outputs: 5 as published")
        let again = try await verify("job.yaml", "--rerender")
        #expect(again.code == 0)
        #expect(again.output.contains("rendered again 5 outputs: 5 as published in "))
        try workspace.remove("out/new\nline.png")
        #expect(try await verify("out").errors == "1 output missing\n  out/new\\u{a}line.png: missing\n")
    }

    /// Root may read anything.
    @Test(.enabled(if: getuid() != 0))
    func `one output of many that may not be read is told alone`() async throws {
        for number in 0..<60 { try workspace.copy("photos/a.png", to: "photos/n\(number).png") }
        #expect(try await Program.night(workspace).failed == 0)
        let path = "\(workspace.path)/out/n7.png"
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        let result = try await verify("out")
        #expect(result.code == 1)
        #expect(counts(result) == "verified 63 outputs: 62 as published, 1 unreadable")
        #expect(
            result.errors == "1 output unreadable\n  out/n7.png: unreadable: may not be opened (permission denied)\n")
    }

    @Test func `one folder of many that holds no plain files is told alone`() async throws {
        for number in 0..<60 { try workspace.copy("photos/a.png", to: "photos/n\(number).png") }
        #expect(try await Program.night(workspace).failed == 0)
        try workspace.remove("out/n7.png")
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/out/n7.png", withIntermediateDirectories: false)
        #expect(mkfifo("\(workspace.path)/out/n7.png/pipe", 0o600) == 0)
        let result = try await verify("out")
        #expect(result.code == 1)
        #expect(counts(result) == "verified 63 outputs: 62 as published, 1 unreadable")
    }

    @Test func `an output that another job has replaced has no other reason, even if its bytes are elsewhere, too`()
        async throws
    {
        try workspace.copy("photos/a.png", to: "photos/twin.png")
        try workspace.writeOtherJob(radius: "3")
        #expect(try await Program.run("run", "--force", "other.yaml", in: workspace).code == 0)
        let result = try await verify("job.yaml")
        #expect(counts(result) == "verified 3 outputs: 3 replaced")
        // Nor does it vanish if the database is gone, and the index has the other job alone.
        try workspace.remove("state")
        try workspace.corrupt("out/a.png", .truncated(at: 100))
        let changed = try await verify("other.yaml")
        #expect(changed.code == 1)
        #expect(counts(changed) == "verified 4 outputs: 3 as published, 1 truncated")
    }

    @Test func `an output that another job has published since is not this job's any more`() async throws {
        try workspace.writeOtherJob(radius: "3")
        let other = try await Program.run("run", "--force", "other.yaml", in: workspace)
        #expect(other.code == 0)
        let result = try await verify("job.yaml")
        #expect(result.code == 1)
        #expect(counts(result) == "verified 3 outputs: 3 replaced")
        let publisher = "published since by the job 'other' of \(workspace.path)/other.yaml"
        #expect(result.errors.contains("out/a.png: replaced: \(publisher)\n"))
        #expect(
            result.output.contains("= a replaced output belongs to the other job now: let each job write to a folder"))
        // The other job's outputs, and whatever is at a path, are as published.
        for argument in ["other.yaml", "out"] {
            let result = try await verify(argument)
            #expect(result.code == 0)
            #expect(counts(result) == "verified 3 outputs: 3 as published")
        }
        // A run leaves them, and says why.
        #expect(try await Program.night(workspace) == NightSummary(kept: 3))
        let reasons = try await Program.reasons(workspace)
        #expect(
            reasons["a.png"]?.contains(
                "published by the job 'other' of \(workspace.path)/other.yaml, which is still there")
                == true)
    }
}
