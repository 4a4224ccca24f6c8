import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The bilateral filter against its definition in float64.
struct BilateralFilterTests {
    private static let rect = PixelRect(x: -3, y: 2, width: 37, height: 23)

    private func worst(
        _ radius: Double, _ range: Double, _ picture: AnyRaster, edge: Edge = .clamp, light: Light = .encoded
    ) throws -> Double {
        let filter = try FilterRegistry.builtIn.make(
            "bilateral",
            [
                "radius": .number(radius), "range": .number(range), "edge": .word(edge.rawValue),
                "light": .word(light.rawValue),
            ])
        let truth = TruePixels(picture, light: light, addsAlpha: edge == .transparent && !picture.layout.hasAlpha)
            .bilateral(radius: radius, range: range / 100 * picture.format.full, edge: edge)
        return worstError(try filter.render(picture), truth, light: light)
    }

    /// Half a level is rounding; the weights add less than a tenth of one.
    private func bound(_ format: SampleFormat) -> Double {
        switch format {
        case .u8: 0.6
        case .u16: 2
        case .f32: 2e-5
        }
    }

    @Test(arguments: [0.3, 1, 2.5, 4], [0.1, 3, 10, 100])
    func `means of similar pixels, on every format and layout`(radius: Double, range: Double) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = Pattern.noise.picture(Self.rect, layout, format)
                #expect(try worst(radius, range, picture) <= bound(format), "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: Pattern.allCases, Edge.allCases)
    func `every pattern and edge, on pictures smaller than the window too`(pattern: Pattern, edge: Edge) throws {
        for rect in [
            PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 5, y: -7, width: 6, height: 9), Self.rect,
        ] {
            for layout in [PixelLayout.rgb, .grayAlpha] {
                #expect(try worst(3.2, 20, pattern.picture(rect, layout), edge: edge) <= 0.6)
            }
        }
    }

    @Test func `linear light is filtered as light`() throws {
        #expect(try worst(2, 15, Pattern.noise.picture(Self.rect), light: .linear) <= 2.3)
    }

    @Test func `an edge higher than the range stays, and the noise beside it goes`() throws {
        var random = SplitMix64(seed: 3)
        let samples = (0..<40 * 40).map { UInt8(($0 % 40 < 20 ? 60 : 190) + Int(random.next() % 9)) }
        let picture = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 40, height: 40), layout: .gray, samples: samples))
        let result = try FilterRegistry.builtIn.make("bilateral", ["radius": .number(3)]).render(picture)
        for (index, value) in result.doubles.enumerated() {
            #expect(abs(value - (index % 40 < 20 ? 64 : 194)) <= 3)
        }
    }

    @Test func `a NaN and an infinity reach no farther than the window`() throws {
        let filter = try FilterRegistry.builtIn.make("bilateral", ["radius": .number(2)])
        for value in [Float.nan, .infinity] {
            guard case .f32(var raster) = Pattern.noise.picture(Self.rect, .rgb, .f32) else { return }
            let clean = try filter.render(.f32(raster))
            raster.samples[raster.index(x: 10, y: 10) + 1] = value
            let result = try filter.render(.f32(raster))
            for y in Self.rect.rows {
                for x in Self.rect.columns where (x - 10) * (x - 10) + (y - 10) * (y - 10) > 36 {
                    let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                    #expect(clean.cropped(to: pixel) == result.cropped(to: pixel))
                }
            }
        }
    }

    @Test func `radius 0 is the identity`() throws {
        #expect(try FilterRegistry.builtIn.make("bilateral", ["radius": .number(0)]).isIdentity)
        #expect(try FilterRegistry.builtIn.make("bilateral").halo == Halo(horizontal: 12, vertical: 12))
    }

    @Test func `a range of nothing is refused`() {
        #expect {
            try FilterRegistry.builtIn.make("bilateral", ["range": .number(0)])
        } throws: {
            "\($0)" == "bilateral: 'range' is 0.0, but must be in 0.1…100.0"
        }
    }
}
