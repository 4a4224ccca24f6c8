import Catalogs
import Geometry
import Glibc
import Kernels
import Raster
import TestSupport
import Testing

struct ResamplingTests {
    private let rect = PixelRect(x: 0, y: 0, width: 47, height: 31)

    @Test(arguments: ResamplingKernel.allCases, [0.37, 1, 1.5, 2, 3.3, 17])
    func `weights sum to 1 and lie around their place`(kernel: ResamplingKernel, scale: Double) {
        let axis = AxisResampling(scale: scale, kernel: kernel)
        for index in 0..<40 {
            let taps = axis.taps(at: index)
            let sum = taps.weights.reduce(0) { $0 + Double($1) }
            #expect(abs(sum - 1) < 1e-6)
            let center = (Double(index) + 0.5) * scale
            #expect(Double(taps.range.lowerBound) >= center - scale / 2 - Double(axis.reach))
            #expect(Double(taps.range.upperBound) <= center + scale / 2 + Double(axis.reach))
        }
    }

    @Test func `Lanczos weights are the sinc's`() {
        let taps = AxisResampling(scale: 0.5, kernel: .lanczos3).taps(at: 0)
        func lanczos(_ x: Double) -> Double {
            x == 0 ? 1 : 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
        }
        let expected = taps.range.map { lanczos(Double($0) + 0.25) }
        let sum = expected.reduce(0, +)
        for (weight, value) in zip(taps.weights, expected) { #expect(abs(Double(weight) - value / sum) < 1e-7) }
    }

    @Test(arguments: [PixelLayout.gray, .rgb], SampleFormat.allCases)
    func `the same size changes no byte`(layout: PixelLayout, format: SampleFormat) {
        let picture = Pattern.noise.picture(rect, layout, format)
        #expect(resample(picture, to: rect, .lanczos3).hasSameBytes(as: picture))
    }

    @Test(arguments: ResamplingKernel.allCases, [(10, 7), (23, 31), (47, 8), (101, 77)])
    func `samples are those of the weights in double precision`(kernel: ResamplingKernel, size: (Int, Int)) {
        let picture = Pattern.noise.picture(rect, .gray, .f32)
        let target = PixelRect(x: 0, y: 0, width: size.0, height: size.1)
        guard case .f32(let result) = resample(picture, to: target, kernel), case .f32(let source) = picture else {
            return
        }
        let horizontal = AxisResampling(scale: 47 / Double(size.0), kernel: kernel)
        let vertical = AxisResampling(scale: 31 / Double(size.1), kernel: kernel)
        for y in target.rows {
            for x in target.columns {
                let (columns, rows) = (horizontal.taps(at: x), vertical.taps(at: y))
                var sum = 0.0
                for (j, b) in zip(rows.range, rows.weights) {
                    for (i, a) in zip(columns.range, columns.weights) {
                        let (column, row) = (min(max(i, 0), 46), min(max(j, 0), 30))
                        sum += Double(source.samples[row * 47 + column]) * Double(a) * Double(b)
                    }
                }
                #expect(abs(Double(result.samples[y * size.0 + x]) - sum) < 2e-6)
            }
        }
    }

    /// Heights on both sides of the scale from which sums grow while rows are read.
    @Test(arguments: [1, 3, 7, 10, 11, 20, 31, 50], [PixelLayout.gray, .rgb])
    func `rows are summed in single precision from the top down, at every scale`(height: Int, layout: PixelLayout) {
        let picture = Pattern.noise.picture(rect, layout, .f32)
        let target = PixelRect(x: 0, y: 0, width: rect.width, height: height)
        for kernel in ResamplingKernel.allCases {
            guard case .f32(let result) = resample(picture, to: target, kernel), case .f32(let source) = picture else {
                return
            }
            let vertical = AxisResampling(scale: Double(rect.height) / Double(height), kernel: kernel)
            var expected: [Float] = []
            for y in target.rows {
                let taps = vertical.taps(at: y)
                for column in 0..<source.stride {
                    var sum: Float = 0
                    for (row, weight) in zip(taps.range, taps.weights) {
                        sum += source.samples[min(max(row, 0), rect.height - 1) * source.stride + column] * weight
                    }
                    expected.append(sum)
                }
            }
            #expect(result.samples == expected, "\(kernel)")
        }
    }

    @Test func `colours behind nothing leave no fringe`() {
        var samples: [UInt8] = []
        for x in 0..<40 { samples += x < 20 ? [200, 100, 50, 255] : [0, 255, 0, 0] }
        let picture = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 40, height: 1), layout: .rgba, samples: samples))
        guard
            case .u8(let result) = resample(picture, to: PixelRect(x: 0, y: 0, width: 13, height: 1), .box)
        else { return }
        for pixel in stride(from: 0, to: result.samples.count, by: 4) where result.samples[pixel + 3] > 0 {
            for (channel, color) in [200, 100, 50].enumerated() {
                #expect(abs(Int(result.samples[pixel + channel]) - color) <= 1)
            }
        }
    }

    private func resample(_ picture: AnyRaster, to target: PixelRect, _ kernel: ResamplingKernel) -> AnyRaster {
        let resampler = Resampler(
            horizontal: AxisResampling(scale: Double(picture.rect.width) / Double(target.width), kernel: kernel),
            vertical: AxisResampling(scale: Double(picture.rect.height) / Double(target.height), kernel: kernel))
        var result = AnyRaster(zeroed: target, layout: picture.layout, format: picture.format)
        resampler.render(
            KernelSource(
                clamping: picture,
                reach: Halo(
                    horizontal: resampler.horizontal.reach + 2, vertical: resampler.vertical.reach + 2)),
            corner: (picture.rect.x, picture.rect.y), shift: (0, 0), light: .encoded, into: &result)
        return result
    }
}
