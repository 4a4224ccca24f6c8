import Foundation
import Glibc
import Testing

/// `prepare`, `shard` and `resume --run-dir`: a run by whoever calls them.
@Suite(.serialized) struct PreparedRunTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 700, height: 500)
        try workspace.draw("photos/b.png", width: 400, height: 600)
        try workspace.draw("photos/c.png", width: 300, height: 200)
        for name in ["a", "b", "c"] { try workspace.age("photos/\(name).png") }
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private func writeManifest(_ more: String = "existing: update") throws {
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 18}}, {motion: {radius: 90, angle: 40, samples: continuous}}]", more: more)
    }

    /// What an ordinary run makes.
    private func ordinary() async throws -> [String: Data] {
        let other = try Workspace()
        for name in ["photos/a.png", "photos/b.png", "photos/c.png", "job.yaml"] {
            try other.write(try workspace.read(name), to: name)
        }
        #expect(try await Program.run("run", "job.yaml", in: other).code != 65)
        return try other.contents(below: "out")
    }

    private func prepare(_ shards: Int) async throws {
        let result = try await penumbra("prepare", "job.yaml", "--run-dir", "shared", "--shards", "\(shards)")
        #expect(result.code == 0, "\(result.errors)")
    }

    /// Two jobs, whose runs are in one folder.
    private func prepareTwo() async throws {
        for name in ["one", "two"] {
            let manifest =
                "job: \(name)\ninputs: photos/*.png\nfilters: [{gaussian: {radius: 4}}]\noutput: \(name)/{stem}.png\n"
            try workspace.write(manifest, to: "\(name).yaml")
        }
        let result = try await penumbra("prepare", "one.yaml", "two.yaml", "--run-dir", "shared", "--shards", "2")
        #expect(result.code == 0, "\(result.errors)")
    }

    private func shard(_ index: Int) async throws -> Program.Result {
        try await penumbra("shard", "--run-dir", "shared", "--index", "\(index)")
    }

    private func fileNumber(_ name: String) throws -> Int? {
        let path = "\(workspace.path)/\(name)"
        return try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    }

    private func leavesNothing() {
        let left = workspace.allFiles(below: "shared").filter { name in
            !["ended/", "history/"].contains { name.hasPrefix($0) }
        }
        #expect(left == [])
        #expect(workspace.leftovers() == [])
        #expect(!workspace.exists("state"))
    }

    @Test(arguments: ["existing: update", "existing: update\nshard: tile\ntile: 128", "existing: update\nverify: full"])
    func `shards in any order, one twice and one never, and the same bytes`(more: String) async throws {
        try writeManifest(more)
        try await prepare(4)
        #expect(!workspace.exists("out/a.png"))
        for index in [3, 1, 3, 4] {
            let result = try await shard(index)
            #expect(result.code == 0, "\(result.errors)")
        }
        #expect(try await penumbra("status", "--run-dir", "shared").output.contains("  test  detached  "))
        #expect(try await penumbra("wait", "--run-dir", "shared", "--timeout", "0.1").code == 75)
        let end = try await penumbra("resume", "--run-dir", "shared", "--engine", "local")
        #expect(end.code == 0, "\(end.errors)")
        #expect(end.output.hasPrefix("test: 3 published in "))
        #expect(try await ordinary() == workspace.contents(below: "out"))
        leavesNothing()
        let wait = try await penumbra("wait", "--run-dir", "shared")
        #expect(wait.code == 0)
        #expect(wait.output == "test: done; 3 frames: 3 published\n")
        #expect(try await shard(2).output.hasSuffix(": has ended, there is nothing to do\n"))
        let again = try await penumbra("resume", "--run-dir", "shared")
        #expect(
            again.output.hasSuffix(
                """
                : the run of job 'test' has ended with exit code 0; nothing is left to do
                   = to render pictures that changed since: 'penumbra prepare' again, or the submit.sh of an export

                """), "\(again.output)")
    }

    @Test(.enabled(if: geteuid() == 0, "mounts need rights"))
    func `66: nothing is written below the mount point of a disk that is not mounted any more`() async throws {
        try writeManifest()
        let p = Program.penumbra
        let script = """
            mkdir out && mount -t tmpfs none out || exit 99
            \(p) prepare job.yaml --run-dir shared --shards 1 > prepared || exit 98
            umount out
            \(p) shard --run-dir shared --index 1; a=$?
            \(p) resume --run-dir shared --engine local; b=$?
            [ -z "$(ls -A out)" ] || exit 97
            mount -t tmpfs none out
            \(p) shard --run-dir shared --index 1 > done && \(p) resume --run-dir shared --engine local > done || exit 96
            [ "$a $b" = "66 66" ] || exit 95
            """
        let result = try await Program.run(
            "/usr/bin/unshare", ["-m", "/bin/sh", "-c", "mount --make-rprivate / || exit 99\n\(script)"], in: workspace)
        guard result.code != 99 else { return }
        #expect(result.code == 0, "\(result.errors)")
        let words =
            ": \(workspace.path)/out is not mounted; it had the folder of this run's outputs\n   = mount the disk, and give "
            + "the command again; or prepare the run again\n"
        #expect(result.errors.components(separatedBy: words).count == 3, "\(result.errors)")
    }

    @Test func `74: tiles are not written behind a link in the place of their folder`() async throws {
        try writeManifest("existing: update\nshard: tile\ntile: 128")
        try await prepare(1)
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/elsewhere", withIntermediateDirectories: true)
        let scratch = try #require(
            FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/shared").first {
                $0.hasPrefix("penumbra-")
            })
        for frame in 1...3 {
            try? FileManager.default.removeItem(atPath: "\(workspace.path)/shared/\(scratch)/\(frame)")
            #expect(symlink("\(workspace.path)/elsewhere", "\(workspace.path)/shared/\(scratch)/\(frame)") == 0)
        }
        let result = try await penumbra("resume", "--run-dir", "shared", "--engine", "local")
        #expect(result.code == 74)
        #expect(result.errors.contains("it is a link, and Penumbra did not make it so"), "\(result.errors)")
        #expect(workspace.allFiles(below: "elsewhere") == [])
    }

    @Test func `what shards have done is not done again`() async throws {
        try writeManifest()
        try await prepare(1)
        #expect(try await shard(1).output.hasSuffix(": 3 tasks, 0 failed\n"))
        // Without workers nothing can be rendered, and nothing has to be.
        let end = try await Program.run(
            "resume", "--run-dir", "shared", "--json", in: workspace,
            environment: ["PENUMBRA_WORKERS": "1"])
        #expect(end.code == 0)
        let written = end.output.split(separator: "\n").filter { $0.contains("\"event\":\"frame\"") }
        #expect(written.count == 3)
        #expect(!end.output.contains("faster than any machine"))
    }

    @Test func `a shard that is killed is done again, by another`() async throws {
        try writeManifest()
        try await prepare(1)
        let program = try RunningProgram(
            ["shard", "--run-dir", "shared", "--index", "1", "--workers", "1"], in: workspace)
        program.wait { workspace.allFiles(below: "out").contains { $0.contains(".penumbra-") } }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        #expect(try await shard(1).code == 0)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
        leavesNothing()
    }

    @Test(arguments: [0, 1]) func `a task whose worker is killed is done by the other one, which has had later tasks`(
        victim: Int
    ) async throws {
        try writeManifest("existing: update\ntimeout: 600s")
        try await prepare(1)
        let program = try RunningProgram(
            ["shard", "--run-dir", "shared", "--index", "1", "--workers", "2"], in: workspace)
        program.wait { workspace.allFiles(below: "out").count { $0.contains(".penumbra-") } >= 2 }
        if let worker = program.workers.sorted().dropFirst(victim).first { kill(worker, SIGKILL) }
        let result = program.finish()
        #expect(result.code == 0, "\(result.errors)")
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
        leavesNothing()
    }

    /// Changes a byte in the middle of each written output, which keeps its size.
    private func damageWritten() throws {
        let files = workspace.allFiles(below: "out").filter { $0.contains(".penumbra-") && $0.contains("-frame-") }
        #expect(files.count == 3)
        for file in files {
            var bytes = try workspace.read("out/\(file)")
            bytes[bytes.count / 2] ^= 0xff
            try workspace.write(bytes, to: "out/\(file)")
        }
    }

    @Test func `an earlier output that was damaged is made again, by the worker that looked at it`() async throws {
        try writeManifest("existing: update\ntimeout: 600s")
        try await prepare(1)
        #expect(try await shard(1).code == 0)
        try damageWritten()
        let again = try await penumbra("shard", "--run-dir", "shared", "--index", "1", "--workers", "1")
        #expect(again.code == 0, "\(again.errors)")
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
        leavesNothing()
    }

    @Test func `who goes on here makes again what was damaged`() async throws {
        try writeManifest("existing: update\ntimeout: 600s")
        try await prepare(3)
        for index in 1...3 { #expect(try await shard(index).code == 0) }
        try damageWritten()
        let end = try await penumbra("resume", "--run-dir", "shared", "--workers", "1")
        #expect(end.code == 0, "\(end.errors)")
        #expect(try await ordinary() == workspace.contents(below: "out"))
        leavesNothing()
    }

    @Test func `what a log says that cannot be is done again`() async throws {
        try writeManifest()
        try await prepare(1)
        #expect(try await shard(1).code == 0)
        let inputs = try workspace.contents(below: "photos")
        let runs = workspace.allFiles(below: "shared").filter { $0.contains("/results/") }
        #expect(runs.contains { $0.hasSuffix(".log") })
        var count = 0
        for file in runs {
            let text = String(decoding: try workspace.read("shared/\(file)"), as: UTF8.self)
            let input = #""path":"\#(workspace.path)/photos/a.png""#
            let lies = text.replacing(#/"pages":\d+/#) { _ in #""pages":9223372036854775807"# }
                .replacing(#/"path":"[^"]*\.penumbra-[^"]*"/#) { _ in input }
            if lies != text { count += 1 }
            try workspace.write(lies, to: "shared/\(file)")
        }
        #expect(count > 0)
        let end = try await penumbra("resume", "--run-dir", "shared")
        #expect(end.code == 0, "\(end.errors)")
        #expect(try workspace.contents(below: "photos") == inputs)
        #expect(try await ordinary() == workspace.contents(below: "out"))
    }

    @Test(arguments: [-20_000_000_000, 20_000_000_000])
    func `a picture of a year that does not fit in a stamp is as any other`(
        seconds: Int
    ) async throws {
        for name in ["a", "b", "c"] {
            let time = timespec(tv_sec: seconds, tv_nsec: 0)
            #expect(utimensat(AT_FDCWD, "\(workspace.path)/photos/\(name).png", [time, time], 0) == 0)
        }
        try writeManifest()
        try await prepare(1)
        #expect(try await shard(1).code == 0)
        let end = try await penumbra("resume", "--run-dir", "shared")
        #expect(end.code == 0, "\(end.errors)")
        #expect(workspace.exists("out/a.png"))
        leavesNothing()
    }

    @Test(arguments: ["resume", "cancel"])
    func `what a coordinator left that was killed after the end of the run is removed`(command: String) async throws {
        try writeManifest()
        try await prepare(1)
        #expect(try await shard(1).code == 0)
        let (shared, before) = ("\(workspace.path)/shared", "\(workspace.path)/before")
        try FileManager.default.copyItem(atPath: shared, toPath: before)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        leavesNothing()
        let kept = try FileManager.default.contentsOfDirectory(atPath: before).filter { name in
            name == "runs" || name.hasPrefix("penumbra-")
        }
        #expect(kept.count == 2)
        for name in kept { try FileManager.default.moveItem(atPath: "\(before)/\(name)", toPath: "\(shared)/\(name)") }
        let result = try await penumbra(command, "--run-dir", "shared")
        #expect(result.code == 0, "\(result.errors)")
        let words = command == "resume" ? ": the run of job 'test' has ended with exit code 0" : ": has ended already"
        #expect(result.output.contains(words))
        leavesNothing()
        #expect(try await ordinary() == workspace.contents(below: "out"))
    }

    @Test func `a run that is prepared twice is one run, and what was done of it counts`() async throws {
        try writeManifest()
        try await prepare(3)
        for index in 1...3 { #expect(try await shard(index).code == 0) }
        try await prepare(2)
        #expect(try await shard(1).code == 0)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
        leavesNothing()
    }

    @Test func `whoever prepares a run again may want something else of it`() async throws {
        try writeManifest()
        try await prepare(3)
        for index in 1...3 { #expect(try await shard(index).code == 0) }
        try workspace.writeManifest(filters: "[{gaussian: {radius: 3}}]", more: "existing: update")
        try await prepare(2)
        #expect(try await shard(1).code == 0)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
        leavesNothing()
    }

    /// The folder is made when the run is prepared, and is empty until somebody publishes.
    @Test(arguments: [[], ["--state-dir", "own"]])
    func `outputs whose folder was removed are made again, by whoever goes on with the run`(state: [String])
        async throws
    {
        try writeManifest()
        func command(_ words: String...) async throws -> Program.Result {
            try await Program.run(Program.penumbra, words + state, in: workspace)
        }
        #expect(try await command("run", "job.yaml").code == 0)
        try workspace.remove("out")
        let prepared = try await command("prepare", "job.yaml", "--run-dir", "shared", "--shards", "1")
        #expect(prepared.code == 0, "\(prepared.errors)")
        #expect(try await shard(1).code == 0)
        let end = try await command("resume", "--run-dir", "shared")
        #expect(end.code == 0, "\(end.errors)")
        #expect(try await ordinary() == workspace.contents(below: "out"))
    }

    @Test func `66: outputs that this user's runs published and that are lost now are not made again unasked`()
        async throws
    {
        try writeManifest()
        #expect(try await penumbra("run", "job.yaml").code == 0)
        try workspace.remove("out")
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/out", withIntermediateDirectories: false)
        let prepare = ["prepare", "job.yaml", "--run-dir", "shared", "--shards", "1"]
        let refused = try await Program.run(Program.penumbra, prepare, in: workspace)
        #expect(refused.code == 66)
        #expect(
            refused.errors == """
                job.yaml: error: \(workspace.path)/out has none of the 3 outputs of this job any more
                   = is a disk not mounted? If the outputs were removed or moved on purpose, --allow-gone renders \
                them again in \(workspace.path)/out

                """)
        #expect(!workspace.exists("shared/runs"))
        #expect(try await Program.run(Program.penumbra, prepare + ["--allow-gone"], in: workspace).code == 0)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
    }

    /// 'resume' has no such option: it gives the command of the run again.
    @Test func `66: a run that was interrupted names the command that makes lost outputs again`() async throws {
        try writeManifest()
        #expect(try await penumbra("run", "job.yaml").code == 0)
        let program = try RunningProgram(["run", "job.yaml", "--force"], in: workspace)
        program.wait { workspace.allFiles(below: "out").contains { $0.contains(".penumbra-2") } }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        try workspace.remove("out")
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/out", withIntermediateDirectories: false)
        let refused = try await penumbra("resume")
        #expect(refused.code == 66)
        #expect(
            refused.errors.hasSuffix(
                "on purpose, 'penumbra run --allow-gone' renders them again in \(workspace.path)/out\n"),
            "\(refused.errors)")
        #expect(try await penumbra("run", "job.yaml", "--allow-gone").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
    }

    @Test func `an override of the second time counts`() async throws {
        try writeManifest()
        try await prepare(2)
        let again = try await penumbra(
            "prepare", "job.yaml", "--run-dir", "shared", "--shards", "2", "--set", "filters[0].gaussian.radius=2")
        #expect(again.code == 0)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        let plan = try await penumbra("plan", "job.yaml", "--set", "filters[0].gaussian.radius=2")
        #expect(plan.output.hasPrefix("test: 3 frames, 0 to render,"), "\(plan.output)")
    }

    @Test func `a run that others have taken over is left as it is`() async throws {
        try writeManifest("existing: update\nshard: tile\ntile: 64")
        try await prepare(2)
        let program = try RunningProgram(["resume", "--run-dir", "shared", "--workers", "1"], in: workspace)
        program.wait { workspace.allFiles(below: "shared").count { $0.contains("/tile-") } > 3 }
        let run = try #require(workspace.allFiles(below: "shared/runs").first { $0.hasSuffix("/run.json") })
        let folder = "shared/runs/\(run.dropLast("/run.json".count))"
        // As a coordinator on another machine does.
        try workspace.write("1.1@elsewhere", to: "\(folder)/coordinator.3")
        let result = program.finish()
        #expect(result.code == 130)
        #expect(result.errors == "test: another coordinator has taken this run over; nothing was undone\n")
        #expect(workspace.allFiles(below: "shared").contains { $0.contains("/canvas-") })
        #expect(workspace.allFiles(below: "shared").contains { $0.contains("/tile-") })
        #expect(try await penumbra("status", "--run-dir", "shared").output.contains("  test  running  "))
    }

    @Test func `where all that is left fails at once, whoever goes on tells of it`() async throws {
        try writeManifest()
        for name in ["a", "b", "c"] {
            try workspace.write("no picture", to: "photos/\(name).png")
            try workspace.age("photos/\(name).png")
        }
        let prepared = try await penumbra("prepare", "job.yaml", "--run-dir", "shared", "--shards", "2")
        #expect(prepared.code == 0)
        #expect(prepared.output.hasSuffix("test: no shards were written: nothing is left for them\n"))
        #expect(try await shard(2).code == 0)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 1)
    }

    @Test func `a picture that fails is told by whoever ends the run`() async throws {
        try writeManifest()
        try workspace.write("no picture", to: "photos/b.png")
        try workspace.age("photos/b.png")
        try await prepare(2)
        for index in 1...2 { #expect(try await shard(index).code == 0) }
        let end = try await penumbra("resume", "--run-dir", "shared")
        #expect(end.code == 1)
        #expect(end.errors.contains("photos/b.png: not a picture that Penumbra reads"))
        #expect(try await penumbra("wait", "--run-dir", "shared").code == 1)
    }

    @Test func `a run that is interrupted while somebody goes on with it is there for the next one`() async throws {
        try writeManifest()
        try await prepare(2)
        let program = try RunningProgram(["resume", "--run-dir", "shared", "--workers", "1"], in: workspace)
        program.wait { workspace.allFiles(below: "out").contains { $0.contains(".penumbra-") } }
        kill(program.processID, SIGINT)
        #expect(program.finish().code == 130)
        #expect(try await penumbra("status", "--run-dir", "shared").output.contains("  test  interrupted  "))
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
        leavesNothing()
    }

    @Test func `who interrupts a command that goes on with two runs means both`() async throws {
        try await prepareTwo()
        let program = try RunningProgram(["resume", "--run-dir", "shared", "--workers", "1"], in: workspace)
        program.wait {
            ["one", "two"].contains { workspace.allFiles(below: $0).contains { $0.contains(".penumbra-") } }
        }
        kill(program.processID, SIGINT)
        #expect(program.finish().code == 130)
        #expect(workspace.files(below: "one").isEmpty || workspace.files(below: "two").isEmpty)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(workspace.files(below: "one").count == 3 && workspace.files(below: "two").count == 3)
    }

    @Test func `two do not go on with a run at once`() async throws {
        try writeManifest()
        try await prepare(2)
        let program = try RunningProgram(["resume", "--run-dir", "shared", "--workers", "1"], in: workspace)
        program.wait { workspace.allFiles(below: "out").contains { $0.contains(".penumbra-") } }
        kill(program.processID, SIGSTOP)
        let other = try await penumbra("resume", "--run-dir", "shared")
        kill(program.processID, SIGCONT)
        #expect(other.code == 75)
        #expect(other.errors.contains(" has a coordinator that lives; 'penumbra status --run-dir "))
        #expect(program.finish().code == 0)
    }

    @Test func `what was done of a run is told by its folder`() async throws {
        try writeManifest()
        try workspace.write("no picture", to: "photos/b.png")
        try workspace.age("photos/b.png")
        try await prepare(2)
        #expect(try await shard(1).code == 0)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 1)
        let show = try await penumbra("show", "--run-dir", "shared")
        #expect(
            show.output.contains("\nframes    3: 2 published, 1 failed\n  frame: 2 done\n  probe: "))
        #expect(show.output.contains("\n  2  photos/b.png: broken or unreadable picture: "))
        let logs = try await penumbra("logs", "--run-dir", "shared", "2")
        #expect(logs.output.contains("  2/probe  attempt 1, worker "))
        #expect(logs.output.contains("not a picture that Penumbra reads"))
        #expect(try await penumbra("logs", "--run-dir", "shared").output.split(separator: "\n").count >= 5)
        let json = try await penumbra("show", "--run-dir", "shared", "--json")
        #expect(json.output.split(separator: "\n").count { $0.contains("\"event\":\"frame\"") } == 3)
        #expect(json.output.split(separator: "\n").count { $0.contains("\"published\":\"20") } == 2)
        #expect(
            try await penumbra("logs").errors.hasPrefix(
                "Error: Name a run, as 'penumbra status' lists them, or give its folder by --run-dir."))
    }

    @Test func `of a folder with two runs both are waited for, and one has to be named to end it`() async throws {
        try await prepareTwo()
        let refused = try await penumbra("cancel", "--run-dir", "shared")
        #expect(refused.code == 64)
        #expect(refused.errors.contains("/shared: 2 runs there have not ended\n   = name one of them: "))
        #expect(refused.errors.contains(" of one") && refused.errors.contains(" of two"))
        for index in 1...2 { #expect(try await shard(index).code == 0) }
        #expect(try await shard(3).code == 64)
        let waiting = try RunningProgram(["wait", "--run-dir", "shared"], in: workspace)
        #expect(waiting.nextErrors() == "waiting for 2 runs\n")
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        let waited = waiting.finish()
        #expect(waited.code == 0)
        let wanted = ["one", "two"].map { "\($0): done; 3 frames: 3 published" }
        #expect(waited.output.split(separator: "\n").map(String.init).sorted() == wanted)
        // Both are there when they have ended, too.
        let late = try await penumbra("wait", "--run-dir", "shared")
        #expect(late.output.split(separator: "\n").map(String.init).sorted() == wanted)
        #expect(try await penumbra("show", "one", "--run-dir", "shared").output.contains("\njob       one\n"))
        #expect(workspace.files(below: "one").count == 3 && workspace.files(below: "two").count == 3)
    }

    @Test func `one of two runs in a folder is cancelled by its job's name`() async throws {
        try await prepareTwo()
        #expect(try await penumbra("cancel", "two", "--run-dir", "shared").code == 0)
        #expect(try await penumbra("pause", "--run-dir", "shared").errors.contains(": is not running, "))
        let resumed = try await penumbra("resume", "--run-dir", "shared")
        #expect(resumed.code == 130, "two was cancelled")
        #expect(resumed.output.contains(": the run of job 'two' has ended with exit code 130\n"))
        #expect(workspace.files(below: "one").count == 3)
        #expect(!workspace.exists("two"))
    }

    @Test func `a folder without a run says what is missing`() async throws {
        func status(_ folder: String) async throws -> String {
            let result = try await penumbra("status", "--run-dir", folder)
            #expect(result.code == 66)
            return result.errors
        }
        let path = workspace.path
        #expect(try await status("nothing") == "\(path)/nothing: no such folder\n")
        #expect(
            try await status("photos")
                == "\(path)/photos: no run; 'penumbra run --detach' and 'penumbra prepare' say where they keep theirs\n"
        )
        try workspace.write("#!/bin/sh\n", to: "farm/submit.sh")
        for folder in ["farm", "farm/run"] {
            #expect(
                try await status(folder)
                    == "\(path)/\(folder): no run yet; it begins with 'sh submit.sh', when Slurm has begun prepare.sh; if that "
                    + "has failed, 'logs' beside submit.sh says why\n"
            )
        }
        try workspace.write("", to: "cluster/penumbra-20261123T130331Z-71c212/shards/1.json")
        #expect(
            try await status("cluster")
                == "\(path)/cluster: the work of a run that was neither detached nor prepared; 'penumbra status' lists it "
                + "where it was begun\n")
    }

    @Test func `a run that is given up leaves nothing`() async throws {
        try writeManifest("existing: update\nshard: tile\ntile: 128")
        try await prepare(2)
        #expect(try await shard(1).code == 0)
        #expect(try await penumbra("cancel", "--run-dir", "shared").code == 0)
        #expect(try await penumbra("wait", "--run-dir", "shared").code == 130)
        #expect(try await penumbra("show", "--run-dir", "shared").output.contains("\nframes    3: 3 left\n"))
        leavesNothing()
        #expect(workspace.files(below: "out") == [])
    }

    /// Its coordinator was killed after it had told its end: the folder is still there.
    @Test func `a run that has ended is not in the way of the next one`() async throws {
        try writeManifest()
        try await prepare(2)
        let run = try #require(workspace.allFiles(below: "shared/runs").first { $0.hasSuffix("/run.json") })
        let name = run.split(separator: "/")[0]
        let record = String(decoding: try workspace.read("shared/runs/\(run)"), as: UTF8.self)
        try workspace.write(
            Data("{\"record\":\(record),\"epoch\":2,\"ended\":9,\"exitCode\":1}".utf8), to: "shared/ended/\(name).json")
        #expect(try await penumbra("resume", "--run-dir", "shared/runs/\(name)").code == 1)
        try await prepare(2)
        #expect(!workspace.allFiles(below: "shared").contains { $0.hasPrefix("runs/\(name)/") })
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try await ordinary() == workspace.contents(below: "out"))
    }

    @Test func `a second time that is to make everything again does`() async throws {
        try writeManifest()
        try await prepare(1)
        let program = try RunningProgram(["resume", "--run-dir", "shared", "--workers", "1"], in: workspace)
        func published() -> String? { workspace.files(below: "out").first { !$0.hasPrefix(".") } }
        program.wait { published() != nil }
        kill(program.processID, SIGKILL)
        #expect(program.finish().code == 128 + SIGKILL)
        let early = try #require(published())
        let before = try fileNumber("out/\(early)")
        #expect(try await penumbra("prepare", "job.yaml", "--run-dir", "shared", "--shards", "1", "--force").code == 0)
        #expect(try await shard(1).code == 0)
        #expect(try await penumbra("resume", "--run-dir", "shared").code == 0)
        #expect(try fileNumber("out/\(early)") != before)
        #expect(try await ordinary() == workspace.contents(below: "out"))
    }

    @Test func `OpenJD hears how it goes`() async throws {
        try writeManifest()
        try await prepare(1)
        let result = try await penumbra("shard", "--run-dir", "shared", "--index", "1", "--openjd")
        let lines = result.output.split(separator: "\n")
        #expect(
            lines.filter { $0.hasPrefix("openjd_progress: ") }.map { $0.dropFirst(17) } == ["33", "66", "100", "100"])
        #expect(lines.contains("openjd_status: 2 of 3 tasks"))
        let wrong = try await penumbra("shard", "--run-dir", "shared", "--index", "7", "--openjd")
        #expect(wrong.code == 64)
        #expect(wrong.output == "openjd_fail: --index takes 1 to 1 here, not 7: so many shards were prepared\n")
    }

    @Test func `no name gives OpenJD an order`() async throws {
        let result = try await penumbra("shard", "--run", "/no\r\nopenjd_env: A=b", "--index", "1", "--openjd")
        #expect(result.code == 74)
        #expect(result.output.hasPrefix(#"openjd_fail: /no\u{d}\u{a}openjd_env: A=b/shards/1.json: no shard of"#))
        for text in [result.output, result.errors] {
            #expect(!text.split(separator: "\n").contains { $0.hasPrefix("openjd_env") })
        }
    }

    @Test func `what is missing or wrong is said`() async throws {
        try writeManifest()
        let path = "\(workspace.path)/shared"
        let nowhere = try await shard(1)
        #expect(nowhere.code == 66)
        #expect(nowhere.errors == "\(path): no run\n   = 'penumbra prepare --run-dir' writes shards there\n")
        let resumed = try await penumbra("resume", "--run-dir", "shared")
        #expect(resumed.code == 66)
        #expect(
            resumed.errors
                == "\(path): no such folder\n")
        #expect(
            try await penumbra("prepare", "job.yaml", "--run-dir", "shared", "--shards", "0").errors
                .hasPrefix("Error: --shards takes 1 to 10000, not 0."))
        let detached = try await penumbra("run", "job.yaml", "--detach")
        #expect(detached.code == 64)
        #expect(detached.errors == "--detach needs a cluster: give --engine slurm, too\n")
        #expect(
            try await penumbra("run", "job.yaml", "--engine", "slurm", "--detach", "--watch").errors
                .hasPrefix("Error: --detach leaves the run to jobs of the cluster, which cannot use --watch."))
        #expect(!workspace.exists("shared"))
        #expect(!workspace.exists("out"))
    }
}
