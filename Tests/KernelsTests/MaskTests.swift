import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// Masks of several shapes and of a picture, compared with the slow formula for each pixel.
struct MaskTests {
    private static let rect = PixelRect(x: -5, y: 3, width: 53, height: 41)
    private static let shapes = [
        RoundedRect(left: 0.25, top: 5.5, width: 17, height: 12, cornerRadius: 4),
        RoundedRect(left: 12, top: 10, width: 9.75, height: 20, cornerRadius: 0),
        RoundedRect(left: 39.5, top: 33, width: 6, height: 7.5, cornerRadius: 9),
    ]

    private static func picture(_ width: Int, _ height: Int) -> GrayPicture {
        var picture = GrayPicture(width: width, height: height)
        picture.paste(Pattern.noise.picture(PixelRect(x: 0, y: 0, width: width, height: height), .gray, .u16, seed: 5))
        return picture
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let mask: Mask
        /// The coverage without softening.
        let share: @Sendable (_ x: Int, _ y: Int) -> Double
    }

    /// Bilinear, from the formula in the reference: the middle of each pixel, in pixels of the mask.
    private static func spread(_ picture: GrayPicture, _ x: Int, _ y: Int, over rect: PixelRect) -> Double {
        func position(_ pixel: Int, _ start: Int, _ count: Int, _ own: Int) -> Double {
            min(max((Double(pixel - start) + 0.5) * Double(own) / Double(count) - 0.5, 0), Double(own - 1))
        }
        let px = position(x, rect.x, rect.width, picture.width)
        let py = position(y, rect.y, rect.height, picture.height)
        func value(_ column: Int, _ row: Int) -> Double {
            Double(picture.samples[min(row, picture.height - 1) * picture.width + min(column, picture.width - 1)])
                / 65535
        }
        let (left, top) = (Int(px), Int(py))
        let (along, down) = (px - Double(left), py - Double(top))
        return (value(left, top) * (1 - along) + value(left + 1, top) * along) * (1 - down)
            + (value(left, top + 1) * (1 - along) + value(left + 1, top + 1) * along) * down
    }

    private static func union(_ x: Int, _ y: Int) -> Double {
        1 - shapes.reduce(1) { $0 * (1 - $1.coverage(x: x, y: y)) }
    }

    static let cases: [Case] = {
        let (small, exact) = (picture(7, 5), picture(9, 12))
        @Sendable func placed(_ x: Int, _ y: Int) -> Double {
            (20..<29).contains(x) && (8..<20).contains(y)
                ? Double(exact.samples[(y - 8) * 9 + x - 20]) / 65535 : 0
        }
        return [
            Case(testDescription: "shapes", mask: Mask(shapes)) { union($0, $1) },
            Case(testDescription: "one shape", mask: Mask(shapes[0])) { shapes[0].coverage(x: $0, y: $1) },
            Case(testDescription: "nothing", mask: Mask([])) { _, _ in 0 },
            Case(testDescription: "around shapes", mask: Mask(shapes, isInverted: true)) { 1 - union($0, $1) },
            Case(
                testDescription: "a picture",
                mask: Mask(regions: nil, picture: PlacedPicture(small, over: rect), isInverted: false, feather: 0)
            ) { spread(small, $0, $1, over: rect) },
            Case(
                testDescription: "a picture in its place",
                mask: Mask(regions: nil, picture: PlacedPicture(exact, x: 20, y: 8), isInverted: false, feather: 0)
            ) { placed($0, $1) },
            Case(
                testDescription: "around a picture in shapes",
                mask: Mask(
                    regions: shapes, picture: PlacedPicture(small, over: rect), isInverted: true, feather: 0)
            ) { 1 - union($0, $1) * spread(small, $0, $1, over: rect) },
        ]
    }()

    /// A blur that makes everything white, so that the result shows the coverage.
    private static func shown(_ mask: Mask, _ part: PixelRect, _ format: SampleFormat = .f32) -> AnyRaster {
        var result = AnyRaster(zeroed: part, layout: .gray, format: format)
        let black = KernelSource(AnyRaster(zeroed: part, layout: .gray, format: format))
        WhiteKernel().render(black, light: .encoded, within: mask, into: &result)
        return result
    }

