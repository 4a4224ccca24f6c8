import Foundation
import Glibc
import Queueing
import TestSupport
import Testing

/// A filter that lets a picture through when the test allows it.
final class Gate {
    static let filter = "gated"
    private let pipe: Int32

    /// Builds the filter, and makes it known to the farm's runs by the config file.
    init(in farm: Farm) async throws {
        let path = farm.folder.file("gate")
        try #require(mkfifo(path, 0o600) == 0)
        // For reading, too: so it opens while no worker reads yet.
        pipe = Glibc.open(path, O_RDWR | O_CLOEXEC)
        try #require(pipe >= 0)
        try farm.write(Self.source(gate: path), to: "plugins/gated.c")
        let header =
            URL(filePath: #filePath).deletingLastPathComponent().path
            + "/../../../Sources/Pixels/CPenumbraPlugin/include"
        let built = try await farm.run(
            "/usr/bin/gcc",
            [
                "-shared", "-fPIC", "-O1", "-I", header, "-o", farm.folder.file("plugins/libgated.so"),
                farm.folder.file("plugins/gated.c"),
            ])
        try #require(built.code == 0, "\(built.errors)")
        try farm.write(
            "plugin_folders: [\(farm.folder.file("plugins"))]\nsandbox_read: [\(path)]\n",
            to: "config/penumbra/penumbra.yaml")
    }

    deinit { close(pipe) }

    /// Lets so many more pictures through.
    func open(for pictures: Int) throws {
        let bytes = [UInt8](repeating: 0, count: pictures)
        try #require(Glibc.write(pipe, bytes, pictures) == pictures)
    }

    /// Lets pictures through one by one until a job has ended. If all went through at once, a run would be done before it reads
    /// what it is asked.
    func open(untilEndOf job: Int, in farm: Farm) async throws {
        try await farm.wait {
            try open(for: 1)
            return try farm.job(job).state.isEnd
        }
    }

    private static func source(gate: String) -> String {
        """
        #define _GNU_SOURCE
        #define PENUMBRA_PLUGIN_IMPLEMENTATION
        #include <penumbra_plugin.h>
        #include <fcntl.h>
        #include <string.h>
        #include <unistd.h>

        static int32_t render(const penumbra_tile *tile) {
            if (tile->target.rect.x == 0 && tile->target.rect.y == 0) {
                char byte;
                int gate = open("\(gate)", O_RDONLY | O_CLOEXEC);
                if (gate < 0 || read(gate, &byte, 1) != 1) return -1;
                close(gate);
            }
            const int64_t bytes = tile->format == PENUMBRA_F32 ? 4 : 1;
            for (int64_t y = 0; y < tile->target.rect.height; y++) {
                const char *from = (const char *)tile->source.data
                    + (y + tile->target.rect.y - tile->source.rect.y) * tile->source.row_bytes;
                memcpy((char *)tile->target.data + y * tile->target.row_bytes, from,
                       (size_t)(tile->target.rect.width * tile->channels * bytes));
            }
            return PENUMBRA_OK;
        }

        static const penumbra_plugin plugin = {
            .abi = PENUMBRA_PLUGIN_ABI, .struct_size = sizeof(penumbra_plugin), .name = "\(filter)",
            .version = "1.0.0", .summary = "Waits", .rendering_version = 1, .kind = PENUMBRA_POINT,
            .formats = PENUMBRA_U8 | PENUMBRA_F32, .parameter_size = sizeof(penumbra_parameter), .render = render,
        };

        const penumbra_plugin *penumbra_plugin_entry(uint32_t host_abi) {
            return host_abi >= PENUMBRA_PLUGIN_ABI ? &plugin : NULL;
        }

        """
    }
}
