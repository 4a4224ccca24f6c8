import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// What is read and written again without a filter in between.
struct WorkingPixelsTests {
    private func copied(_ picture: AnyRaster, light: Light, layout: PixelLayout? = nil) -> AnyRaster {
        let layout = layout ?? picture.layout
        let reader = PixelReader(KernelSource(picture), layout: layout, light: light)
        var writer = PixelWriter(
            AnyRaster(zeroed: picture.rect, layout: layout, format: picture.format), light: light)
        reader.write(picture.rect, to: &writer)
        return writer.raster
    }

    @Test(arguments: Light.allCases)
    func `every 8-bit colour survives, under every alpha but 0`(light: Light) {
        let rect = PixelRect(x: 0, y: 0, width: 256, height: 256)
        let samples = (0..<256).flatMap { alpha in (0..<256).flatMap { [UInt8($0), UInt8(alpha)] } }
        let result = copied(.u8(Raster(rect: rect, layout: .grayAlpha, samples: samples)), light: light)
        let expected = samples.enumerated().map { index, sample in index < 512 ? 0 : sample }
        #expect(result == .u8(Raster(rect: rect, layout: .grayAlpha, samples: expected)))
    }

    @Test(arguments: Light.allCases)
    func `every 16-bit value survives`(light: Light) {
        let rect = PixelRect(x: 0, y: 0, width: 256, height: 256)
        let picture = AnyRaster.u16(Raster(rect: rect, layout: .gray, samples: Array(0...65535)))
        #expect(copied(picture, light: light) == picture)
    }

    private static let floats: [Float] = [
        -.infinity, -3, -1e-6, 0, .leastNonzeroMagnitude, 0.001, 0.5, 1, 7.25, 3e38, .infinity,
    ]

    @Test(arguments: floats)
    func `floats of any size survive`(value: Float) {
        let rect = PixelRect(x: 0, y: 0, width: 1, height: 1)
        let picture = AnyRaster.f32(Raster(rect: rect, layout: .gray, samples: [value]))
        #expect(copied(picture, light: .encoded) == picture)
        let linear = Float(copied(picture, light: .linear).doubles[0])
        #expect(linear == value || abs(linear - value) <= abs(value) * 1e-6)
    }

    @Test func `colours come premultiplied, alpha and linear light on the samples' scale`() {
        let rect = PixelRect(x: 0, y: 0, width: 1, height: 1)
        let picture = AnyRaster.u8(Raster(rect: rect, layout: .rgba, samples: [255, 188, 0, 128]))
        let encoded = PixelReader(KernelSource(picture), layout: .rgba, light: .encoded).floats(in: rect).samples
        #expect(encoded == [128.0 / 255, Float(188.0 * 128 / 255 / 255), 0, 128.0 / 255])
        let linear = PixelReader(KernelSource(picture), layout: .rgba, light: .linear).floats(in: rect).samples
        #expect(abs(Double(linear[1]) - trueLinear(188.0 / 255) * 128 / 255) < 1e-7)
        #expect(linear[3] == 128.0 / 255)
    }

    @Test func `a picture without alpha is opaque where alpha is added`() {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 9, height: 5), .rgb)
        let result = copied(picture, light: .encoded, layout: .rgba)
        for (pixel, samples) in zip(0..<45, stride(from: 0, to: 180, by: 4)) {
            #expect(Array(result.doubles[samples..<samples + 3]) == Array(picture.doubles[pixel * 3..<pixel * 3 + 3]))
            #expect(result.doubles[samples + 3] == 255)
        }
    }

    @Test func `colours are divided by the alpha that is stored, not by the one that was computed`() {
        let rect = PixelRect(x: 0, y: 0, width: 2, height: 1)
        var writer = PixelWriter(AnyRaster(zeroed: rect, layout: .grayAlpha, format: .u8), light: .encoded)
        writer.write([0.3, 0.75, 2.1, 4.4].span, x: 0, y: 0)
        #expect(writer.raster.doubles == [77, 1, 134, 4])  // 0.3·255/1 and 2.1·255/4
    }

    @Test func `a colour beyond its alpha is clamped`() {
        let rect = PixelRect(x: 0, y: 0, width: 2, height: 1)
        var writer = PixelWriter(AnyRaster(zeroed: rect, layout: .grayAlpha, format: .u8), light: .encoded)
        writer.write([100, 10.4, 0.4, 0.4].span, x: 0, y: 0)
        #expect(writer.raster.doubles == [255, 10, 0, 0])
    }
}
