import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The Gaussian in single precision against the slow twin: the same bits.
struct FloatPyramidTests {
    private func axis(_ sigma: Double) -> SlowFloatMultirate.Axis {
        let design = AxisDesign<Float>.floating(sigma: sigma)
        return SlowFloatMultirate.Axis(taps: design.prefilters.map(\.taps.count), weights: design.weights)
    }

    /// The twin's values of all channels, premultiplied.
    private func twin(_ source: KernelSource, _ layout: PixelLayout, _ sigmaX: Double, _ sigmaY: Double)
        -> [SlowFloatMultirate]
    {
        let (samples, channels, full) = (source.raster.doubles, layout.channels, source.raster.format.full)
        return (0..<channels).map { channel in
            SlowFloatMultirate(
                source: { x, y in
                    let (column, row) = (source.columns[clamp: x], source.rows[clamp: y])
                    guard column >= 0, row >= 0 else { return 0 }
                    let pixel = (row * source.raster.rect.width + column) * channels
                    let isColor = layout.hasAlpha && channel < channels - 1
                    return Float(
                        isColor
                            ? samples[pixel + channel] * samples[pixel + channels - 1] / full : samples[pixel + channel]
                    )
                }, horizontal: axis(sigmaX), vertical: axis(sigmaY))
        }
    }

    /// A sample as it is stored.
    private func stored(_ value: Double, _ format: SampleFormat) -> Double {
        guard format != .f32 else { return Double(Float(value)) }
        return min(max((value + 0.5).rounded(.down), 0), format.full)
    }

    /// The samples of a pixel, from premultiplied values.
    private func samples(_ values: [Double], _ layout: PixelLayout, _ format: SampleFormat) -> [Double] {
        guard layout.hasAlpha, let computed = values.last else { return values.map { stored($0, format) } }
        let alpha = format == .f32 || computed > format.full ? computed : stored(computed, format)
        let colors = values.dropLast().map { stored(alpha == 0 ? 0 : $0 * format.full / alpha, format) }
        return colors + [stored(alpha, format)]
    }

    private func expectTwin(
        _ sigmaX: Double, _ sigmaY: Double, _ layout: PixelLayout, _ format: SampleFormat, size: (Int, Int)
    ) {
        let gaussian = Gaussian(sigmaX: sigmaX, sigmaY: sigmaY)
        for (number, edge) in TwinEdges.all.enumerated() {
            let rect = PixelRect(x: 5 * number - 7, y: 3 - number, width: size.0 + number, height: size.1)
            let picture = Pattern.noise.picture(rect, layout, format, seed: UInt64(number))
            let source = KernelSource(picture, gaussian.halo, edge)
            var result = AnyRaster(zeroed: rect, layout: layout, format: format)
            gaussian.render(source, light: .encoded, into: &result)
            let (twin, fast) = (twin(source, layout, sigmaX, sigmaY), result.doubles)
            var differing: [String] = []
            for y in rect.rows {
                for x in rect.columns {
                    let start = ((y - rect.y) * rect.width + x - rect.x) * layout.channels
                    let wanted = samples(twin.map { Double($0.value(x: x, y: y)) }, layout, format)
                    let found = Array(fast[start..<start + layout.channels])
                    if wanted.map(\.bitPattern) != found.map(\.bitPattern) {
                        differing.append("\(x), \(y): \(found), not \(wanted)")
                    }
                }
            }
            #expect(differing.isEmpty, "edge \(number): \(differing.prefix(3))")
        }
    }

    @Test(arguments: [0.0, 0.4, 1, 2, 2.99, 3, 3.49, 3.5, 4.9, 5, 6.1, 9, 12.9, 13, 21, 30])
    func `all rates give the slow twin's bits on every edge and phase`(sigma: Double) {
        expectTwin(sigma, sigma, .gray, .f32, size: (37, 11))
        expectTwin(sigma, sigma, .rgb, .u16, size: (35, 5))
    }

    @Test(arguments: [(0, 4), (4, 0), (3, 14), (14, 3), (1, 7), (29, 5)])
    func `axes of different rates give the slow twin's bits`(sigmaX: Double, sigmaY: Double) {
        expectTwin(sigmaX, sigmaY, .gray, .f32, size: (41, 13))
        expectTwin(sigmaX, sigmaY, .rgb, .u8, size: (33, 6))
    }

    @Test(arguments: [PixelLayout.gray, .grayAlpha, .rgb, .rgba], SampleFormat.allCases)
    func `every layout gives the slow twin's bits at every width`(layout: PixelLayout, format: SampleFormat) {
        for width in Array(1...18) + [31, 32, 33, 48, 49] { expectTwin(0, 3.5, layout, format, size: (width, 3)) }
        for size in [(1, 1), (2, 1), (1, 7), (7, 2)] { expectTwin(4, 1, layout, format, size: size) }
    }

    /// A FIR computes several rows at once, and in chunks of columns.
    @Test(arguments: [(1.3, 1.3), (4, 4), (13, 13), (0, 4), (4, 0), (0, 13), (13, 0)])
    func `so do pictures of many chunks and batches`(sigmaX: Double, sigmaY: Double) {
        expectTwin(sigmaX, sigmaY, .gray, .f32, size: (1100, 4))
        expectTwin(sigmaX, sigmaY, .gray, .f32, size: (9, 150))
    }
}
