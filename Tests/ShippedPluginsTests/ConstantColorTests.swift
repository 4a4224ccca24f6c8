import Catalogs
import Filters
import Geometry
import Raster
import TestSupport
import Testing

/// What a plugin makes of one colour does not depend on the alpha that it has.
struct ConstantColorTests {
    private static let rect = PixelRect(x: 3, y: -2, width: 45, height: 31)

    private func picture(_ layout: PixelLayout, _ format: SampleFormat, _ alpha: (_ pixel: Int) -> Double) -> AnyRaster
    {
        let colors = [100.0, 40, 215].prefix(layout.removingAlpha.channels).map { ($0 / 255 * format.full).rounded() }
        let samples = (0..<Self.rect.area).flatMap { pixel in
            let stored = (alpha(pixel) * format.full).rounded(.up)
            return stored == 0 ? Array(repeating: 0, count: layout.channels) : colors + [stored]
        }
        switch format {
        case .u8: return .u8(Raster(rect: Self.rect, layout: layout, samples: samples.map { UInt8($0) }))
        case .u16: return .u16(Raster(rect: Self.rect, layout: layout, samples: samples.map { UInt16($0) }))
        case .f32: return .f32(Raster(rect: Self.rect, layout: layout, samples: samples.map { Float($0) }))
        }
    }

    /// In floats colours of 0…1 are rounded to whole numbers, too, so that all formats begin with the same ones.
    private func alphas() -> [(_ pixel: Int) -> Double] {
        var random = SplitMix64(seed: 3)
        let noise = (0..<Self.rect.area).map { _ in random.share() < 0.3 ? 0 : random.share() }
        return [{ noise[$0] }, { $0 % 23 < 9 ? 1 : 0 }, { Double($0 % 45) / 44 }]
    }

    @Test(arguments: Shipped.busy.indices)
    func `one colour becomes the same under any alpha`(index: Int) throws {
        let (name, values) = Shipped.busy[index]
        let filter = try Shipped.filter(name, values)
        for format in [SampleFormat.u8, .u16] {
            for layout in [PixelLayout.grayAlpha, .rgba] {
                let opaque = try filter.render(picture(layout, format) { _ in 1 }).doubles
                for alpha in alphas() {
                    let result = try filter.render(picture(layout, format, alpha)).doubles
                    for pixel in stride(from: 0, to: result.count, by: layout.channels) {
                        let stored = result[pixel + layout.channels - 1]
                        guard stored > 0 else { continue }
                        for channel in pixel..<pixel + layout.channels - 1 {
                            // Rounding of the colour and, in what a viewer composes, of areas.
                            let allowed = (format == .u8 ? 1.01 : 40) + 0.5 * format.full / stored
                            let error = abs(result[channel] - opaque[channel])
                            #expect(error <= allowed, "\(name) \(layout) \(format) \(pixel)")
                            if error > allowed { return }
                        }
                    }
                }
            }
        }
    }

    /// Sharpening and resizing leave such an alpha in pictures of floats.
    @Test(arguments: Shipped.busy.indices)
    func `one colour becomes the same under an alpha beyond 0 and 1`(index: Int) throws {
        let (name, values) = Shipped.busy[index]
        let filter = try Shipped.filter(name, values)
        var random = SplitMix64(seed: 5)
        let alphas = (0..<Self.rect.area).map { _ in Float(random.share() * 1.5 - 0.2) }
        for layout in [PixelLayout.grayAlpha, .rgba] {
            let colors = [0.4, 0.16, 0.85].prefix(layout.removingAlpha.channels).map { Float($0) }
            func picture(_ alphas: [Float]) -> AnyRaster {
                .f32(Raster(rect: Self.rect, layout: layout, samples: alphas.flatMap { colors + [$0] }))
            }
            let opaque = try filter.render(picture(alphas.map { _ in 1 })).doubles
            let result = try filter.render(picture(alphas)).doubles
            var worst = 0.0
            for pixel in stride(from: 0, to: result.count, by: layout.channels)
            where result[pixel + layout.channels - 1] > 0.05 {
                for channel in pixel..<pixel + layout.channels - 1 {
                    let error = abs(result[channel] - opaque[channel])
                    worst = error <= worst ? worst : error  // NaN is the worst
                }
            }
            #expect(worst <= 1e-3, "\(name) \(layout): \(worst)")
        }
    }
}
