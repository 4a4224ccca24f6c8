import Catalogs
import Filters
import Foundation
import Geometry
import Raster
import TestSupport
import Testing

struct PosterizeTests {
    private let rect = PixelRect(x: -5, y: 3, width: 40, height: 24)

    private func filter(_ levels: Int, dither: String = "none") throws -> any Filter {
        try Shipped.filter("posterize", ["levels": .integer(levels), "dither": .word(dither)])
    }

    @Test(arguments: [2, 3, 4, 5, 7, 16, 100, 255, 256], SampleFormat.allCases)
    func `colours become the nearest level`(levels: Int, format: SampleFormat) throws {
        let steps = Double(levels - 1)
        for layout in PixelLayout.allCases {
            let picture = Pattern.noise.picture(rect, layout, format)
            let error = worstError(try filter(levels).render(picture), of: picture) { colors, _, _ in
                colors.map { (($0 * steps) + 0.5).rounded(.down) / steps }
            }
            #expect(error <= (format == .f32 ? 1e-6 : 0.5), "\(layout)")
        }
    }

    @Test(arguments: [2, 3, 256])
    func `every 8-bit value has its level, halves going up`(levels: Int) throws {
        let samples = (0..<256).map { UInt8($0) }
        let all = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 256, height: 1), layout: .gray, samples: samples))
        let result = try filter(levels).render(all).doubles
        for (value, level) in result.enumerated() {
            let number = Double((2 * value * (levels - 1) + 255) / 510)
            #expect(level == (number * 255 / Double(levels - 1)).rounded(.toNearestOrAwayFromZero))
        }
    }

    /// Bayer's matrix, by its own recursion: four copies of the smaller one, times 4, plus 0 2 / 3 1.
    private func bayer(_ x: Int, _ y: Int, side: Int = 8) -> Int {
        if side == 1 { return 0 }
        let (half, corner) = (side / 2, [[0, 2], [3, 1]])
        return 4 * bayer(x % half, y % half, side: half) + corner[y / half][x / half]
    }

    @Test(arguments: SampleFormat.allCases)
    func `ordered dither takes the level below or above by Bayer's matrix`(format: SampleFormat) throws {
        for levels in [2, 5, 256] {
            let steps = Double(levels - 1)
            let picture = Pattern.noise.picture(rect, .rgba, format)
            let result = try filter(levels, dither: "ordered").render(picture)
            let error = worstError(result, of: picture) { colors, x, y in
                let threshold = (Double(bayer((x % 8 + 8) % 8, (y % 8 + 8) % 8)) + 0.5) / 64
                return colors.map { ($0 * steps + threshold).rounded(.down) / steps }
            }
            #expect(error <= (format == .f32 ? 1e-6 : 0.5), "\(levels)")
        }
    }

    @Test(arguments: [2, 4, 9])
    func `ordered dither keeps the mean of an area`(levels: Int) throws {
        for value in [0, 1, 20, 100, 128, 200, 254, 255] as [UInt8] {
            let flat = AnyRaster.u8(
                Raster(rect: PixelRect(x: 3, y: 5, width: 64, height: 64), layout: .gray, repeating: value))
            let result = try filter(levels, dither: "ordered").render(flat).doubles
            let mean = result.reduce(0, +) / Double(result.count)
            #expect(abs(mean - Double(value)) <= 255.0 / Double(levels - 1) / 64 + 0.5)
        }
    }

    @Test func `floats beyond 0…1 get levels at the same distance, and what is no number stays`() throws {
        let values: [Float] = [-1.2, -0.1, 1.3, 7.9, 1e20, .infinity, -.infinity, .nan]
        let raster = Raster(rect: PixelRect(x: 0, y: 0, width: 8, height: 1), layout: .gray, samples: values)
        guard case .f32(let result) = try filter(3).render(.f32(raster)) else { return }
        #expect(Array(result.samples.prefix(7)) == [-1, 0, 1.5, 8, 1e20, .infinity, -.infinity])
        #expect(result.samples[7].isNaN)
    }

    @Test func `twice is once`() throws {
        let picture = Pattern.noise.picture(rect)
        let once = try filter(6).render(picture)
        #expect(try filter(6).render(once) == once)
    }
}
