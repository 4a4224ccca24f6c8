import Foundation
import Glibc
import Testing

/// A filter plugin that copies, and begins a picture only when a test lets it through, however long that takes: a run with it
/// does not come to its end while a test looks at it.
final class Gate {
    static let filter = "gated"
    /// For the manifest: on a busy machine a test may take longer than the usual time limit until it opens the gate.
    static let patience = "timeout: 1h"
    private let pipe: Int32

    init(in workspace: Workspace) async throws {
        let path = "\(workspace.path)/gate"
        try #require(mkfifo(path, 0o600) == 0)
        // For reading, too: so it opens while no worker reads yet.
        pipe = Glibc.open(path, O_RDWR | O_CLOEXEC)
        try #require(pipe >= 0)
        try await workspace.buildPlugin(
            Self.filter,
            render: """
                if (tile->target.rect.x == 0 && tile->target.rect.y == 0) {
                    char byte;
                    int gate = open("\(path)", O_RDONLY | O_CLOEXEC);
                    if (gate < 0 || read(gate, &byte, 1) != 1) return -1;
                    close(gate);
                }
                copy(tile);
                """)
        try workspace.write(
            "plugin_folders: [\(workspace.path)/plugins]\nsandbox_read: [\(path)]\n",
            to: "config/penumbra/penumbra.yaml")
    }

    deinit { close(pipe) }

    /// Lets so many more pictures through.
    func open(for pictures: Int) throws {
        let bytes = [UInt8](repeating: 0, count: pictures)
        try #require(Glibc.write(pipe, bytes, pictures) == pictures)
    }
}
