import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The disc against its definition in float64.
struct DiscFilterTests {
    private func worst(
        _ radius: Double, _ picture: AnyRaster, _ values: [String: ParameterValue] = [:], edge: Edge = .clamp,
        light: Light = .encoded
    ) throws -> Double {
        let all = values.merging(["radius": .number(radius), "light": .word(light.rawValue)]) { $1 }
        let filter = try FilterRegistry.builtIn.make("disc", all)
        let truth = TruePixels(picture, light: light, addsAlpha: filter.outputLayout(for: picture.layout).hasAlpha)
            .disc(radius: radius, edge: edge, output: filter.extent(of: picture.rect))
        return worstError(try filter.render(picture), truth, light: light)
    }

    @Test(arguments: [0.1, 0.5, 1, 2.7, 8])
    func `every pattern, layout and format stays inside its bound`(radius: Double) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                for pattern in Pattern.allCases {
                    let picture = pattern.picture(PixelRect(x: 0, y: 0, width: 37, height: 19), layout, format)
                    let bound = format == .u8 && !layout.hasAlpha ? 0.51 : format.allowedError
                    #expect(try worst(radius, picture) <= bound, "\(pattern) \(layout) \(format)")
                }
            }
        }
    }

    @Test(arguments: [0.4, 3, 9.5], Edge.allCases)
    func `every edge is exact, on pictures smaller than the disc too`(radius: Double, edge: Edge) throws {
        let sizes = [
            PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 0, y: 0, width: 1, height: 19),
            PixelRect(x: 0, y: 0, width: 23, height: 1), PixelRect(x: -7, y: 3, width: 21, height: 13),
        ]
        for rect in sizes {
            for format in SampleFormat.allCases {
                for layout in [PixelLayout.rgb, .grayAlpha] {
                    let picture = Pattern.binaryNoise.picture(rect, layout, format)
                    let error = try worst(radius, picture, ["edge": .word(edge.rawValue)], edge: edge)
                    #expect(error <= format.allowedError, "\(rect) \(layout) \(format)")
                }
            }
        }
    }

    @Test(arguments: [70.0, 200], [PixelLayout.gray, .grayAlpha])
    func `the largest discs are exact`(radius: Double, layout: PixelLayout) throws {
        for format in SampleFormat.allCases {
            let picture = Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 5, height: 3), layout, format)
            #expect(try worst(radius, picture, ["edge": .word("wrap")], edge: .wrap) <= format.allowedError)
            let white = AnyRaster(zeroed: picture.rect, layout: layout, format: format)
            #expect(try worst(radius, white) == 0)
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `linear light is filtered as light`(format: SampleFormat) throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 27, height: 19), .rgb, format)
        #expect(try worst(4.5, picture, light: .linear) <= 2.3 * format.allowedError)
    }

    @Test func `an expanded picture grows by the radius, rounded up`() throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 5, y: -3, width: 23, height: 11), .rgb, .u16)
        let filter = try FilterRegistry.builtIn.make("disc", ["radius": .number(3.25), "extent": .word("expand")])
        #expect(filter.extent(of: picture.rect) == picture.rect.expanded(by: Halo(horizontal: 4, vertical: 4)))
        #expect(try worst(3.25, picture, ["extent": .word("expand")], edge: .transparent) <= 8)
    }

    @Test func `a flat picture stays flat to the last bit`() throws {
        for value in [0, 1, 127, 255] as [UInt8] {
            let rect = PixelRect(x: 0, y: 0, width: 40, height: 20)
            let flat = AnyRaster.u8(Raster(rect: rect, layout: .rgb, repeating: value))
            for radius in [0.2, 1, 8, 33.3] {
                #expect(try FilterRegistry.builtIn.make("disc", ["radius": .number(radius)]).render(flat) == flat)
            }
        }
    }

    @Test(arguments: [0.01, 0.2, 0.3, 0.5, 1, 1.5, 7.77, 20])
    func `weights are the areas, and sum to 1`(radius: Double) {
        let weights = DiscWeights(radius: radius)
        var sum = 0.0
        for pixel in trueDisc(radius) {
            let weight = weights.weight(dx: pixel.dx, dy: pixel.dy)
            sum += weight
            #expect(abs(weight - pixel.weight) <= 1e-6, "\(pixel)")
        }
        #expect(abs(sum - 1) <= 1e-12)
    }
}
