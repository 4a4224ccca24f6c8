import Catalogs
import Geometry
import Raster
import TestSupport
import Testing

import Kernels

/// Every level that this CPU has gives the bytes of the lowest.
struct CPULevelTests {
    static let rect = PixelRect(x: -3, y: 1, width: 211, height: 57)

    func expectSameBytes(
        _ picture: AnyRaster, _ render: (CPULevel, KernelSource, inout AnyRaster) -> Void
    ) {
        let reach = 400
        func table(_ range: Range<Int>) -> AxisTable {
            let wide = range.lowerBound - reach..<range.upperBound + reach
            return AxisTable(
                range: wide, positions: wide.map { Int32(min(max($0 - range.lowerBound, 0), range.count - 1)) })
        }
        let source = KernelSource(
            raster: picture, columns: table(Self.rect.columns), rows: table(Self.rect.rows),
            // Bytes without alpha have a loop of their own for sRGB.
            curve: picture.layout == .gray ? .sRGB : TransferCurve([.power(g: 1.8), .power(g: 2.2), .sRGB]))
        let results = CPULevel.supported.map { level in
            var result = AnyRaster(zeroed: Self.rect, layout: picture.layout, format: picture.format)
            render(level, source, &result)
            return result
        }
        for result in results { #expect(result.hasSameBytes(as: results[0])) }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `all levels blur alike`(format: SampleFormat, layout: PixelLayout) {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let opaque = Pattern.noise.picture(Self.rect, layout, format, alpha: .opaque)
        for sigma in [0.4, 1, 1.9, 2.4, 2.5, 3.1, 4.4, 5, 9, 21, 30, 49] {
            for light in Light.allCases {
                expectSameBytes(picture) {
                    Gaussian(sigmaX: sigma, sigmaY: sigma).running(on: $0).render($1, light: light, into: &$2)
                }
            }
            expectSameBytes(opaque) {
                Gaussian(sigmaX: sigma, sigmaY: sigma).running(on: $0).render($1, light: .encoded, into: &$2)
            }
        }
        expectSameBytes(picture) {
            Gaussian(sigmaX: 30, sigmaY: 0.7).running(on: $0).render($1, light: .encoded, into: &$2)
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `all levels move alike`(format: SampleFormat, layout: PixelLayout) {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        for (radius, degrees) in [(5.0, 30.0), (20, 0), (33, 90), (90, 11)] {
            for sampling in [MotionTaps.Sampling.samples(5), .continuous] {
                let motion = Motion(.init(radius: radius, degrees: degrees), sampling)
                expectSameBytes(picture) { motion.running(on: $0).render($1, light: .encoded, into: &$2) }
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `all levels average alike`(format: SampleFormat, layout: PixelLayout) {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        for radius in [0.4, 1, 3, 7.3, 130] {
            let (box, disc) = (Box(radiusX: radius, radiusY: radius / 2), Disc(radius: min(radius, 60)))
            for light in Light.allCases {
                expectSameBytes(picture) { box.running(on: $0).render($1, light: light, into: &$2) }
                expectSameBytes(picture) { disc.running(on: $0).render($1, light: light, into: &$2) }
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `all levels sharpen and take medians alike`(format: SampleFormat, layout: PixelLayout) {
        for alpha in [AlphaPattern.noise, .opaque] {
            let picture = Pattern.noise.picture(Self.rect, layout, format, alpha: alpha)
            for radius in [1, 2, 5] {
                let sharpening = Sharpening(sigma: Double(radius), amount: 1.7, threshold: 0.02)
                expectSameBytes(picture) { sharpening.running(on: $0).render($1, light: .encoded, into: &$2) }
                let median = Median(radius: radius)
                expectSameBytes(picture) { median.running(on: $0).render($1, light: .encoded, into: &$2) }
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `all levels blur alike where the radius changes`(format: SampleFormat, layout: PixelLayout) {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let map = StrengthMap.gradient(
            StrengthGradient(shape: .radial, centerX: 60, centerY: 20, degrees: 0, sharp: 3, falloff: 100))
        for light in Light.allCases {
            expectSameBytes(picture) {
                Variable(radius: 21, map: map).running(on: $0)
                    .render($1, extent: Self.rect, light: light, into: &$2)
            }
        }
    }

    @Test func `the best level is taken unless another is asked for`() throws {
        #expect(try CPULevel.chosen(by: nil, of: [.v2, .v3, .v4]) == .v4)
        #expect(try CPULevel.chosen(by: "", of: [.v2, .v3]) == .v3)
        #expect(try CPULevel.chosen(by: "v2", of: [.v2, .v3, .v4]) == .v2)
        #expect(CPULevel.supported(x86Level: 4) == [.v2, .v3, .v4])
        #expect(CPULevel.supported(x86Level: 3) == [.v2, .v3])
        #expect(CPULevel.supported(x86Level: 1) == [])
        #expect(CPULevel.supported(x86Level: 0) == [.native])
    }

    @Test func `a CPU without any level is told so`() {
        #expect {
            try CPULevel.chosen(by: nil, of: [])
        } throws: {
            "\($0)" == "this CPU is too old: Penumbra needs x86-64-v2 (SSE4.2) or later"
        }
    }

    @Test(arguments: ["v4", "v5", "avx2", " v2"])
    func `a level that is not there is refused`(value: String) {
        #expect {
            try CPULevel.chosen(by: value, of: [.v2, .v3])
        } throws: {
            "\($0)" == "PENUMBRA_CPU: this CPU cannot run '\(value)'; it has v2, v3 — unset it to use the best"
        }
    }
}
