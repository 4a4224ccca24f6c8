import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

struct PixelateTests {
    private let rect = PixelRect(x: -9, y: 5, width: 43, height: 38)

    private func filter(_ size: Int, _ more: [String: ParameterValue] = [:]) throws -> any Filter {
        try Shipped.filter("pixelate", more.merging(["size": .integer(size)]) { $1 })
    }

    /// The square of a pixel: those whose coordinates, divided and rounded down, are the same.
    private func square(_ x: Int, _ y: Int, _ size: Int) -> PixelRect {
        func start(_ place: Int) -> Int { Int((Double(place) / Double(size)).rounded(.down)) * size }
        return PixelRect(x: start(x), y: start(y), width: size, height: size).intersection(rect)
    }

    /// The mean of each pixel's square in colours multiplied by alpha.
    private func truth(_ picture: AnyRaster, _ size: Int) -> TruePixels {
        let pixels = TruePixels(picture, light: .encoded)
        let values = rect.rows.flatMap { y in
            rect.columns.flatMap { x in
                let square = square(x, y, size)
                return (0..<pixels.channels).map { channel in
                    let values = square.rows.flatMap { v in
                        square.columns.map { u in pixels.value(u, v, channel, .transparent) }
                    }
                    return values.reduce(0, +) / Double(values.count)
                }
            }
        }
        return TruePixels(rect: rect, channels: pixels.channels, values: values)
    }

    @Test(arguments: [2, 7, 16, 60], SampleFormat.allCases)
    func `each square is the mean of its pixels that exist`(size: Int, format: SampleFormat) throws {
        for layout in PixelLayout.allCases {
            let picture = Pattern.noise.picture(rect, layout, format)
            let error = worstError(try filter(size).render(picture), truth(picture, size))
            #expect(error <= format.allowedError, "\(layout)")
        }
    }

    @Test(arguments: ["mirror", "wrap", "transparent"])
    func `what lies outside of the picture counts for nothing, whatever the edge`(edge: String) throws {
        let picture = Pattern.noise.picture(rect, .rgba, .u16)
        let result = try filter(10, ["edge": .word(edge)]).render(picture)
        #expect(try result == filter(10).render(picture))
    }

    @Test func `in linear light the means are of light`() throws {
        let halves = (0..<rect.area).map { UInt8($0 % 2 * 255) }
        let picture = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 43, height: 38), layout: .gray, samples: halves))
        let result = try filter(2, ["light": .word("linear")]).render(picture)
        #expect(result.doubles[0] == 188)  // half of the light, by the curve of sRGB
    }

    @Test func `nothing finer than a square is left inside a region`() throws {
        let region = Region(x: .pixels(9 + 4.5), y: .pixels(6.25 - 5), width: .pixels(25), height: .pixels(21.5))
        let picture = Pattern.binaryNoise.picture(rect)
        let result = TruePixels(try filter(8, ["within": .region(region)]).render(picture), light: .encoded)
        let whole = TruePixels(try filter(8).render(picture), light: .encoded)
        // The pixels that lie in the region as a whole; those of its border are mixed with the picture.
        let inside = PixelRect(columns: 5..<29, rows: 7..<27)
        for y in inside.rows {
            for x in inside.columns {
                let square = square(x, y, 8).intersection(inside)
                for channel in 0..<3 {
                    let value = result.value(x, y, channel, .clamp)
                    #expect(value == result.value(square.x, square.y, channel, .clamp))
                    #expect(value == whole.value(x, y, channel, .clamp))
                }
            }
        }
    }

    @Test func `a square is the same wherever a region cuts it`() throws {
        let picture = Pattern.noise.picture(rect)
        let regions = [
            Region(x: .pixels(9 - 3), y: .pixels(6 - 5), width: .pixels(30), height: .pixels(30)),
            Region(x: .pixels(9 + 11), y: .pixels(14 - 5), width: .pixels(7), height: .pixels(5)),
        ]
        let common = PixelRect(x: 11, y: 14, width: 7, height: 5)
        let results = try regions.map { try filter(12, ["within": .region($0)]).render(picture).cropped(to: common) }
        #expect(results[0] == results[1])
    }

    @Test func `a sample that is no number spoils no square`() throws {
        guard case .f32(var raster) = Pattern.noise.picture(rect, .rgb, .f32) else { return }
        raster.samples[raster.index(x: 0, y: 8)] = .infinity
        raster.samples[raster.index(x: 1, y: 8) + 2] = .nan
        let result = try filter(8).render(.f32(raster))
        for sample in result.doubles { #expect((0...1).contains(sample)) }
    }
}
