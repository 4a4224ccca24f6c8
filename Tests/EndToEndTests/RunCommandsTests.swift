import Foundation
import Glibc
import Testing

/// `status`, `show`, `logs`, `pause`, `resume`, `cancel`, `wait`, `retry` and `gc`, from another terminal.
@Suite(.serialized) struct RunCommandsTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("picture.png", width: 500, height: 400)
        for number in 10..<30 {
            try workspace.copy("picture.png", to: "photos/\(number).png")
            try workspace.age("photos/\(number).png")
        }
        try workspace.writeManifest(
            filters: "[{motion: {radius: 200, angle: 40, samples: continuous}}]", more: "existing: update\nshard: frame"
        )
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    @Test func `where nothing ran there is nothing to tell, and nothing is made`() async throws {
        #expect(try await penumbra("status").output == "nothing has run yet\n")
        for command in ["show", "wait", "pause", "cancel", "retry"] {
            let result = try await penumbra(command)
            #expect(result.code == 66)
            #expect(result.errors == "nothing has run yet\n")
        }
        #expect(try await penumbra("resume").output == "no run was interrupted\n")
        #expect(try await penumbra("gc").output == "0 runs forgotten\n")
        #expect(!workspace.exists("state"))
    }

    /// Of small frames that wait until they are let through.
    private func gate() async throws -> Gate {
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(
            filters: "[\(Gate.filter)]", more: "existing: update\nshard: frame\n\(Gate.patience)")
        return gate
    }

    /// The picture that a worker is writing has a name with a dot first.
    private var finishedOutputs: [String] { workspace.files(below: "out").filter { !$0.hasPrefix(".") } }

    @Test func `a run is paused, goes on, and is cancelled, while it is looked at`() async throws {
        let gate = try await gate()
        try gate.open(for: 2)
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        program.wait { finishedOutputs.count == 2 }
        #expect(try await penumbra("pause", "test").code == 0)
        #expect(try await penumbra("status").output.contains("  test  paused "))
        try gate.open(for: 16)
        var paused = 0
        // What has begun comes to its end; a run that goes on would come to 18.
        repeat {
            paused = finishedOutputs.count
            try #require(try await penumbra("wait", "--timeout", "0.3").code == 75)
        } while finishedOutputs.count > paused
        #expect(paused < 10)
        try await look(at: program, published: paused)
        #expect(try await penumbra("resume").output.hasSuffix(": resumed\n"))
        program.wait { finishedOutputs.count == 18 }
        // An output is in place shortly before the run has a record of it.
        while try await !penumbra("show", "test", "--map").output.contains(String(repeating: "p", count: 18)) {}
        #expect(try await penumbra("show", "test").output.contains("state     running\n"))
        #expect(try await penumbra("cancel", "test").code == 0)
        #expect(try await penumbra("wait", "test").code == 130)
        let result = program.finish()
        #expect(result.code == 130)
        #expect(
            result.errors
                == "test: cancelled by 'penumbra cancel'; finished outputs are in place, nothing is half-written\n")
        #expect(workspace.leftovers() == [])
        #expect(try await penumbra("cancel", "test").output.hasSuffix(": has ended already\n"))
        #expect(try await penumbra("pause").code == 1)
        try gate.open(for: 10)
        #expect(try await Program.night(workspace).exitCode == 0)
        #expect(workspace.files(below: "out").count == 20)
        // What was published before is up to date.
        #expect(
            try await penumbra("show", "test", "--map").output.hasSuffix(
                "\nmap\n  1  \(String(repeating: "s", count: 18))pp\n"))
        let line = try await penumbra("show", "test", "--map", "--json").output.split(separator: "\n").dropLast().last
        #expect(
            line == #"{"event":"map","frames":[[1,20]],"states":"\#(String(repeating: "s", count: 18))pp"}"#)
    }

    /// Other programs look at the run: its map, what it is doing, and a limit of its workers.
    private func look(at program: RunningProgram, published: Int) async throws {
        let status = try await penumbra("status", "--json").output.split(separator: "\n")
        let line = try #require(status.first { $0.contains(#""event":"run""#) })
        let run = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let live = try #require(run["live"] as? [String: Any])
        #expect(live["frames"] as? Int == 20)
        let folder = "state/penumbra/runs/\(try #require(run["run"] as? String))"
        func map() -> [String] {
            let text = String(decoding: (try? workspace.read("\(folder)/map")) ?? Data(), as: UTF8.self)
            return text.split(separator: "\n").map(String.init)
        }
        #expect(map().first == #"{"version":1,"frames":[[1,20]]}"#)
        // It is written a moment later.
        program.wait { map().last?.count { $0 == "p" } == published }
        let letters = try #require(map().last)
        #expect(letters.count == 20)
        #expect(letters.allSatisfy { ".>p".contains($0) })
        #expect(try await penumbra("show", "test").output.contains("\nnow       ["))
        #expect(try await penumbra("show", "test", "--map").output.hasSuffix("\nmap\n  1  \(letters)\n"))
    }

    @Test func `what failed is shown with its reason, and tried again when somebody says so`() async throws {
        try workspace.write("no picture", to: "photos/12.png")
        try workspace.age("photos/12.png")
        #expect(try await penumbra("run", "job.yaml").code == 1)
        let shown = try await penumbra("show")
        #expect(shown.output.contains("state     failed\n"))
        #expect(shown.output.contains("frames    20: 19 published, 1 failed\n"))
        #expect(
            shown.output.hasSuffix(
                """
                failed
                  3  photos/12.png: broken or unreadable picture: not a picture that \
                Penumbra reads ('penumbra formats' lists them)

                """))
        #expect(try await penumbra("logs", "test", "3").output.contains("  3/frame  attempt 1, worker "))
        #expect(try await penumbra("logs", "test", "99").code == 66)
        #expect(try await penumbra("logs", "test", "x/y").code == 64)
        // It is still broken, and known to be; a retry tries it nevertheless.
        #expect(try await Program.night(workspace) == NightSummary(skipped: 19, stillBroken: 1))
        let name = try await runNames().last ?? ""
        let retried = try await penumbra("retry", name)
        #expect(retried.code == 1)
        #expect(retried.output.contains("test: 0 published, 1 failed in "))
        try workspace.copy("picture.png", to: "fresh.png")
        try workspace.remove("photos/12.png")
        try workspace.copy("fresh.png", to: "photos/12.png")
        let some = try await penumbra("retry", name, "--frames", "2-4,19-25,77")
        #expect(some.output.contains("test: 1 published, 4 skipped in "))
        #expect(some.errors == "\(name): has no frame 21-25, 77: it has 20 frames\n")
        let wrong = try await penumbra("retry", name, "--frames", "77")
        #expect(wrong.code == 66 && wrong.errors == "\(name): no such frames were begun: it has 20 frames\n")
    }

    @Test func `listed files that are gone are shown among the failures, and are retried`() async throws {
        try workspace.write("photos/10.png\nphotos/77.png\nphotos/78.png\n", to: "list")
        #expect(try await penumbra("run", "job.yaml", "--files-from", "list").code == 1)
        let shown = try await penumbra("show")
        #expect(shown.output.contains("frames    3: 1 published, 2 failed\n"))
        #expect(
            shown.output.hasSuffix(
                """
                failed
                  2  photos/77.png: input missing or not readable: no such file
                  3  photos/78.png: input missing or not readable: no such file

                """))
        try workspace.copy("picture.png", to: "photos/77.png")
        let retried = try await penumbra("retry", "test")
        #expect(retried.code == 1)
        #expect(retried.output.contains("test: 1 published, 1 failed in "))
        try workspace.copy("picture.png", to: "photos/78.png")
        #expect(try await penumbra("retry", "test", "--frames", "3").output.contains("test: 1 published in "))
    }

    @Test func `pictures whose outputs have one name are retried once the names differ`() async throws {
        try workspace.draw("photos/10.jpg", width: 30, height: 20)
        try workspace.writeManifest(more: "existing: update")
        #expect(try await Program.night(workspace) == NightSummary(published: 19, failed: 2, exitCode: 1))
        #expect(try await penumbra("show").output.contains("  2  photos/10.png: output refused: "))
        try workspace.writeManifest(more: "existing: update\nexclude: [photos/10.jpg]")
        #expect(try NightSummary(await penumbra("retry", "test")) == NightSummary(published: 1))
        #expect(workspace.exists("out/10.png"))
    }

    @Test func `all frames that were refused for what is at their paths are retried`() async throws {
        for name in ["10", "11", "12"] { try workspace.write("mine", to: "out/\(name).png") }
        try workspace.writeManifest(more: "existing: error")
        #expect(try await Program.night(workspace) == NightSummary(published: 17, failed: 3, exitCode: 1))
        for name in ["10", "11", "12"] { try workspace.remove("out/\(name).png") }
        #expect(try NightSummary(await penumbra("retry", "test")) == NightSummary(published: 3))
    }

    @Test func `frames that were left before they had begun are done by a retry`() async throws {
        let gate = try await gate()
        try gate.open(for: 3)
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        program.wait { finishedOutputs.count == 3 }
        #expect(try await penumbra("cancel", "test").code == 0)
        #expect(program.finish().code == 130)
        try gate.open(for: 30)
        let done = workspace.files(below: "out").count
        let name = try #require(try await runNames().first)
        let left = "\(20 - done) frame\(done == 19 ? "" : "s") left"
        #expect(try await penumbra("retry", name).output == "\(name): no frame failed; \(left): --state left\n")
        let wrong = try await penumbra("retry", name, "--frames", "20")
        #expect(wrong.code == 66)
        #expect(wrong.errors == "\(name): no such frames were begun; \(left): --state left\n")
        // A small retry is not what a later one means by the job's latest run.
        #expect(try await penumbra("retry", "test", "--frames", "1").code == 0)
        let retried = try await penumbra("retry", "test", "--state", "left")
        #expect(retried.output.contains("test: \(20 - done) published in "))
        #expect(workspace.files(below: "out").count == 20)
    }

    @Test func `a retry of what was left has no frame that the run skipped`() async throws {
        let gate = try await gate()
        try gate.open(for: 5)
        #expect(try await Program.night(workspace, "--limit", "5") == NightSummary(published: 5))
        try gate.open(for: 3)
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        program.wait { finishedOutputs.count == 8 }
        #expect(try await penumbra("cancel", "test").code == 0)
        #expect(program.finish().code == 130)
        let left = 20 - published.count
        try gate.open(for: 30)
        #expect(
            try NightSummary(await penumbra("retry", "test", "--state", "left", "--json"))
                == NightSummary(published: left))
        #expect(published.count == 20)
    }

    @Test func `what a deadline left is done by a retry with another deadline, and resume says so`() async throws {
        let gate = try await gate()
        try gate.open(for: 3)
        let command = ["run", "job.yaml", "--workers", "1", "--deadline", "2", "--json"]
        let first = try NightSummary(await Program.run(Program.penumbra, command, in: workspace))
        #expect(first.exitCode == 3 && first.left > 0)
        let name = try #require(try await runNames().first)
        let words =
            "\(name): has ended, with \(first.left) frames left; 'penumbra run job.yaml' or 'penumbra retry \(name) --state left' does "
            + "the rest\n"
        #expect(try await penumbra("resume", "test").output == words)
        #expect(try await penumbra("resume").output == "no run was interrupted\n" + words)
        try gate.open(for: 30)
        let retried = try await penumbra("retry", "test", "--state", "left", "--deadline", "1h", "--workers", "2")
        #expect(try NightSummary(retried).exitCode == 0)
        #expect(published.count == 20)
        #expect(try await penumbra("show", "--json").output.contains(#""workers":2"#))
        #expect(try await penumbra("retry", "test", "--workers", "0").code == 64)
    }

    @Test func `retries of what a deadline left of a run with --force come to an end`() async throws {
        let gate = try await gate()
        let command = ["run", "job.yaml", "--force", "--workers", "1", "--deadline", "2", "--json"]
        try gate.open(for: 8)
        var last = try NightSummary(await Program.run(Program.penumbra, command, in: workspace))
        var (published, retries) = (last.published, 0)
        while last.exitCode == 3, retries < 60 {
            try gate.open(for: 8)
            last = try NightSummary(await penumbra("retry", "test", "--state", "left"))
            #expect(last.published + last.skipped + last.left == 20 && last.skipped == published, "\(last)")
            published += last.published
            retries += 1
        }
        #expect(last.exitCode == 0 && published == 20, "after \(retries) retries")
    }

    @Test func `a retry of what was left that is killed is gone on with, and makes nothing twice`() async throws {
        let gate = try await gate()
        try workspace.writeManifest(filters: "[\(Gate.filter)]", more: "shard: frame\n\(Gate.patience)")
        try gate.open(for: 3)
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        program.wait { published.count == 3 }
        #expect(try await penumbra("cancel", "test").code == 0)
        #expect(program.finish().code == 130)
        let first = published.count
        try gate.open(for: 2)
        let retry = try RunningProgram(["retry", "test", "--state", "left"], in: workspace)
        retry.wait { published.count >= first + 2 }
        kill(retry.processID, SIGKILL)
        _ = retry.finish()
        let second = published.count
        let times = try modificationTimes()
        try gate.open(for: 30)
        #expect(
            try await penumbra("resume").output.contains(
                "test: \(20 - second) published, \(second - first) skipped in "))
        #expect(try modificationTimes().filter { times[$0.key] != nil } == times)
        // What is meant by the job's latest run is the one that was no retry.
        let name = try #require(try await runNames().last)
        #expect(
            try await penumbra("retry", "test").output
                == "\(name): no frame failed; \(20 - first) frames left: --state left\n")
    }

    @Test func `what a deadline had no time for comes last in the next night`() async throws {
        let gate = try await gate()
        let first = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        first.wait { first.workers.contains { openFiles(of: $0).contains { $0.hasSuffix("/gate") } } }
        #expect(try await penumbra("cancel", "test").code == 0)
        _ = first.finish()
        #expect(published == [])
        // As if its deadline had ended it.
        try await workspace.editDatabase("UPDATE runs SET exit_code = 3")
        try gate.open(for: 3)
        let second = try RunningProgram(["run", "job.yaml", "--workers", "1", "--deadline", "1h"], in: workspace)
        second.wait { published.count == 3 }
        #expect(try await penumbra("cancel", "test").code == 0)
        _ = second.finish()
        #expect(published.count == 3 && !published.contains("10.png"), "\(published)")
    }

    @Test func `--limit takes pictures in the order of the job, also those that a deadline had no time for`()
        async throws
    {
        let gate = try await gate()
        let first = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        first.wait { first.workers.contains { openFiles(of: $0).contains { $0.hasSuffix("/gate") } } }
        #expect(try await penumbra("cancel", "test").code == 0)
        _ = first.finish()
        try await workspace.editDatabase("UPDATE runs SET exit_code = 3")
        try gate.open(for: 3)
        let second = try await penumbra("run", "job.yaml", "--workers", "1", "--deadline", "1h", "--limit", "3")
        #expect(second.code == 0)
        #expect(published == ["10.png", "11.png", "12.png"])
    }

    private func modificationTimes() throws -> [String: Date?] {
        Dictionary(uniqueKeysWithValues: try published.map { ($0, try workspace.modified("out/\($0)")) })
    }

    /// Without what is being written beside them.
    private var published: [String] { workspace.files(below: "out").filter { !$0.hasPrefix(".") } }

    @Test func `pictures that are still broken are retried after later runs, too`() async throws {
        try workspace.write("no picture", to: "photos/12.png")
        try workspace.age("photos/12.png")
        #expect(try await penumbra("run", "job.yaml").code == 1)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 19, stillBroken: 1))
        let name = try #require(try await runNames().first)
        let shown = try await penumbra("show")
        #expect(
            shown.output.contains(
                """
                frames    20: 19 skipped, 1 still broken
                still broken
                  photos/12.png: not a picture that Penumbra reads ('penumbra formats' lists them) (since
                """), "\(shown.output)")
        #expect(try await penumbra("show", "--json").output.contains(#""event":"broken","frame":"#))
        #expect(
            try await penumbra("logs", "test").output
                == "\(name): no task was tried, since there was nothing to do; 'penumbra show \(name)' shows the results of its frames\n"
        )
        let retried = try await penumbra("retry", "test")
        #expect(try NightSummary(retried) == NightSummary(failed: 1, exitCode: 1))
    }

    @Test func `where there is nothing to repeat that is said in JSON, too`() async throws {
        _ = try await Program.night(workspace)
        for command in [["retry", "test"], ["resume"]] {
            let result = try await Program.run(Program.penumbra, command + ["--json"], in: workspace)
            let lines = result.output.split(separator: "\n")
            #expect(lines.first?.contains(#""schema":1"#) == true, "\(command)")
            #expect(lines.last?.contains(#""event":"summary""#) == true, "\(command)")
        }
    }

    private func runNames() async throws -> [String] {
        try await penumbra("status", "--all", "--json").output.split(separator: "\n").compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["run"] as? String
        }
    }

    @Test func `history is forgotten when asked, and outputs are not`() async throws {
        for _ in 0..<3 { _ = try await Program.night(workspace) }
        #expect(try await runNames().count == 3)
        let name = try #require(try await runNames().first)
        #expect(try await penumbra("show", String(name.dropLast(3))).code == 0)
        #expect(try await penumbra("show", "2").errors.hasPrefix("3 runs begin with '2'\n   = give more of the name"))
        #expect(
            try await penumbra("show", "nobody").errors
                == "no run or job is called 'nobody'\n   = 'penumbra status' lists them\n")
        #expect(
            try await penumbra("logs", "17/frame").errors
                == "no run or job is called '17/frame'\n   = if it is a task, name its run before it: 'penumbra logs RUN 17/frame'\n"
        )
        #expect(try await penumbra("gc", "--keep", "1").output == "2 runs forgotten\n")
        #expect(try await runNames() == [name])
        #expect(try await Program.night(workspace) == NightSummary(skipped: 20))
    }

    @Test func `a run is followed until it ends`() async throws {
        let program = try RunningProgram(["run", "job.yaml", "--quiet"], in: workspace)
        program.wait { workspace.exists("out/10.png") }
        kill(program.processID, SIGSTOP)
        let follower = try RunningProgram(["status", "--follow", "--json"], in: workspace)
        let reader = try RunningProgram(["status", "--follow"], in: workspace)
        kill(program.processID, SIGCONT)
        #expect(program.finish().code == 0)
        let (lines, text) = (follower.finish(), reader.finish())
        #expect(lines.code == 0 && text.code == 0)
        let runs = lines.output.split(separator: "\n").filter { $0.contains(#""event":"run""#) }
        #expect(runs.first?.contains(#""state":"running""#) == true)
        #expect(runs.last?.contains(#""state":"done""#) == true)
        #expect(Set(runs).count == runs.count)
        #expect(text.output.split(separator: "\n").last?.contains("  test  done ") == true)
    }

    @Test func `every command about runs speaks JSON lines`() async throws {
        _ = try await Program.night(workspace)
        for command in [["status"], ["show"], ["logs", "test"], ["wait"], ["cancel"], ["gc"]] {
            let result = try await Program.run(Program.penumbra, command + ["--json"], in: workspace)
            let lines = result.output.split(separator: "\n")
            #expect(lines.first?.contains(#""schema":1"#) == true, "\(command)")
            #expect(lines.last?.contains(#""event":"summary""#) == true, "\(command)")
            for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        }
    }
}
