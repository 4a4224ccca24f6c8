import Foundation
import Testing

/// `sandbox: require` where a part of the sandbox is missing: nothing opens a picture or a plugin, whichever command asks.
@Suite struct RequiredSandboxTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.writeManifest()
    }

    private static let refusal =
        "'sandbox: require' cannot be kept, because something above Penumbra forbids a filter of system calls (prctl: Operation not permitted), such as a container or a service manager; correct that, or set 'sandbox: auto'"

    /// Runs `penumbra` where a filter of system calls is forbidden.
    private func penumbra(_ arguments: [String], sandbox: String = "require") async throws -> Program.Result {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try await Program.run(
            "/usr/bin/python3",
            [folder.appending(path: "Support/refuse-filters").path, "EPERM", Program.penumbra] + arguments,
            in: workspace, environment: ["PENUMBRA_SANDBOX": sandbox])
    }

    private static let commands: [[String]] = [
        ["run", "job.yaml"], ["run", "job.yaml", "--force"], ["check", "job.yaml"], ["plan", "job.yaml"],
        ["preview", "job.yaml", "photos/a.png", "-o", "new.png"], ["verify", "job.yaml"],
        ["verify", "--rerender", "job.yaml"], ["adopt", "job.yaml"],
        ["apply", "invert", "photos/a.png", "-o", "new.png"], ["blur", "photos/a.png"], ["unblur", "photos/a.png"],
        ["is-blurred", "photos/a.png"], ["filters"], ["formats"], ["plugin", "list"],
        ["plugin", "check", "\(Program.folder)/libInvert.so"],
        ["prepare", "job.yaml", "--run-dir", "shared", "--shards", "2"],
    ]

    @Test(arguments: commands) func `a command that needs a worker refuses, in the same words`(
        command: [String]
    ) async throws {
        // There are outputs to verify, and a blurred picture.
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(try await Program.run("blur", "photos/a.png", in: workspace).code == 0)
        let before = try workspace.contents(below: "photos")
        let result = try await penumbra(command)
        #expect(result.code == 69)
        #expect(result.errors == "\(Self.refusal)\n")
        #expect(!workspace.exists("new.png"))
        #expect(try workspace.contents(below: "photos") == before)
    }

    @Test(arguments: [("require", "auto"), ("auto", "require"), ("off", "require")])
    func `a shard is refused if the settings of its coordinator or of its node require a sandbox`(
        coordinator: String, node: String
    ) async throws {
        let prepared = try await Program.run(
            "prepare", "job.yaml", "--run-dir", "shared", "--shards", "1", in: workspace,
            environment: ["PENUMBRA_SANDBOX": coordinator])
        #expect(prepared.code == 0, "\(prepared.errors)")
        let shard = try await penumbra(["shard", "--run-dir", "shared", "--index", "1"], sandbox: node)
        #expect(shard.code == 69)
        #expect(shard.errors == "shard 1: \(Self.refusal)\n")
        #expect(!workspace.exists("out/a.png"))
    }

    @Test func `the settings say what is set, and where`() async throws {
        try workspace.write("sandbox: require\n", to: "c.yaml")
        let config = try await Program.run("config", "--config", "c.yaml", in: workspace)
        let row = config.output.split(separator: "\n").first { $0.hasPrefix("sandbox ") }
        #expect(row?.split(separator: " ") == ["sandbox", "require", "c.yaml"])
        try workspace.write("sandbox: banana\n", to: "c.yaml")
        let mistake = try await Program.run("config", "--config", "c.yaml", in: workspace)
        #expect(mistake.code == 65)
        #expect(mistake.errors.contains("c.yaml:1:10: error: 'sandbox' cannot be 'banana'\n"), "\(mistake.errors)")
    }
}
