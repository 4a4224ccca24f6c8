import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The Gaussian against its definition in float64.
struct GaussianFilterTests {
    private static let radii = [0.3, 1, 2.7, 5, 12, 40, 60]
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
        let filter = try FilterRegistry.builtIn.make("gaussian", all)
        let output = filter.extent(of: picture.rect)
        let truth = TruePixels(picture, light: light, addsAlpha: filter.outputLayout(for: picture.layout).hasAlpha)
            .gaussian(sigmaX: radius.x, sigmaY: radius.y, edge: edge, output: output)
        return worstError(try filter.render(picture), truth, light: light)
    }

    @Test(arguments: radii, Pattern.allCases)
    func `every pattern, layout and format stays inside its bound`(radius: Double, pattern: Pattern) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = pattern.picture(PixelRect(x: 0, y: 0, width: 37, height: 29), layout, format)
                #expect(try worst((radius, radius), picture) <= format.allowedError, "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: radii, Edge.allCases)
    func `every edge is exact, on pictures smaller than the halo too`(radius: Double, edge: Edge) throws {
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

    @Test(arguments: Edge.allCases)
    func `the largest radius is exact on a picture a thousand times smaller`(edge: Edge) throws {
        let picture = Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 6, height: 4), .rgba, .u16)
        #expect(try worst((1000, 1000), picture, ["edge": .word(edge.rawValue)], edge: edge) <= 8)
    }

    @Test(arguments: radii)
    func `an expanded picture fades out to all sides`(radius: Double) throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 5, y: -3, width: 23, height: 11), .rgb, .u16)
        let filter = try FilterRegistry.builtIn.make(
            "gaussian", ["radius": .number(radius), "extent": .word("expand")])
        let grown = Int((3 * radius).rounded(.up))
        #expect(filter.extent(of: picture.rect) == picture.rect.expanded(by: Halo(horizontal: grown, vertical: grown)))
        #expect(filter.outputLayout(for: .rgb) == .rgba)
        #expect(try worst((radius, radius), picture, ["extent": .word("expand")], edge: .transparent) <= 8)
    }

    @Test(arguments: [(0.0, 5.0), (5, 0), (12, 0.3), (1, 40)])
    func `each axis has its own radius`(x: Double, y: Double) throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 41, height: 43), .rgba, .u16)
        #expect(try worst((x, y), picture, ["edge": .word("mirror")], edge: .mirror) <= 8)
    }

    /// In linear light one step of the stored value is up to 2.3 steps of the linear one: the curve's slope at white.
    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `linear light is filtered as light`(format: SampleFormat, layout: PixelLayout) throws {
        for radius in [1.0, 5] {
            let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 37, height: 29), layout, format)
            #expect(try worst((radius, radius), picture, light: .linear) <= 2.3 * format.allowedError)
        }
    }

    @Test func `black and white mix to 188 in linear light, not to 128`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 64, height: 1)
        let picture = AnyRaster.u8(Raster(rect: rect, layout: .gray, samples: (0..<64).map { $0 % 2 == 0 ? 0 : 255 }))
        func middle(_ light: Light) throws -> Double {
            try FilterRegistry.builtIn.make("gaussian", ["radius": .number(10), "light": .word(light.rawValue)])
                .render(picture).doubles[32]
        }
        #expect(try middle(.linear) == 188)
        #expect([127, 128].contains(try middle(.encoded)))
    }

    @Test(arguments: [SampleFormat.u8, .u16])
    func `a flat picture stays flat to the last bit`(format: SampleFormat) throws {
        let rect = PixelRect(x: 0, y: 0, width: 40, height: 40)
        for share in [0, 0.2, 0.7, 1] {
            let flat = AnyRaster.f32(Raster(rect: rect, layout: .rgba, repeating: Float(share))).converted(to: format)
            for radius in [0.6, 1, 2, 2.5, 3, 4, 5, 7, 12, 33] {
                for edge in ["clamp", "mirror", "wrap"] {
                    let filter = try FilterRegistry.builtIn.make(
                        "gaussian", ["radius": .number(radius), "edge": .word(edge)])
                    #expect(try filter.render(flat) == flat)
                }
            }
        }
    }

    @Test func `a flat picture of floats stays flat to six digits`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 40, height: 40)
        for value in [0.2, 0.7, 1, 4000] as [Float] {
            let flat = AnyRaster.f32(Raster(rect: rect, layout: .rgb, repeating: value))
            for radius in [1.0, 7, 40] {
                let result = try FilterRegistry.builtIn.make("gaussian", ["radius": .number(radius)]).render(flat)
                for sample in result.doubles { #expect(abs(sample - Double(value)) <= 1e-6 * Double(value)) }
            }
        }
    }

    @Test func `a blurred transparent picture has no fringe`() throws {
        // Red, opaque on the right; under the clear left half lies green, which must never show.
        let rect = PixelRect(x: 0, y: 0, width: 60, height: 5)
        let samples = rect.rows.flatMap { _ in
            rect.columns.flatMap { $0 < 30 ? [0, 255, 0, 0] : [255, 0, 0, 255] as [UInt8] }
        }
        let filter = try FilterRegistry.builtIn.make("gaussian", ["radius": .number(6)])
        let result = try filter.render(.u8(Raster(rect: rect, layout: .rgba, samples: samples))).doubles
        for pixel in stride(from: 0, to: result.count, by: 4) {
            #expect(result[pixel + 1] == 0)
            let alpha = result[pixel + 3]
            let overRed = result[pixel] * alpha / 255 + 255 - alpha
            #expect(abs(overRed - 255) <= 1, "red on red cannot be seen")
        }
    }

    @Test func `the halo is the reach of the kernels, per axis`() throws {
        let filter = try FilterRegistry.builtIn.make("gaussian", ["radius": .pair(x: 12, y: 0)])
        #expect(filter.halo == Halo(horizontal: 83, vertical: 0))
    }
}
