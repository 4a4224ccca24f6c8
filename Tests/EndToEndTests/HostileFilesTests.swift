import Foundation
import Glibc
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

    @Test func `an excluded folder need not be readable`() async throws {
        try workspace.writeNightly(inputs: "photos/**/*", more: "exclude: [photos/lost+found]")
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

    @Test func `an output folder that becomes a link to the inputs loses no input`() async throws {
        for number in 0..<30 { try workspace.copy("photos/a.png", to: "photos/\(number).png") }
        try workspace.writeNightly(more: "existing: overwrite")
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        let before = try workspace.contents(below: "photos")

        let out = "\(workspace.path)/out"
        let old = try workspace.modified("out/0.png")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        // The first of them was made again: the run goes on.
        program.wait { (try? workspace.modified("out/0.png")) != old }
        rename(out, "\(workspace.path)/out-before")
        symlink("photos", out)
        let result = program.finish()

        #expect(try workspace.contents(below: "photos") == before)
        if result.code != 0 {
            #expect(result.code == 74)
            #expect(
                result.errors.contains("the folder was replaced by another one, or by a link, while the run went on"))
        }
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
}
