import ExamplePictures
import Filters
import FoundationEssentials
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// A real photograph through the whole program, against the definitions in float64.
@Suite(.serialized) struct PhotographTests {
    private static let radii = [0, 0.3, 1, 2.7, 5, 12, 40]

    let workspace: Workspace
    let photograph: AnyRaster

    init() throws {
        workspace = try Workspace()
        let path = ExampleTests.project.appending(path: "jobs/photos/cat.jpg").path
        let part = PixelRect(x: 100, y: 60, width: 181, height: 127)
        photograph = try PictureFiles.read(path).cropped(to: part).translated(x: -part.x, y: -part.y)
        try workspace.write("", to: "photos/.keep")
        try PictureFiles.write(photograph, to: "\(workspace.path)/photos/cat.png")
    }

    private func rendered(_ filters: String) async throws -> AnyRaster {
        try workspace.writeManifest(filters: filters, more: "shard: tile\ntile: 61")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        return try PictureFiles.read("\(workspace.path)/out/cat.png")
    }

    @Test(arguments: radii)
    func `a Gaussian is within one level`(radius: Double) async throws {
        let truth = TruePixels(photograph, light: .encoded)
            .gaussian(sigmaX: radius, sigmaY: radius, edge: .mirror, output: photograph.rect)
        let picture = try await rendered("[{gaussian: {radius: \(radius), edge: mirror}}]")
        #expect(worstError(picture, truth) <= 1)
    }

    @Test(arguments: radii)
    func `a motion blur is within one level`(radius: Double) async throws {
        let truth = TruePixels(photograph, light: .encoded)
            .motion(radius: radius, degrees: 25, n: 7, edge: .clamp, output: photograph.rect)
        let picture = try await rendered("[{motion: {radius: \(radius), angle: 25, samples: 7}}]")
        #expect(worstError(picture, truth) <= 1)
    }
}
