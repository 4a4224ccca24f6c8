import Foundation
import Testing

/// Who is named when a plugin's code takes a worker down, or answers what no filter may.
@Suite(.serialized) struct PluginBlameTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for name in ["a", "b"] { try workspace.draw("photos/\(name).png", width: 60, height: 40) }
        // Told from the others by its size.
        try workspace.draw("photos/c.png", width: 61, height: 40)
    }

    /// - Parameter sandbox: `off` for plugins that write files.
    private func run(sandbox: String = "auto") async throws -> Program.Result {
        try await Program.run(
            "run", "job.yaml", in: workspace,
            environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "PENUMBRA_SANDBOX": sandbox])
    }

    /// An area filter whose functions of rectangles do something else for the picture c.
    private func build(extent: String = "", region: String = "") async throws {
        try await workspace.buildPlugin(
            "bad", render: "copy(tile);",
            functions: """
                static penumbra_rect extent(penumbra_rect input, const double *values) {
                    const int here = input.width == 61; (void)here; \(extent) return input;
                }
                static penumbra_rect region(penumbra_rect output, penumbra_rect input, const double *values) {
                    const int here = input.width == 61; (void)here; \(region) return output;
                }
                """, members: ".kind = PENUMBRA_AREA, .extent = extent, .region_of_interest = region")
        try workspace.writeManifest(filters: "[bad]", more: "timeout: 8s")
    }

    /// What a function of geometry does, and what is said of it.
    private static let misdeeds: [(extent: String, region: String, words: String)] = [
        (
            "if (here) abort();", "",
            "the worker crashed with signal 6 inside the plugin 'bad' in 2 attempts; the picture is set aside"
        ),
        (
            "", "if (here) *(volatile int *)8 = 1;",
            "the worker crashed with signal 11 inside the plugin 'bad' in 2 attempts; the picture is set aside"
        ),
        (
            "if (here) exit(4);", "",
            "the worker left with exit code 4 inside the plugin 'bad' in 2 attempts; the picture is set aside"
        ),
        (
            "while (here) pause();", "",
            "no result within 8 s inside the plugin 'bad' in 2 attempts; raise 'timeout' if it needs longer"
        ),
        (
            "if (here) input.height = 0;", "",
            "bad: its function 'extent' answers 61×0 at 0, 0 for 61×40 at 0, 0, and sides are 1…1000000 pixels long; report this to its author"
        ),
        ("", "if (here) output.width += 32769;", "bad: its function 'region_of_interest' answers"),
    ]

    @Test(arguments: misdeeds)
    func `what a plugin does when it is asked for its geometry is laid to it`(
        misdeed: (extent: String, region: String, words: String)
    ) async throws {
        try await build(extent: misdeed.extent, region: misdeed.region)
        let result = try await run()
        #expect(result.code == 1)
        #expect(result.errors.contains("photos/c.png: \(misdeed.words)"), "\(result.errors)")
        #expect(workspace.files(below: "out") == ["a.png", "b.png"])
    }

    @Test func `a picture that its server has lost is not laid to a plugin`() async throws {
        // As of a file on a network disk. The worker looks at its input once more after the plugin has returned.
        try workspace.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <sys/stat.h>
            #include <unistd.h>
            int fstat(int file, struct stat *found) {
                char name[64], path[4096] = "";
                snprintf(name, sizeof name, "/proc/self/fd/%d", file);
                ssize_t length = getenv("LOST") ? readlink(name, path, sizeof path - 1) : 0;
                if (length > 6 && !strcmp(path + length - 6, "/c.png")) {
                    errno = ESTALE;
                    return -1;
                }
                return ((int (*)(int, struct stat *))dlsym(RTLD_NEXT, "fstat"))(file, found);
            }
            """, to: "lost.c")
        let shim = "\(workspace.path)/lost.so"
        let made = try await Program.run(
            "/usr/bin/gcc", ["-shared", "-fPIC", "-o", shim, "lost.c", "-ldl"], in: workspace)
        try #require(made.code == 0, "\(made.errors)")
        try await workspace.buildPlugin(
            "good", render: "copy(tile); if (tile->image.width == 61) setenv(\"LOST\", \"1\", 1);")
        try workspace.writeManifest(filters: "[good]", more: "shard: frame")
        let result = try await Program.run(
            "run", "job.yaml", in: workspace,
            environment: ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "LD_PRELOAD": shim])
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    /// The one that crashes does so once the other one, which has done nothing wrong, was called after it in this worker.
    private func buildTwo(_ crash: String) async throws {
        let mark = #"char mark[4096]; snprintf(mark, sizeof mark, "\#(workspace.path)/called-%d", (int)getpid());"#
        try await workspace.buildPlugin(
            "bad",
            render:
                "copy(tile); if (tile->image.width == 61) { \(mark) while (access(mark, F_OK)) usleep(1000); \(crash) }"
        )
        try await workspace.buildPlugin(
            "good",
            render: "copy(tile); if (tile->image.width == 61) { \(mark) creat(mark, 0600); for (;;) pause(); }")
        try workspace.write(
            """
            job: test
            inputs: [photos/*.png]
            filters: [flatten]
            outputs:
              - path: out/{stem}-bad.png
                filters: [bad]
              - path: out/{stem}-good.png
                filters: [good]

            """, to: "job.yaml")
    }

    @Test func `of several plugins that run at once the one that crashes is named`() async throws {
        try await buildTwo("abort();")
        let result = try await run(sandbox: "off")
        #expect(
            result.errors.contains(
                "photos/c.png: the worker crashed with signal 6 inside the plugin 'bad' in 2 attempts"),
            "\(result.errors)")
    }

    @Test func `where nothing tells which one it was, all that ran are named`() async throws {
        try await buildTwo("_exit(3);")
        let result = try await run(sandbox: "off")
        #expect(
            result.errors.contains(
                "photos/c.png: the worker left with exit code 3 inside the plugin 'bad' or 'good' in 2 attempts"),
            "\(result.errors)")
    }
}
