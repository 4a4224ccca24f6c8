import Catalogs
import Filters
import Geometry
import Raster
import TestSupport
import Testing

import Kernels

/// Motion blurs against the sum over their taps in float64, where running sums and fixed point take over.
struct MotionKernelTests {
    private static let rect = PixelRect(x: -11, y: 4, width: 157, height: 43)

    private func source(_ picture: AnyRaster, _ halo: Halo) -> KernelSource {
        func table(_ range: Range<Int>, _ reach: Int) -> AxisTable {
            let wide = range.lowerBound - reach..<range.upperBound + reach
            return AxisTable(
                range: wide, positions: wide.map { Int32(min(max($0 - range.lowerBound, 0), range.count - 1)) })
        }
        return KernelSource(
            raster: picture, columns: table(picture.rect.columns, halo.left),
            rows: table(picture.rect.rows, halo.top))
    }

    private func truth(_ taps: SparseTaps, _ picture: AnyRaster) -> TruePixels {
        let original = TruePixels(picture, light: .encoded)
        var result = original
        for (index, _) in original.values.enumerated() {
            let (pixel, channel) = index.quotientAndRemainder(dividingBy: original.channels)
            let (y, x) = pixel.quotientAndRemainder(dividingBy: picture.rect.width)
            result.values[index] = taps.taps.reduce(0) {
                $0 + $1.weight
                    * original.value(picture.rect.x + x + $1.dx, picture.rect.y + y + $1.dy, channel, .clamp)
            }
        }
        return result
    }

    @Test(
        arguments: [
            (9.0, 0.0), (40, 0), (40, 90), (17.4, 180), (130.25, 90), (300, 0), (21, 45), (19, 30), (33, 118), (60, 7),
            (50, 83), (25, 63.43), (70, -40),
        ],
        SampleFormat.allCases)
    func `long continuous blurs are the sums over their taps`(line: (Double, Double), format: SampleFormat) {
        let velocity = MotionTaps.Velocity(radius: line.0, degrees: line.1)
        let taps = MotionTaps.taps(velocity, .continuous)
        let motion = Motion(velocity, .continuous)
        for layout in [PixelLayout.gray, .rgb, .rgba] {
            let picture = Pattern.binaryNoise.picture(Self.rect, layout, format)
            var result = AnyRaster(zeroed: Self.rect, layout: layout, format: format)
            motion.render(source(picture, motion.halo), light: .encoded, into: &result)
            #expect(worstError(result, truth(taps, picture)) <= format.allowedError)
        }
    }

    /// Truncated products must not add up to a level, and no part of a transparent picture may become visible.
    @Test(arguments: [60.0, 200, 600, 1000], [1.8, 2, 3, 5, 6.1, 9, 33, 45, 80, 86, 88, 179, -5.3])
    func `one colour stays that colour along every line`(radius: Double, degrees: Double) {
        let motion = Motion(.init(radius: radius, degrees: degrees), .continuous)
        let rect = PixelRect(x: -5, y: 9, width: 7, height: 5)
        for pixel: [UInt8] in [[0, 128, 255], [0, 0, 0, 0], [0, 0, 0, 255], [255, 255, 255, 255]] {
            let layout: PixelLayout = pixel.count == 3 ? .rgb : .rgba
            let samples = (0..<rect.area).flatMap { _ in pixel }
            let picture = AnyRaster.u8(Raster(rect: rect, layout: layout, samples: samples))
            var result = AnyRaster(zeroed: rect, layout: layout, format: .u8)
            motion.render(source(picture, motion.halo), light: .encoded, into: &result)
            #expect(result.hasSameBytes(as: picture), "\(pixel)")
        }
    }

    /// Sums along flat lines are kept for some hundred rows at a time.
    @Test(arguments: [(40.0, 7.0), (75, -172.9)])
    func `a high picture under a flat line is the sum over its taps`(line: (Double, Double)) {
        let velocity = MotionTaps.Velocity(radius: line.0, degrees: line.1)
        let taps = MotionTaps.taps(velocity, .continuous)
        #expect(LineDesign(velocity, SymmetricPairs(taps)) != nil)
        let motion = Motion(velocity, .continuous)
        let rect = PixelRect(x: 3, y: -70, width: 19, height: 800)
        let picture = Pattern.binaryNoise.picture(rect, .rgb)
        var result = AnyRaster(zeroed: rect, layout: .rgb, format: .u8)
        motion.render(source(picture, motion.halo), light: .encoded, into: &result)
        #expect(worstError(result, truth(taps, picture)) <= 1)
    }

    @Test func `which taps are summed as they run`() {
        func plateau(_ radius: Double, _ degrees: Double, _ sampling: MotionTaps.Sampling) -> Int? {
            Plateau(SymmetricPairs(MotionTaps.taps(.init(radius: radius, degrees: degrees), sampling)))?.side
        }
        #expect(plateau(40, 0, .continuous) == 39)
        #expect(plateau(40.5, 90, .continuous) == 39)
        #expect(plateau(40, 90, .samples(40)) == 40)
        #expect(plateau(40, 90, .samples(5)) == nil)
        #expect(plateau(40, 30, .continuous) == nil)
        #expect(plateau(5, 0, .continuous) == nil)
    }

    @Test(arguments: [(0.0, 1, 0), (90, 0, 1)])
    func `a NaN stays in the windows that hold it`(degrees: Double, dx: Int, dy: Int) {
        guard case .f32(var raster) = Pattern.noise.picture(Self.rect, .gray, .f32) else { return }
        let (x, y) = (60, 20)
        raster.samples[raster.index(x: x, y: y)] = .nan
        let motion = Motion(.init(radius: 12, degrees: degrees), .continuous)
        var result = AnyRaster(zeroed: Self.rect, layout: .gray, format: .f32)
        motion.render(source(.f32(raster), motion.halo), light: .encoded, into: &result)
        guard case .f32(let blurred) = result else { return }
        for row in Self.rect.rows {
            for column in Self.rect.columns {
                let along = dx == 1 ? abs(column - x) : abs(row - y)
                let across = dx == 1 ? row - y : column - x
                let isNear = across == 0 && along <= 12
                #expect(blurred.samples[blurred.index(x: column, y: row)].isNaN == isNear, "\(column), \(row)")
            }
        }
    }

    @Test(arguments: 1...64)
    func `quantised weights sum to 1 and are off by less than a step`(n: Int) {
        let taps = SymmetricPairs(MotionTaps.taps(.init(radius: Double(n) * 0.77, degrees: 33), .samples(n)))
        let weights = taps.quantized().map { Int($0) }
        #expect(weights[0] + 2 * weights.dropFirst().reduce(0, +) == 65536)
        for (weight, pair) in zip(weights.dropFirst(), taps.pairs) {
            #expect(abs(Double(weight) - pair.weight * 65536) <= 1)
        }
    }
}
