import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// `tone-map` against the published curves in float64.
struct ToneMapFilterTests {
    private static let rect = PixelRect(x: -3, y: 5, width: 37, height: 29)
    private static let curves = ["hable", "reinhard", "bt2390"]

    private func filter(
        _ curve: String, exposure: Double = 0, peak: Double = 1000, target: Double = 203
    ) throws -> any Filter {
        try FilterRegistry.builtIn.make(
            "tone-map",
            [
                "curve": .word(curve), "exposure": .number(exposure), "peak": .number(peak), "target": .number(target),
            ])
    }

    /// Floats up to many times white, and a few below black.
    private static func brightPicture(_ layout: PixelLayout) -> AnyRaster {
        var random = SplitMix64(seed: 11)
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        let samples = (0..<rect.area * channels).map { index -> Float in
            if index % channels >= colors { return Float(random.next() % 5) / 4 }
            let share = Float(random.next() % 1000) / 1000
            return [share, share * 4, share * share * 60, -share / 8, 0][Int(random.next() % 5)]
        }
        return .f32(Raster(rect: rect, layout: layout, samples: samples))
    }

    private func expectTruth(
        _ picture: AnyRaster, _ curve: String, exposure: Double, peak: Double, target: Double
    ) throws {
        let result = try filter(curve, exposure: exposure, peak: peak, target: target).render(picture)
        let (layout, format) = (picture.layout, picture.format)
        #expect((result.rect, result.layout, result.format) == (picture.rect, layout, format))
        let (before, after) = (picture.doubles, result.doubles)
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        var worst = 0.0
        for pixel in stride(from: 0, to: before.count, by: channels) {
            let color = before[pixel..<pixel + colors].map { $0 / format.full }
            var expected = TrueTones.mapped(color, curve, exposure: exposure, peak: peak, target: target)
            if channels > colors {
                #expect(after[pixel + colors] == before[pixel + colors])
                if before[pixel + colors] == 0 { expected = expected.map { _ in 0 } }
            }
            for channel in 0..<colors {
                let wanted = expected[channel] * format.full
                let stored = format == .f32 ? wanted : min(max(wanted, 0), format.full)
                // Negative channels may be large, and single precision is relative then.
                worst = max(worst, abs(after[pixel + channel] - stored) / max(1, abs(stored) / format.full))
            }
        }
        let bound = format == .f32 ? 1e-6 : format == .u16 ? 0.501 : 0.56
        #expect(worst <= bound, "\(curve) \(layout) \(format) \(peak) \(target)")
    }

    private static let settings = [(0.0, 1000.0, 203.0), (2.5, 4000, 100), (-3, 10000, 48), (1, 204, 203)]

    @Test(arguments: curves, PixelLayout.allCases)
    func `each curve is the published one, for floats above white`(curve: String, layout: PixelLayout) throws {
        for (exposure, peak, target) in Self.settings {
            try expectTruth(
                Self.brightPicture(layout), curve, exposure: exposure, peak: peak, target: target)
        }
    }

    @Test(arguments: curves, SampleFormat.allCases)
    func `and for ordinary pictures of all samples`(curve: String, format: SampleFormat) throws {
        for layout in PixelLayout.allCases {
            for (exposure, peak, target) in Self.settings {
                try expectTruth(
                    Pattern.noise.picture(Self.rect, layout, format), curve, exposure: exposure, peak: peak,
                    target: target)
            }
        }
    }

    private func floats(_ samples: [Float], _ curve: String, _ layout: PixelLayout = .rgb) throws -> [Double] {
        let rect = PixelRect(x: 0, y: 0, width: samples.count / layout.channels, height: 1)
        return try filter(curve).render(.f32(Raster(rect: rect, layout: layout, samples: samples))).doubles
    }

