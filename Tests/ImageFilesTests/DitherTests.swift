import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

/// `save.dither`: 8-bit outputs of 16-bit computations.
@Suite struct DitherTests {
    private let format: any ImageFormat

    init() throws {
        format = try #require(ImageFormats.named("png"))
    }

    private func dithered(_ picture: AnyRaster) throws -> Raster<UInt8> {
        let conversion = OutputConversion(
            from: picture.layout, picture.format, to: format, save: SaveOptions(dither: true))
        guard case .u8(let raster) = conversion.convert(picture) else { throw NotBytes() }
        return raster
    }

    private struct NotBytes: Error {}

    @Test func `whole steps stay what they are`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 256, height: 40)
        let picture = AnyRaster.u16(
            Raster(rect: rect, layout: .gray, samples: (0..<rect.area).map { UInt16($0 % 256) * 257 }))
        #expect(try dithered(picture).samples == (0..<rect.area).map { UInt8($0 % 256) })
    }

    @Test(arguments: [0.1, 0.25, 0.5, 0.77])
    func `a value between two steps is rounded up at its part of the pixels, everywhere`(part: Double) throws {
        let rect = PixelRect(x: -20, y: 5, width: 128, height: 128)
        let level = UInt16((100 + part) * 257)
        let result = try dithered(
            .u16(Raster(rect: rect, layout: .gray, samples: Array(repeating: level, count: rect.area))))
        #expect(Set(result.samples) == [100, 101])
        for corner in [(0, 0), (60, 3), (96, 96)] {
            let window = (0..<32 * 32).map { result.samples[(corner.1 + $0 / 32) * 128 + corner.0 + $0 % 32] }
            let mean = window.reduce(0.0) { $0 + Double($1) - 100 } / 1024
            #expect(abs(mean - part) < 0.02)
        }
    }

    @Test func `a part has the pixels that it has in the whole`() throws {
        let picture = Pictures.smooth(width: 90, height: 70, layout: .rgba, format: .u16)
        let part = PixelRect(x: 31, y: 17, width: 40, height: 33)
        let whole = AnyRaster.u8(try dithered(picture))
        #expect(try whole.cropped(to: part) == .u8(dithered(picture.cropped(to: part))))
    }

    @Test func `opacity is rounded, and gray stays gray`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 50, height: 1)
        let samples = (0..<50).flatMap { _ in [UInt16](repeating: 30_000, count: 4) }
        let result = try dithered(.u16(Raster(rect: rect, layout: .rgba, samples: samples)))
        for pixel in stride(from: 0, to: 200, by: 4) {
            #expect(result.samples[pixel] == result.samples[pixel + 1])
            #expect(result.samples[pixel + 1] == result.samples[pixel + 2])
            #expect(result.samples[pixel + 3] == 117)
        }
    }

    @Test func `floats beyond the range are cut, and NaN is black`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 4, height: 1)
        let picture = AnyRaster.f32(Raster(rect: rect, layout: .gray, samples: [-3, 7, .nan, 1]))
        #expect(try dithered(picture).samples == [0, 255, 0, 255])
    }

    @Test func `a decoder delivers bytes as 16 bits`() throws {
        let workspace = try Workspace()
        let picture = Pictures.busy()
        try workspace.save(picture, as: "png", to: "picture")
        let decoder = try ImageDecoder(path: workspace.path("picture"), limits: .roomy, color: .keep, samples: .u16)
        #expect(decoder.header.sampleFormat == .u16)
        var bands: [AnyRaster] = []
        try decoder.readRows(bandHeight: 1000) { bands.append($0) }
        let isEqual = bands == [picture.converted(to: .u16)]
        #expect(isEqual)
    }
}
