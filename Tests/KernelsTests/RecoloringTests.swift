import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// Loops over many pixels against the definitions of single colours.
struct RecoloringTests {
    /// Widths around the pixels that are computed together.
    private static let widths = [1, 2, 15, 16, 17, 31, 37]

    private static func cube(_ size: Int, from low: Float = 0, to high: Float = 1) -> ColorCube {
        var random = SplitMix64(seed: UInt64(size))
        let points = (0..<size * size * size).map { _ -> SIMD3<Float> in
            SIMD3<Float>((0..<3).map { _ -> Float in Float(random.next() % 1200) / 1000 - 0.1 })
        }
        return ColorCube(
            .colors, size: size, points: points, minimum: SIMD3(repeating: low), maximum: SIMD3(repeating: high))
    }

    private static func render(_ recoloring: Recoloring, _ picture: AnyRaster) -> AnyRaster {
        var result = AnyRaster(zeroed: picture.rect, layout: picture.layout, format: picture.format)
        recoloring.render(KernelSource(picture), within: nil, into: &result)
        return result
    }

    /// The definition, a pixel at a time. Gray gets the luma of its colour.
    private static func twin(_ function: any ColorFunction, _ picture: AnyRaster) -> [Double] {
        let (layout, format) = (picture.layout, picture.format)
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        var values = picture.doubles
        for pixel in stride(from: 0, to: values.count, by: channels) {
            guard !layout.hasAlpha || values[pixel + colors] != 0 else {
                for channel in 0..<colors { values[pixel + channel] = 0 }
                continue
            }
            let shares = (0..<3).map { Float(values[pixel + min($0, colors - 1)] / format.full) }
            let color = function.color(SIMD3(shares))
            let luma = color.y + 0.2126 * (color.x - color.y) + 0.0722 * (color.z - color.y)
            let found = colors == 3 ? color : SIMD3(repeating: luma)
            for channel in 0..<colors {
                let value = Double(found[channel]) * format.full
                values[pixel + channel] =
                    format == .f32 ? value : min(max((value + 0.5).rounded(.down), 0), format.full)
            }
        }
        return values
    }

    /// A step of integers: two roundings of nearly the same number may differ.
    private func expectTwin(_ recoloring: Recoloring, _ function: any ColorFunction, _ picture: AnyRaster) {
        let result = Self.render(recoloring, picture)
        let worst = zip(result.doubles, Self.twin(function, picture)).map { abs($0 - $1) }.max() ?? 0
        #expect(
            worst <= (picture.format == .f32 ? 3e-6 : 1),
            "\(picture.rect.width) × \(picture.rect.height) \(picture.layout) \(picture.format)")
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `a table of colours is its definition at every width`(layout: PixelLayout, format: SampleFormat) {
        for cube in [Self.cube(2), Self.cube(7), Self.cube(17, from: 0.25, to: 0.75), Self.cube(5).withStrength(0.3)] {
            for width in Self.widths {
                let rect = PixelRect(x: 3, y: -2, width: width, height: 5)
                for pattern in [Pattern.noise, .binaryNoise] {
                    expectTwin(Recoloring(cube.function), cube, pattern.picture(rect, layout, format))
                }
            }
        }
    }

    @Test func `a table of colours is its definition on a dense lattice of bytes`() {
        let values = Array(stride(from: UInt8(0), through: 255, by: 5))
        let samples = values.flatMap { red -> [UInt8] in
            values.flatMap { green -> [UInt8] in values.flatMap { blue -> [UInt8] in [red, green, blue] } }
        }
        let rect = PixelRect(x: 0, y: 0, width: values.count * values.count, height: values.count)
        let cube = Self.cube(33)
        expectTwin(Recoloring(cube.function), cube, .u8(Raster(rect: rect, layout: .rgb, samples: samples)))
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `a rotation of hues is its definition at every width`(layout: PixelLayout, format: SampleFormat) {
        for degrees in [-77.0, 13, 180] {
            let hue = HueRotation(degrees: degrees)
            for width in Self.widths {
                let rect = PixelRect(x: -5, y: 9, width: width, height: 3)
                for pattern in [Pattern.noise, .binaryNoise] {
                    expectTwin(Recoloring(.colors(hue)), hue, pattern.picture(rect, layout, format))
                }
            }
        }
    }

    @Test(arguments: [UInt64(5), 6])
    func `every byte of a channel with a table of its own is the result of the definition`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let points = (0..<9).map { _ -> SIMD3<Float> in
            SIMD3<Float>((0..<3).map { _ -> Float in Float(random.next() % 1000) / 999 })
        }
        let cube = ColorCube(
            .channels, size: 9, points: points, minimum: SIMD3(repeating: 0), maximum: SIMD3(repeating: 1))
        let rect = PixelRect(x: 0, y: 0, width: 256, height: 1)
        for layout in [PixelLayout.gray, .rgb] {
            let samples = (0..<256).flatMap { value -> [UInt8] in
                (0..<layout.channels).map { UInt8(truncatingIfNeeded: value * (2 * $0 + 1)) }
            }
            expectTwin(Recoloring(cube.function), cube, .u8(Raster(rect: rect, layout: layout, samples: samples)))
        }
    }

