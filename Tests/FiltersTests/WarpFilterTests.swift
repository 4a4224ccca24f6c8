import Catalogs
import Filters
import Foundation
import Geometry
import JobModel
import Kernels
import Raster
import TestSupport
import Testing

/// `straighten` and `perspective` against direct formulas in float64.
struct WarpFilterTests {
    private static let rect = PixelRect(x: -4, y: 7, width: 61, height: 43)

    /// Premultiplied values at a place, by the definition of the kernel.
    ///
    /// - Parameter full: the full alpha, if all is transparent outside of the picture, and the result has an alpha in any case. Nil if
    ///   the border repeats.
    private static func value(
        _ picture: TruePixels, _ x: Double, _ y: Double, _ kernel: String, full: Double? = nil
    ) -> [Double] {
        let reach = kernel == "lanczos3" ? 3 : 2
        func weights(_ place: Double) -> [(Int, Double)] {
            let first = Int((place - 0.5).rounded(.down)) - reach + 1
            let raw = (first..<first + 2 * reach).map { index -> Double in
                let d = abs(place - 0.5 - Double(index))
                guard kernel == "lanczos3" else {
                    return d < 1 ? 1.5 * d * d * d - 2.5 * d * d + 1 : -0.5 * d * d * d + 2.5 * d * d - 4 * d + 2
                }
                return d == 0 ? 1 : 3 * sin(.pi * d) * sin(.pi * d / 3) / (.pi * .pi * d * d)
            }
            let sum = raw.reduce(0, +)
            return raw.enumerated().map { (first + $0.offset, $0.element / sum) }
        }
        let lacksAlpha = full != nil && picture.channels % 2 == 1
        var result = [Double](repeating: 0, count: picture.channels + (lacksAlpha ? 1 : 0))
        for (row, across) in weights(y) {
            for (column, along) in weights(x) {
                if full != nil, !(picture.rect.columns.contains(column) && picture.rect.rows.contains(row)) { continue }
                let (x, y) = (
                    min(max(column, picture.rect.x), picture.rect.right - 1),
                    min(max(row, picture.rect.y), picture.rect.bottom - 1)
                )
                let start = ((y - picture.rect.y) * picture.rect.width + x - picture.rect.x) * picture.channels
                for channel in 0..<picture.channels {
                    result[channel] += across * along * picture.values[start + channel]
                }
                if lacksAlpha, let full { result[picture.channels] += across * along * full }
            }
        }
        return result
    }

    /// What a writer stores of premultiplied values. Where weights give an alpha above full, colours are lowered with it.
    private static func stored(_ values: [Double], _ layout: PixelLayout, _ format: SampleFormat) -> [Double] {
        guard format != .f32 else { return values }
        guard layout.hasAlpha, let alpha = values.last else { return values.map { min(max($0, 0), format.full) } }
        let kept = min(max(alpha, 0), format.full)
        let scale = alpha > format.full ? format.full / alpha : 1
        return values.dropLast().map { min(max($0 * scale, 0), kept) } + [kept]
    }

