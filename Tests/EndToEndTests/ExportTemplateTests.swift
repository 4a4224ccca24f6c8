import Foundation
import Testing

/// Templates of Open Job Description, which its reference runner takes and runs.
@Suite(.serialized) struct ExportTemplateTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.writeManifest()
    }

    private func export(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["export", "--to", "openjd"] + arguments, in: workspace)
    }

    @Test func `the runner is the version that was tried`() async throws {
        #expect(try await OpenJD.run("--version", in: workspace).output == OpenJD.version)
    }

    @Test func `standard output holds the template alone, and the rest is told beside it`() async throws {
        let result = try await export("job.yaml", "--shards", "2", "--workers", "2", "--set", "tile=256")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("specificationVersion: jobtemplate-2023-09\nname: test\n"))
        #expect(!result.output.contains("hint"))
        #expect(
            result.errors == """
                hint: 2 shards of about 39 ms on 2 cores, by the headers of 3 pictures; --shards and --workers change that
                hint: to run it on this machine when it is saved as template.yaml: openjd run template.yaml \
                -p Manifest=\(workspace.path)/job.yaml -p Inputs=\(workspace.path)/photos -p Outputs=\(workspace.path)/out \
                -p RunDir=\(workspace.path)/out/.penumbra-openjd-test

                """)
        #expect(!workspace.exists("out"))
    }

    @Test func `the runner finds nothing wrong with a template, and the tasks that were asked for`() async throws {
        try workspace.write("workers: 3\n", to: "farm.yaml")
        let result = try await export(
            "job.yaml", "--shards", "7", "--config", "farm.yaml", "--set", "tile=256", "--output", "template.yaml")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output == "")
        let check = try await OpenJD.run("check", "template.yaml", in: workspace)
        #expect(check.code == 0, "\(check.output)")
        let summary = try await OpenJD.run("summary", "template.yaml", in: workspace)
        #expect(summary.code == 0, "\(summary.output)")
        #expect(summary.output.contains("'Render' (7 total Tasks)"))
        #expect(summary.output.contains("- Manifest (PATH): \(workspace.path)/job.yaml\n"))
        #expect(summary.output.contains("- Config (PATH): \(workspace.path)/farm.yaml\n"))
        #expect(summary.output.contains("- Workers (INT): 3\n"))
        #expect(summary.output.contains("- Program (STRING): \(Program.penumbra)\n"))
    }

    @Test func `names that mean something elsewhere reach the runner as they are`() async throws {
        let folder = "it's {{Param.Shards}} $HOME"
        try workspace.writeManifest("\(folder)/a: b #c.yaml", inputs: "../photos/*")
        let result = try await export("\(folder)/a: b #c.yaml", "--output", "\(folder)/template.yaml")
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            result.errors.hasSuffix(
                """
                openjd run 'it'\\''s {{Param.Shards}} $HOME/template.yaml' -p Inputs=\(workspace.path)/photos

                """))
        let summary = try await OpenJD.run(
            "summary", "\(folder)/template.yaml", "-p", "Inputs=\(workspace.path)/photos", in: workspace)
        #expect(summary.code == 0, "\(summary.output)")
        #expect(summary.output.contains("- Manifest (PATH): \(workspace.path)/\(folder)/a: b #c.yaml\n"))
    }

    @Test func `a farm's own program is looked up there, on any machine`() async throws {
        let named = try await export("job.yaml", "--program", "penumbra")
        #expect(named.output.contains("    default: penumbra\n"))
        #expect(!named.output.contains("attr.worker.cpu.arch"))
        let path = try await export("job.yaml", "--program", "bin/penumbra")
        #expect(path.output.contains("    default: \(workspace.path)/bin/penumbra\n"))
        #expect(path.output.contains("attr.worker.cpu.arch"))
    }

    @Test func `settings that a farm does not know are told`() async throws {
        try workspace.write("workers: 2\n", to: "config/penumbra/penumbra.yaml")
        let environment = ["PENUMBRA_REDUCE_TRANSPARENCY": "true", "PENUMBRA_NICE": "5", "PENUMBRA_WORKERS": "2"]
        let result = try await Program.run(
            "export", "--to", "openjd", "job.yaml", "--output", "template.yaml", in: workspace, environment: environment
        )
        #expect(result.code == 0)
        #expect(
            result.errors.split(separator: "\n").dropFirst().dropLast() == [
                """
                hint: a farm does not know this shell's PENUMBRA_NICE, PENUMBRA_REDUCE_TRANSPARENCY; use a config file, and \
                give it by --config
                """,
                "hint: the config file \(workspace.path)/config/penumbra/penumbra.yaml applies here; give it by --config to export it, too",
            ])
    }

    @Test func `a file that is there is left as it is`() async throws {
        let manifest = try workspace.read("job.yaml")
        let taken = try await export("job.yaml", "--output", "job.yaml")
        #expect(taken.code == 64)
        #expect(
            taken.errors
                == "job.yaml: the file exists, and --output replaces no file\n   = move it away, or choose another path\n"
        )
        #expect(try workspace.read("job.yaml") == manifest)
        let nowhere = try await export("job.yaml", "--output", "no/template.yaml")
        #expect(nowhere.code == 74)
        #expect(nowhere.errors == "no/template.yaml: the template cannot be saved: No such file or directory\n")
    }

    @Test func `65 and 66: what a run would refuse is refused, and nothing is written`() async throws {
        try workspace.writeManifest("bad.yaml", filters: "[gausian]")
        let bad = try await export("bad.yaml", "--output", "template.yaml")
        #expect(bad.code == 65)
        #expect(bad.errors.hasPrefix("bad.yaml:3:11: error: unknown filter 'gausian'\n"))
        try workspace.writeManifest("empty.yaml", inputs: "photos/*.tif")
        let empty = try await export("empty.yaml", "--output", "template.yaml")
        #expect(empty.code == 66)
        #expect(!workspace.exists("template.yaml"))
    }

    @Test func `64: a name that a template cannot hold`() async throws {
        try workspace.writeManifest("a\nb.yaml")
        let result = try await export("a\nb.yaml")
        #expect(result.code == 64)
        #expect(result.output == "")
        #expect(
            result.errors == """
                '\(workspace.path)/a\\u{a}b.yaml': a template's parameter cannot hold a control character; rename what it names

                """)
    }
}
