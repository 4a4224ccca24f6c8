import Foundation
import Glibc
import Testing

/// People and the service's user share a folder of outputs by a group: the folder has the bit setgid, and the units have UMask=0002.
@Suite struct SharedOutputTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func status(_ name: String) throws -> stat {
        var found = stat()
        try #require(lstat("\(workspace.path)/\(name)", &found) == 0, "\(name)")
        return found
    }

    private func run() async throws -> Program.Result {
        try await Program.run(
            "/bin/sh", ["-c", "umask 0002; exec \"$0\" run job.yaml", Program.penumbra], in: workspace)
    }

    @Test func `the group of a setgid folder may change all outputs and new folders, and the index stays trusted`()
        async throws
    {
        try workspace.writeManifest(output: "shared/new/{stem}.png", more: "existing: update")
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/shared", withIntermediateDirectories: false)
        #expect(chmod("\(workspace.path)/shared", 0o2775) == 0)
        let first = try await run()
        #expect(first.code == 0, "\(first.errors)")
        let folder = try status("shared/new")
        #expect(folder.st_mode & 0o7777 == 0o2775)
        let outputs = try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/shared/new")
            .filter { $0.hasSuffix(".png") }
        #expect(!outputs.isEmpty)
        for name in outputs { #expect(try status("shared/new/\(name)").st_mode & 0o777 == 0o664, "\(name)") }
        // An index that others may write to would not be trusted.
        #expect(try status("shared/new/.penumbra-index").st_mode & 0o777 == 0o644)
        let second = try await run()
        #expect(second.output.contains("0 published, \(outputs.count) skipped"), "\(second.output)\(second.errors)")
    }

    /// Workers make these folders elsewhere, and the coordinator moves them.
    @Test func `folders and tiles of Deep Zoom outputs belong to the group, too`() async throws {
        // Only root can choose a group that new files would not have anyway.
        let group: gid_t = getuid() == 0 ? 4711 : getgid()
        try workspace.writeManifest(output: "shared/{stem}.dzi")
        let shared = "\(workspace.path)/shared"
        try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: false)
        #expect(chown(shared, uid_t.max, group) == 0 && chmod(shared, 0o2775) == 0)
        let result = try await run()
        #expect(result.code == 0, "\(result.errors)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: shared).filter { !$0.hasPrefix(".") }
        #expect(names.contains { $0.hasSuffix("/0_0.jpeg") || $0.hasSuffix("/0_0.jpg") }, "\(names)")
        for name in names {
            let found = try status("shared/\(name)")
            #expect(found.st_gid == group, "\(name)")
            #expect(found.st_mode & 0o7777 == (found.st_mode & S_IFMT == S_IFDIR ? 0o2775 : 0o664), "\(name)")
        }
    }
}