    /// - Parameter place: from an output pixel's coordinates to the input's.
    private func check(
        _ name: String, _ values: [String: ParameterValue], _ layout: PixelLayout, _ format: SampleFormat,
        _ kernel: String, samples: Int = 1, _ place: (Double, Double, PixelRect) -> (Double, Double)
    ) throws {
        let picture = Pattern.photograph.picture(Self.rect, layout, format)
        let filter = try FilterRegistry.builtIn.make(name, values.merging(["kernel": .word(kernel)]) { $1 })
        let result = try filter.render(picture)
        #expect(result.layout == layout)
        let (before, after) = (TruePixels(picture, light: .encoded), TruePixels(result, light: .encoded))
        var worst = 0.0
        for y in 0..<result.rect.height {
            for x in 0..<result.rect.width {
                var sum = [Double](repeating: 0, count: layout.channels)
                for j in 0..<samples {
                    for i in 0..<samples {
                        let (u, v) = place(
                            Double(x) + (Double(i) + 0.5) / Double(samples),
                            Double(y) + (Double(j) + 0.5) / Double(samples), result.rect)
                        for (channel, value) in Self.value(before, u, v, kernel).enumerated() {
                            sum[channel] += value / Double(samples * samples)
                        }
                    }
                }
                let start = (y * result.rect.width + x) * layout.channels
                for (channel, wanted) in Self.stored(sum, layout, format).enumerated() {
                    worst = max(worst, abs(after.values[start + channel] - wanted))
                }
            }
        }
        #expect(worst <= (format == .f32 ? 1e-5 : format == .u16 ? 2.5 : 1.02), "\(name) \(layout) \(format)")
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `straightening interpolates around the turned place of each pixel`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        for (angle, kernel) in [(3.7, "catmull-rom"), (-12, "lanczos3")] {
            try check("straighten", ["angle": .number(angle)], layout, format, kernel) { x, y, output in
                let (s, c) = (sin(angle * .pi / 180), cos(angle * .pi / 180))
                let (dx, dy) = (x - Double(output.width) / 2, y - Double(output.height) / 2)
                return (
                    c * dx - s * dy + Double(Self.rect.x) + 30.5, s * dx + c * dy + Double(Self.rect.y) + 21.5
                )
            }
        }
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `a rotation interpolates around the turned place of each pixel, and all is transparent outside`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        for (angle, kernel) in [(33.0, "catmull-rom"), (33, "lanczos3"), (-128.5, "lanczos3")] {
            let picture = Pattern.photograph.picture(Self.rect, layout, format)
            let filter = try FilterRegistry.builtIn.make(
                "rotate", ["angle": .number(angle), "kernel": .word(kernel)])
            let result = try filter.render(picture)
            #expect(result.layout == layout.addingAlpha)
            let (before, after) = (TruePixels(picture, light: .encoded), TruePixels(result, light: .encoded))
            let (s, c) = (sin(angle * .pi / 180), cos(angle * .pi / 180))
            var worst = 0.0
            for y in 0..<result.rect.height {
                for x in 0..<result.rect.width {
                    let (dx, dy) = (
                        Double(x) + 0.5 - Double(result.rect.width) / 2,
                        Double(y) + 0.5 - Double(result.rect.height) / 2
                    )
                    let values = Self.value(
                        before, c * dx - s * dy + Double(Self.rect.x) + 30.5,
                        s * dx + c * dy + Double(Self.rect.y) + 21.5,
                        kernel, full: format.full)
                    let start = (y * result.rect.width + x) * values.count
                    for (channel, wanted) in Self.stored(values, result.layout, format).enumerated() {
                        worst = max(worst, abs(after.values[start + channel] - wanted))
                    }
                }
            }
            #expect(
                worst <= (format == .f32 ? 1e-5 : format == .u16 ? 2.5 : 1.02), "\(angle) \(kernel) \(layout) \(format)"
            )
        }
    }

    /// A point of the output and its place in the input, found by solving for the map, not by its closed form.
    private static func place(_ corners: [(Double, Double)], _ u: Double, _ v: Double) -> (Double, Double) {
        // Eight equations for the map from the unit square.
        var rows: [[Double]] = []
        for (corner, unit) in zip(corners, [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]) {
            rows.append([unit.0, unit.1, 1, 0, 0, 0, -corner.0 * unit.0, -corner.0 * unit.1, corner.0])
            rows.append([0, 0, 0, unit.0, unit.1, 1, -corner.1 * unit.0, -corner.1 * unit.1, corner.1])
        }
        for pivot in 0..<8 {
            let best = (pivot..<8).max { abs(rows[$0][pivot]) < abs(rows[$1][pivot]) } ?? pivot
            rows.swapAt(pivot, best)
            for row in 0..<8 where row != pivot {
                let factor = rows[row][pivot] / rows[pivot][pivot]
                for column in pivot..<9 { rows[row][column] -= factor * rows[pivot][column] }
            }
        }
        let m = (0..<8).map { rows[$0][8] / rows[$0][$0] }
        let w = m[6] * u + m[7] * v + 1
        return ((m[0] * u + m[1] * v + m[2]) / w, (m[3] * u + m[4] * v + m[5]) / w)
    }

    private static func path(_ corners: [(Double, Double)]) -> ParameterValue {
        .path(corners.map { Point(x: .pixels($0.0), y: .pixels($0.1)) })
    }

    @Test(arguments: SampleFormat.allCases, ["catmull-rom", "lanczos3"])
    func `perspective interpolates around the projected place of each pixel`(
        format: SampleFormat, kernel: String
    ) throws {
        // No pixel of the output covers more than one of the input.
        let corners = [(10.0, 8.0), (48.0, 8.0), (51.0, 36.0), (7.0, 36.0)]
        for layout in [PixelLayout.rgb, .grayAlpha] {
            try check(
                "perspective", ["corners": Self.path(corners), "aspect": .number(0.4)], layout, format, kernel
            ) { x, y, output in
                let place = Self.place(corners, x / Double(output.width), y / Double(output.height))
                return (place.0 + Double(Self.rect.x), place.1 + Double(Self.rect.y))
            }
        }
    }

    /// The upper end of a long trapezoid: its pixels are many times as large as those at the lower end.
    @Test(arguments: [PixelLayout.rgb, .rgba], ["catmull-rom", "lanczos3"])
    func `where a pixel shows several of the input, it is their mean`(layout: PixelLayout, kernel: String) throws {
        let corners = [(25.0, 1.0), (33.0, 1.0), (60.0, 42.0), (0.0, 42.0)]
        let filter = try FilterRegistry.builtIn.make(
            "perspective", ["corners": Self.path(corners), "kernel": .word(kernel)])
        let picture = Pattern.noise.picture(Self.rect, layout, .u16)
        let (before, after) = (
            TruePixels(picture, light: .encoded), TruePixels(try filter.render(picture), light: .encoded)
        )
        func place(_ x: Double, _ y: Double) -> (Double, Double) {
            let place = Self.place(corners, x / Double(after.rect.width), y / Double(after.rect.height))
            return (place.0 + Double(Self.rect.x), place.1 + Double(Self.rect.y))
        }
        var (counts, worst) = (Set<Int>(), 0.0)
        for y in 0..<after.rect.height {
            for x in 0..<after.rect.width {
                let (cx, cy) = (Double(x) + 0.5, Double(y) + 0.5)
                func length(_ dx: Double, _ dy: Double) -> Double {
                    let (before, behind) = (place(cx - dx, cy - dy), place(cx + dx, cy + dy))
                    return hypot(behind.0 - before.0, behind.1 - before.1)
                }
                // The derivatives along both axes.
                let scale = 1e4 * max(length(0.5e-4, 0), length(0, 0.5e-4))
                let samples = min(8, max(1, Int((scale - 0.25).rounded(.up))))
                counts.insert(samples)
                var sum = [Double](repeating: 0, count: layout.channels)
                for j in 0..<samples {
                    for i in 0..<samples {
                        let (u, v) = place(
                            Double(x) + (Double(i) + 0.5) / Double(samples),
                            Double(y) + (Double(j) + 0.5) / Double(samples))
                        for (channel, value) in Self.value(before, u, v, kernel).enumerated() {
                            sum[channel] += value / Double(samples * samples)
                        }
                    }
                }
                for (channel, wanted) in Self.stored(sum, layout, .u16).enumerated() {
                    worst = max(
                        worst, abs(after.values[(y * after.rect.width + x) * layout.channels + channel] - wanted))
                }
            }
        }
        #expect(counts.count >= 3, "\(counts)")
        #expect(worst <= 2.5)
    }

    /// The border of a block may be rounded to the other side of a pixel's border than that of the whole output.
    @Test(arguments: [(451, 300), (600, 400), (640, 427)], ["catmull-rom", "lanczos3"])
    func `corners on the border of the picture, and near it, have all pixels that they need`(
        size: (width: Int, height: Int), kernel: String
    ) throws {
        let (right, bottom) = (Double(size.width), Double(size.height))
        let picture = Pattern.noise.picture(
            PixelRect(x: 0, y: 0, width: size.width, height: size.height), .gray, .u8)
        let places: [(Double, Double)] = [
            (0, -5), (-5, 0), (0.03 * right, 0), (0.01 * right, 0.01 * bottom), (-0.01 * right, -0.01 * bottom),
            (0, 0.5),
        ]
        for place in places {
            let corners = [place, (right, 0), (right, bottom), (0, bottom)]
            let filter = try FilterRegistry.builtIn.make(
                "perspective", ["corners": Self.path(corners), "kernel": .word(kernel)])
            let output = try filter.render(picture)
            #expect(output.rect == filter.extent(of: picture.rect))
        }
    }

    @Test(arguments: [
        // Rounding errors of these are larger than their areas. The first ones have a depth of 0 at a corner.
        [
            (8604.468, 4901.83), (8487.241235111285, 4731.43766250878), (5495.72, 383.179),
            (7588.45962430858, 3425.0337904563457),
        ],
        [
            (1851.242, 4496.82), (2027.6273423205314, 4742.680353569607), (5784.128, 9978.799),
            (2953.8764520793534, 6033.762314365462),
        ],
        [(0, 0), (10000, 0), (10000, 1), (0, 10000)],
    ])
    func `corners almost in a line make no picture`(corners: [(Double, Double)]) {
        #expect(throws: FilterError.self) {
            try FilterRegistry.builtIn.make("perspective", ["corners": Self.path(corners)])
        }
    }

    @Test func `the size of the output is that of the longer sides, or has the aspect`() throws {
        let corners = [(10.0, 10.0), (40.0, 10.0), (45.0, 30.0), (5.0, 30.0)]
        func size(_ values: [String: ParameterValue]) throws -> PixelRect {
            try FilterRegistry.builtIn.make(
                "perspective", ["corners": Self.path(corners)].merging(values) { $1 }
            ).extent(of: Self.rect)
        }
        #expect(try size([:]) == PixelRect(x: 0, y: 0, width: 40, height: 21))
        #expect(try size(["aspect": .number(1)]) == PixelRect(x: 0, y: 0, width: 40, height: 40))
        #expect(try size(["aspect": .number(4)]) == PixelRect(x: 0, y: 0, width: 82, height: 21))
    }

    @Test(arguments: [
        ([(10.0, 10.0), (40, 10), (45, 30)], "'corners' has 3 places, and a rectangle has four corners"),
        (
            [(10, 10), (10, 30), (40, 30), (40, 10)],
            "'corners' make no picture; \(PerspectiveFilter.advice)"
        ),
        (
            [(10, 10), (40, 10), (20, 15), (10, 30)],
            "'corners' make no picture; \(PerspectiveFilter.advice)"
        ),
    ])
    func `corners that make no picture are refused`(corners: [(Double, Double)], message: String) {
        let error = #expect(throws: FilterError.self) {
            try FilterRegistry.builtIn.make("perspective", ["corners": Self.path(corners)])
        }
        #expect(error?.reason == message)
    }

    @Test func `0 pixels are 0 percent, so that corners in percent are judged before any picture`() throws {
        let corners: [Point] = [
            Point(x: .pixels(0), y: .pixels(0)), Point(x: .percent(100), y: .pixels(0)),
            Point(x: .percent(30), y: .percent(30)), Point(x: .pixels(0), y: .percent(100)),
        ]
        for corners in [corners, Array(repeating: Point(x: .pixels(0), y: .percent(0)), count: 4)] {
            let error = #expect(throws: FilterError.self) {
                try FilterRegistry.builtIn.make("perspective", ["corners": .path(corners)])
            }
            #expect(error?.reason.hasPrefix("'corners' make no picture;") == true)
        }
    }

    @Test func `corners far outside keep nothing, so that no picture takes all memory`() throws {
        let corners = Self.path([(-200, 0), (40, 0), (40, 30), (-200, 30)])
        let filter = try FilterRegistry.builtIn.make("perspective", ["corners": corners])
        #expect(filter.extent(of: Self.rect).isEmpty)
    }

    @Test(arguments: [0.5, 5, 30, 44.9, 45, -17], [(600.0, 400.0), (400, 600), (500, 500), (1000, 20)])
    func `what straightening keeps lies in the turned picture, and nothing larger does`(
        angle: Double, size: (Double, Double)
    ) {
        let (s, c) = (abs(sin(angle * .pi / 180)), abs(cos(angle * .pi / 180)))
        // Half of the way to the farthest corner, along the sides of the picture.
        func fits(_ width: Double, _ height: Double) -> Bool {
            width * c + height * s <= size.0 + 1e-6 && width * s + height * c <= size.1 + 1e-6
        }
        let largest = InscribedRect.largest(width: size.0, height: size.1, degrees: angle)
        #expect(fits(largest.width, largest.height))
        let similar = InscribedRect.similar(width: size.0, height: size.1, degrees: angle)
        #expect(fits(similar.width, similar.height))
        #expect(abs(similar.width / similar.height - size.0 / size.1) < 1e-9)
        #expect(similar.width * similar.height <= largest.width * largest.height + 1e-6)
        // No rectangle of a fine grid is larger.
        var best = 0.0
        for step in 1...4000 {
            let width = size.0 * Double(step) / 2000
            let height = min((size.0 - width * c) / s, (size.1 - width * s) / c)
            if height > 0, fits(width, height) { best = max(best, width * height) }
        }
        #expect(best <= largest.width * largest.height * 1.000001)
    }

    @Test func `one colour stays that colour under any alpha`() throws {
        for (name, values) in [
            ("straighten", ["angle": ParameterValue.number(7)]),
            ("perspective", ["corners": Self.path([(5, 2), (50, 6), (58, 40), (2, 38)])]),
        ] {
            for kernel in ["catmull-rom", "lanczos3"] {
                let filter = try FilterRegistry.builtIn.make(name, values.merging(["kernel": .word(kernel)]) { $1 })
                var random = SplitMix64(seed: 4)
                let samples = (0..<Self.rect.area).flatMap { _ -> [UInt8] in
                    let alpha = UInt8(random.next() % 5 * 60)
                    return alpha == 0 ? [0, 0, 0, 0] : [200, 100, 50, alpha]
                }
                let result = try filter.render(.u8(Raster(rect: Self.rect, layout: .rgba, samples: samples))).doubles
                for pixel in stride(from: 0, to: result.count, by: 4) where result[pixel + 3] >= 128 {
                    for (channel, level) in [200.0, 100, 50].enumerated() {
                        #expect(abs(result[pixel + channel] - level) <= 1)
                    }
                }
            }
        }
    }
}
