import Confinement
import Foundation
import Glibc
import Testing

/// `penumbra confined`, by which the service keeps the runs of a token within its folders.
@Suite(
    .serialized,
    .enabled(if: { if case .version = Landlock.support { true } else { false } }(), "this kernel has no Landlock"))
struct ConfinedRunTests {
    let workspace: Workspace
    /// The workspace's real path.
    let top: String

    init() throws {
        workspace = try Workspace()
        top = RealPath.resolve(workspace.path)
        for name in ["a", "b"] { try workspace.draw("root/photos/\(name).png", width: 60, height: 40) }
        try workspace.draw("other/secret.png", width: 60, height: 40)
        try workspace.write("token", to: "service/service.sqlite")
        try FileManager.default.createDirectory(atPath: "\(top)/state/penumbra", withIntermediateDirectories: true)
    }

    /// Executes a command that may change `root` and `state`.
    private func confined(
        _ command: [String], places: [String]? = nil, environment: [String: String] = [:]
    ) async throws -> Program.Result {
        let usual = ["--read", RealPath.resolve(Program.folder), "--write", "\(top)/root", "--write", "\(top)/state"]
        return try await Program.run(
            Program.penumbra, ["confined"] + (places ?? usual) + ["--"] + command, in: workspace,
            environment: environment)
    }

    private func run(
        inputs: String = "photos/*", filters: String = "[{gaussian: {radius: 3}}]", output: String = "out/{stem}.png",
        more: String = ""
    ) async throws -> Program.Result {
        try workspace.writeManifest("root/job.yaml", inputs: inputs, filters: filters, output: output, more: more)
        return try await confined([Program.penumbra, "run", "root/job.yaml"])
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(top)/\(name)", withDestinationPath: target)
    }

    /// Nothing was written outside of the root and the state folder.
    private func expectUntouched() {
        #expect(workspace.allFiles(below: "other") == ["secret.png"])
        #expect(workspace.allFiles(below: "service") == ["service.sqlite"])
    }

    // MARK: Inside

    @Test func `a run inside its folders renders as always`() async throws {
        let result = try await run(more: "index: out/index.json\nreceipts: sidecar")
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            workspace.files(below: "root/out") == [
                "a.png", "a.png.receipt.json", "b.png", "b.png.receipt.json", "index.json",
            ])
        #expect(workspace.exists("state/penumbra/penumbra.sqlite"))
        #expect(workspace.leftovers() == [])
        let free = try Workspace()
        for name in ["a", "b"] {
            try free.write(try workspace.read("root/photos/\(name).png"), to: "photos/\(name).png")
        }
        try free.writeManifest(filters: "[{gaussian: {radius: 3}}]")
        #expect(try await Program.run("run", "job.yaml", in: free).code == 0)
        for name in ["a", "b"] { #expect(try workspace.read("root/out/\(name).png") == free.read("out/\(name).png")) }
    }

    @Test func `verify renders again in the folder that TMPDIR names`() async throws {
        #expect(try await run().code == 0)
        let result = try await confined(
            [Program.penumbra, "verify", "root/job.yaml", "--rerender"], environment: ["TMPDIR": "\(top)/state"])
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test func `a confined run that was killed resumes confined`() async throws {
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(
            "root/job.yaml", filters: "[\(Gate.filter)]", more: "existing: update\nshard: frame\n\(Gate.patience)")
        let places = [
            "--read", RealPath.resolve(Program.folder), "--write", top, "--", Program.penumbra, "run", "root/job.yaml",
            "--workers", "1", "--run", "night-1",
        ]
        try gate.open(for: 1)
        let first = try RunningProgram(["confined"] + places, in: workspace)
        first.wait { workspace.exists("root/out/a.png") }
        let workers = first.workers
        kill(first.processID, SIGKILL)
        _ = first.finish()
        while workers.contains(where: { kill($0, 0) == 0 }) { usleep(1000) }
        try gate.open(for: 1)
        let second = try await Program.run(Program.penumbra, ["confined"] + places, in: workspace)
        #expect(second.code == 0, "\(second.errors)")
        #expect(workspace.files(below: "root/out") == ["a.png", "b.png"])
        #expect(workspace.leftovers() == [])
    }

    // MARK: Outside

    @Test(arguments: ["../other/{stem}.png", "../other/new/{stem}.png", "way/{stem}.png"])
    func `outputs outside end the run with 74`(output: String) async throws {
        try link("root/way", to: "../other")
        let result = try await run(output: output)
        #expect(result.code == 74)
        #expect(
            result.errors.contains(
                "Permission denied\n   = let the user '\(Program.user)' write there, or choose another output path\n")
        )
        expectUntouched()
    }

