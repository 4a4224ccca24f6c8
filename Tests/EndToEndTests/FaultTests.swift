import Foundation
import Glibc
import TestSupport
import Testing

/// Processes that are killed for real.
@Suite(.serialized) struct FaultTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 600, height: 450)
        try workspace.draw("photos/b.jpg", width: 500, height: 700)
        try workspace.draw("photos/c.png", width: 333, height: 211)
    }

    private func writeManifest(_ shard: String) throws {
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 18}}, {motion: {radius: 20, angle: 40, samples: continuous}}]",
            more: "shard: \(shard)\ntile: 110")
    }

    @Test(arguments: ["tile", "frame"])
    func `workers killed at random moments change no byte`(shard: String) async throws {
        try writeManifest(shard)
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        let calm = try workspace.files(below: "out").map { try workspace.read("out/\($0)") }

        var random = SplitMix64(seed: 42)
        let program = try RunningProgram(["run", "--json", "job.yaml"], in: workspace)
        var kills = 0
        // No more than a task may take: a slow machine could start no worker between two kills.
        while program.isRunning, kills < 15 {
            usleep(UInt32.random(in: 40_000...160_000, using: &random))
            guard let worker = program.workers.randomElement(using: &random) else { continue }
            if kill(worker, SIGKILL) == 0 { kills += 1 }
        }
        let result = program.finish()
        #expect(result.code == 0, "\(result.errors)\(result.output)")
        #expect(kills > 0)
        #expect(try workspace.files(below: "out").map { try workspace.read("out/\($0)") } == calm)
        #expect(workspace.files(below: "state/penumbra/runs") == [])
    }

    @Test(arguments: [(SIGINT, Int32(130), "Ctrl-C"), (SIGTERM, 143, "SIGTERM")])
    func `an interrupted run ends its workers and leaves nothing partial`(
        signal: Int32, code: Int32, name: String
    ) async throws {
        try writeManifest("tile")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { !workspace.files(below: "state/penumbra/runs").filter { $0.contains("/tile-") }.isEmpty }
        let workers = program.workers
        kill(program.processID, signal)
        let result = program.finish()
        #expect(result.code == code)
        #expect(
            result.errors.contains(
                "test: stopped by \(name); finished outputs are in place, nothing is half-written"))
        #expect(result.output.contains(" left in "))
        #expect(workspace.files(below: "out").allSatisfy { !$0.contains(".penumbra-") })
        #expect(workspace.files(below: "state/penumbra/runs") == [])
        #expect(workers.allSatisfy { !isAlive($0) })
    }

    @Test
    func `whoever does not read what a run prints keeps it from ending for some seconds, or until a second signal`()
        async throws
    {
        try workspace.writeManifest("lines.yaml", output: "out/{stem}.png")
        try workspace.draw("photos/small.png", width: 40, height: 30)
        let picture = try workspace.read("photos/small.png")
        let count = 400
        // More lines than a pipe takes.
        for number in 0..<count {
            let name = "photos/\(String(repeating: "long-", count: 20))\(number).png"
            try picture.write(to: URL(filePath: "\(workspace.path)/\(name)"))
        }
        let program = try RunningProgram(["run", "lines.yaml", "--json"], in: workspace)
        program.wait {
            workspace.files(below: "out").count { $0.hasSuffix(".png") && !$0.contains("penumbra") } >= count
        }
        // Two of a kind may come as one.
        kill(program.processID, SIGTERM)
        kill(program.processID, SIGINT)
        program.wait { false }
        let result = program.finish()
        #expect([130, 143].contains(result.code), "\(result.errors)")
        #expect(result.errors.contains("standard output is not read: "), "\(result.errors)")
        #expect(!result.output.contains(#""event":"summary""#))
        // The run itself has ended, and knows of all outputs.
        #expect(workspace.files(below: "state/penumbra/runs") == [])
        let next = try await Program.run("run", "lines.yaml", in: workspace)
        #expect(next.code == 0, "\(next.errors)")
        let status = try await Program.run("status", "--json", in: workspace)
        #expect(!status.output.contains(#""state":"interrupted""#), "\(status.output)")
    }

    @Test func `what a killed coordinator left is removed by the next run, and its workers leave`() async throws {
        try writeManifest("tile")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { !workspace.files(below: "state/penumbra/runs").filter { $0.contains("/tile-") }.isEmpty }
        let workers = program.workers
        kill(program.processID, SIGKILL)
        #expect(program.finish().code == 128 + SIGKILL)
        #expect(!workspace.files(below: "state/penumbra/runs").isEmpty)
        while workers.contains(where: isAlive) { usleep(1000) }

        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(workspace.files(below: "state/penumbra/runs") == [])
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    @Test func `a signal ends the wait for a lock`() async throws {
        try writeManifest("tile")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { !workspace.files(below: "state/penumbra/runs").filter { $0.contains("/canvas-") }.isEmpty }
        kill(program.processID, SIGSTOP)
        let waiting = try RunningProgram(["run", "job.yaml", "--lock-wait", "600"], in: workspace)
        waiting.wait { waiting.openFiles.contains { $0.contains("/locks/") } }
        kill(waiting.processID, SIGINT)
        #expect(waiting.finish().code == 130)
        kill(program.processID, SIGCONT)
        #expect(program.finish().code == 0)
    }

    @Test func `two runs of one job exclude each other`() async throws {
        try writeManifest("tile")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { !program.workers.isEmpty && workspace.exists("state/penumbra/locks") }
        program.wait { !workspace.files(below: "state/penumbra/runs").isEmpty }
        let second = try await Program.run("run", "job.yaml", in: workspace)
        #expect(second.code == 75)
        #expect(
            second.errors == "test: another run of this job is running; --lock-wait TIME, such as 5m, waits for it\n")
        let third = try await Program.run("run", "job.yaml", "--lock-wait", "600", in: workspace)
        #expect(third.code == 0)
        #expect(program.finish().code == 0)
    }

    @Test func `the harness removes only its own folder`() async throws {
        try workspace.write("mine", to: "place/diary.txt")
        let result = try await Program.run(
            "\(Program.folder)/penumbra-faults",
            ["run", "--seed", "1", "--kind", "calm", "--folder", "\(workspace.path)/place"], in: workspace)
        #expect(result.code == 0, "\(result.output)\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/place") == ["diary.txt"])
    }

    /// The one that goes on may be stopped while it has the database, and nobody else can open it then.
    @Test func `a run is refused without a look at the database`() async throws {
        try writeManifest("tile")
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { !workspace.files(below: "state/penumbra/runs").filter { $0.contains("/canvas-") }.isEmpty }
        kill(program.processID, SIGSTOP)
        let database = "\(workspace.path)/state/penumbra/penumbra.sqlite"
        #expect(rename(database, database + "-away") == 0)
        try Data("no database".utf8).write(to: URL(filePath: database))
        let second = try await Program.run("run", "job.yaml", in: workspace)
        #expect(second.code == 75, "\(second.errors)")
        #expect(rename(database + "-away", database) == 0)
        kill(program.processID, SIGCONT)
        #expect(program.finish().code == 0)
    }
}
