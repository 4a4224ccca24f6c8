import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The angle of the lines of a page.
struct PageSkewTests {
    private func angle(of picture: AnyRaster, in part: PixelRect? = nil, limit: Double = 10, band: Int = 64) -> Double {
        let page = PageSkew(width: picture.rect.width, height: picture.rect.height)
        for top in stride(from: 0, to: picture.rect.height, by: band) {
            let rows = top..<min(top + band, picture.rect.height)
            page.add(picture.cropped(to: PixelRect(columns: picture.rect.columns, rows: rows)))
        }
        return page.angle(in: part ?? picture.rect, limit: limit)
    }

    private func page(
        _ width: Int, _ height: Int, _ degrees: Double, noise: Double = 0, isFramed: Bool = false
    ) -> AnyRaster {
        .u8(TextPage.picture(width: width, height: height, degrees: degrees, noise: noise, isFramed: isFramed))
    }

    @Test(arguments: [-9.3, -4.17, -1, -0.35, 0.16, 0.5, 2.71, 9.7], [false, true])
    func `lines are measured within a tenth of a degree, also in noise and before a dark background`(
        degrees: Double, isHard: Bool
    ) {
        let found = angle(of: page(431, 587, degrees, noise: isHard ? 25 : 0, isFramed: isHard))
        #expect(abs(found - degrees) <= 0.1, "\(found)")
    }

    @Test func `a large page is reduced, with the same result`() {
        #expect(abs(angle(of: page(1700, 900, -2.3)) + 2.3) <= 0.1)
    }

    @Test func `level lines, and lines that are nearly level, have the angle 0`() {
        #expect(angle(of: page(431, 587, 0)) == 0)
        #expect(angle(of: page(431, 587, 0.06)) == 0)
    }

    @Test func `lines that are turned further than the limit have the angle 0`() {
        let picture = page(431, 587, 6)
        #expect(angle(of: picture, limit: 3) == 0)
        #expect(abs(angle(of: picture, limit: 7) - 6) <= 0.1)
        #expect(abs(angle(of: page(431, 587, 0.8), limit: 1) - 0.8) <= 0.1)
        #expect(angle(of: page(431, 587, 12)) == 0)
        #expect(abs(angle(of: page(431, 587, 12), limit: 15) - 12) <= 0.1)
    }

    @Test(arguments: Pattern.allCases.filter { $0 != .steps })
    func `what has no lines has the angle 0`(pattern: Pattern) {
        let rect = PixelRect(x: 0, y: 0, width: 300, height: 250)
        #expect(angle(of: pattern.picture(rect, .rgb)) == 0)
    }

    @Test(arguments: [(1, 1), (99, 400), (400, 3)])
    func `a small picture, and an empty page, have the angle 0`(width: Int, height: Int) {
        #expect(angle(of: page(width, height, 5)) == 0)
        let rect = PixelRect(x: 0, y: 0, width: 300, height: 300)
        #expect(angle(of: .u8(Raster(rect: rect, layout: .gray, repeating: 255))) == 0)
    }

    @Test func `the angle depends on no bands, layouts and samples`() {
        let raster = TextPage.picture(width: 431, height: 587, degrees: 1.3)
        let expected = angle(of: .u8(raster))
        #expect(angle(of: .u8(raster), band: 1) == expected)
        #expect(angle(of: .u8(raster), band: 1000) == expected)
        let wide = Raster(rect: raster.rect, layout: .gray, samples: raster.samples.map { UInt16($0) * 257 })
        #expect(angle(of: .u16(wide)) == expected)
        let color = Raster(rect: raster.rect, layout: .rgb, samples: raster.samples.flatMap { [$0, $0, $0] })
        #expect(angle(of: .u8(color)) == expected)
        // Ink on nothing is ink on white paper.
        let clear = Raster(rect: raster.rect, layout: .grayAlpha, samples: raster.samples.flatMap { [0, 255 - $0] })
        #expect(angle(of: .u8(clear)) == expected)
    }

    @Test func `floats that are no numbers, or beyond white and black, do no harm`() {
        let raster = TextPage.picture(width: 431, height: 587, degrees: 1.3)
        var samples = raster.samples.map { Float($0) / 255 }
        for index in stride(from: 0, to: samples.count, by: 997) {
            samples[index] = [.nan, .infinity, -.infinity, 1e30][index % 4]
        }
        let found = angle(of: .f32(Raster(rect: raster.rect, layout: .gray, samples: samples)))
        #expect(abs(found - 1.3) <= 0.1, "\(found)")
    }

    @Test func `only a part is looked at`() {
        // Two pages side by side, turned to different sides.
        let (left, right) = (page(431, 587, 3), page(431, 587, -3))
        var both = AnyRaster(zeroed: PixelRect(x: 0, y: 0, width: 862, height: 587), layout: .gray, format: .u8)
        both.paste(left)
        both.paste(right.translated(x: 431, y: 0))
        #expect(abs(angle(of: both, in: left.rect) - 3) <= 0.1)
        #expect(abs(angle(of: both, in: right.rect.translated(x: 431, y: 0)) + 3) <= 0.1)
    }
}
