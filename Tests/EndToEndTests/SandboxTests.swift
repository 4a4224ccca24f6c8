import Foundation
import Testing

/// What the setting `sandbox` does, and what is said of it. `EscapeTests` tries what it refuses.
@Suite struct SandboxTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.writeManifest(more: "receipts: sidecar")
    }

    /// - Parameter launcher: how a filter above Penumbra answers attempts to add another one. Nil for no filter.
    private func penumbra(
        _ arguments: String..., sandbox: String? = nil, under launcher: String? = nil
    ) async throws -> Program.Result {
        let environment = sandbox.map { ["PENUMBRA_SANDBOX": $0] } ?? [:]
        guard let launcher else {
            return try await Program.run(Program.penumbra, arguments, in: workspace, environment: environment)
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let script = folder.appending(path: "Support/refuse-filters").path
        return try await Program.run(
            "/usr/bin/python3", [script, launcher, Program.penumbra] + arguments, in: workspace,
            environment: environment)
    }

    private static let reason =
        "something above Penumbra forbids a filter of system calls (prctl: Operation not permitted), such as a container or a service manager"

    private struct Summary: Decodable {
        struct Sandbox: Decodable, Equatable {
            let calls: Bool
            let files: String
            let missing: [String]
        }

        let sandbox: Sandbox?
    }

    private func sandbox(_ result: Program.Result) throws -> Summary.Sandbox? {
        let line = try #require(result.output.split(separator: "\n").last)
        return try JSONDecoder().decode(Summary.self, from: Data(line.utf8)).sandbox
    }

    @Test(arguments: ["auto", "require"])
    func `where the system has all of it, workers are confined, and nothing is said`(mode: String) async throws {
        let result = try await penumbra("run", "job.yaml", "--json", sandbox: mode)
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.errors == "")
        #expect(try sandbox(result) == .init(calls: true, files: "handed over", missing: []))
        #expect(workspace.exists("out/a.png"))
        let receipt = try #require(workspace.files(below: "out").first { $0.hasSuffix(".json") })
        let text = String(decoding: try workspace.read("out/\(receipt)"), as: UTF8.self)
        #expect(text.contains(#""sandbox" : {"#), "\(text)")
        let shown = try await penumbra("show", "test", "--json")
        #expect(
            shown.output.contains(#""sandbox":{"calls":true,"files":"handed over","missing":[]}"#), "\(shown.output)")
    }

    @Test func `without it, workers and outputs are as before`() async throws {
        let confined = try await penumbra("run", "job.yaml")
        #expect(confined.code == 0, "\(confined.errors)")
        let outputs = workspace.files(below: "out").filter { $0.hasSuffix(".png") }
        let bytes = try outputs.map { try workspace.read("out/\($0)") }
        let free = try await penumbra("run", "job.yaml", "--json", sandbox: "off")
        #expect(free.code == 0, "\(free.errors)")
        #expect(try sandbox(free) == .init(calls: false, files: "any", missing: []))
        #expect(try outputs.map { try workspace.read("out/\($0)") } == bytes)
    }

    @Test(arguments: ["EPERM", "ENOSYS"])
    func `what is missing is told once a run, and the run goes on`(answer: String) async throws {
        let result = try await penumbra("run", "job.yaml", under: answer)
        #expect(result.code == 0, "\(result.errors)")
        let reason =
            answer == "EPERM"
            ? Self.reason
            : "this kernel has no filter of system calls (Function not implemented): it needs CONFIG_SECCOMP_FILTER"
        #expect(result.errors == "workers are only partly confined: \(reason); see 'penumbra doctor'\n")
        #expect(workspace.exists("out/a.png"))
    }

    @Test func `what is required and missing stops everything before a picture is opened`() async throws {
        let refused =
            "'sandbox: require' cannot be kept, because \(Self.reason); correct that, or set 'sandbox: auto'\n"
        let run = try await penumbra("run", "job.yaml", sandbox: "require", under: "EPERM")
        #expect(run.code == 69)
        #expect(run.errors == refused)
        #expect(!workspace.exists("out"))
        let apply = try await penumbra(
            "apply", "invert", "photos/a.png", "-o", "b.png", sandbox: "require", under: "EPERM")
        #expect(apply.code == 69)
        #expect(apply.errors == refused)
        #expect(!workspace.exists("b.png"))
    }

    @Test func `a filter that kills is named, with what to change`() async throws {
        let result = try await penumbra("run", "job.yaml", under: "kill")
        #expect(result.code == 69)
        #expect(
            result.errors.contains("a filter of system calls before it was ready (SIGSYS)"), "\(result.errors)")
        #expect(!workspace.exists("out"))
    }

    @Test func `workers that create folders may write, and runs say so`() async throws {
        try workspace.writeManifest(inputs: "photos/a.png", output: "out/{stem}.dzi")
        let result = try await penumbra("run", "job.yaml", "--json", sandbox: "require")
        #expect(result.code == 0, "\(result.errors)")
        #expect(try sandbox(result) == .init(calls: true, files: "any", missing: []))
        let tile = try #require(workspace.files(below: "out").first { $0.contains("_files/") })
        let mode = try FileManager.default.attributesOfItem(atPath: "\(workspace.path)/out/\(tile)")[.posixPermissions]
        #expect(mode as? Int == 0o644)
    }

    @Test func `a plugin cannot write a file, and the worker goes on`() async throws {
        try await workspace.buildPlugin(
            "evil",
            render: #"copy(tile); if (open("\#(workspace.path)/mark", O_CREAT | O_WRONLY, 0600) >= 0) abort();"#)
        try workspace.writeManifest(filters: "[evil]")
        let plugins = ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"]
        let result = try await Program.run("run", "job.yaml", in: workspace, environment: plugins)
        #expect(result.code == 0, "\(result.errors)")
        #expect(!workspace.exists("mark"))
        let free = try await Program.run(
            "run", "job.yaml", in: workspace, environment: plugins.merging(["PENUMBRA_SANDBOX": "off"]) { $1 })
        #expect(free.code == 1)
        #expect(workspace.exists("mark"))
    }

    @Test func `doctor says what holds and what is missing`() async throws {
        let whole = try await penumbra("doctor")
        #expect(
            whole.output.contains(
                "ok    sandbox: workers start no programs, open no sockets, signal and trace no other process, and write only the files of their tasks (a filter of system calls)\n"
            ), "\(whole.output)")
        let partial = try await penumbra("doctor", under: "EPERM")
        #expect(
            partial.output.contains(
                "note  sandbox: workers can do what you can do: \(Self.reason); 'sandbox: require' would refuse to run here\n"
            ), "\(partial.output)")
        let none = try await penumbra("doctor", sandbox: "off")
        #expect(none.output.contains("note  sandbox: off (PENUMBRA_SANDBOX)\n"), "\(none.output)")
        let required = try await penumbra("doctor", sandbox: "require", under: "EPERM")
        #expect(required.code == 69)
        #expect(required.output.contains("FAIL  "), "\(required.output)")
        #expect(required.output.contains("'sandbox: require' cannot be kept"), "\(required.output)")
    }

    @Test func `a setting that is no word of it is refused`() async throws {
        let result = try await penumbra("run", "job.yaml", sandbox: "maybe")
        #expect(result.code == 65)
        #expect(result.errors.contains("PENUMBRA_SANDBOX=maybe"), "\(result.errors)")
    }

    @Test func `a manifest cannot loosen it`() async throws {
        try workspace.writeManifest(more: "sandbox: 'off'")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 65)
        #expect(result.errors.contains("the job has no key 'sandbox'"), "\(result.errors)")
    }

    @Test func `a plugin that starts a program is stopped, and the job goes on without its picture`() async throws {
        try await workspace.buildPlugin(
            "evil",
            render: #"copy(tile); if (tile->image.width == 151) execl("/bin/true", "true", (char *)0);"#)
        try workspace.writeManifest(filters: "[evil]")
        let result = try await Program.run(
            "run", "job.yaml", in: workspace, environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"])
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "photos/b.png: the worker was stopped by its sandbox (execve) inside the plugin 'evil' in 2 attempts; the picture is set aside"
            ), "\(result.errors)")
        #expect(workspace.files(below: "out") == ["a.png", "c.png"])
    }

    @Test func `a plugin that starts a program when it is opened is refused alone`() async throws {
        try await workspace.buildPlugin(
            "evil", render: "copy(tile);", atLoad: #"execl("/bin/true", "true", (char *)0);"#)
        let result = try await Program.run(
            "run", "job.yaml", in: workspace, environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"])
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            result.errors.contains(
                "libevil.so does what the sandbox refuses while it is opened, such as to start a program; remove it, or fix what it does at load"
            ), "\(result.errors)")
    }
}
