import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The kernels of the family as a package's users call them.
struct FamilyKernelTests {
    private static let still: [any Blur] = [
        Box(radiusX: 0, radiusY: 0), Disc(radius: 0), Sharpening(sigma: 2, amount: 0, threshold: 0), Median(radius: 0),
    ]

    @Test(arguments: SampleFormat.allCases)
    func `kernels that have nothing to do change no sample`(format: SampleFormat) {
        for kernel in Self.still {
            for layout in [PixelLayout.gray, .rgb] {
                let picture = Pattern.noise.picture(PixelRect(x: 2, y: -1, width: 70, height: 9), layout, format)
                var result = picture
                kernel.apply(to: &result)
                #expect(result == picture, "\(kernel)")
            }
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `an empty destination is left alone`(format: SampleFormat) {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 9, height: 9), .rgba, format)
        for kernel in Self.still + [
            Box(radiusX: 3, radiusY: 40), Disc(radius: 3), Median(radius: 1), Median(radius: 5),
        ] {
            var nothing = AnyRaster(zeroed: .empty, layout: .rgba, format: format)
            kernel.render(
                KernelSource(clamping: picture, reach: kernel.halo), light: .encoded, within: nil, into: &nothing)
            #expect(nothing.rect.isEmpty)
        }
    }

    /// From 4 MiB on, rows are written past the caches.
    @Test(arguments: PixelLayout.allCases, [SampleFormat.u8, .u16])
    func `a large destination gets the samples of small ones`(layout: PixelLayout, format: SampleFormat) {
        let rect = PixelRect(x: -3, y: 5, width: 1309, height: (4 << 20) / 1309 / layout.channels / format.bytes + 3)
        let picture = Pattern.noise.picture(rect, layout, format, alpha: .opaque)
        let kernels: [any Blur] = [
            Gaussian(sigmaX: 0.8, sigmaY: 0.8), Gaussian(sigmaX: 3, sigmaY: 3), Gaussian(sigmaX: 61, sigmaY: 61),
            Box(radiusX: 4, radiusY: 4), Median(radius: 1), Median(radius: 2),
        ]
        for kernel in kernels {
            func rendered(_ rows: Range<Int>) -> AnyRaster {
                var result = AnyRaster(
                    zeroed: PixelRect(columns: rect.columns, rows: rows), layout: layout, format: format)
                kernel.render(
                    KernelSource(clamping: picture, reach: kernel.halo), light: .encoded, within: nil, into: &result)
                return result
            }
            let whole = rendered(rect.rows)
            var joined = AnyRaster(zeroed: rect, layout: layout, format: format)
            let height = rect.height / 3 + 1
            for first in stride(from: rect.y, to: rect.bottom, by: height) {
                joined.paste(rendered(first..<min(first + height, rect.bottom)))
            }
            #expect(joined == whole, "\(kernel)")
        }
    }
}
