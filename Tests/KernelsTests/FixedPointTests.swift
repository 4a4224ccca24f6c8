import Catalogs
import Filters
import Geometry
import Raster
import TestSupport
import Testing

import Kernels

/// The fast loops for 8-bit samples against the slow twin: the same bytes.
struct FixedPointTests {
    private func blurred(_ sigma: Double, _ picture: AnyRaster, _ source: KernelSource) -> AnyRaster {
        var result = AnyRaster(zeroed: picture.rect, layout: picture.layout, format: .u8)
        Gaussian(radius: sigma).render(source, light: .encoded, into: &result)
        return result
    }

    @Test(arguments: [2.5, 3, 4, 5, 6.3, 8, 11, 22, 47, 49, 100], PixelLayout.allCases)
    func `many rates give the slow twin's bytes on every edge and phase`(sigma: Double, layout: PixelLayout) {
        // The twin is slow. With an opaque alpha, only the moves of pixels differ.
        guard !layout.hasAlpha || sigma == 5 || sigma == 49 else { return }
        let gaussian = Gaussian(radius: sigma)
        let design = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
        // The twin takes a few seconds for a large radius.
        for (number, edge) in TwinEdges.all.prefix(sigma > 60 ? 1 : 3).enumerated() {
            let rect = PixelRect(x: 5 * number - 7, y: 3 - number, width: 37 + number, height: 7)
            let picture = Pattern.binaryNoise.picture(rect, layout, alpha: .opaque, seed: UInt64(number))
            let source = KernelSource(picture, gaussian.halo, edge)
            let result = blurred(sigma, picture, source).bytes
            let samples = picture.bytes
            for channel in 0..<layout.channels {
                let twin = SlowMultirate(
                    source: { x, y in
                        let (column, row) = (source.columns[clamp: x], source.rows[clamp: y])
                        return 128 * Int(samples[(row * rect.width + column) * layout.channels + channel])
                    },
                    taps: design.prefilters.map(\.taps.count), horizontal: design.weights.map { Int($0) },
                    vertical: design.weights.map { Int($0) })
                for y in rect.rows {
                    for x in rect.columns {
                        let index = ((y - rect.y) * rect.width + x - rect.x) * layout.channels + channel
                        #expect(Int(result[index]) == twin.sample(x: x, y: y), "\(x), \(y)")
                    }
                }
            }
        }
    }

    /// The middle of wide rows is read in place, in parts of 160 pixels of a quarter of the rate.
    @Test(arguments: [PixelLayout.gray, .rgb])
    func `two halvings at once give the slow twin's bytes at the seams of wide rows`(layout: PixelLayout) {
        let design = AxisDesign<UInt16>.fixedPoint(sigma: 49)
        #expect(design.prefilters.prefix(2).map(\.taps.count) == [3, 3])
        let rect = PixelRect(x: -5, y: 2, width: 901, height: 3)
        let picture = Pattern.binaryNoise.picture(rect, layout, seed: 7)
        let source = KernelSource(picture, Gaussian(radius: 49).halo, TwinEdges.all[0])
        let result = blurred(49, picture, source).bytes
        let samples = picture.bytes
        let weights = design.weights.map { Int($0) }
        for channel in 0..<layout.channels {
            let twin = SlowMultirate(
                source: { x, y in
                    let (column, row) = (source.columns[clamp: x], source.rows[clamp: y])
                    return 128 * Int(samples[(row * rect.width + column) * layout.channels + channel])
                },
                taps: design.prefilters.map(\.taps.count), horizontal: weights, vertical: weights)
            let differing = rect.columns.filter { x in
                let index = (x - rect.x) * layout.channels + channel
                return Int(result[index]) != twin.sample(x: x, y: rect.y)
            }
            #expect(differing == [])
        }
    }

