import Catalogs
import ExamplePictures
import Foundation
import Geometry
import Raster
import TestSupport
import Testing

/// Pictures of other colour spaces over one another: what is seen is what float64 has after both went to sRGB.
@Suite(.serialized) struct LayerColorTests {
    /// What a layer's numbers mean.
    enum Meaning: CaseIterable, Sendable {
        case sRGB, displayP3, adobeRGB, gray

        var layout: PixelLayout { self == .gray ? .grayAlpha : .rgba }

        var profile: [UInt8]? {
            switch self {
            case .sRGB: nil
            case .displayP3: ProfileBuilder.rgb(gamma: 2.2, .displayP3)
            case .adobeRGB: ProfileBuilder.rgb(gamma: 2.2, .adobeRGB)
            case .gray: ProfileBuilder.gray(gamma: 1.5)
            }
        }

        /// 0–1 each.
        func inSRGB(_ color: [Double]) -> [Double] {
            // Profiles hold powers in 256ths.
            let gamma = (2.2 * 256).rounded(.down) / 256
            switch self {
            case .sRGB: return color
            case .displayP3: return TruePrimaries.displayP3.inSRGB(color, gamma: gamma)
            case .adobeRGB: return TruePrimaries.adobeRGB.inSRGB(color, gamma: gamma)
            case .gray: return Array(repeating: trueEncoded(pow(color[0], 1.5)), count: 3)
            }
        }
    }

