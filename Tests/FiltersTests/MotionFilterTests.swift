import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The motion blur against its definition in float64.
struct MotionFilterTests {
    private static let angles: [Double] = [0, 90, 180, 270, 30, 45, 133.7, -72]

    private func worst(
        _ radius: Double, _ angle: Double, samples: ParameterValue, n: Int, _ picture: AnyRaster,
        _ values: [String: ParameterValue] = [:], edge: Edge = .clamp, light: Light = .encoded
    ) throws -> Double {
        let all = values.merging([
            "radius": .number(radius), "angle": .number(angle), "samples": samples, "light": .word(light.rawValue),
        ]) { $1 }
        let filter = try FilterRegistry.builtIn.make("motion", all)
        let truth = TruePixels(picture, light: light, addsAlpha: filter.outputLayout(for: picture.layout).hasAlpha)
            .motion(radius: radius, degrees: angle, n: n, edge: edge, output: filter.extent(of: picture.rect))
        return worstError(try filter.render(picture), truth, light: light)
    }

    @Test(arguments: [0.3, 1, 2.7, 12, 40], angles)
    func `samples along the line, on every format and layout`(radius: Double, angle: Double) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 37, height: 29), layout, format)
                let error = try worst(radius, angle, samples: .integer(5), n: 5, picture)
                #expect(error <= format.allowedError, "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: Pattern.allCases, Edge.allCases)
    func `every pattern and edge, on pictures smaller than the line too`(pattern: Pattern, edge: Edge) throws {
        for rect in [PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: -7, y: 3, width: 31, height: 17)] {
            for angle in [90.0, 20] {
                let picture = pattern.picture(rect, .rgba)
                let error = try worst(
                    40, angle, samples: .integer(7), n: 7, picture, ["edge": .word(edge.rawValue)], edge: edge)
                #expect(error <= 1)
            }
        }
    }

    @Test(arguments: [0.4, 3, 11.3], [0.0, 45, 67])
    func `continuous is the limit of ever more samples`(radius: Double, angle: Double) throws {
        for format in SampleFormat.allCases {
            let picture = Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 9, height: 7), .grayAlpha, format)
            let error = try worst(radius, angle, samples: .word("continuous"), n: 20_000, picture)
            #expect(error <= format.allowedError)
        }
    }

    @Test(arguments: angles)
    func `an expanded picture holds all of its trail`(angle: Double) throws {
        let picture = Pattern.steps.picture(PixelRect(x: 5, y: -3, width: 23, height: 11), .rgb, .u16)
        let values: [String: ParameterValue] = [
            "radius": .number(8.4), "angle": .number(angle), "extent": .word("expand"),
        ]
        let filter = try FilterRegistry.builtIn.make("motion", values)
        let velocity = MotionTaps.Velocity(radius: 8.4, degrees: angle)
        let growth = Halo(
            horizontal: Int(velocity.x.magnitude.rounded(.up)), vertical: Int(velocity.y.magnitude.rounded(.up)))
        #expect(filter.extent(of: picture.rect) == picture.rect.expanded(by: growth))
        let error = try worst(
            8.4, angle, samples: .integer(5), n: 5, picture, ["extent": .word("expand")], edge: .transparent)
        #expect(error <= 8)
        // Every sample of a black border is in the sum, so what is kept is all the light there was, but for rounding.
        let before = TruePixels(picture, light: .encoded, addsAlpha: true).values.reduce(0, +)
        let after = TruePixels(try filter.render(picture), light: .encoded).values.reduce(0, +)
        #expect(abs(after - before) <= 1e-3 * before)
    }

    @Test func `linear light is filtered as light`() throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 37, height: 29))
        #expect(try worst(9, 30, samples: .integer(5), n: 5, picture, light: .linear) <= 2.3)
    }

    @Test func `a straight line has a halo along its axis alone`() throws {
        let filter = try FilterRegistry.builtIn.make("motion")
        #expect(filter.halo == Halo(horizontal: 0, vertical: 40))
        let growing = try FilterRegistry.builtIn.make(
            "motion", ["angle": .number(60), "extent": .word("expand")])
        let rect = PixelRect(x: 0, y: 0, width: 10, height: 10)
        #expect(growing.extent(of: rect) == rect.expanded(by: Halo(horizontal: 20, vertical: 35)))
    }

    @Test func `a long line is known to cost more, unless there are running sums`() throws {
        func cost(_ radius: Double, _ angle: Double, _ format: SampleFormat = .u8) throws -> Double {
            let values = [
                "radius": ParameterValue.number(radius), "angle": .number(angle), "samples": .word("continuous"),
            ]
            return try FilterRegistry.builtIn.make("motion", values).cost(.rgb, format)
        }
        for angle in [0.0, 90, 180, 45] { #expect(try abs(cost(300, angle) / cost(40, angle) - 1) < 0.01) }
        for angle in [30.0, 40, 160] { #expect(try abs(cost(300, angle) / cost(40, angle) - 1) < 0.2) }
        let (short, long) = try (cost(40, 40, .u16), cost(320, 40, .u16))
        #expect((5...10).contains(long / short))
        #expect(try cost(40, 40) > 5 * cost(40, 0))
        #expect(try short > 2 * cost(40, 40))
    }
}
