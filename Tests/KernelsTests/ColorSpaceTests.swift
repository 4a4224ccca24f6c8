import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// Conversions between colour spaces, against their definitions in double precision.
@Suite struct ColorSpaceTests {
    /// Colours that are far apart, with every alpha.
    private func picture(_ layout: PixelLayout, _ format: SampleFormat) -> AnyRaster {
        let rect = PixelRect(x: 3, y: -2, width: 41, height: 17)
        let samples = (0..<rect.area * layout.channels).map { index in
            UInt16(truncatingIfNeeded: index &* 40_503 ^ index >> 3)
        }
        return AnyRaster.u16(Raster(rect: rect, layout: layout, samples: samples)).converted(to: format)
    }

    private func values(_ raster: AnyRaster) -> [Double] {
        guard case .f32(let raster) = raster.converted(to: .f32) else { return [] }
        return raster.samples.map(Double.init)
    }

    /// Half a step of the format, and what the tables of bytes are off.
    private func bound(_ format: SampleFormat) -> Double {
        switch format {
        case .u8: 0.56 / 255
        case .u16: 0.51 / 65535
        case .f32: 1e-6
        }
    }

    private static let matrix = [[0.8225, 0.1774, 0.0001], [0.0332, 0.9669, -0.0001], [0.0171, 0.0724, 0.9105]]

    @Test(arguments: [PixelLayout.rgb, .rgba], SampleFormat.allCases)
    func `RGB becomes RGB by light and a matrix, and alpha stays`(layout: PixelLayout, format: SampleFormat) {
        let picture = picture(layout, format)
        let conversion = LightConversion(from: .sRGB, matrix: Self.matrix, to: TransferCurve([.power(g: 2.2)]))
        let converted = conversion.convert(picture)
        #expect(converted.rect == picture.rect && converted.layout == layout && converted.format == format)
        let (before, after) = (values(picture), values(converted))
        var worst = 0.0
        for pixel in stride(from: 0, to: before.count, by: layout.channels) {
            let light = (0..<3).map { trueLinear(before[pixel + $0]) }
            for channel in 0..<3 {
                let sum = (0..<3).reduce(0) { $0 + Self.matrix[channel][$1] * light[$1] }
                let truth = ToneCurve.power(g: 2.2).encode(sum)
                let seen = format == .f32 ? truth : min(1, max(0, truth))
                worst = max(worst, abs(after[pixel + channel] - seen))
            }
            if layout.hasAlpha { #expect(after[pixel + 3] == before[pixel + 3]) }
        }
        #expect(worst < bound(format), "\(worst)")
    }

    @Test(arguments: [PixelLayout.gray, .grayAlpha], SampleFormat.allCases)
    func `gray becomes RGB of equal channels, and RGB becomes gray`(layout: PixelLayout, format: SampleFormat) {
        let picture = picture(layout, format)
        let toColor = LightConversion(from: .sRGB, matrix: [[1], [1], [1]], to: .sRGB)
        let color = toColor.convert(picture)
        #expect(color.layout == (layout.hasAlpha ? .rgba : .rgb))
        let back = LightConversion(from: .sRGB, matrix: [[0.25, 0.5, 0.25]], to: .sRGB).convert(color)
        #expect(back.layout == layout)
        let worst = zip(values(back), values(picture)).reduce(0) { max($0, abs($1.0 - $1.1)) }
        #expect(worst < 2 * bound(format), "\(worst)")
    }

    @Test func `floats that are no colours stay no colours, and harm no others`() {
        let rect = PixelRect(x: 0, y: 0, width: 3, height: 1)
        let samples: [Float] = [.nan, 0.5, 0.5, .infinity, -.infinity, 0, 0.25, -0.5, 1.5]
        let conversion = LightConversion(from: .sRGB, matrix: Self.matrix, to: .sRGB)
        let converted = conversion.convert(.f32(Raster(rect: rect, layout: .rgb, samples: samples)))
        let last = Array(values(converted)[6...])
        #expect(last.allSatisfy(\.isFinite) && last[1] < 0 && last[2] > 1)
    }

    /// A function that a grid interpolates without error.
    private func even(_ colors: ArraySlice<UInt16>, _ channel: Int) -> Double {
        let shares = [[0.5, 0.25, 0.125], [0, 1, 0], [0.25, 0, 0.75], [0.1, 0.2, 0.7]][channel]
        return zip(shares, colors).reduce(0) { $0 + $1.0 * Double($1.1) }
    }

    @Test(arguments: [PixelLayout.gray, .rgb, .cmyk])
    func `a grid gives back an even function of colours`(result: PixelLayout) {
        let inputs = ColorGrid.inputs(.rgb)
        let points = stride(from: 0, to: inputs.count, by: 3).flatMap { start in
            (0..<result.channels).map { UInt16(even(inputs[start..<start + 3], $0).rounded()) }
        }
        let grid = ColorGrid(from: .rgb, to: result, points: points)
        guard case .u16(let picture) = picture(.rgb, .u16) else { return }
        let converted = grid.convert(picture)
        #expect(converted.layout == result)
        var worst = 0.0
        for pixel in 0..<picture.rect.area {
            for channel in 0..<result.channels {
                let truth = even(picture.samples[3 * pixel..<3 * pixel + 3], channel)
                worst = max(worst, abs(Double(converted.samples[result.channels * pixel + channel]) - truth))
            }
        }
        #expect(worst <= 1.5, "\(worst)")
    }

    @Test func `a grid of gray has each value, and keeps alpha`() {
        let grid = ColorGrid(from: .gray, to: .rgb, points: (0...UInt16.max).flatMap { [$0, UInt16.max - $0, $0 / 2] })
        guard case .u16(let picture) = picture(.grayAlpha, .u16) else { return }
        let converted = grid.convert(picture)
        #expect(converted.layout == .rgba)
        for pixel in 0..<picture.rect.area {
            let (gray, alpha) = (picture.samples[2 * pixel], picture.samples[2 * pixel + 1])
            #expect(
                converted.samples[4 * pixel..<4 * pixel + 4].elementsEqual([gray, UInt16.max - gray, gray / 2, alpha]))
        }
    }
}
