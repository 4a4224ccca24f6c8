import Foundation
import Subprocess
import SystemPackage
import Testing

/// Plugins that misbehave, built by the C compiler for the test.
@Suite(.serialized) struct PluginTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for name in ["a", "b", "c", "d", "e"] { try workspace.draw("photos/\(name).png", width: 60, height: 40) }
    }

    private static let header = ExampleTests.project.appending(path: "Sources/Pixels/CPenumbraPlugin/include").path

    /// - Parameter render: the body of the filter's `render`.
    private func build(_ name: String, render: String) async throws {
        try workspace.write(
            """
            #define _GNU_SOURCE
            #define PENUMBRA_PLUGIN_IMPLEMENTATION
            #include <penumbra_plugin.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>

            static void copy(const penumbra_tile *tile) {
                for (int64_t y = 0; y < tile->target.rect.height; y++) {
                    const char *from = (const char *)tile->source.data
                        + (y + tile->target.rect.y - tile->source.rect.y) * tile->source.row_bytes;
                    memcpy((char *)tile->target.data + y * tile->target.row_bytes, from,
                           (size_t)(tile->target.rect.width * tile->channels));
                }
            }

            static int32_t render(const penumbra_tile *tile) { \(render) return PENUMBRA_OK; }

            static const penumbra_plugin plugin = {
                .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "\(name)",
                .version = "1.0.0", .summary = "Misbehaves", .rendering_version = 1, .kind = PENUMBRA_POINT,
                .formats = PENUMBRA_U8 | PENUMBRA_F32, .parameter_size = sizeof(penumbra_parameter), .render = render,
            };

            const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
                return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
            }

            """, to: "source/\(name).c")
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/plugins", withIntermediateDirectories: true)
        let result = try await Program.run(
            "/usr/bin/cc",
            [
                "-std=c11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-I", Self.header, "source/\(name).c",
                "-o",
                "plugins/lib\(name).so",
            ], in: workspace)
        try #require(result.code == 0, "\(result.errors)")
    }

    private func run(_ name: String, more: String = "") async throws -> Program.Result {
        try workspace.writeManifest(filters: "[\(name)]", more: more)
        return try await Program.run(
            "run", "job.yaml", in: workspace, environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"])
    }

    @Test func `what a plugin prints does not disturb the run`() async throws {
        try await build("chatty", render: #"puts("hello"); fflush(stdout); copy(tile);"#)
        let result = try await run("chatty")
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "out").count == 5)
    }

    @Test func `a plugin that crashes on three pictures stops the job by name`() async throws {
        try await build("crashing", render: "abort();")
        let result = try await run("crashing")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "test: the plugin 'crashing' crashed on 3 pictures; remove or mend it, then run the job again"))
        #expect(workspace.files(below: "out") == [])
    }

    @Test func `a picture on which a plugin crashes is set aside, and the others are published`() async throws {
        // The picture b is told from the others by its size.
        try workspace.draw("photos/b.png", width: 61, height: 40)
        try await build("picky", render: "if (tile->image.width == 61) abort(); copy(tile);")
        let result = try await run("picky")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "1 frame failed: worker crashed\n  photos/b.png: the worker crashed with signal 6 inside the plugin "
                    + "'picky' in 2 attempts; the picture is set aside"))
        #expect(workspace.files(below: "out") == ["a.png", "c.png", "d.png", "e.png"])
    }

    @Test func `a plugin that calls exit costs its own picture`() async throws {
        try workspace.draw("photos/b.png", width: 61, height: 40)
        try await build("leaving", render: "if (tile->image.width == 61) exit(0); copy(tile);")
        let result = try await run("leaving")
        #expect(result.code == 1)
        #expect(result.errors.contains("the worker left with exit code 0 inside the plugin 'leaving' in 2 attempts"))
        #expect(workspace.files(below: "out").count == 4)
    }

    @Test func `a plugin that hangs is ended at the time limit`() async throws {
        try workspace.draw("photos/b.png", width: 61, height: 40)
        try await build("hanging", render: "while (tile->image.width == 61) pause(); copy(tile);")
        // Long enough for all other pictures on a machine that tests keep busy.
        let result = try await run("hanging", more: "timeout: 8s")
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "1 frame failed: time limit reached\n  photos/b.png: no result within 8 s inside the plugin 'hanging' "
                    + "in 2 attempts; raise 'timeout' in the manifest if it needs longer"))
        #expect(workspace.files(below: "out").count == 4)
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
