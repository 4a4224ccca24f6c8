import Foundation
import Testing

/// What is said before a job runs of plugins that cannot be used, or cannot be asked.
@Suite(.serialized) struct PluginWarningTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 60, height: 40)
    }

    /// Without the sandbox, because a plugin here counts in a file how often it is opened.
    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(
            Program.penumbra, arguments, in: workspace,
            environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "PENUMBRA_SANDBOX": "off"])
    }

    @Test func `a plugin that cannot be used is warned of once, and tried once, by each command`() async throws {
        let mark = "\(workspace.path)/tried"
        let note =
            "const int file = open(\"\(mark)\", O_WRONLY | O_CREAT | O_APPEND, 0600); if (write(file, \"+\", 1) == 1) abort();"
        try await workspace.buildPlugin("crash", render: "copy(tile);", atLoad: note)
        try await workspace.buildPlugin("good", render: "copy(tile);")
        try workspace.writeManifest(filters: "[good]")
        let problem =
            "plugin \(workspace.path)/plugins/libcrash.so crashes with signal 6 while it is opened; "
            + "remove or fix it"
        for command in ["check", "plan", "run"] {
            let result = try await run(command, "job.yaml")
            #expect(result.code == 0)
            #expect(result.errors == "warning: \(problem)\n", "\(command)")
            #expect(try workspace.read("tried") == Data("+".utf8), "\(command)")
            try FileManager.default.removeItem(atPath: mark)
        }
        for command in ["check", "run"] {
            #expect(try await run(command, "job.yaml", "--quiet").errors == "", "\(command)")
        }
        let json = try await run("check", "job.yaml", "--json")
        #expect(json.errors == "")
        let lines = json.output.split(separator: "\n").filter { $0.contains("\"severity\":\"warning\"") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("crashes with signal 6 while it is opened; remove or fix it") == true)
    }

    @Test func `filters that cannot be examined are warned of`() async throws {
        try await workspace.buildPlugin(
            "bad", render: "copy(tile);",
            functions: "static int32_t idle(const double *values) { (void)values; abort(); }",
            members: ".kind = PENUMBRA_POINT, .is_identity = idle")
        try workspace.writeManifest(filters: "[bad]")
        let result = try await run("check", "job.yaml")
        #expect(result.code == 0)
        #expect(
            result.errors
                == "warning: the filters could not be examined: the worker died of signal 6; if they have a plugin, try it "
                + "with 'penumbra plugin check'\n")
        #expect(try await run("check", "job.yaml", "--quiet").errors == "")
    }
}
