import Foundation
import Glibc
import Testing

/// Outputs whose pictures are gone.
@Suite(.serialized) struct OrphanTests {
    let workspace: Workspace

    /// Twelve pictures with their outputs, so that one of them is less than a tenth.
    init() async throws {
        workspace = try Workspace()
        try workspace.draw("picture.png", width: 30, height: 20)
        for number in 10..<22 {
            try workspace.copy("picture.png", to: "photos/\(number).png")
            try workspace.age("photos/\(number).png")
        }
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 12))
    }

    private var outputs: [String] { workspace.files(below: "out") }
    private var skipped: NightSummary { NightSummary(skipped: 11) }

    @Test func `an orphan is listed, and stays until somebody says otherwise`() async throws {
        try workspace.remove("photos/10.png")
        let listed = try await Program.run("run", "job.yaml", in: workspace)
        #expect(listed.code == 0)
        #expect(
            listed.errors == """
                test: 1 output without an input any more; --delete-orphans removes them
                  out/10.png

                """)
        let planned = try await Program.run("plan", "job.yaml", in: workspace)
        #expect(planned.errors == "test: 1 output without an input any more\n  out/10.png\n")
        let quiet = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(quiet.code == 0 && quiet.output == "" && quiet.errors == "")
        #expect(outputs.contains("10.png"))

        let removed = try await Program.run("run", "--delete-orphans", "job.yaml", in: workspace)
        #expect(removed.code == 0)
        #expect(removed.errors == "test: removed 1 output whose inputs are gone\n  out/10.png\n")
        #expect(outputs == (11..<22).map { "\($0).png" })
        #expect(try await Program.run("run", "job.yaml", in: workspace).errors == "")

        try workspace.copy("picture.png", to: "photos/10.png")
        #expect(try await Program.reasons(workspace)["10.png"] == "new")
    }

    @Test func `a run that removes no orphans because they are too many says so wherever its end is shown`()
        async throws
    {
        for number in [10, 11] { try workspace.remove("photos/\(number).png") }
        let reason =
            "2 of 12 outputs have no input any more, over 10 %, and stay; --delete-orphans=all removes them nevertheless"
        let run = try await Program.run(
            "run", "--quiet", "--delete-orphans", "--run", "night-7", "job.yaml", in: workspace)
        #expect(run.code == 1 && run.errors == "test: \(reason)\n")
        let status = try await Program.run("status", in: workspace)
        #expect(status.output.contains(reason), "\(status.output)")
        let show = try await Program.run("show", "night-7", in: workspace)
        #expect(show.output.contains("\nstate     failed: \(reason)\n"), "\(show.output)")
        let json = try await Program.run("show", "--json", "night-7", in: workspace)
        #expect(
            json.output.contains(#""state":"failed""#) && json.output.contains(#""reason":"\#(reason)""#),
            "\(json.output)")
        let logs = try await Program.run("logs", "night-7", in: workspace)
        #expect(logs.output == "night-7: no task was tried; exit code 1: \(reason)\n")
    }

    @Test func `outputs of pictures that the job takes no more are never removed`() async throws {
        try workspace.writeNightly(more: "exclude: [photos/10.png]")
        let result = try await Program.run("run", "--delete-orphans=all", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(
            result.errors == """
                test: 1 output of pictures that are no inputs of this job any more, and never removed by it
                  out/10.png

                """)
        #expect(outputs.contains("10.png"))
    }

    @Test func `a link that leads nowhere now is no picture that is gone`() async throws {
        try workspace.copy("picture.png", to: "elsewhere/far.png")
        #expect(symlink("../elsewhere/far.png", "\(workspace.path)/photos/far.png") == 0)
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 12))
        try workspace.remove("elsewhere/far.png")
        _ = try await Program.run("run", "--delete-orphans=all", "job.yaml", in: workspace)
        #expect(outputs.contains("far.png"))
    }

    @Test func `outputs that are long gone do not make few of many`() async throws {
        for number in 10..<20 { for folder in ["photos", "out"] { try workspace.remove("\(folder)/\(number).png") } }
        _ = try await Program.night(workspace)
        try workspace.remove("photos/20.png")
        let result = try await Program.run("run", "--quiet", "--delete-orphans", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(result.errors.hasPrefix("test: 1 of 2 outputs have no input any more, over 10 %, and stay"))
        #expect(outputs == ["20.png", "21.png"])
    }

    @Test func `what was edited since stays`() async throws {
        try workspace.remove("photos/10.png")
        try workspace.write("mine", to: "out/10.png")
        let listed = try await Program.run("run", "job.yaml", in: workspace)
        #expect(
            listed.errors
                == "test: 1 output without an input any more, which you have to remove yourself\n  out/10.png: was edited\n"
        )
        let result = try await Program.run("run", "job.yaml", "--delete-orphans=all", in: workspace)
        #expect(result.code == 0)
        #expect(result.errors == "test: 1 output without an input stays as it is\n  out/10.png: was edited\n")
        #expect(try workspace.read("out/10.png") == Data("mine".utf8))
    }

    @Test func `what was edited since is told once where silence is asked for`() async throws {
        try workspace.remove("photos/10.png")
        try workspace.write("mine", to: "out/10.png")
        let first = try await Program.run("run", "--quiet", "--delete-orphans", "job.yaml", in: workspace)
        #expect(first.code == 0)
        #expect(first.errors == "test: 1 output without an input stays as it is\n  out/10.png: was edited\n")
        for options in [[], ["--delete-orphans"]] {
            let later = try await Program.run(
                Program.penumbra, ["run", "--quiet", "job.yaml"] + options, in: workspace)
            #expect(later.code == 0 && later.errors == "")
        }
        try workspace.remove("photos/11.png")
        try workspace.write("mine", to: "out/11.png")
        #expect(
            try await Program.run("run", "--quiet", "job.yaml", in: workspace).errors
                == "test: 1 output without an input any more, which you have to remove yourself\n  out/11.png: was edited\n"
        )
    }

    @Test func `the outputs of pages that a file has no more are orphans`() async throws {
        try workspace.writeNightly("pages.yaml", inputs: "scans/*", output: "pages/{stem}-{frame}.png")
        for pages in [4, 2] {
            try workspace.write(Self.tiff(pages: pages), to: "scans/m.tif")
            try workspace.age("scans/m.tif", hours: Double(pages))
            let result = try await Program.run("run", "pages.yaml", in: workspace)
            #expect(result.code == 0)
            #expect(
                result.errors
                    == (pages == 4
                        ? ""
                        : """
                        test: 2 outputs without an input any more; --delete-orphans=all removes them
                          pages/m-3.png
                          pages/m-4.png

                        """),
                "\(result.output)")
        }
        #expect(workspace.files(below: "pages").count == 4)
        #expect(try await Program.run("run", "--delete-orphans=all", "pages.yaml", in: workspace).code == 0)
        #expect(workspace.files(below: "pages") == ["m-1.png", "m-2.png"])
        #expect(outputs.count == 12)
    }

    /// Gray pages of 4×2 pixels.
    private static func tiff(pages: Int) -> Data {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        var data: [UInt8] = [0x49, 0x49, 42, 0] + bytes(8, 4)
        for page in 0..<pages {
            // Width, height, bits, compression, photometry, place of the pixels, samples, rows, bytes.
            let fields = [(256, 4), (257, 2), (258, 8), (259, 1), (262, 1), (273, 0), (277, 1), (278, 2), (279, 8)]
            let pixels = data.count + 2 + 12 * fields.count + 4
            data += bytes(fields.count, 2)
            for (tag, value) in fields {
                data += bytes(tag, 2) + bytes(4, 2) + bytes(1, 4) + bytes(tag == 273 ? pixels : value, 4)
            }
            data += bytes(page + 1 < pages ? pixels + 8 : 0, 4) + (0..<8).map { UInt8(20 * $0 + page) }
        }
        return Data(data)
    }

    @Test func `what was only touched since goes`() async throws {
        try workspace.remove("photos/10.png")
        try workspace.age("out/10.png", hours: 9)
        #expect(try await Program.night(workspace, "--delete-orphans") == skipped)
        #expect(!outputs.contains("10.png"))
    }

    @Test func `over a tenth is refused, wherever =all is not said`() async throws {
        try workspace.remove("photos/10.png")
        try workspace.remove("photos/11.png")
        let before = outputs
        for options in [["--delete-orphans", "--quiet"], ["--quiet", "--delete-orphans"]] {
            let refused = try await Program.run(Program.penumbra, ["run", "job.yaml"] + options, in: workspace)
            #expect(refused.code == 1)
            #expect(
                refused.errors == """
                    test: 2 of 12 outputs have no input any more, over 10 %, and stay; --delete-orphans=all removes them \
                    nevertheless

                    """)
        }
        #expect(outputs == before)
    }

    @Test(arguments: [
        ["--delete-orphans=all", "job.yaml"], ["job.yaml", "--delete-orphans=all"],
        ["--delete-orphans=all", "--quiet", "job.yaml"], ["job.yaml", "--delete-orphans=all", "--set", "tile=64"],
    ])
    func `=all removes even many, wherever it stands`(arguments: [String]) async throws {
        for number in 10..<20 { try workspace.remove("photos/\(number).png") }
        #expect(try await Program.run(Program.penumbra, ["run"] + arguments, in: workspace).code == 0)
        #expect(outputs == ["20.png", "21.png"])
    }

    @Test(arguments: ["--allow-empty", "--allow-gone"])
    func `outputs of the last pictures are orphans, too`(option: String) async throws {
        for name in workspace.files(below: "photos") { try workspace.remove("photos/\(name)") }
        let before = outputs
        let listed = try await Program.run("run", "job.yaml", option, in: workspace)
        #expect(listed.code == 0)
        #expect(
            listed.errors.contains("test: 12 outputs without an input any more; --delete-orphans=all removes them\n"),
            "\(listed.errors)")
        let refused = try await Program.run("run", "job.yaml", option, "--quiet", "--delete-orphans", in: workspace)
        #expect(refused.code == 1)
        #expect(refused.errors.contains(", so that 12 outputs without an input stay; "), "\(refused.errors)")
        #expect(outputs == before)
        let removed = try await Program.run("run", "job.yaml", option, "--delete-orphans=all", in: workspace)
        #expect(removed.code == 0)
        #expect(outputs == [])
        // There is nothing that the job could have lost.
        #expect(try await Program.run("run", "job.yaml", "--quiet", in: workspace).code == 66)
    }

    @Test(arguments: ["folder", "link"])
    func `the outputs of a folder that inputs name and that is missing stay, until --allow-gone is given`(
        kind: String
    ) async throws {
        try workspace.draw("disk/z.png", width: 20, height: 20)
        try workspace.age("disk/z.png")
        if kind == "link" {
            #expect(symlink("disk", "\(workspace.path)/more") == 0)
        } else {
            #expect(rename("\(workspace.path)/disk", "\(workspace.path)/more") == 0)
        }
        try workspace.writeNightly(inputs: "[photos/*, more]", output: "out/{stem}.png")
        #expect(try await Program.night(workspace).exitCode == 0)
        try workspace.remove(kind == "link" ? "disk" : "more")
        let place = "\(workspace.path)/more"
        let cause =
            kind == "link"
            ? "\(place) is a link to \(workspace.path)/disk, which does not exist" : "\(place): no such file or folder"
        let refused = try await Program.run("run", "--quiet", "job.yaml", in: workspace)
        #expect(refused.code == 66)
        #expect(refused.errors.hasPrefix("job.yaml: error: \(cause)"), "\(refused.errors)")
        let lost = kind == "link" ? "\(cause); it had 1 picture" : "\(place) is missing; it had 1 picture"
        for _ in 1...2 {
            let night = try await Program.run(
                "run", "--quiet", "--allow-empty", "--delete-orphans=all", "job.yaml", in: workspace)
            #expect(night.code == 1)
            #expect(
                night.errors == """
                    test: 1 output stays, because \(lost) of this job; if the pictures were removed or moved on purpose, say so \
                    with --allow-gone

                    """)
            #expect(outputs.count == 13)
        }
        let gone = try await Program.run(
            "run", "--quiet", "--allow-gone", "--delete-orphans=all", "job.yaml", in: workspace)
        #expect(gone.code == 0 && gone.errors == "test: removed 1 output whose inputs are gone\n")
        #expect(outputs.count == 12)
    }

    @Test func `a folder that was removed on purpose is no reason to stop`() async throws {
        try workspace.writeManifest(inputs: "[photos, more]", more: "existing: update")
        try workspace.draw("more/z.png", width: 20, height: 20)
        try workspace.age("more/z.png")
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        try workspace.remove("more")
        #expect(try await Program.run("run", "job.yaml", "--quiet", in: workspace).code == 66)
        let gone = try await Program.run("run", "job.yaml", "--allow-gone", in: workspace)
        #expect(gone.code == 0, "\(gone.errors)")
        #expect(
            gone.errors.hasSuffix("without an input any more; --delete-orphans=all removes them\n  out/z.png\n"),
            "\(gone.errors)")
    }

    @Test func `a value that is not all is refused`() async throws {
        try workspace.remove("photos/10.png")
        let result = try await Program.run("run", "job.yaml", "--delete-orphans=al", in: workspace)
        #expect(result.code == 64)
        #expect(
            result.errors == "--delete-orphans=al: only --delete-orphans, or --delete-orphans=all to remove even many\n"
        )
        #expect(outputs.count == 12)
    }

    @Test func `an empty or missing folder removes nothing`() async throws {
        try workspace.draw("more/x.png", width: 20, height: 20)
        try workspace.writeNightly(inputs: "[photos/*, more/*]")
        for number in 10..<22 { try workspace.remove("photos/\(number).png") }
        // Whoever says that this may be still has to say that all are to go.
        let empty = try await Program.run(
            "run", "job.yaml", "--quiet", "--delete-orphans", "--allow-empty", in: workspace)
        #expect(empty.code == 1)
        #expect(
            empty.errors == """
                test: nothing matches 'photos/*', so that 12 outputs without an input stay; if the pictures were removed on \
                purpose, --delete-orphans=all removes their outputs

                """)
        try workspace.remove("photos")
        for options in [["--delete-orphans"], ["--delete-orphans=all"], []] {
            let missing = try await Program.run(Program.penumbra, ["run", "job.yaml"] + options, in: workspace)
            #expect(missing.code == 66)
            #expect(missing.errors.contains("\(workspace.path)/photos: no such folder, wanted by the input"))
        }
        #expect(outputs.count == 13)
    }

    @Test func `the outputs of a folder of pictures that was removed on purpose are orphans`() async throws {
        try workspace.writeNightly(inputs: "photos", output: "out/{dir}/{stem}.png")
        for folder in ["old", "emptied"] { try workspace.copy("picture.png", to: "photos/\(folder)/\(folder).png") }
        #expect(try await Program.night(workspace) == NightSummary(published: 2, skipped: 12))
        try workspace.remove("photos/old")
        try workspace.remove("photos/emptied/emptied.png")
        let listed = try await Program.run("run", "job.yaml", in: workspace)
        #expect(listed.code == 0)
        #expect(
            listed.errors == """
                test: 2 outputs without an input any more; --delete-orphans=all removes them
                  out/emptied/emptied.png
                  out/old/old.png

                """)
        #expect(try await Program.run("run", "--delete-orphans=all", "job.yaml", in: workspace).code == 0)
        #expect(outputs.count == 12)
    }

    @Test func `a run of some frames knows of no orphans`() async throws {
        try workspace.remove("photos/10.png")
        try workspace.write("photos/11.png\n", to: "list")
        for options in [["--only", "11.png"], ["--limit", "3"], ["--files-from", "list"]] {
            let result = try await Program.run(
                Program.penumbra, ["run", "job.yaml", "--delete-orphans=all"] + options, in: workspace)
            #expect(result.code == 0)
            #expect(
                result.errors
                    == "warning: --delete-orphans does nothing together with \(options[0]): a run of some frames knows of no "
                    + "outputs whose inputs are gone\n")
            #expect(outputs.count == 12)
        }
    }

    @Test func `outputs of a neighbour in the folder are no orphans`() async throws {
        try workspace.writeManifest("other.yaml", inputs: "picture.png", output: "out/{stem}.png")
        #expect(try await Program.run("run", "other.yaml", in: workspace).code == 0)
        try workspace.remove("state")
        try workspace.remove("photos/10.png")
        #expect(try await Program.night(workspace, "--delete-orphans") == skipped)
        #expect(outputs == (11..<22).map { "\($0).png" } + ["picture.png"])
    }
}
