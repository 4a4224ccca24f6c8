import Foundation
import Glibc
import Testing
import TestSupport

/// Pictures that filters read, in all that happens to jobs: kills, watches, exports.
@Suite(.serialized) struct MaskJobTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 900, height: 700)
        try workspace.age("photos/a.png")
        try drawMask(brightest: 255, in: workspace)
        try writeJob()
    }

    private func writeJob(_ more: String = "shard: tile\ntile: 128") throws {
        try workspace.writeManifest(
            filters: "[{variable: {radius: 9, mask: masks/m.pgm}}, {motion: {radius: 120, samples: continuous}}]",
            more: "existing: update\n\(more)")
    }

    private func drawMask(brightest: Int, in workspace: Workspace) throws {
        let row = (0..<60).map { UInt8($0 * brightest / 59) }
        var data = Data("P5\n60 50\n255\n".utf8)
        for _ in 0..<50 { data.append(contentsOf: row) }
        try workspace.write(data, to: "masks/m.pgm")
        try workspace.age("masks/m.pgm")
    }

    /// What an undisturbed run makes with a mask.
    private func calm(brightest: Int) async throws -> [String: Data] {
        let other = try Workspace()
        for name in ["photos/a.png", "job.yaml"] { try other.write(try workspace.read(name), to: name) }
        try drawMask(brightest: brightest, in: other)
        let result = try await Program.run("run", "job.yaml", "--quiet", in: other)
        #expect(result.code == 0, "\(result.errors)")
        return try other.contents(below: "out")
    }

    private func killRun() throws {
        let program = try RunningProgram(["run", "job.yaml"], in: workspace)
        program.wait { workspace.files(below: "state/penumbra/runs").count { $0.contains("/tile-") } > 5 }
        let workers = program.workers
        kill(program.processID, SIGKILL)
        _ = program.finish()
        while workers.contains(where: isAlive) { usleep(1000) }
        #expect(workspace.files(below: "out") == [])
    }

    @Test func `a run that was killed goes on with its mask`() async throws {
        let calm = try await calm(brightest: 255)
        try killRun()
        let result = try await Program.run("resume", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(try workspace.contents(below: "out") == calm)
        #expect(workspace.leftovers() == [])
    }

    @Test func `nothing of a killed run is used whose mask has changed since`() async throws {
        let calm = try await calm(brightest: 90)
        try killRun()
        try drawMask(brightest: 90, in: workspace)
        let result = try await Program.run("resume", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(try workspace.contents(below: "out") == calm)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
    }

    @Test func `a watch makes outputs again when their mask changes`() async throws {
        try writeJob("shard: frame")
        let changed = try await calm(brightest: 90)
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        program.wait { workspace.exists("out/a.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        let first = try workspace.read("out/a.png")
        try drawMask(brightest: 90, in: workspace)
        program.wait { ((try? workspace.read("out/a.png")) ?? first) != first }
        program.wait { workspace.files(below: "state/penumbra/runs").isEmpty }
        kill(program.processID, SIGTERM)
        let result = program.finish()
        #expect(result.code == 0 || result.code == 143)
        #expect(try workspace.contents(below: "out") == changed)
        #expect(first != changed["a.png"])
    }

    @Test func `an exported job finds its mask wherever cron starts it, and refuses one that is not there`()
        async throws
    {
        let calm = try await calm(brightest: 255)
        let arguments = ["export", "--to", "crontab", "--schedule", "15 2 * * *", "job.yaml"]
        let exported = try await Program.run(Program.penumbra, arguments, in: workspace)
        #expect(exported.code == 0, "\(exported.errors)")
        let command = exported.output.split(separator: " ", maxSplits: 5)[5]
        let ran = try await Program.run("/bin/sh", ["-c", "cd / && \(command)"], in: workspace)
        #expect(ran.code == 0, "\(ran.errors)")
        #expect(try workspace.contents(below: "out") == calm)
        try workspace.remove("masks/m.pgm")
        let refused = try await Program.run(Program.penumbra, arguments, in: workspace)
        #expect(refused.code == 65)
        #expect(refused.output == "")
        #expect(refused.errors.contains("error: the picture of 'mask', 'masks/m.pgm': no such file\n"))
    }
}
