import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

/// GIF and WebP hold animations; every frame of them is a picture.
@Suite struct AnimationTests {
    private let workspace: Workspace
    private let animation = ImageMetadata.Animation(delays: [40, 500, 120], repetitions: 2)

    init() throws {
        workspace = try Workspace()
    }

    /// Three frames of plain colours, so that neither a palette nor a lossy encoder changes much.
    private func frames(_ layout: PixelLayout = .rgb) -> [AnyRaster] {
        (0..<3).map { frame in
            Pictures.picture(width: 24, height: 18, layout: layout, format: .u8) { x, y, channel in
                if layout.hasAlpha, channel == layout.channels - 1 { return x < 12 ? 1 : 0 }
                if layout.hasAlpha, x >= 12 { return 0 }
                return channel == frame ? 1 : y < 9 ? 0 : 0.2
            }
        }
    }

    private func write(
        _ frames: [AnyRaster], as name: String, save: SaveOptions, _ animation: ImageMetadata.Animation? = nil
    ) throws {
        try ImageEncoder.write(
            to: workspace.path("animation"), format: try workspace.requireFormat(name), save: save,
            shape: frames[0].shape, frames: frames.count,
            metadata: ImageMetadata(animation: animation ?? self.animation)
        ) { rows in
            var band = AnyRaster(
                zeroed: PixelRect(columns: 0..<24, rows: rows), layout: frames[0].layout, format: frames[0].format)
            for (index, frame) in frames.enumerated() {
                let moved = frame.translated(x: 0, y: 18 * index)
                let part = moved.rect.intersection(band.rect)
                if !part.isEmpty { band.paste(moved.cropped(to: part)) }
            }
            return band
        }
    }

    private func read(_ pages: PageChoice) throws -> (header: ImageHeader, metadata: ImageMetadata, frames: [AnyRaster])
    {
        let decoder = try ImageDecoder(path: workspace.path("animation"), limits: .roomy, color: .keep, pages: pages)
        var frames: [AnyRaster] = []
        try decoder.readFrames { frames.append($0) }
        return (decoder.header, decoder.metadata, frames)
    }

    @Test(arguments: ["gif", "webp"], [PixelLayout.rgb, .rgba])
    func `an animation comes back with its frames and times`(format: String, layout: PixelLayout) throws {
        let frames = frames(layout)
        let save = SaveOptions(
            metadata: .strip, values: format == "webp" ? ["lossless": .boolean(true)] : ["palette_dither": .number(0)])
        try write(frames, as: format, save: save)
        let found = try read(.animation)
        #expect(found.header.frames == 3 && found.header.pages == 3 && found.header.height == 18)
        #expect(found.metadata.animation == animation)
        #expect(found.frames.count == 3)
        for (frame, expected) in zip(found.frames, frames) {
            let difference = frame.inRGBA.largestDifference(from: expected.inRGBA)
            #expect(difference < 0.02)
        }
    }

    @Test(arguments: [("gif", [30, 40, 30]), ("webp", [33, 34, 33])])
    func `30 frames a second stay 30, in the steps of the format`(format: String, delays: [Int]) throws {
        let thirtieths = Array(repeating: FrameDuration(1, 30), count: 3)
        try write(frames(), as: format, save: SaveOptions(), .init(durations: thirtieths, repetitions: 0))
        #expect(try read(.animation).metadata.animation?.delays(unit: 1) == delays)
    }

    @Test func `one page of an animation is a still picture`() throws {
        try write(frames(), as: "gif", save: SaveOptions(values: ["palette_dither": .number(0)]))
        for page in 0..<3 {
            let found = try read(.page(page))
            #expect(found.header.frames == 1 && found.header.pages == 3)
            #expect(found.metadata.animation == nil)
            #expect(found.frames[0].inRGBA.largestDifference(from: frames()[page].inRGBA) < 0.02)
        }
    }

    @Test func `a still picture has one frame`() throws {
        try workspace.save(Pictures.busy(), as: "png", to: "animation")
        let found = try read(.animation)
        #expect(found.header.frames == 1 && found.metadata.animation == nil)
        #expect(found.frames == [Pictures.busy()])
    }
}

extension AnyRaster {
    /// With an alpha channel, whatever it had.
    fileprivate var inRGBA: AnyRaster {
        guard case .u8(let raster) = self, layout == .rgb else { return self }
        var samples: [UInt8] = []
        for pixel in stride(from: 0, to: raster.samples.count, by: 3) {
            samples += raster.samples[pixel..<pixel + 3]
            samples.append(255)
        }
        return .u8(Raster(rect: rect, layout: .rgba, samples: samples))
    }
}
