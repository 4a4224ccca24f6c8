import Foundation
import Glibc
import Testing

/// What the setting `sandbox` does, what is said of it, and what code in a worker cannot do.
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

    @Test func `workers that create folders create them in a folder of the run, and runs say so`() async throws {
        try workspace.writeManifest(inputs: "photos/a.png", output: "out/{stem}.dzi")
        let result = try await penumbra("run", "job.yaml", "--json", sandbox: "require")
        #expect(result.code == 0, "\(result.errors)")
        #expect(try sandbox(result) == .init(calls: true, files: "handed over, and own folders", missing: []))
        #expect(!workspace.files(below: "out").contains { $0.contains(".penumbra-") && $0.contains("folders") })
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

    /// The exit code and the errors of a run whose plugin has this body.
    private func run(_ body: String, output: String = "out/{stem}.png") async throws -> String {
        try await workspace.buildPlugin("evil", render: "copy(tile); \(body)")
        try workspace.writeManifest(inputs: "photos/a.png", filters: "[evil]", output: output)
        let result = try await Program.run(
            "run", "job.yaml", in: workspace,
            environment: [
                "PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "PENUMBRA_SANDBOX": "require",
            ])
        return "\(result.code) \(result.errors)"
    }

    /// The plugin aborts if it succeeds, so the picture fails.
    @Test(
        arguments: [
            // A private file would be everybody's.
            #"int file = open("plugins/libevil.so", O_RDONLY); if (fchmod(file, 0666) == 0) abort();"#,
            // Other runs would wait for it.
            #"int file = open("plugins/libevil.so", O_RDONLY); struct flock lock = {.l_type = F_RDLCK}; if (fcntl(file, F_SETLK, &lock) == 0) abort();"#,
            // A terminal's foreground process would get a signal.
            #"int ends[2]; if (pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_ASYNC) == 0) abort();"#,
        ])
    func `a file that is open to be read is for nothing else`(body: String) async throws {
        #expect(try await run(body) == "0 ")
    }

    @Test(arguments: ["out/{stem}.png", "out/{stem}.dzi"], ["O_RDONLY", "O_RDWR"])
    func `no worker reaches the memory of its coordinator`(output: String, flags: String) async throws {
        let body = """
            char path[64]; snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
            if (open(path, \(flags)) >= 0) abort();
            """
        #expect(try await run(body, output: output) == "0 ")
    }

    @Test func `no worker takes what others write into a pipe of its coordinator`() async throws {
        let body = """
            for (int number = 0; number < 256; number++) {
                char path[64]; snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), number);
                if (open(path, O_RDONLY | O_NONBLOCK) >= 0) abort();
            }
            """
        #expect(try await run(body) == "0 ")
    }

    @Test func `where a sandbox is required and missing, no plugin is opened, not even to try it`() async throws {
        try await workspace.buildPlugin(
            "evil", render: "copy(tile);",
            atLoad: #"close(open("\#(workspace.path)/mark", O_CREAT | O_WRONLY, 0600));"#)
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let result = try await Program.run(
            "/usr/bin/python3",
            [folder.appending(path: "Support/refuse-filters").path, "EPERM", Program.penumbra, "run", "job.yaml"],
            in: workspace,
            environment: [
                "PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "PENUMBRA_SANDBOX": "require",
            ])
        #expect(result.code == 69)
        #expect(!workspace.exists("mark"))
    }

    @Test func `doctor says what holds and what is missing`() async throws {
        let whole = try await penumbra("doctor")
        #expect(
            whole.output.contains(
                "ok    sandbox: workers start no programs, open no sockets, touch no other process, and open no files but those of their tasks, libraries and fonts (a filter of system calls, and Landlock)\n"
            ), "\(whole.output)")
        #expect(whole.output.contains("note  penumbra runs as root, ") == (geteuid() == 0), "\(whole.output)")
        let partial = try await penumbra("doctor", under: "EPERM")
        #expect(
            partial.output.contains(
                "note  sandbox: workers open no files but those of their tasks, libraries and fonts, and can do all else that you can: \(Self.reason); 'sandbox: require' would refuse to run here\n"
            ), "\(partial.output)")
        let none = try await penumbra("doctor", sandbox: "off")
        #expect(none.output.contains("note  sandbox: off (PENUMBRA_SANDBOX)\n"), "\(none.output)")
        let required = try await penumbra("doctor", sandbox: "require", under: "EPERM")
        #expect(required.code == 69)
        #expect(required.output.contains("FAIL  "), "\(required.output)")
        #expect(required.output.contains("'sandbox: require' cannot be kept"), "\(required.output)")
    }

    @Test func `a plugin reads nothing but its own folder, unless the settings let it`() async throws {
        try workspace.write("secret", to: "elsewhere/key")
        let body = "int file = open(\"\(workspace.path)/elsewhere/key\", O_RDONLY); if (file >= 0) abort();"
        #expect(try await run(body) == "0 ")
        // The plugin would abort, as it does where it can read the file.
        let allowed = try await Program.run(
            "run", "job.yaml", in: workspace,
            environment: [
                "PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "PENUMBRA_SANDBOX": "require",
                "PENUMBRA_SANDBOX_READ": "\(workspace.path)/elsewhere", "PENUMBRA_RETRIES": "0",
            ])
        #expect(allowed.code == 1)
        #expect(allowed.errors.contains("inside the plugin 'evil'"), "\(allowed.errors)")
        let own = "int file = open(\"\(workspace.path)/plugins/libevil.so\", O_RDONLY); if (file < 0) abort();"
        #expect(try await run(own) == "0 ")
    }

    /// A child of the worker opens the plugin first, and then the worker does.
    @Test func `a plugin that is opened learns of its own process what it asks for, and nothing of the parent`()
        async throws
    {
        let body = """
            int own = open("/proc/self/status", O_RDONLY), maps = open("/proc/self/maps", O_RDONLY);
            char path[64]; snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
            if (own < 0 || maps < 0 || open(path, O_RDONLY) >= 0) abort();
            """
        try await workspace.buildPlugin("evil", render: "copy(tile);", atLoad: body)
        try workspace.writeManifest(inputs: "photos/a.png", filters: "[evil]", output: "out/{stem}.png")
        let result = try await Program.run(
            "run", "job.yaml", in: workspace,
            environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "PENUMBRA_SANDBOX": "require"])
        #expect("\(result.code) \(result.errors)" == "0 ")
    }

    @Test func `a folder that everybody may write to is not read, and that is told`() async throws {
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/open", withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: "\(workspace.path)/open")
        let variables = ["PENUMBRA_SANDBOX_READ": "\(workspace.path)/open"]
        let reason =
            "every user may write to '\(workspace.path)/open', which 'sandbox_read' names, so workers do not read it; run chmod o-w on it"
        let told = try await Program.run("run", "job.yaml", in: workspace, environment: variables)
        #expect(told.code == 0)
        #expect(told.errors == "workers are only partly confined: \(reason); see 'penumbra doctor'\n")
        let required = try await Program.run(
            "run", "job.yaml", "--force", in: workspace,
            environment: variables.merging(["PENUMBRA_SANDBOX": "require"]) { $1 })
        #expect(required.code == 69)
        #expect(
            required.errors
                == "'sandbox: require' cannot be kept, because \(reason); correct that, or set 'sandbox: auto'\n")
        let missing = try await Program.run(
            "run", "job.yaml", "--force", in: workspace,
            environment: ["PENUMBRA_SANDBOX_READ": "\(workspace.path)/nowhere"])
        #expect(missing.code == 0)
        #expect(
            missing.errors.contains(
                "'\(workspace.path)/nowhere' in 'sandbox_read' cannot be read (No such file or directory); correct the path\n"
            ),
            "\(missing.errors)")
        let everything = try await Program.run(
            "run", "job.yaml", "--force", in: workspace,
            environment: ["PENUMBRA_SANDBOX_READ": "/", "PENUMBRA_SANDBOX": "require"])
        #expect(everything.code == 69)
        #expect(everything.errors.contains("'/' in 'sandbox_read' is all there is"), "\(everything.errors)")
    }

    /// A picture that is tiled has canvases and tiles, which workers read by their paths. The first worker starts before their folder
    /// exists.
    @Test func `tiles are read by every worker, also by the one that told the catalog`() async throws {
        try workspace.draw("photos/large.png", width: 700, height: 500)
        try workspace.writeManifest(
            inputs: "photos/large.png", filters: "[{gaussian: {radius: 8}}]", more: "shard: tile\ntile: 128")
        let free = try await penumbra("run", "job.yaml", "--workers", "1", sandbox: "off")
        #expect(free.code == 0, "\(free.errors)")
        let bytes = try workspace.read("out/large.png")
        let confined = try await penumbra("run", "job.yaml", "--force", "--workers", "1", "--json", sandbox: "require")
        #expect(confined.code == 0, "\(confined.errors)")
        #expect(try sandbox(confined) == .init(calls: true, files: "handed over", missing: []))
        #expect(try workspace.read("out/large.png") == bytes)
        let logs = try await penumbra("logs", "test", sandbox: "require")
        #expect(!logs.output.contains("failed"), "\(logs.output)")
        let verified = try await penumbra("verify", "--rerender", "out", sandbox: "require")
        #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    }

    @Test func `a picture of a filter is examined and read`() async throws {
        try workspace.draw("marks/mark.png", width: 20, height: 20)
        try workspace.writeManifest(filters: "[{overlay: {picture: marks/mark.png}}]")
        let checked = try await penumbra("check", "job.yaml", sandbox: "require")
        #expect(checked.code == 0, "\(checked.output)\(checked.errors)")
        let result = try await penumbra("run", "job.yaml", sandbox: "require")
        #expect(result.code == 0, "\(result.errors)")
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
