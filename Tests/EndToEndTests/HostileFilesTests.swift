import Foundation
import Glibc
import JobModel
import Testing

/// Folders and files in which somebody else has put something. Each costs itself, and nothing outside is touched.
@Suite(.serialized) struct HostileFilesTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
    }

    /// As root without the right to read everything, or as the user who runs the tests.
    private func runUnprivileged(_ arguments: String...) async throws -> Program.Result {
        try await runUnprivileged(arguments)
    }

    private func runUnprivileged(_ arguments: [String]) async throws -> Program.Result {
        guard geteuid() == 0 else { return try await Program.run(Program.penumbra, arguments, in: workspace) }
        return try await Program.run(
            "/usr/bin/setpriv",
            ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
                + [Program.penumbra] + arguments, in: workspace)
    }

    @Test func `one folder that cannot be read is named, and all other pictures are done`() async throws {
        try workspace.writeNightly(inputs: "photos/**/*")
        try workspace.copy("photos/a.png", to: "photos/lost+found/z.png")
        try workspace.age("photos/lost+found/z.png")
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        let folder = "\(workspace.path)/photos/lost+found"
        chmod(folder, 0)
        defer { chmod(folder, 0o755) }

        let result = try await runUnprivileged("run", "--force", "--delete-orphans=all", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "  photos/lost+found: the folder cannot be read: Permission denied; let the user who runs the job read it, "
                    + "or name it in 'exclude'\n"))
        #expect(result.output.contains("3 published"))
        // The picture in it is not known to be gone.
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png", "z.png"])
    }

    /// Makes a folder that the user who runs the job cannot read.
    private func shutting(_ body: () async throws -> Void) async throws {
        try workspace.copy("photos/a.png", to: "photos/lost+found/sub/z.png")
        try workspace.age("photos/lost+found/sub/z.png")
        chmod("\(workspace.path)/photos/lost+found", 0)
        defer { chmod("\(workspace.path)/photos/lost+found", 0o755) }
        try await body()
    }

    private let refusal =
        "test: 1 frame failed: not permitted\n  photos/lost+found: the folder cannot be read: Permission denied; let the user who "
        + "runs the job read it, or name it in 'exclude'\n"

    @Test(arguments: ["photos/lost+found/sub/*", "photos/lost+found/sub", "photos/lost+found/sub/z.png"])
    func `an input below a folder that cannot be read costs no other`(input: String) async throws {
        try workspace.writeNightly(inputs: "[photos/*, \(input)]")
        try await shutting {
            let result = try await runUnprivileged("run", "--quiet", "job.yaml")
            #expect(result.code == 1)
            #expect(result.errors == refusal)
            #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
            try workspace.writeNightly(inputs: "[photos/*, \(input)]", more: "exclude: [photos/lost+found]")
            let excluded = try await runUnprivileged("run", "--quiet", "job.yaml")
            #expect(excluded.code == 0)
            #expect(excluded.errors == "")
        }
    }

    @Test(arguments: [["--limit", "9"], ["--only", "*.png"], ["--only", "photos/**/*.png"]])
    func `a chosen part of a job tells of a folder that may hold some of it`(choice: [String]) async throws {
        try workspace.writeNightly(inputs: "photos/**/*")
        try await shutting {
            let result = try await runUnprivileged(["run", "--quiet", "job.yaml"] + choice)
            #expect(result.code == 1)
            #expect(result.errors == refusal)
            #expect(try await runUnprivileged("run", "--quiet", "--only", "photos/*.png", "job.yaml").code == 0)
            let inside = try await runUnprivileged("run", "--quiet", "--only", "photos/lost+found/*/*", "job.yaml")
            #expect(inside.code == 66)
            #expect(
                inside.errors
                    == "job.yaml: error: \(workspace.path)/photos/lost+found: the folder cannot be read: Permission denied\n"
            )
        }
    }

    @Test func `a folder that cannot be read is not empty`() async throws {
        try workspace.writeNightly(inputs: "photos/lost+found/**/*")
        try await shutting {
            let result = try await runUnprivileged("run", "--quiet", "--allow-empty", "job.yaml")
            #expect(result.code == 66)
            #expect(
                result.errors
                    == "job.yaml: error: \(workspace.path)/photos/lost+found: the folder cannot be read: Permission denied\n"
            )
        }
    }

    @Test func `a link into a folder that cannot be read is named`() async throws {
        try workspace.writeNightly()
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/photos/l.png", withDestinationPath: "lost+found/sub/z.png")
        try await shutting {
            let result = try await runUnprivileged("run", "--quiet", "job.yaml")
            #expect(result.code == 1)
            #expect(
                result.errors
                    == "test: 1 frame failed: not permitted\n  photos/l.png: leads to a folder that this user may not read: Permission "
                    + "denied; let the user who runs the job read it, or name it in 'exclude'\n")
        }
    }

    @Test(arguments: [
        "photos/lost+found", "photos/lost+found/**", "'**/lost+found/**'", "photos/lost+found/*", "photos/lost+fou*",
    ])
    func `an excluded folder need not be readable`(entry: String) async throws {
        try workspace.writeNightly(inputs: "photos/**/*", more: "exclude: [\(entry)]")
        try workspace.copy("photos/a.png", to: "photos/lost+found/z.png")
        let folder = "\(workspace.path)/photos/lost+found"
        chmod(folder, 0)
        defer { chmod(folder, 0o755) }

        let result = try await runUnprivileged("run", "job.yaml")
        #expect(result.code == 0)
        #expect(result.errors == "")
    }

    @Test func `lines of an index that lead out of its folder are not believed`() async throws {
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        try workspace.write("mine", to: "precious.txt")
        // As if the database was lost: the index says what was published.
        let index = String(decoding: try workspace.read("out/.penumbra-index"), as: UTF8.self)
        let line = try #require(index.split(separator: "\n").first { $0.contains("\"path\":\"a.png\"") })
        var found = stat()
        stat("\(workspace.path)/precious.txt", &found)
        let stamp =
            "\"inode\":\(found.st_ino),\"modified\":\(found.st_mtim.tv_sec * 1_000_000_000 + found.st_mtim.tv_nsec),\"size\":4"
        let lies = ["../precious.txt", "\(workspace.path)/precious.txt", "x/../../precious.txt"].map { path in
            line.replacingOccurrences(of: "\"path\":\"a.png\"", with: "\"path\":\"\(path)\"")
                .replacingOccurrences(of: "photos/a.png", with: "photos/gone.png")
                .replacing(/("file":\{"digest":"[^"]*",)"inode":\d+,"modified":\d+,"size":\d+/) {
                    "\($0.output.1)\(stamp)"
                }
        }
        try workspace.write(index + lies.joined(separator: "\n") + "\n", to: "out/.penumbra-index")
        try workspace.remove("state")

        let result = try await Program.run("run", "--delete-orphans=all", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(String(decoding: try workspace.read("precious.txt"), as: UTF8.self) == "mine")
        #expect(!result.errors.contains("precious"))
    }

    @Test func `an index is written so that no other user may write to it, whatever the umask`() async throws {
        let result = try await Program.run(
            "/bin/sh", ["-c", "umask 0; exec \"$0\" run --quiet job.yaml", Program.penumbra], in: workspace)
        #expect(result.code == 0)
        var found = stat()
        stat("\(workspace.path)/out/.penumbra-index", &found)
        #expect(found.st_mode & 0o777 == 0o644)
    }

    @Test(.enabled(if: geteuid() == 0, "files of another user take root"))
    func `an index of another user makes a run neither remove nor overwrite anything`() async throws {
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        // Its lines are right, and the pictures of two of them are gone or were edited.
        try workspace.remove("photos/a.png")
        try workspace.remove("state")
        chown("\(workspace.path)/out/.penumbra-index", 12345, 12345)
        let before = try workspace.contents(below: "out").filter { !$0.key.hasSuffix(".penumbra-index") }

        let result = try await Program.run("run", "--delete-orphans=all", "job.yaml", in: workspace)
        #expect(
            result.errors.contains(
                "cannot trust the index of the outputs: it belongs to another user (uid 12345)"), "\(result.errors)")
        #expect(try workspace.contents(below: "out").filter { !$0.key.hasSuffix(".penumbra-index") } == before)
    }

    @Test func `a pipe in the place of an index keeps nobody waiting`() async throws {
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/out", withIntermediateDirectories: true)
        mkfifo("\(workspace.path)/out/.penumbra-index", 0o666)

        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.output.contains("3 published"))
        #expect(try workspace.read("out/.penumbra-index").isEmpty == false)
    }

    @Test func `numbers that no run writes trap nothing`() async throws {
        let run = "state/penumbra/runs/20261123T000000Z-aaaaaa"
        try workspace.write("", to: "\(run)/lock")
        try workspace.write("x", to: "\(run)/coordinator.9223372036854775807")
        try workspace.write("x", to: "\(run)/coordinator.-5")
        try workspace.write("9223372036854775807", to: "\(run)/left")
        try workspace.write(
            #"{"scratch":{"_0":"\#(workspace.path)/photos"}}"# + "\n", to: "\(run)/journal")

        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(workspace.exists("photos/a.png"))
        #expect(try await Program.run("status", in: workspace).code == 0)
    }

    @Test func `what is kept of a run is for its user alone`() async throws {
        try workspace.draw("photos/d.png", width: 3000, height: 2000)
        try workspace.writeManifest(more: "shard: tile\ntile: 128")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        var modes: [Int] = []
        program.wait {
            let runs = "\(workspace.path)/state/penumbra/runs"
            for name in (try? FileManager.default.contentsOfDirectory(atPath: runs)) ?? [] {
                var (own, scratch) = (stat(), stat())
                if stat("\(runs)/\(name)", &own) == 0, stat("\(runs)/\(name)/scratch", &scratch) == 0 {
                    modes = [Int(own.st_mode & 0o777), Int(scratch.st_mode & 0o777)]
                }
            }
            return !modes.isEmpty
        }
        #expect(program.finish().code == 0)
        #expect(modes == [0o700, 0o700])
    }

    @Test func `workers do not see the coordinator's secrets`() async throws {
        try workspace.write(
            """
            #!/bin/sh
            env > '\(workspace.path)/seen'
            exec '\(Program.worker)' "$@"
            """, to: "worker")
        chmod("\(workspace.path)/worker", 0o755)
        let result = try await Program.run(
            "run", "job.yaml", in: workspace,
            environment: [
                "PENUMBRA_WORKER": "\(workspace.path)/worker", "AWS_SECRET_ACCESS_KEY": "s3cret", "LICENSE_A": "wanted",
                "PENUMBRA_WORKER_ENVIRONMENT": "LICENSE_*",
            ])
        #expect(result.code == 0)
        let seen = String(decoding: try workspace.read("seen"), as: UTF8.self)
        #expect(!seen.contains("s3cret"))
        #expect(seen.contains("LICENSE_A=wanted"))
    }

    @Test func `names reach a terminal with their controls made visible`() async throws {
        try workspace.write("no picture", to: "photos/a\u{1b}[2J\u{202e}gpj.png")

        let result = try await Program.run("run", "job.yaml", in: workspace)
        let json = try await Program.run("run", "--json", "--force", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(result.errors.contains(#"a\u{1b}[2J\u{202e}gpj.png"#))
        for text in [result.errors, result.output, json.output, json.errors] {
            #expect(!text.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" })
        }
        #expect(json.output.contains(#"\u202egpj.png"#))
        for line in json.output.split(separator: "\n") {
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
        }
    }

    @Test func `show and logs print what a plugin says on lines that are not Penumbra's own`() async throws {
        try await workspace.buildPlugin(
            "rude",
            render: #"""
                snprintf(tile->error, tile->error_capacity, "no\r\nforged: 40 published\x1b[2J");
                fputs("words\r\nforged: 41 published\n\rforged", stderr);
                return 5;
                """#)
        try workspace.writeManifest(filters: "[rude]")
        let environment = ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"]
        let run = try await Program.run("run", "job.yaml", in: workspace, environment: environment)
        #expect(run.code == 1)
        let shown = [
            run, try await Program.run("show", "test", in: workspace),
            try await Program.run("logs", "test", in: workspace), try await Program.run("status", in: workspace),
        ]
        for result in shown {
            for text in [result.output, result.errors] {
                #expect(!text.unicodeScalars.contains { $0 != "\n" && VisibleText.isUnsafe($0) })
                #expect(!text.split(separator: "\n").contains { $0.hasPrefix("forged") })
            }
        }
        #expect(shown[1].output.contains(#"no\u{d}\u{a}forged: 40 published\u{1b}[2J"#))
    }

    /// Pictures in eight folders, each with a file beside it that is another person's work. One picture is published, and the
    /// others wait.
    private func runHeld(_ output: String) async throws -> (program: RunningProgram, gate: Gate, before: [String: Data])
    {
        for folder in 0..<8 {
            for name in ["a", "b"] {
                try workspace.copy("photos/a.png", to: "photos/s\(folder)/\(name).png")
                try workspace.write("precious \(folder)", to: "photos/s\(folder)/\(name).jpg")
            }
        }
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(
            inputs: "photos/s*/*.png", filters: "[\(Gate.filter)]", output: output,
            more: "existing: overwrite\nshard: frame\n\(Gate.patience)")
        let before = try workspace.contents(below: "photos")
        try gate.open(for: 1)
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        // Its line in the index comes last.
        program.wait {
            workspace.files(below: "out").contains { $0.hasSuffix("a.jpg") } && workspace.exists("out/.penumbra-index")
        }
        return (program, gate, before)
    }

    @Test(arguments: ["out/{dir}/{stem}.jpg", "out/s{index}/a.jpg", "out/{index}-{stem}.jpg"])
    func `an output folder that becomes a link to the inputs loses no file, and the run stops`(
        output: String
    ) async throws {
        let (program, gate, before) = try await runHeld(output)
        rename("\(workspace.path)/out", "\(workspace.path)/out-before")
        symlink("photos", "\(workspace.path)/out")
        try gate.open(for: 15)
        let result = program.finish()

        #expect(try workspace.contents(below: "photos") == before)
        #expect(!workspace.exists("photos/.penumbra-index"))
        #expect(result.code == 74)
        // Between the two calls above nothing was there.
        #expect(
            result.errors.contains("the folder was replaced by another one, or by a link, while the run went on")
                || result.errors.contains("/out/.penumbra-index: cannot write: No such file or directory"),
            "\(result.errors)")
    }

    @Test func `a link that appears below the output folder is not written through`() async throws {
        let (program, gate, before) = try await runHeld("out/{dir}/{stem}.jpg")
        // No picture of that folder was begun.
        symlink("../photos/s7", "\(workspace.path)/out/s7")
        try gate.open(for: 15)
        let result = program.finish()

        #expect(try workspace.contents(below: "photos") == before)
        #expect(result.code == 74)
        #expect(
            result.errors.contains("the folder was replaced by another one, or by a link, while the run went on"))
    }

    @Test func `a link that was below the output folder before is the user's own`() async throws {
        try workspace.copy("photos/a.png", to: "photos/s7/a.png")
        try workspace.write("", to: "elsewhere/README")
        try workspace.write("", to: "out/README")
        symlink("../elsewhere", "\(workspace.path)/out/s7")
        try workspace.writeNightly(inputs: "photos/**/*.png", output: "out/{dir}/{stem}.png")
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(workspace.exists("elsewhere/a.png"))
    }

    /// Exit code 124 for a command that waits for ever.
    private func soon(_ arguments: String...) async throws -> Program.Result {
        try await Program.run("/usr/bin/timeout", ["-k", "1", "60", Program.penumbra] + arguments, in: workspace)
    }

    /// What somebody may put in the place of a file.
    static let oddities = ["pipe", "device", "huge", "link"]

    private func put(_ oddity: String, at name: String) throws {
        let path = "\(workspace.path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        switch oddity {
        case "pipe": mkfifo(path, 0o666)
        case "device" where geteuid() == 0: mknod(path, S_IFCHR | 0o666, 0x105)  // /dev/zero
        case "huge":
            try workspace.write("", to: name)
            truncate(path, 1 << 40)
        default: symlink("/dev/zero", path)
        }
    }

    @Test(arguments: oddities)
    func `what is no file of a run keeps nobody waiting`(oddity: String) async throws {
        let runs = "state/penumbra/runs"
        for (number, file) in ["job", "journal", "coordinator.1", "left", "stopped", "run.json"].enumerated() {
            let run = "\(runs)/20261123T00000\(number)Z-aaaaaa"
            try workspace.write("", to: "\(run)/lock")
            if file != "coordinator.1" { try workspace.write("x@elsewhere", to: "\(run)/coordinator.1") }
            try put(oddity, at: "\(run)/\(file)")
        }
        try put(oddity, at: "state/penumbra/detached/20261123T000000Z-bbbbbb")
        try put(oddity, at: "out/.penumbra-index")

        let result = try await soon("run", "job.yaml")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains("3 published"))
        for command in ["status", "gc"] { #expect(try await soon(command).code == 0) }
    }

    @Test(arguments: oddities)
    func `what is no file of a run that others see keeps nobody waiting`(oddity: String) async throws {
        let (place, name) = ("shared/.penumbra-slurm", "20261123T000000Z-cccccc")
        let record =
            #"{"run":"\#(name)","job":"nightly","manifest":"\#(workspace.path)/job.yaml","started":1,"workers":1,"memory":1,"#
            + #""request":"{}","counts":"{}"}"#
        try workspace.write(record, to: "\(place)/runs/\(name)/run.json")
        for file in [
            "runs/\(name)/left", "runs/\(name)/stopped", "history/\(name)/1", "history/\(name)/known", "ended/x.json",
        ] {
            try put(oddity, at: "\(place)/\(file)")
        }
        #expect(try await soon("status", "--run-dir", "shared").code == 0)
        let shown = try await soon("show", "--run-dir", "shared")
        #expect(shown.code == 0, "\(shown.errors)")
    }

    @Test(arguments: [
        ("started", "9223372036854775807"), ("workers", "9223372036854775807"), ("memory", "-9223372036854775808"),
        (
            "counts",
            #""{\"frames\":9223372036854775807,\"work\":-9223372036854775807,\"published\":0,\"skipped\":0,\"kept\":1,"#
                + #"\"stillBroken\":1,\"failed\":0,\"left\":0,\"seconds\":1e300,\"megapixels\":0,\"bytesWritten\":0}""#
        ),
    ])
    func `numbers of a run that others see trap nothing`(key: String, number: String) async throws {
        let (place, name) = ("shared/.penumbra-slurm", "20261123T000000Z-cccccc")
        var values = [
            "run": "\"\(name)\"", "job": "\"nightly\"", "manifest": "\"\(workspace.path)/job.yaml\"", "started": "1",
            "workers": "1", "memory": "1", "request": "\"{}\"", "counts": "\"{}\"",
        ]
        values[key] = number
        let record = "{\(values.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
        try workspace.write(record, to: "\(place)/runs/\(name)/run.json")
        try workspace.write("-9223372036854775808", to: "\(place)/runs/\(name)/left")
        try workspace.write(
            #"{"record":\#(record),"epoch":9223372036854775807,"ended":-9223372036854775808,"exitCode":9223372036854775807}"#,
            to: "\(place)/ended/\(name).json")
        for arguments in [["status"], ["show"], ["status", "--json"]] {
            let result = try await Program.run(
                Program.penumbra, arguments + ["--run-dir", "shared"], in: workspace)
            #expect([0, 66].contains(result.code), "\(arguments): \(result.code) \(result.errors)")
        }
    }

    @Test func `a request does not follow a link to another folder`() async throws {
        try workspace.write("mine", to: "elsewhere/pause/diary")
        symlink("\(workspace.path)/elsewhere", "\(workspace.path)/link")
        try workspace.write("", to: "state/penumbra/runs/x/lock")
        symlink("\(workspace.path)/elsewhere", "\(workspace.path)/state/penumbra/runs/20261123T000000Z-dddddd")

        _ = try await soon("run", "job.yaml")
        for command in ["pause", "cancel", "resume"] { _ = try await soon(command, "20261123T000000Z-dddddd") }
        #expect(workspace.files(below: "elsewhere") == ["pause/diary"])
    }

    @Test func `an orphan behind a link below the outputs' folder stays`() async throws {
        try workspace.writeNightly(inputs: "photos/**/*", output: "out/{dir}/{stem}.png")
        try workspace.copy("photos/a.png", to: "photos/sub/z.png")
        try workspace.age("photos/sub/z.png")
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        try workspace.remove("photos/sub")
        // Somebody has moved the folder away, and put a link to it.
        rename("\(workspace.path)/out/sub", "\(workspace.path)/elsewhere")
        symlink("../elsewhere", "\(workspace.path)/out/sub")

        let result = try await Program.run("run", "--delete-orphans=all", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.errors.contains("lies behind a link, which nothing is removed through"), "\(result.errors)")
        #expect(workspace.exists("elsewhere/z.png"))
    }

    @Test func `workers of a prepared shard do not see its caller's secrets`() async throws {
        try workspace.write(
            """
            #!/bin/sh
            env > '\(workspace.path)/seen'
            exec '\(Program.worker)' "$@"
            """, to: "worker")
        chmod("\(workspace.path)/worker", 0o755)
        let prepared = try await Program.run(
            "prepare", "job.yaml", "--run-dir", "shared", "--shards", "1", in: workspace)
        #expect(prepared.code == 0, "\(prepared.errors)")

        let result = try await Program.run(
            "shard", "--run-dir", "shared", "--index", "1", in: workspace,
            environment: [
                "PENUMBRA_WORKER": "\(workspace.path)/worker", "AWS_SECRET_ACCESS_KEY": "s3cret", "LICENSE_A": "wanted",
                "PENUMBRA_WORKER_ENVIRONMENT": "LICENSE_*",
            ])
        #expect(result.code == 0, "\(result.errors)")
        let seen = String(decoding: try workspace.read("seen"), as: UTF8.self)
        #expect(!seen.contains("s3cret"))
        #expect(seen.contains("LICENSE_A=wanted"))
    }

    // MARK: Prepared runs

    /// The run's shared folder, below the workspace.
    private func prepare() async throws -> String {
        let result = try await Program.run(
            "prepare", "job.yaml", "--run-dir", "shared", "--shards", "1", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        let name = try #require(workspace.files(below: "shared").first { $0.hasSuffix("/prepared.json") })
        return "shared/\(name.dropLast("/prepared.json".count))"
    }

    private func text(_ name: String) throws -> String { String(decoding: try workspace.read(name), as: UTF8.self) }

    /// The only shard that `prepare` has made, below the shared folder.
    private func shardFile(_ folder: String) throws -> String {
        let first = try #require(try text("\(folder)/prepared.json").firstMatch(of: /"first":(\d+)/)).output.1
        return "\(folder)/shards/\(first).json"
    }

    private func shard() async throws -> Program.Result {
        try await Program.run("shard", "--run-dir", "shared", "--index", "1", in: workspace)
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775806", "1000000001", "0", "-1"])
    func `a shard's file of an impossible number counts for nothing`(number: String) async throws {
        let folder = try await prepare()
        try workspace.write(try workspace.read(shardFile(folder)), to: "\(folder)/shards/\(number).json")

        let again = try await Program.run(
            "prepare", "job.yaml", "--run-dir", "shared", "--shards", "2", in: workspace)
        #expect(again.code == 0, "\(again.errors)")
        #expect(try await shard().code == 0)
        let resumed = try await Program.run("resume", "--run-dir", "shared", "--engine", "local", in: workspace)
        #expect(resumed.code == 0, "\(resumed.errors)")
        #expect(workspace.exists("out/a.png"))
    }

    @Test(arguments: [
        #"{"first":9223372036854775807,"count":2}"#, #"{"first":1,"count":0}"#, #"{"first":1,"count":-3}"#,
        #"{"first":-9223372036854775808,"count":9223372036854775807}"#,
    ])
    func `impossible numbers of shards are none`(range: String) async throws {
        let folder = try await prepare()
        try workspace.write(range, to: "\(folder)/prepared.json")

        let result = try await shard()
        #expect(result.code == 66, "\(result.errors)")
        #expect(result.errors.contains("is not prepared yet"))
    }

    @Test(arguments: ["timeLimit", "silence"], ["9223372036854775807,18446744073709551615", "-9223372036854775808,0"])
    func `a shard of impossible durations is none`(key: String, duration: String) async throws {
        let file = try await shardFile(prepare())
        let before = try text(file)
        let edited = before.replacing(try Regex("\"\(key)\":\\[[^\\]]*\\]"), with: "\"\(key)\":[\(duration)]")
        #expect(edited != before)
        try workspace.write(edited, to: file)

        let result = try await shard()
        #expect(result.code == 74, "\(result.errors)")
        #expect(result.errors.contains("no shard of this version of Penumbra"))
    }

    @Test func `a shard writes no files but those of its run`() async throws {
        let file = try await shardFile(prepare())
        try workspace.write("mine", to: "home/keys")
        let before = try text(file)
        let edited = before.replacing(
            /"temporaryPath":"[^"]*"/, with: "\"temporaryPath\":\"\(workspace.path)/home/authorized_keys\"")
        #expect(edited != before)
        try workspace.write(edited, to: file)

        #expect(try await shard().code == 74)
        #expect(workspace.files(below: "home") == ["keys"])
    }

    @Test func `shards behind a link are none`() async throws {
        let folder = try await prepare()
        rename("\(workspace.path)/\(folder)/shards", "\(workspace.path)/elsewhere")
        symlink("\(workspace.path)/elsewhere", "\(workspace.path)/\(folder)/shards")

        #expect(try await shard().code == 74)
        #expect(!workspace.exists("out/a.png"))
    }

    @Test func `cancel ends no jobs but those of its run`() async throws {
        let folder = try await prepare()
        for name in ["scancel", "squeue", "scontrol", "sinfo", "sbatch"] {
            try workspace.write("#!/bin/sh\necho \(name) \"$@\" >> '\(workspace.path)/asked'\n", to: "bin/\(name)")
            chmod("\(workspace.path)/bin/\(name)", 0o755)
        }
        try workspace.write(
            #"{"epoch":1,"name":"my-thesis-simulation","job":"4711"}"# + "\n"
                + #"{"epoch":1,"name":"a,b --user=x","job":"--user=root"}"# + "\n", to: "\(folder)/submissions")
        try workspace.write(#"{"epoch":1,"name":"another-job","job":"4712"}"# + "\n", to: "\(folder)/coordinators")

        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let result = try await Program.run(
            "cancel", "--run-dir", "shared", in: workspace, environment: ["PATH": "\(workspace.path)/bin:\(path)"])
        #expect(result.code == 0, "\(result.errors)")
        #expect(!workspace.exists("asked"))
    }

    @Test(.enabled(if: geteuid() == 0, "folders of another user take root"))
    func `a plugin folder of another user that only a shard names runs no code`() async throws {
        let file = try await shardFile(prepare())
        try workspace.write("", to: "theirs/libevil.so")
        chown("\(workspace.path)/theirs", 12345, 12345)
        let before = try text(file)
        let edited = before.replacing(/"folders":\[[^\]]*\]/, with: "\"folders\":[\"\(workspace.path)/theirs\"]")
        #expect(edited != before)
        try workspace.write(edited, to: file)
        try workspace.write(
            """
            #!/bin/sh
            echo "$PENUMBRA_WORKER_PLUGINS" > '\(workspace.path)/seen'
            exec '\(Program.worker)' "$@"
            """, to: "worker")
        chmod("\(workspace.path)/worker", 0o755)

        _ = try await Program.run(
            "shard", "--run-dir", "shared", "--index", "1", in: workspace,
            environment: ["PENUMBRA_WORKER": "\(workspace.path)/worker"])
        #expect(
            try text("seen").replacing(#"\/"#, with: "/").contains("\"strangeFolders\":[\"\(workspace.path)/theirs\"]"))
    }

    // MARK: Pipes

    @Test(arguments: [
        ["run", "pipe"], ["run", "job.yaml", "--files-from", "pipe"],
    ])
    func `a pipe that nobody writes to is waited for until a signal comes`(arguments: [String]) throws {
        mkfifo("\(workspace.path)/pipe", 0o600)
        let program = try RunningProgram(arguments, in: workspace)
        // It has opened the pipe, when a writer finds it open.
        var writer: Int32 = -1
        program.wait {
            writer = open("\(workspace.path)/pipe", O_WRONLY | O_NONBLOCK)
            return writer >= 0
        }
        defer { close(writer) }
        kill(program.processID, SIGTERM)
        #expect(program.finish().code == 143)
    }

    @Test(arguments: [
        ["config"], ["doctor"], ["run", "job.yaml"], ["prepare", "job.yaml", "--run-dir", "shared", "--shards", "1"],
    ])
    func `a config file is no pipe, because whoever resumes a run reads it again`(arguments: [String]) async throws {
        mkfifo("\(workspace.path)/pipe", 0o600)
        let result = try await Program.run(
            Program.penumbra, arguments + ["--config", "pipe"], in: workspace)
        #expect(result.code == 66)
        #expect(
            (result.output + result.errors).contains(
                "pipe: the config file cannot be read (it is a pipe, and settings may be read more than once)\n   = correct "
                    + "--config, or leave it out"), "\(result.errors)")
        #expect(!workspace.exists("shared"))
    }

    @Test func `an empty device is an empty config file, and an endless one is refused`() async throws {
        let empty = try await Program.run("config", "--config", "/dev/null", in: workspace)
        #expect(empty.code == 0, "\(empty.errors)")
        let endless = try await soon("config", "--config", "/dev/zero")
        #expect(endless.code == 65)
        #expect(
            endless.errors.contains("the file has 1048577 bytes, more than the 1048576 that are read"),
            "\(endless.errors)")
    }

    @Test func `a list of files may come through a pipe`() async throws {
        let result = try await Program.run(
            "/bin/bash",
            [
                "-c", "exec \"$0\" run --quiet --files-from <(sleep 0.3; echo photos/a.png) job.yaml",
                Program.penumbra,
            ], in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.exists("out/a.png"))
    }

    @Test(arguments: ["pipe", "/dev/zero"])
    func `an index that names what is no file as an input keeps nobody waiting`(input: String) async throws {
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        mkfifo("\(workspace.path)/pipe", 0o600)
        let path = input == "pipe" ? "\(workspace.path)/pipe" : input
        let index = try text("out/.penumbra-index")
        try workspace.write(
            index.replacing(/"input":"[^"]*"/, with: "\"input\":\"\(path)\""), to: "out/.penumbra-index")
        try workspace.remove("state")

        let result = try await soon("verify", "out", "--rerender")
        #expect(result.code != 0 && result.code != 124, "\(result.code) \(result.output) \(result.errors)")
    }
}