    @Test func `every byte beside every brightest one is mapped as its light is`() {
        for curve in ToneMapping.Curve.allCases {
            let mapping = ToneMapping(curve, exposure: 1.5, peak: 1000, target: 203)
            let pairs = (0..<256).flatMap { brightest -> [(Int, Int)] in (0...brightest).map { (brightest, $0) } }
            let rect = PixelRect(x: 0, y: 0, width: pairs.count, height: 1)
            let samples = pairs.flatMap { pair -> [UInt8] in [UInt8(pair.1), UInt8(pair.0), UInt8(pair.1)] }
            let result = Self.render(
                Recoloring(.light(mapping)), .u8(Raster(rect: rect, layout: .rgb, samples: samples))
            ).doubles
            var worst = 0.0
            for (index, pair) in pairs.enumerated() {
                let (light, own) = (trueLinear(Double(pair.0) / 255), trueLinear(Double(pair.1) / 255))
                let mapped = mapping.light(SIMD3(own, light, own))
                for channel in 0..<3 {
                    worst = max(worst, abs(result[3 * index + channel] - trueEncoded(mapped[channel]) * 255))
                }
            }
            #expect(worst <= 0.56, "\(curve)")
        }
    }

    @Test(arguments: PixelLayout.allCases, [SampleFormat.u16, .f32])
    func `words and floats are mapped as their light is, at every width`(layout: PixelLayout, format: SampleFormat) {
        for curve in ToneMapping.Curve.allCases {
            let mapping = ToneMapping(curve, exposure: 2, peak: 1000, target: 150)
            for width in Self.widths {
                let rect = PixelRect(x: 4, y: -3, width: width, height: 9)
                for pattern in [Pattern.noise, .binaryNoise] {
                    expectMapped(pattern.picture(rect, layout, format), mapping, "\(curve), \(width) wide, \(pattern)")
                }
            }
        }
    }

    /// Light of all sizes beside each other, far beyond what pictures have.
    @Test func `floats without end, without a number and without light are mapped as their light is`() {
        let values: [Float] = [
            0, -0.0, .leastNonzeroMagnitude, 1e-30, 0.003, 0.0031308, 0.04045, 0.05, 0.5, 1, 1.9, 2, 2.1, 40, 1e5, 1e12,
            1e13, 1e20, 3e38,
            .infinity, .nan, -1e-30, -0.01, -0.5, -3, -1e12, -1e20, -.infinity,
        ]
        let samples = values.flatMap { red in values.flatMap { green in [red, green, values[7], red, red, green] } }
        let rect = PixelRect(x: 0, y: 0, width: samples.count / 3, height: 1)
        let picture = AnyRaster.f32(Raster(rect: rect, layout: .rgb, samples: samples))
        for curve in ToneMapping.Curve.allCases {
            let mapping = ToneMapping(curve, exposure: 0, peak: 1000, target: 203)
            expectMapped(picture, mapping, "\(curve)")
        }
    }

    /// - Parameter name: tells the picture apart.
    private func expectMapped(_ picture: AnyRaster, _ mapping: ToneMapping, _ name: String) {
        let (layout, full) = (picture.layout, picture.format.full)
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        let (values, result) = (picture.doubles, Self.render(Recoloring(.light(mapping)), picture).doubles)
        var worst = 0.0
        for pixel in stride(from: 0, to: values.count, by: channels) {
            let lights = (0..<3).map { channel -> Double in
                let value = values[pixel + min(channel, colors - 1)] / full
                return value.isFinite ? trueLinear(value) : value
            }
            let mapped = mapping.light(SIMD3(lights[0], lights[1], lights[2]))
            let isVisible = !layout.hasAlpha || values[pixel + colors] != 0
            for channel in 0..<colors {
                let wanted = isVisible ? trueEncoded(mapped[channel]) * full : 0
                // A share of large results: a negative channel beside dark ones is not limited.
                worst = max(worst, abs(result[pixel + channel] - wanted) / max(full, abs(wanted)))
                if result[pixel + channel].isNaN { worst = .infinity }
            }
            if layout.hasAlpha, result[pixel + colors] != values[pixel + colors] { worst = .infinity }
        }
        #expect(worst <= (picture.format == .f32 ? 1e-7 : 0.5001 / 65535), "\(name)")
    }

    /// A damaged profile may have such a curve. The largest value of a pixel is not its brightest one then.
    @Test func `where a curve falls, light is mapped as it is where each channel has a curve of its own`() {
        let falling = ToneCurve.table([0, 0.9, 0.5, 1])
        // Almost the same one, so that no table of all channels is made.
        let curves = [falling, falling, .table([0, 0.9, 0.5, 1 + 1e-12])]
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 61, height: 17), .rgb, .u8)
        let mapping = Recoloring(.light(ToneMapping(.reinhard, exposure: 1.5, peak: 1000, target: 203)))
        let results = [TransferCurve([falling]), TransferCurve(curves)].map { curve in
            var result = AnyRaster(zeroed: picture.rect, layout: .rgb, format: .u8)
            mapping.render(KernelSource(picture, curve: curve), within: nil, into: &result)
            return result.bytes
        }
        #expect(results[0] == results[1])
    }

    /// A picture of more rows than are copied at a time.
    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `a part of a recoloured picture is the recoloured part`(layout: PixelLayout, format: SampleFormat) {
        let picture = Pattern.noise.picture(PixelRect(x: 1, y: 2, width: 211, height: 401), layout, format)
        let part = PixelRect(x: 50, y: 70, width: 97, height: 301)
        for function in [
            Recoloring.Function.colors(HueRotation(degrees: 50)), Self.cube(9).function,
            .channels(Levels(black: 0.1, white: 0.9, gamma: 1.4, darkest: 0, brightest: 1)),
            .light(ToneMapping(.reinhard, exposure: 1, peak: 1000, target: 203)),
        ] {
            let recoloring = Recoloring(function)
            let whole = Self.render(recoloring, picture)
            var result = AnyRaster(zeroed: part, layout: layout, format: format)
            recoloring.render(KernelSource(picture), within: nil, into: &result)
            #expect(result.hasSameBytes(as: whole.cropped(to: part)))
        }
    }
}
