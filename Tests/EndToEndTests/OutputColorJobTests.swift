import Catalogs
import ExamplePictures
import Foundation
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Colours of outputs, from the manifest to real workers.
@Suite(.serialized) struct OutputColorJobTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try write(ProfileBuilder.ink())
    }

    private func write(_ profile: [UInt8]) throws {
        try workspace.write("", to: "inks/.keep")
        try Data(profile).write(to: URL(filePath: "\(workspace.path)/inks/paper.icc"))
        try workspace.age("inks/paper.icc")
    }

    private func penumbra(_ arguments: String..., environment: [String: String] = [:]) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace, environment: environment)
    }

    private func writeManifest(_ save: String, output: String = "out/{stem}.tif", more: String = "") throws {
        try workspace.writeManifest(
            inputs: "photos/a.png", filters: "[{gaussian: {radius: 3}}]", output: output,
            more: "save: {\(save)}\nverify: full\nexisting: update\n\(more)")
    }

    /// The picture as it is in its file, and its profile.
    private func stored(_ name: String) throws -> (raster: AnyRaster, profile: [UInt8]?) {
        let decoder = try ImageDecoder(
            path: "\(workspace.path)/\(name)", limits: DecodeLimits(maxPixels: 1_000_000), color: .keep, keepsCMYK: true
        )
        var raster = AnyRaster(
            zeroed: decoder.header.rect, layout: decoder.header.layout, format: decoder.header.sampleFormat)
        try decoder.readRows(bandHeight: 64) { raster.paste($0) }
        return (raster, decoder.metadata.icc?.bytes)
    }

    @Test(arguments: [
        "color: p3", "color: adobe, depth: 16", "color: gray", "color: inks/paper.icc, intent: perceptual",
    ])
    func `frames and tiles have the same bytes, are checked, and come out the same in a sandbox`(
        save: String
    ) async throws {
        try writeManifest(save, more: "shard: frame")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 0, "\(result.errors)")
        let bytes = try workspace.read("out/a.tif")
        let (raster, profile) = try stored("out/a.tif")
        #expect(raster.layout == (save.contains("gray") ? .gray : save.contains("icc") ? .cmyk : .rgb))
        #expect((profile == nil) == save.contains("gray"))
        for verify in ["full", "audit"] {
            let tiled = try await penumbra(
                "run", "job.yaml", "--force", "--set", "shard=tile", "--set", "tile=50", "--set", "verify=\(verify)",
                environment: ["PENUMBRA_SANDBOX": "require"])
            #expect(tiled.code == 0, "\(tiled.errors)")
            #expect(try workspace.read("out/a.tif") == bytes)
        }
        let verified = try await penumbra("verify", "job.yaml", "--rerender")
        #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    }

    @Test func `another colour and another profile make outputs anew, and the same ones do not`() async throws {
        try writeManifest("color: p3")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        try writeManifest("color: inks/paper.icc")
        #expect(try await penumbra("plan", "job.yaml").output.contains("save.color p3 → "))
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try stored("out/a.tif").profile == ProfileBuilder.ink())
        try write(ProfileBuilder.ink(darkest: 20))
        #expect(try await penumbra("plan", "job.yaml").output.contains("inks/paper.icc has changed"))
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try stored("out/a.tif").profile == ProfileBuilder.ink(darkest: 20))
    }

    @Test func `each output has colours of its own`() async throws {
        try workspace.write(
            """
            job: colours
            inputs: photos/a.png
            filters: [{gaussian: {radius: 2}}]
            outputs:
              - path: web/{stem}.png
                save: {color: p3}
              - path: press/{stem}.jpg
                save: {color: inks/paper.icc, quality: 95}
              - path: plain/{stem}.png
            verify: full
            """, to: "job.yaml")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 0, "\(result.errors)")
        #expect(try stored("press/a.jpg").raster.layout == .cmyk)
        #expect(try stored("web/a.png").profile != nil && stored("plain/a.png").profile == nil)
        #expect(try stored("web/a.png").raster != stored("plain/a.png").raster)
    }

    @Test func `a preview shows the colours of the filters`() async throws {
        try writeManifest("color: inks/paper.icc")
        let result = try await penumbra("preview", "job.yaml", "photos/a.png", "-o", "p.png")
        #expect(result.code == 0, "\(result.errors)")
        #expect(try stored("p.png").raster.layout == .rgb)
    }

    @Test func `colours that an output cannot have are errors of the manifest, or of its pictures`() async throws {
        for (save, output, message) in [
            ("color: inks/paper.icc", "out/{stem}.png", "is of CMYK, which PNG does not hold; JPEG and TIFF do"),
            ("color: p3", "out/{stem}.gif", "gif has no place for the profile of 'color: p3'"),
            ("color: inks/none.icc", "out/{stem}.tif", "the profile of 'color', 'inks/none.icc': no such file"),
            ("color: job.yaml.icc", "out/{stem}.tif", "'job.yaml.icc': is no ICC profile"),
        ] {
            try writeManifest(save, output: output)
            try workspace.write("no profile", to: "job.yaml.icc")
            for command in ["check", "run"] {
                let result = try await penumbra(command, "job.yaml")
                #expect(result.code == 65)
                #expect(result.errors.contains(message), "\(result.errors)")
            }
        }
        try writeManifest("color: inks/paper.icc", output: "out/{stem}.{ext}")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(result.errors.contains("is of CMYK, which PNG does not hold"), "\(result.errors)")
        #expect(!workspace.exists("out/a.png"))
    }
}
