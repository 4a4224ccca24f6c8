import Foundation
import Testing

/// What was exported makes the same bytes as `penumbra run`.
@Suite(.serialized) struct ExportedRunTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    /// What `penumbra run` makes, which is then gone again.
    private func reference() async throws -> [String: Data] {
        let run = try await Program.run("run", "job.yaml", in: workspace)
        #expect(run.code == 0, "\(run.errors)")
        let made = try outputs()
        #expect(!made.isEmpty)
        for name in ["out", "state"] { try FileManager.default.removeItem(atPath: "\(workspace.path)/\(name)") }
        return made
    }

    private func outputs() throws -> [String: Data] {
        let names = workspace.files(below: "out").filter { !$0.hasPrefix(".") }
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try workspace.read("out/\($0)")) })
    }

    /// A template in a folder of its own, run by the command that is told with it.
    private func runTemplate(shards: Int) async throws -> Program.Result {
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/my templates", withIntermediateDirectories: true)
        let export = try await Program.run(
            "export", "--to", "openjd", "job.yaml", "--shards", String(shards), "--output",
            "my templates/template.yaml",
            in: workspace)
        #expect(export.code == 0, "\(export.errors)")
        let command = try #require(export.errors.split(separator: "hint: to run it on this machine: ").last)
        return try await Program.run(
            "/bin/sh", ["-c", String(command)], in: workspace, environment: ["PATH": "\(OpenJD.folder):/usr/bin:/bin"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `several photos, by the runner of Open Job Description`() async throws {
        try workspace.drawPhotos()
        try workspace.writeManifest(output: "out/it's {stem}.png")
        let wanted = try await reference()
        let result = try await runTemplate(shards: 2)
        #expect(result.code == 0, "\(result.output)\(result.errors)")
        #expect(try outputs() == wanted)
        #expect(result.output.contains("openjd_progress: 100"))
        #expect(result.output.contains("Session ended successfully"))
        #expect(result.output.contains("Chunks run: 4\n"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `a template may be submitted again, and does what is new`() async throws {
        try workspace.drawPhotos()
        try workspace.writeManifest(more: "existing: update")
        let wanted = try await reference()
        let photo = try workspace.read("photos/c.jpg")
        try FileManager.default.removeItem(atPath: "\(workspace.path)/photos/c.jpg")
        let first = try await runTemplate(shards: 2)
        #expect(first.output.contains("test: 2 published"), "\(first.output)")
        try workspace.write(photo, to: "photos/c.jpg")
        for said in ["test: 1 published, 2 skipped", "test: 0 published, 3 skipped"] {
            let again = try await OpenJD.run(
                "run", "my templates/template.yaml", "-p", "Manifest=\(workspace.path)/job.yaml", "-p",
                "Inputs=\(workspace.path)/photos", "-p", "Outputs=\(workspace.path)/out", "-p",
                "RunDir=\(workspace.path)/out/.penumbra-openjd-test", in: workspace)
            #expect(again.code == 0, "\(again.output)")
            #expect(again.output.contains(said), "\(again.output)")
        }
        #expect(try outputs() == wanted)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a picture in tiles, by the runner of Open Job Description`() async throws {
        try workspace.draw("photos/eclipse.png", width: 640, height: 500)
        try workspace.writeManifest(more: "shard: tile\ntile: 128")
        let wanted = try await reference()
        let result = try await runTemplate(shards: 3)
        #expect(result.code == 0, "\(result.output)\(result.errors)")
        #expect(try outputs() == wanted)
        // Each shard has some of the tiles.
        #expect(result.output.split(separator: "\n").count { $0.contains(" task") && $0.contains(", 0 failed") } == 3)
        #expect(!result.output.contains(": 0 tasks, 0 failed"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `a broken picture is told at the end, and the others are there`() async throws {
        try workspace.drawPhotos()
        try workspace.writeManifest()
        let wanted = try await reference()
        try workspace.write("no picture", to: "photos/notes.png")
        let result = try await runTemplate(shards: 2)
        #expect(result.code == 1, "\(result.output)\(result.errors)")
        #expect(result.output.contains("photos/notes.png"))
        #expect(result.output.contains("openjd_fail: penumbra resume has ended with exit code 1\n"))
        #expect(try outputs() == wanted)
    }

    /// With programs in the place of Slurm's that do at once what they are given; a real cluster does it in Tests/Slurm.
    @Test(.timeLimit(.minutes(5)))
    func `a folder for Slurm, submitted as it is told`() async throws {
        try workspace.drawPhotos()
        try workspace.writeManifest(more: "slurm: {cpus_per_task: 2}")
        let wanted = try await reference()
        let export = try await Program.run(
            "export", "--to", "slurm", "job.yaml", "--shards", "3", "--output", "my farm", in: workspace)
        #expect(export.code == 0, "\(export.errors)")
        try standIns()
        let command = try #require(export.errors.split(separator: "hint: to submit it: ").last)
        let result = try await Program.run(
            "/bin/sh", ["-c", String(command)], in: workspace,
            environment: ["PATH": "\(workspace.path)/bin:/usr/bin:/bin"])
        #expect(result.code == 0, "\(result.output)\(result.errors)")
        #expect(try outputs() == wanted, "\(result.errors)")
    }

    private func standIns() throws {
        let sbatch = """
            for script; do :; done
            case "$script" in
            render.sh) for number in 1 2 3; do SLURM_ARRAY_TASK_ID=$number SLURM_CPUS_PER_TASK=2 sh render.sh >&2; done ;;
            *) SLURM_CPUS_PER_TASK=2 sh "$script" >&2 ;;
            esac
            echo 7
            """
        for (name, script) in [("sbatch", sbatch), ("scontrol", "echo 'MaxArraySize = 1001'"), ("scancel", "exit 1")] {
            try workspace.write("#!/bin/sh\n\(script)\n", to: "bin/\(name)")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: "\(workspace.path)/bin/\(name)")
        }
    }
}
