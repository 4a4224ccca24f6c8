import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// The kernels as a library: a package outside this tree, built and run as its author would.
@Suite struct LibraryTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `a package of its own blurs a raster without libvips`() async throws {
        let folder = try TemporaryFolder()
        let package = folder.file("blur-a-raster")
        try FileManager.default.copyItem(
            atPath: Self.root.appending(path: "Examples/blur-a-raster").path, toPath: package)
        // Without optimizations, also in the inner loops: they would take the compiler some minutes, and the results are the same.
        let result = try await Subprocess.run(
            .name("swift"),
            arguments: [
                "run", "-c", "release", "--package-path", "\(package)", "--scratch-path", "\(package)/.build",
                "-Xswiftc", "-Onone",
            ],
            environment: .inherit.updating(["PENUMBRA": "\(Self.root.path)"]),
            input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        #expect(result.terminationStatus.isSuccess, "\(result.standardError)")
        let lines = result.standardOutput.split(separator: "\n")
        // 255·Φ(½/12 px) at the edge; 1/160 of the line lies on black at the centre of the motion.
        #expect(lines.first == "gaussian: centre 255, edge 132")
        #expect(lines.dropFirst().first == "motion: centre 253, edge 129")
        let binary = FilePath("\(package)/.build/release/blur-a-raster")
        let linked = try await Subprocess.run(
            .name("ldd"), arguments: ["\(binary)"], output: .string(limit: 1 << 20))
        #expect(linked.terminationStatus.isSuccess)
        #expect(!linked.standardOutput.contains("vips"))
    }
}
