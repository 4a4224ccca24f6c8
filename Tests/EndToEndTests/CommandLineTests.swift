import Foundation
import JobModel
import TestSupport
import Testing

/// What the command line says of itself, and of mistakes on it.
@Suite(.serialized) struct CommandLineTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    @Test(arguments: [
        (
            ["rum", "job.yaml"],
            "penumbra: no command is called 'rum'\n   = did you mean 'run'? 'penumbra --help' lists the commands\n"
        ),
        (
            ["help", "frobnicate"],
            "penumbra: no command is called 'frobnicate'\n   = 'penumbra --help' lists the commands\n"
        ),
        (
            ["plugin", "chekc", "x.so"],
            "penumbra plugin: no command is called 'chekc'\n   = did you mean 'check'? 'penumbra plugin --help' lists the "
                + "commands\n"
        ),
        (
            ["run", "job.yaml", "--deadline", "1h", "--deadline=2h"],
            "--deadline is given twice, as '1h' and as '2h': it takes one value; leave one of them out\n"
        ),
        (
            ["preview", "job.yaml", "-o", "p.png", "--sweep", "radius=1,2", "--sweep", "radius=3"],
            "--sweep is given twice, as 'radius=1,2' and as 'radius=3': it takes one value; leave one of them out\n"
        ),
        (
            ["job.yaml"],
            "penumbra: no command is called 'job.yaml'\n   = did you mean 'penumbra run job.yaml'? 'penumbra --help' lists the "
                + "commands\n"
        ),
        (
            ["run", "-n", "job.yaml"],
            "penumbra run has no option -n\n   = 'penumbra plan' shows what would be rendered, and why, and writes nothing; it takes "
                + "the same manifests\n"
        ),
        (
            ["submit", "job.yaml", "--dry-run"],
            "penumbra submit has no option --dry-run\n   = 'penumbra plan' shows what would be rendered, and why, and writes "
                + "nothing; it takes the same manifests\n"
        ),
        (
            ["apply", "gaussian", "photo.jpg", "-dash.jpg", "-o", "out/"],
            "penumbra apply has no option -dash.jpg\n   = if it is a file, write ./-dash.jpg; 'penumbra apply --help' lists the "
                + "options\n"
        ),
        (
            ["is-blurred", "-q", "-holiday.jpg"],
            "penumbra is-blurred has no option -holiday.jpg\n   = if it is a file, write ./-holiday.jpg; 'penumbra is-blurred "
                + "--help' lists the options\n"
        ),
        (["check", "job.yaml", "--color", "blue"], "--color takes auto, always or never, not 'blue'\n"),
        (["check", "job.yaml", "--color"], "--color needs a value: auto, always or never\n"),
        (
            ["--color=never", "check", "--color", "auto", "job.yaml"],
            "--color is given twice, as 'never' and as 'auto': it takes one value; leave one of them out\n"
        ),
        (["run", "--delete-orphans", "all"], "--delete-orphans all: write --delete-orphans=all, with '='\n"),
        (
            ["run", "job.yaml", "--delete-orphans=some"],
            "--delete-orphans=some: only --delete-orphans, or --delete-orphans=all to remove even many\n"
        ),
    ])
    func `64: what the parser would not see, or explain otherwise`(arguments: [String], message: String) async throws {
        let result = try await Program.run(Program.penumbra, arguments, in: workspace)
        #expect(result.code == 64)
        #expect(result.output == "")
        #expect(result.errors == message)
        #expect(!workspace.exists("state"))
    }

    @Test(arguments: [
        (
            ["run", "job.yaml", "--deadline", "5hours"],
            "The value '5hours' is invalid for '--deadline <time>': did you mean 5h?"
        ),
        (
            ["run", "job.yaml", "--deadline", "5months"],
            "The value '5months' is invalid for '--deadline <time>': a time is one number, and s, m, h or d behind it: 90s, 50m, "
                + "1.5h."
        ),
        (
            ["run", "job.yaml", "--deadline", "1h30m"],
            "The value '1h30m' is invalid for '--deadline <time>': a time is one number, and s, m, h or d behind it: 90s, 50m, "
                + "1.5h."
        ),
        (
            ["wait", "--timeout", "soon"],
            "The value 'soon' is invalid for '--timeout <time>': a time is a number, and s, m, h or d behind it: 90s, 50m, "
                + "1.5h."
        ),
        (
            ["run", "job.yaml", "--lock-wait", "3weeks"],
            "The value '3weeks' is invalid for '--lock-wait <time>': a time is one number, and s, m, h or d behind it: 90s, 50m, 1.5h."
        ),
        (
            ["run", "job.yaml", "--deadline", "8d"],
            "The value '8d' is invalid for '--deadline <time>': a week, 7d, is the longest time."
        ),
        (["blur", "photos/a.png", "--radius", "-3"], "--radius takes more than 0 and at most 1000 px, not -3."),
        (["blur", "photos", "--radius", "0"], "--radius takes more than 0 and at most 1000 px, not 0."),
        (["blur", "photos/a.png", "--sigma=1001"], "--sigma takes more than 0 and at most 1000 px, not 1001."),
        (["run", "job.yaml", "--limit", "-3"], "--limit takes 1 or more, not -3."),
        (["run", "job.yaml", "--workers", "-1"], "--workers takes 1 to 1024, not -1."),
    ])
    func `64: values that cannot be are told with those that can`(arguments: [String], message: String) async throws {
        let result = try await Program.run(Program.penumbra, arguments, in: workspace)
        #expect(result.code == 64)
        #expect(result.errors.hasPrefix("Error: \(message)\n"), "\(result.errors)")
    }

    /// What a terminal would obey, and a line that is not Penumbra's.
    private static let odd = "x\u{1b}]0;title\u{7}\u{9b}2J\u{202e}\r\nforged: 40 published"

    @Test(arguments: [
        ["run", "--\(odd)", "job.yaml"], ["run", "job.yaml", "--workers", odd],
        ["run", "job.yaml", "--workers=\(odd)"],
        ["run", "job.yaml", "--engine", odd], ["run", "job.yaml", "--deadline", odd],
        ["run", "job.yaml", "--only", odd],
        ["run", "job.yaml", "--slurm-arg", "--x=\(odd)"], ["run", "job.yaml", "--files-from", odd],
        ["run", "\(odd).yaml"], ["run", "job.yaml", "--set", odd], ["run", "job.yaml", "--limit", "1", "--limit", odd],
        [odd], ["help", odd], ["show", odd], ["logs", "test", odd], ["cancel", odd], ["filters", odd], ["config", odd],
        ["preview", "job.yaml", odd, "-o", "q.png"], ["preview", "job.yaml", "photos/a.png", "-o", odd],
        ["plugin", "check", odd],
    ])
    func `what was given is repeated on one line, and does nothing to a terminal`(arguments: [String]) async throws {
        try workspace.drawPhotos()
        try workspace.writeManifest()
        let result = try await Program.run(Program.penumbra, arguments, in: workspace)
        #expect(!result.errors.isEmpty)
        for text in [result.output, result.errors] {
            #expect(
                !text.unicodeScalars.contains { $0 != "\n" && VisibleText.isUnsafe($0) }, "\(text.debugDescription)")
            #expect(!text.split(separator: "\n").contains { $0.hasPrefix("forged") })
        }
    }

    @Test func `help and versions are printed as they were`() async throws {
        let help = try await penumbra("run", "--help")
        #expect(help.code == 0)
        #expect(help.output.hasPrefix("OVERVIEW: "))
        #expect(help.errors == "")
        #expect(try await penumbra("--version").output.hasPrefix("penumbra "))
    }

    @Test func `help says what each command about runs does where none is named`() async throws {
        let words = { (text: String) in text.split { $0.isWhitespace }.joined(separator: " ") }
        let resume = words(try await penumbra("resume", "--help").output)
        #expect(resume.contains("Default: all runs that were interrupted or paused."))
        #expect(!resume.contains("Default: the latest run."))
        for command in ["cancel", "pause"] {
            let help = words(try await penumbra(command, "--help").output)
            #expect(help.contains("Default: the run that has not ended, where there is only one."))
        }
    }

    @Test func `what is kept of an applied chain has what was set`() async throws {
        let result = try await penumbra(
            "apply", "gaussian: {radius: 2}", "photos/a.png", "-o", "out/{stem}.png", "--set",
            "filters[0].gaussian.radius=5", "--set", "save.compression=1", "--save-manifest", "kept.yaml")
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            String(decoding: try workspace.read("kept.yaml"), as: UTF8.self) == """
                job: apply
                inputs:
                  - "photos/a.png"
                filters:
                  - gaussian: {radius: 5}
                output: "out/{stem}.png"
                save: {compression: 1}

                """)
        let before = try workspace.read("out/a.png")
        try workspace.remove("out/a.png")
        #expect(try await penumbra("run", "kept.yaml").code == 0)
        #expect(try workspace.read("out/a.png") == before)
    }

    @Test(arguments: ["stamp", "content"])
    func `a limit counts what there is to do, and not what is up to date`(compare: String) async throws {
        for name in ["d", "e"] { try workspace.copy("photos/a.png", to: "photos/\(name).png") }
        try workspace.writeNightly(more: "compare: \(compare)")
        #expect(try await Program.night(workspace, "--limit", "2") == NightSummary(published: 2))
        #expect(try await Program.night(workspace, "--limit", "2") == NightSummary(published: 2, skipped: 2))
        #expect(try await Program.night(workspace, "--limit", "2") == NightSummary(published: 1, skipped: 4))
        #expect(try await Program.night(workspace, "--limit", "2") == NightSummary(skipped: 5))
        #expect(try await Program.night(workspace, "--limit", "2", "--force") == NightSummary(published: 2))
    }

    @Test func `several choices add up, and may count from the folder of the command`() async throws {
        let both = ["run", "--json", "job.yaml", "--only", "a.png", "--only", "c.*", "--only", "zzz*"]
        let result = try await Program.run(Program.penumbra, both, in: workspace)
        #expect(try NightSummary(result) == NightSummary(published: 2))
        #expect(result.output.contains(#""message":"nothing matches 'zzz*' of --only""#))
        try workspace.writeNightly("jobs/other.yaml", inputs: "../photos/*", output: "../out/{stem}.png")
        let other = try await penumbra("run", "jobs/other.yaml", "--only", "photos/b.*")
        #expect(other.output.hasPrefix("test: 1 published in "), "\(other.errors)")
        let folder = try await penumbra("run", "job.yaml", "--only", "photos/")
        #expect(folder.code == 66)
        #expect(
            folder.errors
                == "job.yaml: error: no file matches 'photos/'\n   = 'photos/' names a folder: 'photos/**' chooses the files in it\n"
        )
        let none = try await penumbra("run", "job.yaml", "--only", "y*", "--only", "zzz*")
        #expect(none.code == 66)
        #expect(none.errors.hasPrefix("job.yaml: error: no file matches 'y*', 'zzz*'\n"))
    }

    @Test(arguments: ["out/{stem}.png", "out/{stem}-{width}.png"])
    func `with --force each night goes on where the deadline stopped the one before`(output: String) async throws {
        for number in 0..<40 { try workspace.copy("photos/a.png", to: "photos/n\(number).png") }
        try workspace.writeManifest(
            filters: "[{motion: {radius: 300, samples: continuous}}, {gaussian: {radius: 90}}]", output: output,
            more: "existing: update\nshard: frame")
        #expect(try await Program.night(workspace) == NightSummary(published: 43))
        var (published, nights, last) = (0, 0, NightSummary(exitCode: 3))
        // On a busy machine a second is enough for few pictures, or for none.
        while last.exitCode == 3, nights < 400 {
            last = try await Program.night(workspace, "--force", "--workers", "1", "--deadline", "1")
            #expect(last.published + last.skipped + last.left == 43 && last.skipped == published, "\(last)")
            published += last.published
            nights += 1
        }
        #expect(last.exitCode == 0 && published == 43, "after \(nights) nights")
        // The next one begins anew.
        #expect(try await Program.night(workspace, "--force") == NightSummary(published: 43))
    }

    @Test func `what was skipped, and frames that were not begun, cannot be done again, and that is said`() async throws
    {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.copy("photos/a.png", to: "photos/d.png")
        #expect(try await penumbra("run", "job.yaml").output.hasPrefix("test: 1 published, 3 skipped in "))
        let name = try #require(
            try await penumbra("status").output.split(separator: "\n")[1].split(separator: " ").first)
        let skipped = try await penumbra("retry", "--state", "skipped")
        #expect(skipped.code == 0)
        #expect(
            skipped.output == """
                \(name): 3 frames were skipped, and nothing is to be rendered again: their outputs were up to date, or they were \
                too young
                   = 'penumbra plan job.yaml' says why; 'penumbra run --force --only' renders outputs again

                """)
        let unknown = try await penumbra("retry", "--frames", "1-2")
        #expect(unknown.code == 0)
        #expect(
            unknown.output == """
                \(name): nothing to do: these frames were up to date
                   = 'penumbra run --force --only' renders them again

                """)
        let one = try await penumbra("retry", "--frames", "1")
        #expect(one.code == 0 && one.output.hasPrefix("\(name): nothing to do: this frame was up to date\n"))
        let none = try await penumbra("retry", "--frames", "1,9")
        #expect(none.code == 66)
        #expect(none.errors == "\(name): no such frames were begun: it has 4 frames\n")
        let published = try await penumbra("retry", "--state", "failed", "--frames", "4")
        #expect((published.code, published.output) == (0, "\(name): none of these frames failed\n"))
        let some = try await penumbra("retry", "--frames", "2,4")
        #expect(some.code == 0)
        // b.png, c.jpg and d.png are behind a.png.
        #expect(some.errors == "\(name): frame 2 was not begun, and is not rendered again: up to date, or left\n")
        #expect(some.output.hasPrefix("test: 0 published, 1 skipped in "))
    }

    @Test func `where nothing goes on, nothing is cancelled`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let cancelled = try await penumbra("cancel")
        #expect(cancelled.code == 0)
        #expect(cancelled.output == "all runs have ended; there is nothing to cancel\n")
        let paused = try await penumbra("pause")
        #expect(paused.code == 1)
        #expect(paused.errors == "all runs have ended, so that none can be paused\n")
    }

    @Test func `status tells how frames ended`() async throws {
        try workspace.write("no picture", to: "photos/z.png")
        _ = try await Program.night(workspace)
        let lines = try await penumbra("status").output.split(separator: "\n")
        #expect(
            lines[0].hasSuffix("  started                     frames  of these               because"), "\(lines[0])")
        #expect(lines[1].contains("  4       3 published, 1 failed"), "\(lines[1])")
    }

    /// An option of a command, as the parser describes it.
    private struct Described: Decodable {
        struct Tool: Decodable {
            let command: Command
        }

        struct Command: Decodable {
            let commandName: String
            var arguments: [Argument]?
            var subcommands: [Command]?

            /// With the commands below it.
            var all: [Command] { [self] + (subcommands ?? []).flatMap(\.all) }
        }

        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }

            var names: [Name]?

            func name(_ kind: String) -> String? { names?.first { $0.kind == kind }?.name }
        }
    }

    @Test func `an option has one short name in all commands, and a short name means one option`() async throws {
        let dump = try await penumbra("--experimental-dump-help")
        let tool = try JSONDecoder().decode(Described.Tool.self, from: Data(dump.output.utf8))
        var shortNames: [String: Set<String>] = [:]
        for command in tool.command.all {
            for argument in command.arguments ?? [] {
                guard let long = argument.name("long") else { continue }
                shortNames[long, default: []].insert(argument.name("short") ?? "none")
            }
        }
        let different = shortNames.filter { $0.value.count > 1 }
        #expect(different.isEmpty, "\(different)")
        var given: [String: String] = [:]
        for (long, short) in shortNames.mapValues({ $0.first ?? "none" }) where short != "none" {
            #expect(given.updateValue(long, forKey: short) == nil, "\(short) is \(long), too")
        }
        // Each is the first letter of its long name: `ArgumentCheck` relies on that, and on there being no third name.
        #expect(given == ["h": "help", "f": "follow", "o": "output", "q": "quiet"])
        // The parser's own command `help` has `-help`, too, which takes no value.
        let options = tool.command.all.flatMap { $0.arguments ?? [] }.filter { $0.name("long") != "help" }
        #expect(options.allSatisfy { ($0.names?.count ?? 0) <= 2 })
    }

    @Test func `commands that report a success can leave that out`() async throws {
        for command in [
            "run", "apply", "check", "adopt", "verify", "blur", "unblur", "is-blurred", "submit", "prepare", "wait",
            "pause",
            "resume", "cancel", "retry", "gc",
        ] {
            #expect(try await penumbra(command, "--help").output.contains("-q, --quiet"), "\(command)")
        }
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        for command in [["wait"], ["resume"], ["cancel"], ["gc"], ["retry", "--state", "skipped"]] {
            let result = try await Program.run(Program.penumbra, command + ["-q"], in: workspace)
            #expect((result.code, result.output, result.errors) == (0, "", ""), "\(command)")
        }
    }

    @Test func `times are local for people, and UTC for programs`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let zone = ["TZ": "XYZ-5:45"]
        let status = try await Program.run("status", in: workspace, environment: zone)
        #expect(status.output.contains(" +05:45  3       3 published"), "\(status.output)")
        let show = try await Program.run("show", in: workspace, environment: zone)
        #expect(
            show.output.contains(/started   \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+05:45, ended .* \+05:45\n/),
            "\(show.output)")
        let json = try await Program.run("status", "--json", in: workspace, environment: zone)
        #expect(json.output.contains(/"started":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/), "\(json.output)")
    }

    @Test func `a summary of a plan counts the frames for each reason`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.write(try workspace.read("photos/b.png"), to: "photos/a.png")
        try workspace.copy("photos/b.png", to: "photos/d.png")
        let text = try await penumbra("plan", "job.yaml", "--summary")
        #expect(text.code == 0)
        let lines = text.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.first?.hasPrefix("test: 4 frames, 2 to render, ") == true, "\(text.output)")
        #expect(lines.contains("2 skipped up to date"), "\(text.output)")
        #expect(lines.contains("1 to render new"), "\(text.output)")
        #expect(lines.filter { $0.hasPrefix("1 to render ") }.count == 2, "\(text.output)")
        let json = try await penumbra("plan", "job.yaml", "--summary", "--json")
        #expect(json.output.split(separator: "\n").count == 2, "\(json.output)")
        #expect(json.output.contains(#""toRender":2"#))
    }

    @Test func `plan counts for programs, too, and names what it passes by`() async throws {
        try workspace.write("x", to: "photos/old.TGA")
        try workspace.write("x", to: "photos/raw.NEF")
        try workspace.write("x", to: "photos/raw.dng")
        try workspace.write("x", to: "photos/README")
        try workspace.writeNightly(inputs: "photos")
        #expect(try await Program.night(workspace, "--only", "a.png") == NightSummary(published: 1))
        let text = try await penumbra("plan", "job.yaml")
        #expect(
            text.output.hasSuffix(
                "\n  raw pictures, which 'inputs' has to name, as in 'FOLDER/**/*.{dng,nef}': 1 .dng, 1 .nef"
                    + "\n  skipped, because they are no picture files: 1 .tga, 1 without an extension\n"))
        let json = try await penumbra("plan", "job.yaml", "--json")
        let summary = try #require(json.output.split(separator: "\n").last)
        for part in [
            #""frames":3"#, #""toRender":2"#, #""skipped":1"#,
            #""passedBy":{".dng":1,".nef":1,".tga":1,"without an extension":1}"#,
        ] {
            #expect(summary.contains(part), "\(summary)")
        }
    }

    @Test func `plan says how many pictures a dot or the extension of a glob keeps out`() async throws {
        try workspace.writeNightly(inputs: "photos/*.png")
        try workspace.copy("photos/a.png", to: "photos/.hidden.png")
        try workspace.copy("photos/a.png", to: "photos/d.tif")
        for option in [[], ["--summary"]] {
            let text = try await Program.run(Program.penumbra, ["plan", "job.yaml"] + option, in: workspace)
            #expect(
                text.output.hasSuffix(
                    """

                      1 hidden picture is not taken: its name begins with a dot
                      2 other pictures in these folders do not match 'inputs': 1 .jpg, 1 .tif

                    """), "\(text.output)")
        }
    }

    @Test func `plan says that outputs of integers cut off light above white`() async throws {
        try workspace.writeNightly(inputs: "light.exr")
        let picture = OpenEXRBuilder(width: 4, rgba: Array(repeating: [3, 2, 1, 1], count: 12)).build()
        try Data(picture).write(to: URL(filePath: "\(workspace.path)/light.exr"))
        let told = """
              1 picture of floats may have light above white, which the outputs cut off; the filter 'tone-map' makes it \
            darker instead
            """
        #expect(try await penumbra("plan", "job.yaml").output.contains(told))
        #expect(try await penumbra("plan", "job.yaml", "--summary").output.contains(told))
        for change in ["output=out/{stem}.tif", "filters=[tone-map]"] {
            #expect(
                !(try await penumbra("plan", "job.yaml", "--set", change).output.contains("above white")), "\(change)")
        }
    }

    @Test func `a long name moves its own row of a plan alone`() async throws {
        try workspace.copy("photos/a.png", to: "photos/\(String(repeating: "long", count: 40)).png")
        let lines = try await penumbra("plan", "job.yaml").output.split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines.filter { !$0.contains("longlong") }.allSatisfy { $0.count < 140 }, "\(lines)")
    }
}
