import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

extension CPULevelTests {
    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `all levels zoom and spin alike`(format: SampleFormat, layout: PixelLayout) {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let center = SweepCenter(x: 90.3, y: 31)
        for light in Light.allCases {
            for amount in [-1.4, 0.15, 0.9] {
                expectSameBytes(picture) {
                    Zoom(amount: amount, center: center, extent: Self.rect).running(on: $0)
                        .render($1, light: light, into: &$2)
                }
            }
            for degrees in [4, 77, 360] as [Double] {
                expectSameBytes(picture) {
                    Spin(degrees: degrees, center: center).running(on: $0).render($1, light: light, into: &$2)
                }
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `all levels keep the same edges`(format: SampleFormat, layout: PixelLayout) {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        for (radius, range) in [(0.6, 0.2), (2, 0.1), (4.5, 0.03)] {
            let bilateral = Bilateral(radius: radius, range: range)
            expectSameBytes(picture) { bilateral.running(on: $0).render($1, light: .encoded, into: &$2) }
        }
    }
}
