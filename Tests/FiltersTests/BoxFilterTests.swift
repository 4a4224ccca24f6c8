import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The box against its definition in float64.
struct BoxFilterTests {
    private static let sizes = [
        PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 0, y: 0, width: 1, height: 19),
        PixelRect(x: 0, y: 0, width: 23, height: 1), PixelRect(x: -7, y: 3, width: 31, height: 17),
    ]

    private func worst(
        _ radius: (x: Double, y: Double), _ picture: AnyRaster, _ values: [String: ParameterValue] = [:],
        edge: Edge = .clamp, light: Light = .encoded
    ) throws -> Double {
        let all = values.merging([
            "radius": .pair(x: radius.x, y: radius.y), "light": .word(light.rawValue),
        ]) { $1 }
        let filter = try FilterRegistry.builtIn.make("box", all)
        let truth = TruePixels(picture, light: light, addsAlpha: filter.outputLayout(for: picture.layout).hasAlpha)
            .box(radiusX: radius.x, radiusY: radius.y, edge: edge, output: filter.extent(of: picture.rect))
        return worstError(try filter.render(picture), truth, light: light)
    }

    @Test(arguments: [0.3, 1, 2, 2.5, 3, 7.25, 12, 40], Pattern.allCases)
    func `every pattern, layout and format stays inside its bound`(radius: Double, pattern: Pattern) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = pattern.picture(PixelRect(x: 0, y: 0, width: 37, height: 29), layout, format)
                #expect(try worst((radius, radius), picture) <= format.allowedError, "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: [3.0, 20, 126, 129.5])
    func `running sums are off by little more than the rounding`(radius: Double) throws {
        for layout in [PixelLayout.gray, .rgb] {
            let picture = Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 167, height: 43), layout)
            #expect(try worst((radius, radius), picture) <= 0.52)
        }
    }

    @Test(arguments: [0.5, 2, 6.5, 33], Edge.allCases)
    func `every edge is exact, on pictures smaller than the box too`(radius: Double, edge: Edge) throws {
        for rect in Self.sizes {
            for format in SampleFormat.allCases {
                for layout in [PixelLayout.rgb, .grayAlpha] {
                    let picture = Pattern.binaryNoise.picture(rect, layout, format)
                    let error = try worst((radius, radius), picture, ["edge": .word(edge.rawValue)], edge: edge)
                    #expect(error <= format.allowedError, "\(rect) \(layout) \(format)")
                }
            }
        }
    }

    @Test(arguments: Edge.allCases, SampleFormat.allCases)
    func `the largest radius is exact on a picture a thousand times smaller`(
        edge: Edge, format: SampleFormat
    ) throws {
        let picture = Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 6, height: 4), .rgba, format)
        let error = try worst((1000, 999.5), picture, ["edge": .word(edge.rawValue)], edge: edge)
        #expect(error <= format.allowedError)
    }

    @Test(arguments: [(0.0, 5.0), (5, 0), (12, 0.3), (1, 40)])
    func `each axis has its own radius`(x: Double, y: Double) throws {
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 41, height: 43), .rgba, format)
            #expect(try worst((x, y), picture, ["edge": .word("mirror")], edge: .mirror) <= format.allowedError)
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `linear light is filtered as light`(format: SampleFormat) throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 37, height: 29), .rgb, format)
        #expect(try worst((4.5, 2), picture, light: .linear) <= 2.3 * format.allowedError)
    }

    @Test func `an expanded picture grows by the radius, rounded up, and keeps all of its light`() throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 5, y: -3, width: 23, height: 11), .rgb, .u16)
        let values: [String: ParameterValue] = ["radius": .pair(x: 3.25, y: 6), "extent": .word("expand")]
        let filter = try FilterRegistry.builtIn.make("box", values)
        #expect(filter.extent(of: picture.rect) == picture.rect.expanded(by: Halo(horizontal: 4, vertical: 6)))
        #expect(filter.outputLayout(for: .rgb) == .rgba)
        #expect(try worst((3.25, 6), picture, ["extent": .word("expand")], edge: .transparent) <= 8)
    }

    @Test(arguments: [SampleFormat.u8, .u16])
    func `a flat picture stays flat to the last bit`(format: SampleFormat) throws {
        let rect = PixelRect(x: 0, y: 0, width: 40, height: 40)
        for share in [0, 0.2, 0.7, 1] {
            let flat = AnyRaster.f32(Raster(rect: rect, layout: .rgba, repeating: Float(share))).converted(to: format)
            for radius in [0.6, 1, 2.5, 3, 12.75, 130] {
                let filter = try FilterRegistry.builtIn.make("box", ["radius": .number(radius)])
                #expect(try filter.render(flat) == flat)
            }
        }
    }

    @Test func `the halo is the reach along each axis`() throws {
        let filter = try FilterRegistry.builtIn.make("box", ["radius": .pair(x: 12.01, y: 0)])
        #expect(filter.halo == Halo(horizontal: 13, vertical: 0))
    }
}
