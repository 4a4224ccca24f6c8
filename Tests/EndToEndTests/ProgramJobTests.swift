import ExamplePictures
import Foundation
import Raster
import Testing

/// Programs of the settings as filters of jobs, from the manifest to real workers.
@Suite(.serialized) struct ProgramJobTests {
    private let workspace: Workspace
    private static let inverting = """
        #!/usr/bin/perl
        binmode STDIN; binmode STDOUT; local $/;
        my ($head, $samples) = <STDIN> =~ /^(P[56]\\s\\d+\\s\\d+\\s255\\s)(.*)/s or die "not a picture of 8 bits\\n";
        print $head, ~$samples;

        """
    private static let same = "#!/bin/sh\ncat\n"

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try write(Self.inverting)
        try allow("negative: \(workspace.path)/bin/negative")
        try writeManifest("[{run: {command: [negative, -x], format: ppm}}]")
    }

    private func writeManifest(_ filters: String, more: String = "") throws {
        try workspace.writeManifest(
            inputs: "photos/a.png", filters: filters, more: "existing: update\nsave: {precision: 8}\n\(more)")
    }

    private func write(_ program: String, mode: Int = 0o755) throws {
        try workspace.write(program, to: "bin/negative")
        try FileManager.default.setAttributes(
            [.posixPermissions: mode], ofItemAtPath: "\(workspace.path)/bin/negative")
    }

    private func allow(_ program: String) throws {
        try workspace.write("programs:\n  \(program)\n", to: "config/penumbra/penumbra.yaml")
    }

    private func penumbra(_ arguments: String..., environment: [String: String] = [:]) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace, environment: environment)
    }

    private var output: AnyRaster { get throws { try PictureFiles.read("\(workspace.path)/out/a.png") } }
    private var photo: AnyRaster { get throws { try PictureFiles.read("\(workspace.path)/photos/a.png") } }

    private var negative: AnyRaster {
        get throws {
            guard case .u8(let raster) = try photo else {
                Issue.record("the photo has 8 bits")
                return try photo
            }
            return .u8(Raster(rect: raster.rect, layout: raster.layout, samples: raster.samples.map { 255 - $0 }))
        }
    }

    @Test func `a program filters pictures, in a required sandbox, in tiles and in any number of workers`() async throws
    {
        for options in [
            ["--workers", "1"], ["--workers", "3"], ["--set", "shard=tile", "--set", "tile=50"],
            ["--set", "verify=full"], ["--set", "verify=audit"],
        ] {
            let result = try await Program.run(
                Program.penumbra, ["run", "job.yaml", "--force"] + options, in: workspace,
                environment: ["PENUMBRA_SANDBOX": "require"])
            #expect(result.code == 0, "\(options): \(result.errors)")
            #expect(try output == negative, "\(options)")
        }
    }

    @Test func `a changed program makes outputs stale, and the same program does not`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try output == negative)
        // Another time of the same file is no change.
        try write(Self.inverting)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        try write(Self.same)
        let plan = try await penumbra("plan", "job.yaml")
        #expect(plan.output.contains("command negative has changed"), "\(plan.output)")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try output == photo)
        try writeManifest("[{run: {command: [negative, -y], format: ppm}}]")
        let other = try await penumbra("plan", "job.yaml")
        #expect(other.output.contains("command [negative, \"-x\"] → [negative, \"-y\"]"), "\(other.output)")
    }

    @Test func `plan says that a program needs the whole picture`() async throws {
        let plan = try await penumbra("plan", "job.yaml")
        #expect(plan.output.contains("another program filters the whole picture"), "\(plan.output)")
    }

    @Test func `the receipt has the command and the digest of its program`() async throws {
        try writeManifest("[{run: {command: [negative, -x], format: ppm}}]", more: "receipts: sidecar")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 0, "\(result.errors)")
        let sum = try await Program.run("/usr/bin/sha256sum", ["bin/negative"], in: workspace).output.prefix(64)
        let name = try #require(workspace.files(below: "out").first { $0.hasSuffix(".json") })
        let text = String(decoding: try workspace.read("out/\(name)"), as: UTF8.self)
        #expect(text.contains(#"[negative, \"-x\"] \#(sum)"#), "\(text)")
    }

    @Test func `a program that is not allowed is an error of the manifest`() async throws {
        try writeManifest("[{run: [sharpen2, -x]}]")
        for command in ["check", "plan", "run"] {
            let result = try await penumbra(command, "job.yaml")
            #expect(result.code == 65)
            #expect(
                result.errors.contains(
                    "job.yaml:3:18: error: the settings of this machine allow no program 'sharpen2'\n"),
                "\(result.errors)")
            #expect(result.errors.contains("; allowed are 'negative'"), "\(result.errors)")
        }
        #expect(!workspace.exists("out"))
    }

    @Test func `a program that cannot be executed is reported before anything starts, and by doctor`() async throws {
        try write(Self.same, mode: 0o644)
        for command in ["check", "run"] {
            let result = try await penumbra(command, "job.yaml")
            #expect(result.code == 65)
            #expect(
                result.errors.contains(
                    "/bin/…': this user may not execute it; run chmod +x on it"), "\(result.errors)")
            #expect(result.errors.contains("error: the program 'negative', '/"), "\(result.errors)")
        }
        let doctor = try await penumbra("doctor")
        #expect(
            doctor.output.contains(
                "FAIL  program 'negative', \(workspace.path)/bin/negative: this user may not execute it; run chmod +x on it"
            ), "\(doctor.output)")
        #expect(doctor.code == 69)
        try write(Self.same)
        #expect(
            try await penumbra("doctor").output.contains(
                "ok    program 'negative', \(workspace.path)/bin/negative: manifests may run it"))
    }

    @Test func `a program that fails costs its picture and no other`() async throws {
        try write("#!/bin/sh\nhead -c 20 | grep -q 151 && { echo 'no model found' >&2; exit 3; }\nexit 4\n")
        try workspace.writeManifest(
            inputs: "[photos/a.png, photos/b.png]", filters: "[{run: {command: [negative], format: ppm}}]",
            more: "save: {precision: 8}")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(
            result.errors.contains("the program 'negative' ended with exit code 3: no model found"), "\(result.errors)")
        #expect(result.errors.contains("the program 'negative' ended with exit code 4"), "\(result.errors)")
    }

    @Test func `an output of a program that has changed cannot be rendered again`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let same = try await penumbra("verify", "--rerender", "job.yaml")
        #expect(same.code == 0, "\(same.output)\(same.errors)")
        try write(Self.same)
        let changed = try await penumbra("verify", "--rerender", "job.yaml")
        #expect(
            changed.errors.contains("the program 'negative' has changed since"), "\(changed.output)\(changed.errors)")
    }

    @Test func `the example runs with its own settings`() async throws {
        for folder in ["Examples/program-filter", "jobs/photos"] {
            let target = URL(filePath: "\(workspace.path)/\(folder)")
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: ExampleTests.project.appending(path: folder), to: target)
        }
        let folder = "Examples/program-filter"
        let result = try await penumbra(
            "run", "--config", "\(folder)/penumbra.yaml", "\(folder)/negatives.yaml", "--set", "min_age=0")
        #expect(result.code == 0, "\(result.errors)")
        #expect(!workspace.files(below: "\(folder)/out").isEmpty)
    }
}
