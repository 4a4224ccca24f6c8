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
}