    private struct WhiteKernel: WorkingKernel {
        func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
            let row = [Double](repeating: 1, count: area.width)
            for y in area.rows { sink.write(row.span, x: area.x, y: y) }
        }
    }

    @Test(arguments: cases)
    func `the coverage of every pixel is that of the formula`(mask: Case) throws {
        let result = Self.shown(mask.mask, Self.rect).doubles
        var index = 0
        for y in Self.rect.rows {
            for x in Self.rect.columns {
                // Values of the picture are interpolated in steps of 1/65535.
                #expect(abs(result[index] - mask.share(x, y)) < 1.01 / 65535, "at \(x), \(y)")
                index += 1
            }
        }
    }

    @Test(arguments: cases)
    func `parts are disjoint, and hold every covered pixel`(mask: Case) {
        for area in [Self.rect, PixelRect(x: 30, y: 30, width: 9, height: 5), .empty] {
            let parts = mask.mask.parts(in: area)
            for (index, part) in parts.enumerated() {
                #expect(area.contains(part) && !part.isEmpty)
                #expect(parts[(index + 1)...].allSatisfy { $0.intersection(part).isEmpty })
            }
            for y in area.rows {
                for x in area.columns where mask.share(x, y) > 0 {
                    #expect(parts.contains { $0.contains(x: x, y: y) })
                }
            }
            #expect(mask.mask.bounds(in: area) == parts.reduce(.empty) { $0.union($1) })
        }
    }

    @Test func `distant shapes have parts of their own`() {
        #expect(Mask(Self.shapes).parts(in: Self.rect).count == 2)
        #expect(Mask(Self.shapes).bounds(in: PixelRect(x: 24, y: 3, width: 10, height: 41)).isEmpty)
    }

    @Test func `a black picture covers nothing`() {
        let black = PlacedPicture(GrayPicture(width: 4, height: 3), over: Self.rect)
        #expect(black.bounds(in: Self.rect).isEmpty)
        #expect(Mask(regions: nil, picture: black, isInverted: false, feather: 0).parts(in: Self.rect).isEmpty)
        #expect(Mask(regions: nil, picture: black, isInverted: true, feather: 0).parts(in: Self.rect) == [Self.rect])
    }

    // MARK: Outlines

    /// A polygon that leaves the picture, with a hole, and one that crosses itself.
    private static let rings: [[Outline.Point]] = [
        [.init(-9.3, 4.2), .init(31.7, -6.1), .init(70.2, 21.4), .init(22.5, 52.9)],
        [.init(12.1, 14.6), .init(20.4, 30.2), .init(28.8, 17.7)],
    ]

    private static func area(_ rings: [[Outline.Point]], reach: Double = 0) -> OutlineArea {
        OutlineArea(
            Outline(rings.flatMap { corners in corners.enumerated().map { $0 == 0 ? .move($1) : .line($1) } }),
            reach: reach, input: rect)
    }

    private static func outlined(_ rings: [[Outline.Point]], reach: Double = 0, feather: Double = 0) -> Mask {
        Mask(
            regions: [], outlines: [area(rings, reach: reach)], picture: nil, isInverted: false, feather: feather)
    }

    /// The winding of lines around a point.
    private static func winding(_ rings: [[Outline.Point]], _ x: Double, _ y: Double) -> Int {
        rings.reduce(0) { sum, ring in
            ring.indices.reduce(sum) { sum, index in
                let (a, b) = (ring[index], ring[(index + 1) % ring.count])
                guard (a.y <= y) != (b.y <= y), a.x + (b.x - a.x) * ((y - a.y) / (b.y - a.y)) <= x else { return sum }
                return sum + (a.y < b.y ? 1 : -1)
            }
        }
    }

    private static func distance(_ rings: [[Outline.Point]], _ x: Double, _ y: Double) -> Double {
        rings.flatMap { ring in
            ring.indices.map { index -> Double in
                let (a, b) = (ring[index], ring[(index + 1) % ring.count])
                let (dx, dy) = (b.x - a.x, b.y - a.y)
                let part = min(max(((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy), 0), 1)
                let (ex, ey) = (x - a.x - part * dx, y - a.y - part * dy)
                return (ex * ex + ey * ey).squareRoot()
            }
        }.min() ?? .infinity
    }

    /// The covered part of a pixel, on many points.
    private static func truth(_ rings: [[Outline.Point]], reach: Double, _ x: Int, _ y: Int) -> Double {
        let count = 24
        var inside = 0
        for index in 0..<count * count {
            let px = Double(x) + (Double(index % count) + 0.5) / Double(count)
            let py = Double(y) + (Double(index / count) + 0.5) / Double(count)
            if winding(rings, px, py) != 0 || reach > 0 && distance(rings, px, py) <= reach { inside += 1 }
        }
        return Double(inside) / Double(count * count)
    }

    @Test(arguments: [0, 0.7, 4.5])
    func `an outline covers what it encloses, and all within its reach`(reach: Double) {
        let result = Self.shown(Self.outlined(Self.rings, reach: reach), Self.rect).doubles
        var index = 0
        for y in Self.rect.rows {
            for x in Self.rect.columns {
                #expect(abs(result[index] - Self.truth(Self.rings, reach: reach, x, y)) < 0.03, "at \(x), \(y)")
                index += 1
            }
        }
    }

    @Test(arguments: [(0.0, 0.0), (4.5, 0), (0, 2.5), (1.5, 1)])
    func `an outline gives every tile the same coverage`(reach: Double, feather: Double) {
        let mask = Self.outlined(Self.rings, reach: reach, feather: feather)
        let whole = Self.shown(mask, Self.rect)
        for y in stride(from: Self.rect.y, to: Self.rect.rows.upperBound, by: 13) {
            for x in stride(from: Self.rect.x, to: Self.rect.columns.upperBound, by: 17) {
                let part = PixelRect(x: x, y: y, width: 17, height: 13).intersection(Self.rect)
                #expect(Self.shown(mask, part) == whole.cropped(to: part))
            }
        }
    }

    @Test func `pixels within an outline are covered as a whole, and those outside not at all`() {
        let mask = Self.outlined([[.init(6, 6), .init(40, 6), .init(40, 38), .init(6, 38)]])
        for value in Self.shown(mask, Self.rect).doubles { #expect(value == 0 || value == 1) }
        #expect(mask.bounds(in: Self.rect) == PixelRect(x: 6, y: 6, width: 34, height: 32).intersection(Self.rect))
    }

    @Test func `a feather leaves nothing of what an outline encloses`() {
        let ring: [Outline.Point] = [.init(20, 15), .init(33, 17), .init(25, 30)]
        let result = Self.shown(Self.outlined([ring], feather: 2), Self.rect).doubles
        var index = 0
        for y in Self.rect.rows {
            for x in Self.rect.columns {
                if Self.truth([ring], reach: 0, x, y) == 1 { #expect(result[index] > 0.98, "at \(x), \(y)") }
                index += 1
            }
        }
    }

    @Test func `coordinates beyond all pictures cover what is between them`() {
        let ring: [Outline.Point] = [.init(-1e9, -1e9), .init(1e9, -1e9), .init(1e9, 1e9), .init(-1e9, 1e9)]
        for reach in [0, 1e9] {
            let result = Self.shown(Self.outlined([ring], reach: reach), Self.rect).doubles
            #expect(result.allSatisfy { $0 == 1 })
        }
    }

    @Test(arguments: [0.3, 1, 2.5, 9])
    func `a soft mask is the Gaussian of the sharp one, in any part`(feather: Double) {
        let mask = Mask(Self.shapes, feather: feather)
        let reach = Int(8 * feather) + 2
        let wide = PixelRect(
            x: Self.rect.x - reach, y: Self.rect.y - reach, width: Self.rect.width + 2 * reach,
            height: Self.rect.height + 2 * reach)
        // Shapes are larger by three standard deviations before.
        let larger = Self.shapes.map { shape in
            RoundedRect(
                left: shape.left - 3 * feather, top: shape.top - 3 * feather,
                width: shape.right - shape.left + 6 * feather, height: shape.bottom - shape.top + 6 * feather,
                cornerRadius: shape.cornerRadius > 0 ? shape.cornerRadius + 3 * feather : 0)
        }
        let sharp = TruePixels(Self.shown(Mask(larger), wide), light: .encoded)
        let truth = sharp.gaussian(sigmaX: feather, sigmaY: feather, edge: .clamp, output: Self.rect)
        let whole = Self.shown(mask, Self.rect)
        #expect(worstError(whole, truth, light: .encoded) <= 9.0 / 65535)
        for part in [PixelRect(x: 7, y: 9, width: 1, height: 1), PixelRect(x: -5, y: 20, width: 30, height: 24)] {
            #expect(Self.shown(mask, part) == whole.cropped(to: part))
        }
    }

    @Test(arguments: [0.5, 4, 30])
    func `a filter applies fully within a shape with a soft border`(feather: Double) {
        let small = RoundedRect(left: 20, top: 20, width: 6, height: 5, cornerRadius: 0)
        let inside = PixelRect(x: 20, y: 20, width: 6, height: 5)
        let whole = Self.shown(Mask([small], feather: feather), Self.rect).cropped(to: inside)
        #expect(whole.doubles.allSatisfy { $0 > 0.994 })
        let around = Self.shown(Mask([small], isInverted: true, feather: feather), Self.rect).cropped(to: inside)
        #expect(around.doubles.allSatisfy { $0 < 0.006 })
    }

    @Test func `many shapes are covered as one by one`() {
        let many = (0..<400).map { index in
            RoundedRect(
                left: Double(index % 40) * 1.3 - 5, top: Double(index / 40) * 4.1 + 3, width: 0.7, height: 2.5,
                cornerRadius: 0)
        }
        let result = Self.shown(Mask(many), Self.rect).doubles
        var index = 0
        for y in Self.rect.rows {
            for x in Self.rect.columns {
                let share = 1 - many.reduce(1) { $0 * (1 - $1.coverage(x: x, y: y)) }
                #expect(abs(result[index] - share) < 1e-6)
                index += 1
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `a blur is blended by the coverage in every format`(format: SampleFormat, layout: PixelLayout) {
        let source = Pattern.noise.picture(Self.rect, layout, format)
        let blur = Gaussian(radius: 2)
        for mask in Self.cases {
            let kernel = KernelSource(clamping: source, reach: blur.halo)
            var whole = AnyRaster(zeroed: Self.rect, layout: layout, format: format)
            blur.render(kernel, light: .encoded, into: &whole)
            var result = AnyRaster(zeroed: Self.rect, layout: layout, format: format)
            blur.render(kernel, light: .encoded, within: mask.mask, into: &result)
            let truth = TruePixels(whole, light: .encoded)
                .blended(over: TruePixels(source, light: .encoded)) { mask.share($0, $1) }
            #expect(worstError(result, truth, light: .encoded) <= format.allowedError, "\(mask.testDescription)")
        }
    }
}