    @Test(arguments: [0.3, 0.5, 1, 1.7, 2.49], [PixelLayout.gray, .rgb])
    func `a direct FIR gives the slow twin's bytes`(sigma: Double, layout: PixelLayout) {
        let design = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
        let weights = design.weights.map { Int($0) }
        for (number, edge) in TwinEdges.all.prefix(3).enumerated() {
            let rect = PixelRect(x: 5 * number - 7, y: 3 - number, width: 301 + number, height: 6)
            let picture = Pattern.noise.picture(rect, layout, seed: UInt64(number))
            let source = KernelSource(picture, Gaussian(radius: sigma).halo, edge)
            let result = blurred(sigma, picture, source).bytes
            let samples = picture.bytes
            let twin = SlowMultirate(
                source: { x, y in
                    128
                        * Int(
                            samples[(source.rows[clamp: y] * rect.width + source.columns[clamp: x]) * layout.channels])
                }, taps: [], horizontal: weights, vertical: weights)
            for y in rect.rows {
                for x in rect.columns {
                    let index = ((y - rect.y) * rect.width + x - rect.x) * layout.channels
                    #expect(Int(result[index]) == twin.sample(x: x, y: y), "\(x), \(y)")
                }
            }
        }
    }

    @Test(arguments: [0.7, 2.2, 2.5, 3.3, 5, 9, 17, 30, 60], [PixelLayout.grayAlpha, .rgba])
    func `opaque rows take a fast path that gives the general path's bytes`(sigma: Double, layout: PixelLayout) {
        // One pixel that is not opaque, far below, sends the rows near it through the general path.
        let gaussian = Gaussian(radius: sigma)
        let height = gaussian.halo.top + 40
        let rect = PixelRect(x: 3, y: 0, width: 150, height: height)
        guard case .u8(let opaque) = Pattern.noise.picture(rect, layout, alpha: .opaque) else { return }
        var mixed = opaque
        mixed.samples[mixed.index(x: 100, y: height - 1) + layout.channels - 1] = 254
        let edge = TwinEdges.all[0]
        let fast = blurred(sigma, .u8(opaque), KernelSource(.u8(opaque), gaussian.halo, edge))
        let general = blurred(sigma, .u8(mixed), KernelSource(.u8(mixed), gaussian.halo, edge))
        let above = PixelRect(x: 3, y: 0, width: 150, height: 20)
        #expect(fast.cropped(to: above) == general.cropped(to: above))
        // A column that is not opaque makes all rows general; far from it nothing changes.
        guard sigma < 9 else { return }
        var striped = opaque
        for y in rect.rows { striped.samples[striped.index(x: 152, y: y) + layout.channels - 1] = 3 }
        let left = PixelRect(x: 3, y: 0, width: 149 - gaussian.halo.left, height: height)
        let beside = blurred(sigma, .u8(striped), KernelSource(.u8(striped), gaussian.halo, edge))
        #expect(fast.cropped(to: left) == beside.cropped(to: left))
    }

    /// Parts of the picture, and of an interpolated row.
    @Test(arguments: [PixelLayout.rgb, .rgba])
    func `a very wide picture is cut into parts, and no pixel shows it`(layout: PixelLayout) {
        let rect = PixelRect(x: -5, y: 2, width: 50_000, height: 5)
        let picture = Pattern.noise.picture(rect, layout, alpha: .opaque)
        for sigma in [3.0, 12, 60] {
            let gaussian = Gaussian(radius: sigma)
            let whole = blurred(sigma, picture, KernelSource(picture, gaussian.halo, TwinEdges.all[0]))
            for x in [943, 1258, 1961, 2650, 16_300, 21_780, 32_700, 43_630] {
                let part = PixelRect(x: x, y: 2, width: 200, height: 5)
                var result = AnyRaster(zeroed: part, layout: layout, format: .u8)
                gaussian.render(KernelSource(picture, gaussian.halo, TwinEdges.all[0]), light: .encoded, into: &result)
                #expect(result == whole.cropped(to: part))
            }
        }
    }

    @Test func `transparent surroundings are read as nothing`() {
        let rect = PixelRect(x: 0, y: 0, width: 40, height: 30)
        let picture = Pattern.steps.picture(rect, .rgb)
        for sigma in [1.0, 3, 20] {
            let gaussian = Gaussian(radius: sigma)
            let source = KernelSource(picture, gaussian.halo, TwinEdges.all[3])
            var result = AnyRaster(zeroed: rect, layout: .rgba, format: .u8)
            gaussian.render(source, light: .encoded, into: &result)
            let truth = TruePixels(picture, light: .encoded, addsAlpha: true)
                .gaussian(sigmaX: sigma, sigmaY: sigma, edge: .transparent, output: rect)
            #expect(worstError(result, truth) <= 0.75)
        }
    }
}
