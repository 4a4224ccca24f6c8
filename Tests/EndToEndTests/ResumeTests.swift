import Foundation
import Glibc
import Testing
import TestSupport

/// A coordinator that is killed for real, and the one that goes on.
@Suite(.serialized) struct ResumeTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 900, height: 700)
        try workspace.draw("photos/b.png", width: 700, height: 500)
        for name in ["photos/a.png", "photos/b.png"] { try workspace.age(name) }
    }

    private func writeManifest(_ more: String = "", shard: String = "tile") throws {
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 18}}, {motion: {radius: 120, angle: 40, samples: continuous}}]",
            more: "shard: \(shard)\ntile: 128\n\(more)")
    }

    /// What an undisturbed run makes.
    private func calm() throws -> [String: Data] {
        let other = try Workspace()
        for name in ["photos/a.png", "photos/b.png", "job.yaml"] { try other.write(try workspace.read(name), to: name) }
        let program = try RunningProgram(["run", "job.yaml", "--quiet"], in: other)
        #expect(program.finish().code == 0)
        return try other.contents(below: "out")
    }

    private var tiles: Int {
        workspace.files(below: "state/penumbra/runs").count { $0.contains("/tile-") }
    }

    /// Kills the coordinator when so many tiles were begun, and waits for its workers to leave.
    private func killRun(atTile count: Int) throws {
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { tiles >= count }
        let workers = program.workers
        kill(program.processID, SIGKILL)
        _ = program.finish()
        while workers.contains(where: isAlive) { usleep(1000) }
    }

    private struct Attempt: Decodable {
        let task: String
        let epoch: Int
        let state: String
    }

    /// By `penumbra logs`.
    private func attempts() async throws -> [Attempt] {
        let result = try await Program.run("logs", "test", "--json", in: workspace)
        return result.output.split(separator: "\n").compactMap { line in
            try? JSONDecoder().decode(Attempt.self, from: Data(line.utf8))
        }
    }

    private func state() async throws -> String? {
        let result = try await Program.run("status", "--json", in: workspace)
        let line = result.output.split(separator: "\n").first { $0.contains(#""event":"run""#) }
        return try line.flatMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }?["state"]
            as? String
    }

    /// `PENUMBRA_KILLS` at evenly spread moments of the run's tiles: 8, or as many as somebody wants.
    @Test func `whenever a coordinator is killed, the next one renders no tile again, and the bytes are the same`()
        async throws
    {
        try writeManifest("existing: update")
        let calm = try calm()
        let kills = ProcessInfo.processInfo.environment["PENUMBRA_KILLS"].flatMap { Int($0) } ?? 8
        for number in 0..<kills {
            for folder in ["out", "state"] where workspace.exists(folder) { try workspace.remove(folder) }
            try killRun(atTile: 1 + number * 48 / kills)
            guard try await state() == "interrupted" else { continue }
            let done = Set(try await attempts().filter { $0.state == "done" }.map(\.task))
            let result = try await Program.run("resume", in: workspace)
            #expect(result.code == 0, "kill \(number): \(result.errors)")
            let again = try await attempts().filter { $0.epoch == 2 && done.contains($0.task) }.map(\.task)
            #expect(again.filter { $0.contains("/tile-") || $0.contains("/canvas") } == [], "kill \(number)")
            #expect(try workspace.contents(below: "out") == calm, "kill \(number)")
            #expect(workspace.leftovers() == [], "kill \(number)")
            #expect(try await state() == "done")
        }
    }

    @Test func `a run that was begun without a sandbox promises none when it has been resumed with one`() async throws {
        try writeManifest()
        let program = try RunningProgram(
            ["run", "job.yaml"], in: workspace, environment: ["PENUMBRA_SANDBOX": "off"])
        program.wait { tiles >= 4 }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        let result = try await Program.run("resume", "--json", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        let none = #""sandbox":{"calls":false,"files":"any","missing":[]}"#
        #expect(result.output.contains(none), "\(result.output)")
        #expect(try await Program.run("show", "test", "--json", in: workspace).output.contains(none))
    }

    /// Nanoseconds since 1970 end in 2262; file systems go on.
    @Test func `pictures of the year 2300 are gone on with`() async throws {
        try writeManifest("existing: update")
        for name in ["photos/a.png", "photos/b.png"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 10_413_792_000)],
                ofItemAtPath: "\(workspace.path)/\(name)")
        }
        try killRun(atTile: 9)
        let result = try await Program.run("resume", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(try workspace.contents(below: "out") == calm())
        #expect(try await Program.run("run", "job.yaml", in: workspace).output.contains("2 skipped"))
    }

    @Test func `the next run of the manifest goes on as 'resume' does, and makes nothing twice that is made again`()
        async throws
    {
        try writeManifest()
        let calm = try calm()
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { (workspace.exists("out/a.png") || workspace.exists("out/b.png")) && tiles > 3 }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        // Whichever of the two was begun first; one that is still written aside has another name.
        let first = try #require(["out/a.png", "out/b.png"].first(where: workspace.exists))
        let published = try workspace.modified(first)
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(try workspace.modified(first) == published)
        #expect(try workspace.contents(below: "out") == calm)
        #expect(workspace.leftovers() == [])
    }

    @Test func `outputs that were written and not published are adopted once their digests were taken`() async throws {
        try writeManifest("existing: update\nverify: full", shard: "frame")
        let calm = try calm()
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        // The audit follows the writing of a whole output.
        program.wait { workspace.allFiles(below: "out").contains { $0.contains("-frame-") } }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        #expect(try await Program.run("resume", in: workspace).code == 0)
        #expect(try workspace.contents(below: "out") == calm)
        #expect(workspace.leftovers() == [])
    }

    private func sleeper(_ token: String, isWorkers: Bool = true) throws -> pid_t {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sleep")
        process.arguments = ["600"]
        process.environment = ["PENUMBRA_COORDINATOR": token, "PENUMBRA_WORKER_PLUGINS": isWorkers ? "{}" : nil]
            .compactMapValues { $0 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process.processIdentifier
    }

    @Test func `what workers started and left behind is ended by the next coordinator`() async throws {
        try writeManifest("existing: update")
        try killRun(atTile: 3)
        let claim = try #require(
            workspace.files(below: "state/penumbra/runs").first { $0.hasSuffix("/coordinator.1") })
        let secret = String(decoding: try workspace.read("state/penumbra/runs/\(claim)"), as: UTF8.self)
        let token = "\(claim.dropLast("/coordinator.1".count))/\(secret)"
        let child = try sleeper(token)
        // A claim that was copied from another run's folder means none of that run's workers.
        let others = try [sleeper(token + "0"), sleeper("another-run/\(secret)")]
        // Whoever runs a command with that variable is no worker.
        let shell = try sleeper(token, isWorkers: false)
        defer { for process in others + [shell] { kill(process, SIGKILL) } }
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(!isAlive(child))
        #expect(others.allSatisfy(isAlive))
        #expect(isAlive(shell))
    }

    /// Both ends of all pipes of a process.
    private func heldPipes(of process: pid_t) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
        return names.map { "/proc/\(process)/fd/\($0)" }.filter { path in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: path))?.hasPrefix("pipe:") == true
        }.map { open($0, O_RDWR | O_CLOEXEC) }.filter { $0 >= 0 }
    }

    /// A library that keeps a worker from noticing that no more orders come.
    private func deafness() async throws -> String {
        try workspace.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <sys/socket.h>
            #include <unistd.h>
            ssize_t recvmsg(int channel, struct msghdr *message, int flags) {
                ssize_t count = ((ssize_t (*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg"))(channel, message, flags);
                while (count == 0) pause();
                return count;
            }
            """, to: "deaf.c")
        let library = "\(workspace.path)/deaf.so"
        let made = try await Program.run(
            "/usr/bin/gcc", ["-shared", "-fPIC", "-o", library, "deaf.c", "-ldl"], in: workspace)
        try #require(made.code == 0, "\(made.errors)")
        return library
    }

    /// Somebody else holds their pipes, and they are deaf, so that they do not notice that their coordinator is gone.
    @Test(arguments: [["first.yaml", "job.yaml"], ["job.yaml", "first.yaml"]])
    func `workers of any job of a command that stay are ended by that job's next coordinator`(manifests: [String])
        async throws
    {
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(
            filters: "[\(Gate.filter)]", more: "shard: tile\ntile: 128\nexisting: update\n\(Gate.patience)")
        try workspace.write(
            "job: first\ninputs: photos/b.png\nfilters: [invert]\noutput: first/{stem}.png\n", to: "first.yaml")
        try gate.open(for: 1)
        let program = try RunningProgram(
            ["run"] + manifests + ["--workers", "2"], in: workspace, environment: ["LD_PRELOAD": try await deafness()])
        program.wait { tiles > 3 }
        let workers = program.workers
        let pipes = workers.flatMap { heldPipes(of: $0) }
        defer {
            for pipe in pipes { close(pipe) }
            for worker in workers { kill(worker, SIGKILL) }
        }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        #expect(!pipes.isEmpty && workers.contains(where: isAlive))
        let next = try RunningProgram(["run", "job.yaml"], in: workspace)
        next.wait { !workers.contains(where: isAlive) }
        try gate.open(for: 10)
        #expect(next.finish().code == 0)
        #expect(!workers.contains(where: isAlive))
    }

    @Test func `a tile that was damaged meanwhile is rendered again`() async throws {
        try writeManifest("existing: update")
        let calm = try calm()
        try killRun(atTile: 12)
        let runs = "\(workspace.path)/state/penumbra/runs"
        let files = workspace.files(below: "state/penumbra/runs").filter { $0.contains("/tile-") }
        for file in files.prefix(3) {
            let handle = try #require(FileHandle(forWritingAtPath: "\(runs)/\(file)"))
            try handle.write(contentsOf: Data([0xff, 0x00, 0xff]))
            try handle.close()
        }
        #expect(try await Program.run("resume", in: workspace).code == 0)
        #expect(try workspace.contents(below: "out") == calm)
    }

    @Test func `a picture that changed meanwhile is rendered from the beginning`() async throws {
        try writeManifest("existing: update")
        try killRun(atTile: 12)
        try workspace.draw("photos/a.png", width: 640, height: 480)
        try workspace.age("photos/a.png", hours: 1)
        let calm = try calm()
        #expect(try await Program.run("resume", in: workspace).code == 0)
        #expect(try workspace.contents(below: "out") == calm)
        #expect(workspace.leftovers() == [])
    }

    @Test func `a run of some frames that takes the place of an interrupted one says so`() async throws {
        try writeManifest("existing: update")
        try killRun(atTile: 5)
        let words =
            "this run of some frames takes the place of an interrupted run of all\n   = 'penumbra run job.yaml' does the rest\n"
        let some = try await Program.run("run", "job.yaml", "--only", "a.png", in: workspace)
        #expect(some.code == 0)
        #expect((some.output + some.errors).contains(words), "\(some.output)\(some.errors)")
        let all = try await Program.run("run", "job.yaml", in: workspace)
        #expect(all.code == 0 && !(all.output + all.errors).contains("takes the place"))
        #expect(try calm() == workspace.contents(below: "out"))
    }

    @Test func `an interrupted run can be given up`() async throws {
        try writeManifest("existing: update")
        try killRun(atTile: 5)
        let cancelled = try await Program.run("cancel", "test", in: workspace)
        #expect(cancelled.code == 0)
        #expect(cancelled.output.hasSuffix(": given up, and its files are removed\n"))
        #expect(workspace.leftovers() == [])
        #expect(workspace.files(below: "out") == [])
        #expect(try await state() == "stopped")
        #expect(try await Program.run("resume", in: workspace).output == "no run was interrupted\n")
    }

    @Test func `a run whose folder of outputs is gone can be given up`() async throws {
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(
            filters: "[\(Gate.filter)]", more: "shard: frame\nexisting: update\n\(Gate.patience)")
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        program.wait { program.workers.contains { openFiles(of: $0).contains { $0.hasSuffix("/gate") } } }
        let workers = program.workers
        kill(program.processID, SIGKILL)
        _ = program.finish()
        try gate.open(for: 10)
        while workers.contains(where: isAlive) { usleep(1000) }
        try workspace.remove("out")
        let cancelled = try await Program.run("cancel", "test", in: workspace)
        #expect(cancelled.code == 0)
        #expect(cancelled.output == "")
        #expect(
            cancelled.errors.hasSuffix(
                ": given up; some of its files cannot be removed now, for example on a disk that is not mounted; a later run "
                    + "removes them\n"))
        #expect(try await state() == "stopped")
        #expect(try await Program.run("resume", in: workspace).output == "no run was interrupted\n")
        // The first of these makes the folder of outputs, and the second one finds it.
        for _ in 1...2 { #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0) }
        #expect(workspace.leftovers() == [])
    }

    @Test func `whoever repeats a run from another folder can open the paths that are printed`() async throws {
        try workspace.write("no picture", to: "photos/bad.png")
        try writeManifest("existing: update")
        #expect(try await Program.run("run", "job.yaml", in: workspace).errors.contains("photos/bad.png: "))
        let elsewhere = "mkdir elsewhere && cd elsewhere && exec '\(Program.penumbra)' retry"
        let result = try await Program.run("/bin/sh", ["-c", elsewhere], in: workspace)
        #expect(result.code == 1)
        #expect(result.errors.contains("\(workspace.path)/photos/bad.png: "), "\(result.errors)")
    }

    @Test func `what was asked of a killed coordinator is not asked of the next one`() async throws {
        try writeManifest("existing: update")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { tiles > 3 }
        #expect(try await Program.run("pause", "test", in: workspace).code == 0)
        kill(program.processID, SIGKILL)
        _ = program.finish()
        #expect(try await Program.run("resume", in: workspace).code == 0)
        #expect(workspace.files(below: "out") == ["a.png", "b.png"])
    }

    @Test func `of a command with several jobs the interrupted one alone is gone on with`() async throws {
        try writeManifest()
        try workspace.write(
            "job: first\ninputs: photos/b.png\nfilters: [invert]\noutput: first/{stem}.png\n", to: "first.yaml")
        let program = try RunningProgram(["run", "first.yaml", "job.yaml", "--force"], in: workspace)
        program.wait { tiles > 3 }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        try workspace.write("edited", to: "first/b.png")
        #expect(try await Program.run("resume", in: workspace).code == 0)
        #expect(try workspace.read("first/b.png") == Data("edited".utf8))
        #expect(workspace.files(below: "out") == ["a.png", "b.png"])
    }

    @Test func `a job that refuses outputs which are there knows its own`() async throws {
        try writeManifest("existing: error")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { workspace.exists("out/a.png") }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        let result = try await Program.run("resume", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "out") == ["a.png", "b.png"])
    }

    @Test func `--force means what a killed run without it has published, too`() async throws {
        try writeManifest("existing: update")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { workspace.exists("out/a.png") }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        let result = try await Program.run("run", "job.yaml", "--force", in: workspace)
        #expect(result.output.contains("test: 2 published in "), "\(result.output)")
    }

    @Test func `a run that is killed while another one waits for it is gone on with by that one`() async throws {
        try writeManifest("existing: update")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { tiles > 3 }
        kill(program.processID, SIGSTOP)
        let waiting = try RunningProgram(["run", "job.yaml", "--lock-wait", "600"], in: workspace)
        waiting.wait { waiting.openFiles.contains { $0.contains("/state/penumbra/locks/") } }
        kill(program.processID, SIGKILL)
        _ = program.finish()
        #expect(waiting.finish().code == 0)
        #expect(try await attempts().contains { $0.epoch == 2 })
        #expect(workspace.files(below: "out") == ["a.png", "b.png"])
        #expect(workspace.leftovers() == [])
    }

    @Test func `a run whose scratch disk is gone is begun anew, and says so`() async throws {
        try writeManifest("existing: update")
        let calm = try calm()
        let program = try RunningProgram(["run", "job.yaml", "--scratch", "disk"], in: workspace)
        program.wait { workspace.files(below: "disk").count { $0.contains("/tile-") } > 3 }
        let workers = program.workers
        kill(program.processID, SIGKILL)
        _ = program.finish()
        // They write there until they notice.
        while workers.contains(where: isAlive) { usleep(1000) }
        try workspace.remove("disk")
        try workspace.write("not mounted", to: "disk")
        let next = try await Program.run("run", "job.yaml", "--quiet", in: workspace)
        #expect(next.code == 0)
        #expect(next.errors.hasPrefix("test: the interrupted run "))
        #expect(next.errors.contains(" cannot be resumed: \(workspace.path)/disk: cannot create"))
        #expect(try workspace.contents(below: "out") == calm)
        #expect(try await Program.run("run", "job.yaml", "--quiet", in: workspace).errors == "")
        // What it left there is remembered until the disk is back.
        #expect(workspace.leftovers().count == 1)
        try workspace.remove("disk")
        try workspace.write("", to: "disk/.keep")
        #expect(try await Program.run("run", "job.yaml", "--quiet", in: workspace).code == 0)
        #expect(workspace.leftovers() == [])
    }

    @Test func `a coordinator whose run was taken over leaves it alone`() async throws {
        try writeManifest("existing: update")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { tiles > 3 }
        let claim = try #require(
            workspace.files(below: "state/penumbra/runs").first { $0.hasSuffix("/coordinator.1") })
        let folder = "state/penumbra/runs/\(claim.dropLast("/coordinator.1".count))"
        try workspace.write("", to: "\(folder)/coordinator.2")
        let result = program.finish()
        #expect(result.code == 130)
        #expect(result.errors == "test: another coordinator has taken this run over; nothing was undone\n")
        #expect(workspace.exists("\(folder)/journal"))
    }
}
