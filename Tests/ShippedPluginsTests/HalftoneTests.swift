import Catalogs
import Filters
import Foundation
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

struct HalftoneTests {
    private let rect = PixelRect(x: -20, y: 11, width: 66, height: 50)
    private static let shapes = ["round", "euclidean", "diamond", "square", "line"]

    private func filter(_ values: [String: ParameterValue]) throws -> any Filter {
        try Shipped.filter("halftone", values)
    }

    private func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(values.count) }

    @Test(arguments: shapes, [(8.0, 45.0), (8, 0), (3, 0), (5.3, 15), (2, 0), (2.6, 75), (20, 30)])
    func `dots cover as much as the tone says`(shape: String, grid: (size: Double, angle: Double)) throws {
        for sharpness in [0.0, 100] {
            let filter = try filter([
                "screen": .word(shape), "size": .number(grid.size), "angle": .number(grid.angle),
                "sharpness": .number(sharpness),
            ])
            // A whole number of cells where the screen is not turned, and many where it is.
            let side = grid.angle == 0 ? Int(grid.size) * 16 : Int(grid.size) * 28
            for tone in [0.02, 0.1, 0.5, 0.66, 0.95] as [Float] {
                let flat = AnyRaster.f32(
                    Raster(rect: PixelRect(x: 0, y: 0, width: side, height: side), layout: .gray, repeating: tone))
                let light = mean(try filter.render(flat).doubles)
                #expect(abs(light - Double(tone)) <= 0.012, "\(sharpness) \(tone): \(light)")
            }
        }
    }

    @Test(arguments: shapes, ["gray", "cmyk"])
    func `white stays white, and black is black without a hole`(shape: String, colors: String) throws {
        let filter = try filter(["screen": .word(shape), "colors": .word(colors), "sharpness": .number(30)])
        for value in [0, 255] as [UInt8] {
            let flat = AnyRaster.u8(Raster(rect: rect, layout: .rgb, repeating: value))
            #expect(try filter.render(flat) == flat)
        }
    }

    @Test(arguments: [0.0, 50, 100])
    func `four inks give the colour back`(black: Double) throws {
        let filter = try filter(["colors": .word("cmyk"), "size": .number(6), "black": .number(black)])
        let area = PixelRect(x: 0, y: 0, width: 300, height: 300)
        for color in [[0.8, 0.3, 0.2], [0.1, 0.5, 0.9], [0.4, 0.4, 0.4]] as [[Float]] {
            let samples = (0..<area.area).flatMap { _ in color }
            let result = try filter.render(.f32(Raster(rect: area, layout: .rgb, samples: samples))).doubles
            for channel in 0..<3 {
                let light = mean(stride(from: channel, to: result.count, by: 3).map { result[$0] })
                #expect(abs(light - Double(color[channel])) <= 0.02, "\(color) \(channel): \(light)")
            }
        }
    }

    @Test func `a gray picture under four inks has black dots alone`() throws {
        let picture = Pattern.photograph.picture(rect, .gray)
        let four = try filter(["colors": .word("cmyk")]).render(picture)
        #expect(try four == filter([:]).render(picture))
    }

    /// The cell of a pixel and its place in it, by turning the plane.
    private func place(_ x: Int, _ y: Int, size: Double, degrees: Double) -> (u: Int, v: Int, x: Double, y: Double) {
        let (radius, direction) = (
            hypot(Double(x) + 0.5, Double(y) + 0.5) / size, atan2(Double(y) + 0.5, Double(x) + 0.5)
        )
        let turned = direction + degrees * .pi / 180
        let (u, v) = (radius * cos(turned), radius * sin(turned))
        return (Int(floor(u)), Int(floor(v)), u - floor(u) - 0.5, v - floor(v) - 0.5)
    }

    private typealias Distance = (_ u: Double, _ v: Double) -> Double

    /// The radius of the dot that covers so much of a cell together with its border, found by halving.
    private func radius(covering tone: Double, border: Double, _ distance: Distance) -> Double {
        let axis = (0..<200).map { (Double($0) + 0.5) / 200 - 0.5 }
        func covered(_ radius: Double) -> Double {
            mean(axis.map { v in mean(axis.map { u in min(max((radius - distance(u, v)) / border + 0.5, 0), 1) }) })
        }
        var (low, high) = (-border / 2, 0.7072 + border / 2)
        for _ in 0..<20 {
            let middle = (low + high) / 2
            if covered(middle) < tone { low = middle } else { high = middle }
        }
        return low
    }

    /// The radius of each cell's dot around a small picture.
    private func radii(
        _ picture: AnyRaster, size: Double, degrees: Double, _ distance: @escaping Distance
    ) -> [[Int]: Double] {
        let pixels = TruePixels(picture, light: .encoded)
        var sums: [[Int]: (light: Double, count: Double)] = [:]
        for y in picture.rect.y - 22..<picture.rect.bottom + 22 {
            for x in picture.rect.x - 22..<picture.rect.right + 22 {
                let cell = place(x, y, size: size, degrees: degrees)
                let colors = (0..<3).map { channel in
                    pixels.value(x, y, picture.layout == .gray ? 0 : channel, .clamp) / picture.format.full
                }
                let light = colors[0] * 0.2126 + colors[1] * 0.7152 + colors[2] * 0.0722
                let sum = sums[[cell.u, cell.v]] ?? (0, 0)
                sums[[cell.u, cell.v]] = (sum.light + light, sum.count + 1)
            }
        }
        return sums.mapValues { radius(covering: 1 - $0.light / $0.count, border: 1 / size, distance) }
    }

    private func check(
        _ screen: String, _ format: SampleFormat, _ distance: @escaping Distance,
        radius: @escaping (_ radii: [[Int]: Double], _ cell: (u: Int, v: Int, x: Double, y: Double)) -> Double?
    ) throws {
        let (size, degrees) = (9.5, 33.0)
        let small = PixelRect(x: -8, y: 21, width: 26, height: 22)
        let filter = try filter(["size": .number(size), "angle": .number(degrees), "screen": .word(screen)])
        for layout in [PixelLayout.gray, .rgba] {
            let picture = Pattern.photograph.picture(small, layout, format, alpha: layout.hasAlpha ? .opaque : .noise)
            let radii = radii(picture, size: size, degrees: degrees, distance)
            let error = worstError(try filter.render(picture), of: picture) { _, x, y in
                let cell = place(x, y, size: size, degrees: degrees)
                let depth = ((radius(radii, cell) ?? 0) - distance(cell.x, cell.y)) * size + 0.5
                return Array(repeating: 1 - min(max(depth, 0), 1), count: 3)
            }
            #expect(error <= 0.015 * format.full, "\(layout): \(error)")
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `each cell has the dot of its mean`(format: SampleFormat) throws {
        try check("round", format, { hypot($0, $1) }) { $0[[$1.u, $1.v]] }
    }

    @Test(arguments: SampleFormat.allCases)
    func `a line has each cell's width in its middle, and grows evenly between two`(format: SampleFormat) throws {
        try check("line", format, { _, v in abs(v) }) { radii, cell in
            let next = cell.x < 0 ? cell.u - 1 : cell.u + 1
            guard let own = radii[[cell.u, cell.v]], let other = radii[[next, cell.v]] else { return nil }
            return own * (1 - abs(cell.x)) + other * abs(cell.x)
        }
    }

    @Test(arguments: [0.0, 90])
    func `a line through a soft edge has no stairs`(angle: Double) throws {
        let area = PixelRect(x: 0, y: 0, width: 96, height: 96)
        let samples = (0..<area.area).map { Float(angle == 0 ? $0 % 96 : $0 / 96) / 96 }
        let filter = try filter(["screen": .word("line"), "size": .number(12), "angle": .number(angle)])
        let result = try filter.render(.f32(Raster(rect: area, layout: .gray, samples: samples))).doubles
        // How much of a line is inked, from place to place along it: a little less at each.
        var ink: [Double] = []
        for along in 12..<84 {
            let across = (0..<12).map { result[angle == 0 ? $0 * 96 + along : along * 96 + $0] }
            ink.append(12 - across.reduce(0, +))
        }
        for (near, far) in zip(ink, ink.dropFirst()) {
            let step = near - far
            #expect(step > 0.05 && step < 0.2, "\(step)")
        }
    }

    @Test func `half-transparent pixels weigh half in their cell, and stay half transparent`() throws {
        let area = PixelRect(x: 0, y: 0, width: 64, height: 64)
        let samples = (0..<area.area).flatMap { [0, $0 % 2 == 0 ? 0 : 200] as [UInt8] }
        let result = try filter([:]).render(.u8(Raster(rect: area, layout: .grayAlpha, samples: samples)))
        for pixel in 0..<area.area { #expect(result.doubles[pixel * 2] == 0) }  // black ink: what is clear has no say
    }

    @Test(arguments: [0.0, 30, 45, 90, 191])
    func `a band of a very wide picture takes memory for its own dots alone`(angle: Double) throws {
        let wide = PixelRect(x: -7, y: 1000, width: 60000, height: 5)
        let filter = try filter(["size": .number(2), "angle": .number(angle)])
        let picture = Pattern.noise.picture(wide, .gray)
        let whole = try filter.render(picture)
        let tile = PixelRect(x: 51000, y: 1001, width: 300, height: 3)
        #expect(try filter.render(picture, tile: tile) == whole.cropped(to: tile))
    }

    @Test func `with light linear the dots reflect as much as the picture`() throws {
        let area = PixelRect(x: 0, y: 0, width: 240, height: 240)
        let flat = AnyRaster.u16(Raster(rect: area, layout: .gray, repeating: 32768))
        let result = try filter(["light": .word("linear")]).render(flat).doubles
        #expect(abs(mean(result.map { trueLinear($0 / 65535) }) - trueLinear(0.5)) <= 0.01)
    }
}
