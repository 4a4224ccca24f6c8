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
        let addsAlpha = edge == .transparent && !picture.layout.hasAlpha
        let truth = TruePixels(picture, light: light, addsAlpha: addsAlpha)
            .bilateral(
                radius: radius, range: range / 100 * picture.format.full, edge: edge,
                isLimited: addsAlpha || !Self.hasGrid(radius, range, picture, light))
        return worstError(try filter.render(picture), truth, light: light)
    }

    /// Where the documentation says that time does not grow with the radius.
    private static func hasGrid(_ radius: Double, _ range: Double, _ picture: AnyRaster, _ light: Light) -> Bool {
        picture.layout == .gray && picture.format != .f32 && light == .encoded
            && radius >= 4 && range >= 1 && radius * radius * range >= 100
    }

    /// Half a level is rounding; the weights add less than a tenth of one. A grid adds less than a quarter of one.
    private func bound(_ format: SampleFormat, isGrid: Bool = false) -> Double {
        if isGrid { return format == .u8 ? 0.75 : 130 }
        return switch format {
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
                let isGrid = Self.hasGrid(radius, range, picture, .encoded)
                #expect(try worst(radius, range, picture) <= bound(format, isGrid: isGrid), "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: [(4, 7), (4.7, 30), (5.8, 3), (6, 100)], Pattern.allCases)
    func `a grid for gray pictures is within the bound`(_ strength: (Double, Double), pattern: Pattern) throws {
        for format in [SampleFormat.u8, .u16] {
            let picture = pattern.picture(PixelRect(x: -5, y: 3, width: 23, height: 17), .gray, format)
            #expect(Self.hasGrid(strength.0, strength.1, picture, .encoded))
            #expect(try worst(strength.0, strength.1, picture) <= bound(format, isGrid: true), "\(format)")
        }
    }

    @Test(arguments: Edge.allCases)
    func `a grid has every edge, on pictures smaller than the window too`(edge: Edge) throws {
        for rect in [PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 5, y: -7, width: 6, height: 9)] {
            #expect(try worst(5, 20, Pattern.noise.picture(rect, .gray), edge: edge) <= 0.75)
        }
    }

    @Test func `a pixel unlike all others gets its share of them from a grid`() throws {
        // 25 of 255 are 3.3 standard deviations. The 121 pixels around weigh about as much as the pixel itself.
        for step in [25, -25] {
            let rect = PixelRect(x: 0, y: 0, width: 27, height: 27)
            var samples = [UInt8](repeating: 100, count: rect.area)
            samples[rect.area / 2] = UInt8(100 + step)
            #expect(try worst(5.8, 3, .u8(Raster(rect: rect, layout: .gray, samples: samples))) <= 0.75)
        }
    }

    @Test(arguments: [(4, 0.1), (4.7, 0.3), (9, 0.03), (20, 1)])
    func `tiles of a grid have the pixels of the whole`(radius: Double, range: Double) {
        let rect = PixelRect(x: -31, y: 17, width: 111, height: 83)
        let picture = Pattern.photograph.picture(rect, .gray)
        let filter = Bilateral(radius: radius, range: range)
        let source = KernelSource(clamping: picture, reach: filter.halo)
        func render(_ rect: PixelRect) -> AnyRaster {
            var result = AnyRaster(zeroed: rect, layout: .gray, format: .u8)
            filter.render(source, light: .encoded, into: &result)
            return result
        }
        let whole = render(rect)
        for (width, height) in [(16, 50), (50, 7), (1, 83), (111, 30)] {
            for y in stride(from: rect.y, to: rect.bottom, by: height) {
                for x in stride(from: rect.x, to: rect.right, by: width) {
                    let tile = PixelRect(
                        x: x, y: y, width: min(width, rect.right - x), height: min(height, rect.bottom - y))
                    #expect(render(tile) == whole.cropped(to: tile))
                }
            }
        }
    }

    @Test func `pictures have a grid where it is said, and a window elsewhere`() {
        func levels(
            _ radius: Double, _ range: Double, _ layout: PixelLayout = .gray, _ format: SampleFormat = .u8
        ) -> Int? {
            Bilateral(radius: radius, range: range).gridLevels(layout, format, .encoded)
        }
        #expect(levels(4, 0.1) == 21)
        #expect(levels(50, 0.01) == 134)
        #expect(levels(3.9, 0.1) == nil)
        #expect(levels(4, 0.06) == nil)
        #expect(levels(50, 0.009) == nil)
        #expect(levels(4, 0.1, .grayAlpha) == nil)
        #expect(levels(4, 0.1, .rgb) == nil)
        #expect(levels(4, 0.1, .gray, .f32) == nil)
        #expect(Bilateral(radius: 4, range: 0.1).gridLevels(.gray, .u8, .linear) == nil)
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
    }

    @Test func `the radius costs nothing where there is a grid`() throws {
        func cost(_ radius: Double, _ layout: PixelLayout) throws -> Double {
            try FilterRegistry.builtIn.make("bilateral", ["radius": .number(radius)]).cost(layout, .u8)
        }
        #expect(try cost(50, .gray) == cost(4, .gray))
        #expect(try cost(20, .rgb) > 20 * cost(4, .rgb))
        #expect(try cost(4, .rgb) > 5 * cost(4, .gray))
    }

    @Test func `the halo holds the window, and the nodes of a grid`() throws {
        func reach(_ radius: Double, _ range: Double) throws -> Int {
            let values: [String: ParameterValue] = ["radius": .number(radius), "range": .number(range)]
            return try FilterRegistry.builtIn.make("bilateral", values).halo.left
        }
        #expect(try reach(4, 3) == 12)
        #expect(try reach(4, 10) == 20)
        #expect(try reach(4.1, 20) == 26)
        #expect(try reach(50, 10) == 293)
    }

    @Test func `a range of nothing is refused`() {
        #expect {
            try FilterRegistry.builtIn.make("bilateral", ["range": .number(0)])
        } throws: {
            "\($0)" == "bilateral: 'range' is 0.0, but must be in 0.1…100.0"
        }
    }
}