    private static let (x, y, opacity) = (7, 5, 0.8)

    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.write("", to: "photos/.keep")
        try workspace.write("", to: "layers/.keep")
    }

    /// Writes both pictures, and tells what lies over what.
    private func write(_ photoMeaning: Meaning, _ format: SampleFormat, _ layerMeaning: Meaning) throws -> [Double] {
        let photo = Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 60, height: 40), .rgb, format)
        let layer = Pattern.photograph.picture(
            PixelRect(x: 0, y: 0, width: 40, height: 30), layerMeaning.layout, .u8, seed: 7)
        try PictureFiles.write(photo, to: "\(workspace.path)/photos/a.png", profile: photoMeaning.profile)
        try PictureFiles.write(layer, to: "\(workspace.path)/layers/b.png", profile: layerMeaning.profile)
        return composed(photo, layer, photoMeaning.inSRGB, layerMeaning.inSRGB)
    }

    /// Source-over of both, after `below` and `above` were done to their colours; 0–1.
    private func composed(
        _ photo: AnyRaster, _ layer: AnyRaster, _ below: ([Double]) -> [Double], _ above: ([Double]) -> [Double]
    ) -> [Double] {
        let (back, front) = (photo.doubles.map { $0 / photo.format.full }, layer.doubles.map { $0 / layer.format.full })
        let channels = layer.layout.channels
        return photo.rect.rows.flatMap { row in
            photo.rect.columns.flatMap { column -> [Double] in
                let start = (row * photo.rect.width + column) * 3
                let color = below(Array(back[start..<start + 3]))
                let place = (x: column - Self.x, y: row - Self.y)
                guard layer.rect.contains(x: place.x, y: place.y) else { return color }
                let pixel = (place.y * layer.rect.width + place.x) * channels
                let over = above(Array(front[pixel..<pixel + channels - 1]))
                let alpha = front[pixel + channels - 1] * Self.opacity
                return (0..<3).map { over[$0] * alpha + color[$0] * (1 - alpha) }
            }
        }
    }

    private func worst(_ values: [Double], _ truth: [Double]) -> Double {
        zip(values, truth).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }

    @Test(arguments: Meaning.allCases, [Meaning.displayP3, .adobeRGB])
    func `layers and the picture below meet in sRGB`(layer: Meaning, photo: Meaning) async throws {
        for format in [SampleFormat.u8, .u16] {
            let truth = try write(photo, format, layer)
            let overlay = "{picture: layers/b.png, x: \(Self.x), y: \(Self.y), opacity: \(Self.opacity * 100)}"
            try workspace.writeManifest(
                "layers.yaml", filters: "[{gaussian: {radius: 0}}]", more: "layers: [\(overlay)]")
            try workspace.writeManifest("filter.yaml", filters: "[{overlay: \(overlay)}]", output: "same/{stem}.png")
            let result = try await Program.run("run", "layers.yaml", "filter.yaml", in: workspace)
            #expect(result.code == 0, "\(result.errors)")
            let output = try PictureFiles.read("\(workspace.path)/out/a.png")
            // Two levels of 255: 8 bits go through the colour library's tables.
            #expect(worst(output.doubles.map { $0 / output.format.full }, truth) < 2 / 255)
            #expect(output.format == format)
            #expect(try workspace.read("out/a.png") == workspace.read("same/a.png"))
        }
    }

    @Test(arguments: [SampleFormat.u8, .u16])
    func `a tint is a colour of sRGB over the pictures of every space`(format: SampleFormat) async throws {
        for meaning in [Meaning.displayP3, .adobeRGB] {
            let photo = Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 60, height: 40), .rgb, format)
            try PictureFiles.write(photo, to: "\(workspace.path)/photos/a.png", profile: meaning.profile)
            let panel = "{x: 0, y: 0, width: 100%, height: 100%, radius: 0, tint: '#3366cc80'}"
            try workspace.writeManifest("tint.yaml", filters: "[{backdrop: \(panel)}]")
            #expect(try await Program.run("run", "tint.yaml", in: workspace).code == 0)
            let output = try PictureFiles.read("\(workspace.path)/out/a.png")
            let (tint, alpha) = ([0x33, 0x66, 0xCC].map { Double($0) / 255 }, Double(0x80) / 255)
            let values = photo.doubles.map { $0 / photo.format.full }
            let truth = stride(from: 0, to: values.count, by: 3).flatMap { start -> [Double] in
                let below = meaning.inSRGB(Array(values[start..<start + 3]))
                return (0..<3).map { tint[$0] * alpha + below[$0] * (1 - alpha) }
            }
            #expect(worst(output.doubles.map { $0 / output.format.full }, truth) < 2 / 255)
        }
    }

    @Test func `what shows through transparency is a colour of sRGB behind the pictures of every space`() async throws {
        let rect = PixelRect(x: 0, y: 0, width: 40, height: 30)
        let pixel: [UInt8] = [200, 90, 40, 128]
        let photo = Raster(rect: rect, layout: .rgba, samples: (0..<rect.area).flatMap { _ in pixel })
        for meaning in [Meaning.sRGB, .displayP3, .adobeRGB] {
            try PictureFiles.write(.u8(photo), to: "\(workspace.path)/photos/a.png", profile: meaning.profile)
            try workspace.writeManifest(
                filters: "[{flip: {axis: horizontal}}]", output: "out/{stem}.jpg",
                more: "save: {background: '#3366cc', quality: 100, metadata: keep}")
            let result = try await Program.run("run", "job.yaml", in: workspace)
            #expect(result.code == 0, "\(result.errors)")
            let output = try PictureFiles.read("\(workspace.path)/out/a.jpg")
            let (behind, alpha) = ([0x33, 0x66, 0xCC].map { Double($0) / 255 }, 128.0 / 255)
            let color = meaning.inSRGB(pixel[..<3].map { Double($0) / 255 })
            let truth = (0..<rect.area).flatMap { _ in (0..<3).map { behind[$0] * (1 - alpha) + color[$0] * alpha } }
            #expect(worst(output.doubles.map { $0 / 255 }, truth) < 3 / 255, "\(meaning)")
        }
    }

    @Test func `the output carries no profile of either, so that it is sRGB to every reader`() async throws {
        _ = try write(.displayP3, .u8, .adobeRGB)
        for ext in ["png", "jpg", "webp", "tif"] {
            try workspace.writeManifest(
                filters: "[{overlay: {picture: layers/b.png}}]", output: "out/{stem}.\(ext)",
                more: "save: {metadata: keep}")
            #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
            let bytes = try workspace.read("out/a.\(ext)")
            // All ICC profiles have this at their 36th byte; PNG packs them.
            #expect(bytes.range(of: Data("acsp".utf8)) == nil && bytes.range(of: Data("iCCP".utf8)) == nil, "\(ext)")
        }
    }

    @Test(arguments: [("png", true), ("jpg", true), ("gif", false)])
    func `a preview has the profile of its pixels, or pixels of sRGB`(ext: String, holdsProfile: Bool) async throws {
        let profile = ProfileBuilder.rgb(gamma: 2.2, .displayP3)
        let photo = Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 60, height: 40), .rgb, .u8)
        try PictureFiles.write(photo, to: "\(workspace.path)/photos/a.png", profile: profile)
        try workspace.writeManifest(filters: "[{flip: {axis: horizontal}}]")
        let arguments = ["preview", "job.yaml", "photos/a.png", "-o", "p.\(ext)"]
        let result = try await Program.run(Program.penumbra, arguments, in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(try PictureFiles.profile(of: "\(workspace.path)/p.\(ext)") == (holdsProfile ? profile : nil))
        guard ext != "jpg" else { return }
        let shown = try PictureFiles.read("\(workspace.path)/p.\(ext)").doubles.map { $0 / 255 }
        let first = photo.doubles.suffix(3 * 60).prefix(3).map { $0 / 255 }
        let last = Array(shown[(shown.count - 3)...])
        #expect(worst(last, holdsProfile ? first : Meaning.displayP3.inSRGB(first)) < 8 / 255)
    }

    @Test func `a tint that is swept is a colour of sRGB`() async throws {
        let photo = Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 60, height: 40), .rgb, .u8)
        try PictureFiles.write(
            photo, to: "\(workspace.path)/photos/a.png", profile: ProfileBuilder.rgb(gamma: 2.2, .displayP3))
        let panel = "{x: 0, y: 0, width: 100%, height: 100%, radius: 0"
        try workspace.writeManifest(filters: "[{backdrop: \(panel)}}]")
        let swept = ["preview", "job.yaml", "photos/a.png", "-o", "p.png", "--sweep", "tint='#3366cc80'"]
        let result = try await Program.run(Program.penumbra, swept, in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        try workspace.writeManifest(filters: "[{backdrop: \(panel), tint: '#3366cc80'}}]")
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(
            try PictureFiles.read("\(workspace.path)/p.png").doubles
                == PictureFiles.read("\(workspace.path)/out/a.png").doubles)
    }

    @Test func `colours that are taken as they stand would be far off`() throws {
        let truth = try write(.displayP3, .u8, .adobeRGB)
        let photo = try PictureFiles.read("\(workspace.path)/photos/a.png")
        let layer = try PictureFiles.read("\(workspace.path)/layers/b.png")
        #expect(worst(composed(photo, layer, { $0 }, { $0 }), truth) > 15 / 255)
        #expect(worst(composed(photo, layer, Meaning.displayP3.inSRGB, { $0 }), truth) > 15 / 255)
        #expect(worst(composed(photo, layer, { $0 }, Meaning.adobeRGB.inSRGB), truth) > 15 / 255)
    }
}