    @Test(arguments: curves) func `the peak becomes white, black stays black, and brighter never gets darker`(
        curve: String
    ) throws {
        let lights = (0...4000).map { Double($0) / 4000 * 2 }
        let grays = try floats(lights.map { Float(trueEncoded($0 * 1000 / 203)) }, curve, .gray)
        #expect(grays[0] == 0)
        #expect(abs(grays[2000] - 1) < 1e-6)
        #expect(grays[2001...].allSatisfy { abs($0 - 1) < 1e-6 })
        for (dark, bright) in zip(grays, grays.dropFirst()) { #expect(bright - dark > -1e-7) }
    }

    @Test(arguments: curves) func `no channel is above white, and the proportions of light stay`(curve: String) throws {
        let colors: [[Float]] = [[9, 0.5, 0.25], [0.1, 0.4, 7], [1.5, 1.5, 0], [0.2, 0.1, 0.3], [80, 40, 0.001]]
        for color in colors {
            let result = try floats(color, curve)
            #expect(result.allSatisfy { $0 <= 1 + 1e-7 })
            let (before, after) = (color.map { trueLinear(Double($0)) }, result.map(trueLinear))
            let (brightest, mapped) = (before.max() ?? 0, after.max() ?? 0)
            for (old, new) in zip(before, after) { #expect(abs(old / brightest - new / mapped) < 1e-6) }
        }
    }

    @Test func `BT.2390 leaves the light below its knee`() throws {
        let samples: [Float] = [0.01, 0.2, 0.4, 0.5, 0.3, 0.1]
        let result = try floats(samples, "bt2390")
        for (before, after) in zip(samples, result) { #expect(abs(Double(before) - after) < 1e-6) }
    }

    @Test(arguments: curves) func `infinite light is white, and NaN and minus infinity are black`(curve: String) throws
    {
        let huge = Float.greatestFiniteMagnitude
        #expect(try floats([.infinity, .infinity, .infinity], curve).allSatisfy { abs($0 - 1) < 1e-6 })
        let red = try floats([.infinity, 1, 0], curve)
        #expect(abs(red[0] - 1) < 1e-6 && red[1] >= 0 && red[1] < 1e-6 && red[2] == 0)
        #expect(try floats([huge, huge, huge], curve).allSatisfy { abs($0 - 1) < 1e-6 })
        #expect(try floats([.nan, -.infinity, .nan], curve) == [0, 0, 0])
        let known = try floats([0, 0.5, 0.25], curve)
        #expect(try floats([.nan, 0.5, 0.25], curve) == known)
        #expect(try floats([-.infinity, 0.5, 0.25], curve) == known)
        #expect(try floats([-huge, -huge, -huge], curve).allSatisfy(\.isFinite))
    }

    @Test func `light is that of the picture's curve`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 4, height: 1)
        let samples: [Float] = [0.5, 1, 3, 0.1]
        let picture = AnyRaster.f32(Raster(rect: rect, layout: .gray, samples: samples))
        var result = AnyRaster(zeroed: rect, layout: .gray, format: .f32)
        let linear = TransferCurve([.power(g: 1)])
        try filter("reinhard").render(
            FilterSource(pixels: KernelSource(picture, curve: linear), extent: rect), into: &result)
        for (light, found) in zip(samples, result.doubles) {
            let peak = 1000.0 / 203
            let expected = Double(light) * (1 + Double(light) / (peak * peak)) / (1 + Double(light))
            #expect(abs(found - expected) < 1e-6)
        }
    }

    @Test func `a target that is not below the peak is refused`() throws {
        let error = #expect(throws: FilterError.self) { try filter("hable", peak: 300, target: 300) }
        #expect(error?.description == "tone-map: 'target' is 300.0, but must be in -inf…300.0")
        let close = #expect(throws: FilterError.self) { try filter("hable", peak: 300.0000001, target: 300) }
        #expect(
            close?.description
                == "tone-map: 'target' must be smaller than 'peak'; the display shows all of the light otherwise")
    }
}
