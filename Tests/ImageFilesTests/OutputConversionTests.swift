import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

@Suite struct OutputConversionTests {
    private func convert(
        _ raster: AnyRaster, to name: String, background: [Int] = [255, 255, 255]
    ) throws -> AnyRaster {
        let format = try #require(ImageFormats.named(name))
        let save = SaveOptions(background: background)
        return OutputConversion(from: raster.layout, raster.format, to: format, save: save).convert(raster)
    }

    private func u8(_ layout: PixelLayout, _ samples: [UInt8]) -> AnyRaster {
        let rect = PixelRect(x: 0, y: 5, width: samples.count / layout.channels, height: 1)
        return .u8(Raster(rect: rect, layout: layout, samples: samples))
    }

    private func u16(_ layout: PixelLayout, _ samples: [UInt16]) -> AnyRaster {
        let rect = PixelRect(x: 0, y: 0, width: samples.count / layout.channels, height: 1)
        return .u16(Raster(rect: rect, layout: layout, samples: samples))
    }

    private func f32(_ layout: PixelLayout, _ samples: [Float]) -> AnyRaster {
        let rect = PixelRect(x: 0, y: 0, width: samples.count / layout.channels, height: 1)
        return .f32(Raster(rect: rect, layout: layout, samples: samples))
    }

    @Test func `what a format holds stays as it is`() throws {
        let picture = Pictures.busy(layout: .rgba, format: .u16)
        #expect(try convert(picture, to: "png") == picture)
        #expect(try convert(picture, to: "tiff") == picture)
        let floats = f32(.gray, [-1, 2, .infinity])
        #expect(try convert(floats, to: "tiff") == floats)
    }

    @Test func `alpha is flattened onto the background, and coordinates stay`() throws {
        let picture = u8(.rgba, [10, 20, 30, 255, 10, 20, 30, 0, 0, 100, 200, 128])
        #expect(
            try convert(picture, to: "jpeg", background: [255, 0, 51])
                == u8(.rgb, [10, 20, 30, 255, 0, 51, 127, 50, 126]))
    }

    @Test func `flattening rounds to the nearest in every sample format`() throws {
        for color in stride(from: 0, through: 255, by: 5) {
            for alpha in 0...255 {
                let exact = (Double(color * alpha) + 51 * Double(255 - alpha)) / 255
                let picture = u8(.grayAlpha, [UInt8(color), UInt8(alpha)])
                #expect(
                    try convert(picture, to: "jpeg", background: [51, 51, 51])
                        == u8(.gray, [UInt8((exact + 0.5).rounded(.down))]))
            }
        }
        let deep = u16(.rgba, [0, 65535, 1000, 32768])
        // In 16 bits: 32767.0…, 65535 and 33267.2…; in 8 bits of those.
        #expect(try convert(deep, to: "jpeg") == u8(.rgb, [127, 255, 129]).translated(x: 0, y: -5))
    }

    @Test func `the background behind gray is its luma`() throws {
        #expect(try convert(u8(.grayAlpha, [0, 0]), to: "jpeg", background: [255, 0, 0]) == u8(.gray, [54]))
        #expect(try convert(u8(.grayAlpha, [0, 0]), to: "jpeg", background: [7, 7, 7]) == u8(.gray, [7]))
    }

    @Test func `sixteen bits become eight by rounding halves up`() throws {
        let every = (0...65535).map(UInt16.init)
        let expected = every.map { UInt8((Double($0) * 255 / 65535 + 0.5).rounded(.down)) }
        #expect(try convert(u16(.gray, every), to: "jpeg").bytes == expected)
    }

    @Test func `floats are clamped to what integers hold`() throws {
        let floats = f32(.gray, [-0.5, 0, 0.5, 1, 1.5, .nan])
        #expect(try convert(floats, to: "png") == u16(.gray, [0, 0, 32768, 65535, 65535, 0]))
        #expect(try convert(floats, to: "jpeg").bytes == [0, 0, 128, 255, 255, 0])
        #expect(try convert(f32(.rgba, [1, 0.5, 0, 2]), to: "jpeg").bytes == [255, 128, 0])
    }

    @Test func `gray becomes RGB where a format has no gray`() throws {
        #expect(try convert(u8(.gray, [1, 2]), to: "webp") == u8(.rgb, [1, 1, 1, 2, 2, 2]))
        #expect(try convert(u8(.grayAlpha, [1, 9]), to: "webp") == u8(.rgba, [1, 1, 1, 9]))
    }
}