    @Test func `an output that leaves by dots fails alone`() async throws {
        let result = try await run(output: "out/{dir}/../../other/{stem}.png")
        #expect(result.code == 1)
        #expect(result.errors.contains("\(top)/other/a.png: may not be created (permission denied)"))
        expectUntouched()
    }

    @Test(arguments: ["../other/*", "/proc/self/root{top}/other/*", "photos/way/*", "../service/*"])
    func `inputs outside end the run with 66`(inputs: String) async throws {
        try link("root/photos/way", to: "../../other")
        let result = try await run(inputs: inputs.replacing("{top}", with: top))
        #expect(result.code == 66)
        #expect(result.errors.contains(": the folder cannot be read: Permission denied\n"))
        #expect(!workspace.exists("root/out"))
        expectUntouched()
    }

    @Test func `a link to a picture outside fails alone`() async throws {
        try link("root/photos/c.png", to: "../../other/secret.png")
        let result = try await run()
        #expect(result.code == 1)
        #expect(result.errors.contains("c.png: may not be opened (permission denied)"))
        #expect(workspace.files(below: "root/out") == ["a.png", "b.png"])
    }

    @Test(arguments: [
        ("layers: [{picture: ../other/secret.png}]", "[{gaussian: {radius: 3}}]", "picture"),
        ("", "[{variable: {radius: 9, mask: ../other/secret.png}}]", "mask"),
    ])
    func `pictures of filters outside are errors of the manifest`(
        more: String, filters: String, parameter: String
    ) async throws {
        let result = try await run(filters: filters, more: more)
        #expect(result.code == 65)
        #expect(
            result.errors.contains(
                "error: the picture of '\(parameter)', '../other/secret.png': may not be opened (permission denied)\n"))
    }

    @Test func `masks of each picture are read below the root, and nowhere else`() async throws {
        for name in ["a", "b"] { try workspace.copy("root/photos/\(name).png", to: "root/masks/\(name).png") }
        let inside = try await run(filters: "[{gaussian: {radius: 3, mask: 'masks/{stem}.png'}}]")
        #expect(inside.code == 0, "\(inside.errors)")
        try link("root/way", to: "../other")
        for name in ["a", "b"] { try workspace.copy("root/photos/\(name).png", to: "other/\(name).png") }
        let outside = try await run(
            filters: "[{gaussian: {radius: 4, mask: 'way/{stem}.png'}}]", more: "existing: overwrite")
        #expect(outside.code != 0)
        #expect(!outside.output.contains("2 published"))
    }

    @Test func `a list of outputs outside is not written`() async throws {
        let result = try await run(more: "index: ../other/index.json")
        #expect(result.code == 74)
        expectUntouched()
    }

    @Test func `folders that are exchanged for links between two runs lead nowhere`() async throws {
        #expect(try await run().code == 0)
        try FileManager.default.moveItem(atPath: "\(top)/root/out", toPath: "\(top)/root/old")
        try link("root/out", to: "../other")
        #expect(try await run().code == 74)
        expectUntouched()
        try FileManager.default.removeItem(atPath: "\(top)/root/out")
        try FileManager.default.moveItem(atPath: "\(top)/root/photos", toPath: "\(top)/root/gone")
        try link("root/photos", to: "../other")
        #expect(try await run().code == 66)
        expectUntouched()
    }

    @Test func `a manifest outside is not read`() async throws {
        try workspace.writeManifest("other/job.yaml")
        let result = try await confined([Program.penumbra, "run", "other/job.yaml"])
        #expect(result.code == 66)
        #expect(result.errors.contains("other/job.yaml: the manifest cannot be read: Permission denied"))
    }

    @Test func `the service's folder is neither read nor changed`() async throws {
        for command in ["cat service/service.sqlite", "echo x > service/service.sqlite", "rm service/service.sqlite"] {
            #expect(try await confined(["/bin/sh", "-c", command]).code != 0)
        }
        #expect(try workspace.read("service/service.sqlite") == Data("token".utf8))
    }

    // MARK: The command itself

    @Test func `the command has the same process, session, environment and open files`() async throws {
        let program = try RunningProgram(
            ["confined", "--", "/bin/sh", "-c", "echo $$ $WORD $1; cut -d' ' -f6 /proc/self/stat", "sh", "--help"],
            in: workspace, environment: ["WORD": "kept"])
        let session = getsid(0)
        let result = program.finish()
        #expect(result.output == "\(program.processID) kept --help\n\(session)\n")
        #expect(result.code == 0)
    }

    @Test func `the command's exit code and signals are its own`() async throws {
        #expect(try await confined(["/bin/sh", "-c", "exit 75"]).code == 75)
        let ignored = try await confined(["/bin/sed", "-n", "s/^SigIgn:\\s*//p", "/proc/self/status"]).output
        let mask = try #require(UInt64(ignored.trimmingCharacters(in: .newlines), radix: 16))
        for signal in [SIGPIPE, SIGXFSZ] { #expect(mask >> UInt64(signal - 1) & 1 == 0) }
    }

    @Test func `wrong places are refused with a remedy, and nothing is executed`() async throws {
        try link("way", to: "root")
        let command = ["/bin/touch", "\(top)/root/touched"]
        let missing = try await confined(command, places: ["--write", "\(top)/root", "--read", "\(top)/none"])
        #expect(missing.code == 66)
        #expect(
            missing.errors == """
                \(top)/none: nothing exists there, so it cannot be allowed
                   = create it, or leave it out

                """)
        let linked = try await confined(command, places: ["--write", "\(top)/root", "--write", "\(top)/way"])
        #expect(linked.code == 66)
        #expect(
            linked.errors == """
                \(top)/way: the path leads through a symbolic link, which somebody could exchange
                   = give the real path; 'realpath' prints it

                """)
        let relative = try await confined(command, places: ["--write", "\(top)/root", "--read", "photos"])
        #expect(relative.code == 64)
        #expect(relative.errors == "photos: the path is relative\n   = give an absolute path\n")
        #expect(!workspace.exists("root/touched"))
        let optional = try await confined(
            command, places: ["--write", "\(top)/root", "--read-if-present", "\(top)/none"])
        #expect(optional.code == 0, "\(optional.errors)")
        #expect(workspace.exists("root/touched"))
    }

    @Test func `a command that cannot be started is 69, and none is 64`() async throws {
        let unknown = try await confined(["/none/at/all"])
        #expect(unknown.code == 69)
        #expect(
            unknown.errors == """
                /none/at/all: cannot be started: No such file or directory
                   = the program and its libraries must be below the folders that it may read

                """)
        let none = try await Program.run("confined", "--read", top, in: workspace)
        #expect(none.code == 64)
        #expect(none.errors.contains("Give the command after '--'."))
    }

    @Test func `doctor says which Landlock the kernel has, and help lists no hidden command`() async throws {
        guard case .version(let version) = Landlock.support else { return }
        #expect(
            try await Program.run("doctor", in: workspace).output.contains(
                "ok    Landlock \(version): the kernel can keep the runs of a token within its folders\n"))
        #expect(try await !Program.run("--help", in: workspace).output.contains("confined"))
    }
}
