import Catalogs
import ExamplePictures
import Foundation
import Raster
import Testing

/// A picture in PQ, from the manifest to real workers.
@Suite(.serialized) struct HDRJobTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        // The photo's samples are in PQ now. The chunk follows the header, of 33 bytes with the signature.
        let bytes = try workspace.read("photos/a.png")
        let chunk: [UInt8] =
            [0, 0, 0, 4] + Array("cICP".utf8) + [9, 16, 0, 1] + Self.crc(Array("cICP".utf8) + [9, 16, 0, 1])
        try workspace.write(bytes.prefix(33) + Data(chunk) + bytes.dropFirst(33), to: "photos/a.png")
        try workspace.age("photos/a.png")
    }

    /// The check sum of PNG, ISO 3309.
    private static func crc(_ bytes: [UInt8]) -> [UInt8] {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
        }
        return (0..<4).reversed().map { UInt8(truncatingIfNeeded: ~crc >> (8 * $0)) }
    }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["run", "job.yaml"] + arguments, in: workspace)
    }

    @Test func `it fails without tone-map for the whole picture, and says what helps`() async throws {
        for (filters, remedy) in [
            ("[{gaussian: {radius: 2}}]", "add the filter 'tone-map' for the whole picture"),
            (
                "[{tone-map: {within: {x: 0, y: 0, width: 50%, height: 50%}}}]",
                "its 'tone-map' is limited by 'within' or 'mask'; leave them out, so that it maps the whole picture"
            ),
        ] {
            try workspace.writeManifest(inputs: "photos/a.png", filters: filters)
            let result = try await run()
            #expect(result.code != 0)
            #expect(
                result.errors.contains(
                    "photos/a.png: PNG with HDR colours (PQ), which these filters do not take; \(remedy)"),
                "\(result.errors)")
        }
        try workspace.write(
            """
            job: job
            inputs: photos/a.png
            outputs: [{path: out/a.png, filters: [tone-map]}, {path: out/b.png}]
            """, to: "job.yaml")
        let some = try await run()
        #expect(
            some.code != 0
                && some.errors.contains(
                    "add the filter 'tone-map' to every output, or write it under the filters of all of them"),
            "\(some.errors)")
        try workspace.writeManifest(
            inputs: "photos/a.png", filters: "[{tone-map: {}}]", more: "save: {precision: 16}")
        let result = try await run()
        #expect(
            result.code != 0
                && result.errors.contains(
                    "photos/a.png: has HDR colours, whose light integers cannot hold; leave 'precision' out, or write "
                        + "'precision: float'"),
            "\(result.errors)")
        #expect(!workspace.exists("out/a.png"))
    }

    @Test func `with it, whole frames and tiles have the same bytes, and a ledger knows them`() async throws {
        try workspace.writeManifest(
            inputs: "photos/a.png", filters: "[{gaussian: {radius: 2}}, {tone-map: {curve: hable, peak: 10000}}]",
            more: "color: srgb\nexisting: update")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let bytes = try workspace.read("out/a.png")
        let tiled = try await run("--force", "--set", "shard=tile", "--set", "tile=50")
        #expect(tiled.code == 0, "\(tiled.errors)")
        #expect(try workspace.read("out/a.png") == bytes)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        let picture = try PictureFiles.read("\(workspace.path)/out/a.png")
        #expect(picture.format == .u8 && picture.layout == .rgb)
        let checked = try await run("--force", "--set", "verify=full")
        #expect(checked.code == 0, "\(checked.errors)")
        #expect(try workspace.read("out/a.png") == bytes)
    }

    @Test func `a target above the peak is an error of the manifest`() async throws {
        try workspace.writeManifest(inputs: "photos/a.png", filters: "[{tone-map: {peak: 150}}]")
        for command in ["check", "run"] {
            let result = try await Program.run(Program.penumbra, [command, "job.yaml"], in: workspace)
            #expect(result.code == 65)
            #expect(result.errors.contains("'target' must be smaller than 'peak'"), "\(result.errors)")
            #expect(
                result.errors.contains(
                    "= write a smaller 'target', or a larger 'peak'; 'target' is 203 if it is not written\n"))
        }
        #expect(!workspace.exists("out"))
    }
}
