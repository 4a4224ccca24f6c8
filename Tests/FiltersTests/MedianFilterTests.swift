import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The median against its definition: exact, but for the rounding of colours that are divided by alpha.
struct MedianFilterTests {
    private func render(
        _ radius: Int, _ picture: AnyRaster, _ values: [String: ParameterValue] = [:]
    ) throws -> AnyRaster {
        try FilterRegistry.builtIn.make("median", values.merging(["radius": .integer(radius)]) { $1 }).render(picture)
    }

    private func worst(
        _ radius: Int, _ picture: AnyRaster, _ values: [String: ParameterValue] = [:], edge: Edge = .clamp,
        light: Light = .encoded
    ) throws -> Double {
        let result = try render(radius, picture, values.merging(["light": .word(light.rawValue)]) { $1 })
        var truth = TruePixels(picture, light: light, addsAlpha: result.layout.hasAlpha)
            .median(radius: radius, edge: edge, output: result.rect)
        if result.layout.hasAlpha, picture.format != .f32 {  // what can be stored
            for index in truth.values.indices {
                let alpha = truth.values[index / truth.channels * truth.channels + truth.channels - 1]
                truth.values[index] = min(truth.values[index], alpha)
            }
        }
        return worstError(result, truth, light: light)
    }

    private func bound(_ picture: AnyRaster) -> Double {
        picture.format == .f32 ? 1e-6 : picture.layout.hasAlpha ? 0.51 : 0
    }

    @Test(arguments: [1, 2, 3, 5, 8], Pattern.allCases)
    func `every pattern, layout and format is exact`(radius: Int, pattern: Pattern) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = pattern.picture(PixelRect(x: 0, y: 0, width: 37, height: 19), layout, format)
                #expect(try worst(radius, picture) <= bound(picture), "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: [1, 2, 4, 11], Edge.allCases)
    func `every edge is exact, on pictures smaller than the square too`(radius: Int, edge: Edge) throws {
        let sizes = [
            PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 0, y: 0, width: 1, height: 19),
            PixelRect(x: 0, y: 0, width: 23, height: 1), PixelRect(x: -7, y: 3, width: 21, height: 13),
        ]
        for rect in sizes {
            for format in SampleFormat.allCases {
                for layout in [PixelLayout.rgb, .grayAlpha] {
                    let picture = Pattern.noise.picture(rect, layout, format)
                    let error = try worst(radius, picture, ["edge": .word(edge.rawValue)], edge: edge)
                    #expect(
                        error <= (edge == .transparent && format != .f32 ? 0.51 : bound(picture)), "\(rect) \(layout)")
                }
            }
        }
    }

    @Test(arguments: [25, 100])
    func `the largest squares are exact`(radius: Int) throws {
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 13, height: 7), .rgb, format)
            #expect(try worst(radius, picture, ["edge": .word("mirror")], edge: .mirror) <= bound(picture))
        }
    }

    @Test(arguments: [1, 2, 6])
    func `wide pictures are cut into parts without a seam`(radius: Int) throws {
        for layout in [PixelLayout.gray, .rgb] {
            let picture = Pattern.noise.picture(PixelRect(x: 3, y: 0, width: 4500 / layout.channels, height: 4), layout)
            #expect(try worst(radius, picture) == 0)
        }
    }

    @Test(arguments: [PixelLayout.grayAlpha, .rgba], [1, 2, 3])
    func `opaque pixels take a short cut with the same result`(layout: PixelLayout, radius: Int) throws {
        let rect = PixelRect(x: 0, y: 0, width: 50, height: 40)
        guard case .u8(var raster) = Pattern.noise.picture(rect, layout, alpha: .opaque) else { return }
        let opaque = try render(radius, .u8(raster))
        raster.samples[layout.channels - 1] = 0
        let part = PixelRect(x: 20, y: 20, width: 30, height: 20)
        #expect(try render(radius, .u8(raster)).cropped(to: part) == opaque.cropped(to: part))
    }

    @Test func `the order of light is that of stored values`() throws {
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 27, height: 19), .rgb, format)
            let encoded = try render(3, picture).doubles
            let linear = try render(3, picture, ["light": .word("linear")]).doubles
            for (a, b) in zip(encoded, linear) { #expect(abs(a - b) <= 1e-6 * format.full) }
        }
    }

    @Test(arguments: [1, 2, 3])
    func `NaN counts as larger than every number`(radius: Int) throws {
        let rect = PixelRect(x: 0, y: 0, width: 9, height: 9)
        func median(_ special: Float, at places: Set<Int>) throws -> [Double] {
            let samples = (0..<81).map { places.contains($0) ? special : -Float($0) }
            return try render(radius, .f32(Raster(rect: rect, layout: .gray, samples: samples))).doubles
        }
        for special in [Float.nan, -.nan] {
            #expect(try median(special, at: [20, 40, 60]) == median(.infinity, at: [20, 40, 60]))
            #expect(try median(special, at: Set(0..<81)).allSatisfy { $0.isNaN })
        }
    }

    @Test func `specks go, edges stay`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 12, height: 12)
        var raster = Raster<UInt8>(
            rect: rect, layout: .gray, samples: rect.rows.flatMap { _ in rect.columns.map { $0 < 6 ? 10 : 200 } })
        let clean = raster
        raster.samples[40] = 255
        raster.samples[100] = 0
        #expect(try render(1, .u8(raster)) == .u8(clean))
    }
}
