import Foundation
import Testing

/// Plugins that misbehave, built by the C compiler for the test.
@Suite(.serialized) struct PluginTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for name in ["a", "b", "c", "d", "e"] { try workspace.draw("photos/\(name).png", width: 60, height: 40) }
    }

    private func run(_ name: String, more: String = "") async throws -> Program.Result {
        try workspace.writeManifest(filters: "[\(name)]", more: more)
        return try await Program.run(
            "run", "job.yaml", in: workspace, environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"])
    }

    @Test func `what a plugin prints does not disturb the run`() async throws {
        try await workspace.buildPlugin("chatty", render: #"puts("hello"); fflush(stdout); copy(tile);"#)
        let result = try await run("chatty")
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "out").count == 5)
    }

    @Test func `a plugin that crashes on three pictures stops the job by name`() async throws {
        try await workspace.buildPlugin("crashing", render: "abort();")
        let result = try await run("crashing")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "test: the plugin 'crashing' faulted on 3 pictures; remove or fix it, then run the job again"))
        #expect(workspace.files(below: "out") == [])
    }

    @Test func `a picture on which a plugin crashes is set aside, and the others are published`() async throws {
        // The picture b is told from the others by its size.
        try workspace.draw("photos/b.png", width: 61, height: 40)
        try await workspace.buildPlugin("picky", render: "if (tile->image.width == 61) abort(); copy(tile);")
        let result = try await run("picky")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "1 frame failed: plugin fault\n  photos/b.png: the worker crashed with signal 6 inside the plugin "
                    + "'picky' in 2 attempts; the picture is set aside"))
        #expect(workspace.files(below: "out") == ["a.png", "c.png", "d.png", "e.png"])
    }

    @Test func `a plugin that calls exit costs its own picture`() async throws {
        try workspace.draw("photos/b.png", width: 61, height: 40)
        try await workspace.buildPlugin("leaving", render: "if (tile->image.width == 61) exit(0); copy(tile);")
        let result = try await run("leaving")
        #expect(result.code == 1)
        #expect(result.errors.contains("the worker left with exit code 0 inside the plugin 'leaving' in 2 attempts"))
        #expect(workspace.files(below: "out").count == 4)
    }

    @Test func `a plugin that hangs is ended at the time limit`() async throws {
        try workspace.draw("photos/b.png", width: 61, height: 40)
        try await workspace.buildPlugin("hanging", render: "while (tile->image.width == 61) pause(); copy(tile);")
        // Long enough for all other pictures on a machine that tests keep busy.
        let result = try await run("hanging", more: "timeout: 8s")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "1 frame failed: time limit reached\n  photos/b.png: no result within 8 s inside the plugin 'hanging' "
                    + "in 2 attempts; raise 'timeout' if it needs longer"))
        #expect(workspace.files(below: "out").count == 4)
    }

    @Test func `a plugin's new version alone renders nothing, and nothing is said of it`() async throws {
        try await workspace.buildPlugin("plain", render: "copy(tile);")
        #expect(try await run("plain", more: "existing: update").code == 0)
        try await workspace.buildPlugin(
            "plain", render: "copy(tile);", members: #".kind = PENUMBRA_POINT, .version = "1.1.0""#)
        let result = try await run("plain", more: "existing: update")
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("test: 0 published, 5 skipped in "), "\(result.output)")
        #expect(result.errors == "")
    }

    @Test func `a plugin's new rendering version is reported by plan and run, and renders as 'upgrade' says`()
        async throws
    {
        try await workspace.buildPlugin("plain", render: "copy(tile);")
        #expect(try await run("plain", more: "existing: update").code == 0)
        try await workspace.buildPlugin(
            "plain", render: "copy(tile);", members: ".kind = PENUMBRA_POINT, .rendering_version = 2")
        let words = "test: this version of the plugin 'plain' changes plain's pixels (rendering version 1 → 2)"
        let notice =
            "\(words); 5 outputs keep their old pixels, and 'upgrade: rerender' in the manifest makes them anew\n"
        let planned = try await Program.run(
            "plan", "job.yaml", in: workspace, environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"])
        #expect(planned.errors == notice)
        let kept = try await run("plain", more: "existing: update")
        #expect(kept.output.hasPrefix("test: 0 published, 5 skipped in "), "\(kept.output)")
        #expect(kept.errors == notice)
        #expect(try await run("plain", more: "existing: update").errors == "", "it is said once")
        let again = try await run("plain", more: "existing: update\nupgrade: rerender")
        #expect(again.output.hasPrefix("test: 5 published in "), "\(again.output)")
        #expect(again.errors == "")
    }

    @Test func `values that a plugin refuses are an error of the manifest, in the plugin's words`() async throws {
        try await workspace.buildPlugin(
            "choosy", render: "copy(tile);",
            functions: """
                static int32_t check_values(const double *values, char *error, size_t error_capacity) {
                    snprintf(error, error_capacity, "these values do not go together");
                    return 1;
                }
                """, members: ".kind = PENUMBRA_POINT, .check_values = check_values")
        try workspace.writeManifest(filters: "[choosy]")
        let environment = ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"]
        let commands = [
            ["check", "job.yaml"], ["plan", "job.yaml"], ["run", "job.yaml"], ["run", "job.yaml", "--quiet"],
            ["apply", "choosy", "photos/a.png", "-o", "a.png"], ["blur", "photos/a.png", "--filter", "choosy"],
        ]
        for command in commands {
            let result = try await Program.run(Program.penumbra, command, in: workspace, environment: environment)
            #expect(result.code == 65, "\(command) \(result.output)")
            #expect(result.errors.contains("these values do not go together"), "\(command) \(result.errors)")
            #expect(result.output.isEmpty, "\(command)")
        }
        #expect(workspace.files(below: "out") == [])
        #expect(!workspace.exists("a.png"))
    }

    @Test func `a plugin that cannot be loaded is told, and the rest works`() async throws {
        try workspace.write("no library", to: "plugins/libbroken.so")
        let result = try await run("invert")
        #expect(result.code == 0)
        let listed = try await Program.run(
            "filters", in: workspace, environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"])
        #expect(listed.errors.contains("plugin \(workspace.path)/plugins/libbroken.so "))
        #expect(listed.output.contains("gaussian"))
    }
}
