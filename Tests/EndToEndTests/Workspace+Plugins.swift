import Foundation
import Testing

/// Filter plugins in C, built by the compiler of the machine.
extension Workspace {
    private static let pluginHeader = ExampleTests.project.appending(path: "Sources/Pixels/CPenumbraPlugin/include")
        .path

    /// - Parameters:
    ///   - render: the body of the filter's `render`.
    ///   - atLoad: what runs when the library is opened.
    ///   - functions, members: more functions, and what the description has of them.
    func buildPlugin(
        _ name: String, render: String, atLoad: String = "", functions: String = "",
        members: String = ".kind = PENUMBRA_POINT"
    ) async throws {
        try write(
            """
            #define _GNU_SOURCE
            #define PENUMBRA_PLUGIN_IMPLEMENTATION
            #include <penumbra_plugin.h>
            #include <fcntl.h>
            #include <fenv.h>
            #include <locale.h>
            #include <pthread.h>
            #include <signal.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <sys/resource.h>
            #include <sys/stat.h>
            #include <time.h>
            #include <unistd.h>

            __attribute__((constructor)) static void start(void) { \(atLoad) }

            static void copy(const penumbra_tile *tile) {
                const int64_t bytes = tile->format == PENUMBRA_F32 ? 4 : 1;
                for (int64_t y = 0; y < tile->target.rect.height; y++) {
                    const char *from = (const char *)tile->source.data
                        + (y + tile->target.rect.y - tile->source.rect.y) * tile->source.row_bytes;
                    memcpy((char *)tile->target.data + y * tile->target.row_bytes, from,
                           (size_t)(tile->target.rect.width * tile->channels * bytes));
                }
            }

            static long resident(void) {
                long pages = 0, all = 0;
                FILE *file = fopen("/proc/self/statm", "r");
                if (file && fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
                if (file) fclose(file);
                return pages * sysconf(_SC_PAGESIZE);
            }

            static int32_t render(const penumbra_tile *tile) { \(render) return PENUMBRA_OK; }
            \(functions)

            static const penumbra_plugin plugin = {
                .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "\(name)",
                .version = "1.0.0", .summary = "Misbehaves", .rendering_version = 1, \(members),
                .formats = PENUMBRA_U8 | PENUMBRA_F32, .parameter_size = sizeof(penumbra_parameter), .render = render,
            };

            const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
                return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
            }

            """, to: "source/\(name).c")
        try FileManager.default.createDirectory(
            atPath: "\(path)/plugins", withIntermediateDirectories: true)
        let result = try await Program.run(
            "/usr/bin/cc",
            [
                "-std=c11", "-O1", "-Wno-unused", "-shared", "-fPIC", "-fvisibility=hidden", "-I", Self.pluginHeader,
                "source/\(name).c",
                "-o",
                "plugins/lib\(name).so",
            ], in: self)
        try #require(result.code == 0, "\(result.errors)")
    }
}
