import Catalogs
import ExamplePictures
import Filters
import Foundation
import Geometry
import Raster
import TestSupport
import Testing

/// `light: linear` over pictures whose profile has another curve than sRGB's, from file to file.
@Suite(.serialized) struct ProfileLightJobTests {
    private static let linear = "[{gaussian: {radius: 3, light: linear}}]"
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.write("", to: "photos/.keep")
    }

    private func write(_ format: SampleFormat, gamma: Double, _ primaries: TruePrimaries) throws -> AnyRaster {
        let photo = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 150, height: 90), .rgb, format)
        try PictureFiles.write(
            photo, to: "\(workspace.path)/photos/a.png", profile: ProfileBuilder.rgb(gamma: gamma, primaries))
        return photo
    }

    private func output(_ options: String...) async throws -> AnyRaster {
        let result = try await Program.run(Program.penumbra, ["run", "job.yaml", "--force"] + options, in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        return try PictureFiles.read("\(workspace.path)/out/a.png")
    }

    /// ProPhoto's curve is a power of 1.8, Adobe RGB's one of 563/256.
    @Test(arguments: [1.8, 563.0 / 256], [SampleFormat.u8, .u16])
    func `light is that of the profile, in frames and in tiles`(gamma: Double, format: SampleFormat) async throws {
        let photo = try write(format, gamma: gamma, .adobeRGB)
        let held = (gamma * 256).rounded(.down) / 256
        func light(_ picture: AnyRaster) -> TruePixels {
            let values = picture.doubles.map { pow($0 / format.full, held) * format.full }
            return TruePixels(rect: picture.rect, channels: 3, values: values)
        }
        let truth = light(photo).gaussian(sigmaX: 3, sigmaY: 3, edge: .clamp, output: photo.rect)
        try workspace.writeManifest(filters: Self.linear, more: "verify: audit\nsave: {metadata: keep}")
        let whole = try await output("--set", "shard=frame")
        let errors = zip(light(whole).values, truth.values).map { abs($0 - $1) }
        #expect((errors.max() ?? 1) <= 2.2 * format.allowedError * 1.2)
        #expect(try await output("--set", "shard=tile", "--set", "tile=37").hasSameBytes(as: whole))
    }

    @Test func `a job that works in sRGB averages sRGB's light`() async throws {
        let photo = try write(.u16, gamma: 1.8, .sRGB)
        try workspace.writeManifest(filters: Self.linear, more: "color: srgb")
        let result = try await output()
        let held = (1.8 * 256).rounded(.down) / 256
        // The primaries are the same, so that light is.
        let light = TruePixels(
            rect: photo.rect, channels: 3, values: photo.doubles.map { pow($0 / 65535, held) * 65535 })
        let truth = light.gaussian(sigmaX: 3, sigmaY: 3, edge: .clamp, output: photo.rect)
        let errors = zip(result.doubles, truth.values).map { abs(trueLinear($0 / 65535) * 65535 - $1) }
        #expect((errors.max() ?? 1) <= 40)
    }
}
