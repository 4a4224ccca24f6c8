import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// How far zoom and spin are from the continuous mean of their definition, on pictures that are hard on them: what
/// docs/explanation/motion-blurs.md claims.
struct SweepBoundTests {
    /// A picture that is drawn around a centre; 0…1.
    enum Drawing: CaseIterable {
        /// One row and one column through the centre: kinks along whole paths.
        case axes
        /// A step along the centre's row.
        case halves
        /// The two diagonals.
        case diagonals
        /// Opaque everywhere: the borders alone are seen, with transparent edges.
        case white
        case circle
        /// Every other row: the finest pattern there is.
        case rows
        case checkerboard
        case binaryNoise
        case photograph

        /// In levels of 255.
        var bound: Double {
            switch self {
            case .axes, .halves, .diagonals, .white, .circle: 2.5
            case .rows, .checkerboard: 6
            case .binaryNoise: 4.5
            case .photograph: 1
            }
        }

        func value(x: Int, y: Int, _ center: (x: Double, y: Double), _ random: inout SplitMix64) -> Double {
            let (column, row) = (Int(center.x.rounded(.down)), Int(center.y.rounded(.down)))
            let (right, down) = (Double(x) - center.x, Double(y) - center.y)
            switch self {
            case .axes: return x == column || y == row ? 1 : 0
            case .halves: return down < 0 ? 1 : 0
            case .diagonals: return x - column == y - row || x - column == row - y ? 1 : 0
            case .white: return 1
            case .circle: return right * right + down * down < 6400 ? 1 : 0
            case .rows: return y % 2 == 0 ? 0 : 1
            case .checkerboard: return (x + y) % 2 == 0 ? 0 : 1
            case .binaryNoise: return random.share() < 0.5 ? 1 : 0
            case .photograph: return 0
            }
        }
    }

    struct Setting: CustomTestStringConvertible, Sendable {
        let sweep: TrueSweep
        let center: (x: Double, y: Double)
        var width = 401
        var height = 301
        var edge = Edge.clamp

        var rect: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
        var testDescription: String { "\(sweep) around \(center), \(edge), \(width) x \(height)" }
    }

    private static let settings: [Setting] = [
        Setting(sweep: .zoom(amount: 0.05), center: (200, 150)),
        Setting(sweep: .zoom(amount: 0.2), center: (200, 150)),
        Setting(sweep: .zoom(amount: 0.2), center: (199.5, 149.5), width: 400, height: 300),
        Setting(sweep: .zoom(amount: 0.2), center: (200, 150), edge: .transparent),
        Setting(sweep: .zoom(amount: 1), center: (199.5, 149.5), width: 400, height: 300, edge: .transparent),
        Setting(sweep: .zoom(amount: -0.6), center: (30.3, 20.7), edge: .mirror),
        Setting(sweep: .zoom(amount: 0.3), center: (-300, -400)),
        Setting(sweep: .zoom(amount: 0.2), center: (-50.5, 100.5)),
        Setting(sweep: .spin(degrees: 3), center: (200, 150)),
        Setting(sweep: .spin(degrees: 10), center: (200, 150)),
        Setting(sweep: .spin(degrees: 10), center: (199.5, 149.5), width: 400, height: 300, edge: .transparent),
        Setting(sweep: .spin(degrees: 90), center: (30.3, 20.7), edge: .mirror),
        Setting(sweep: .spin(degrees: 2), center: (-300, -400)),
        Setting(sweep: .spin(degrees: 1), center: (-6000.5, 60.5)),
        Setting(sweep: .spin(degrees: 360), center: (200, 150), edge: .transparent),
    ]

    private func picture(
        _ drawing: Drawing, _ setting: Setting, _ layout: PixelLayout, _ format: SampleFormat
    ) -> AnyRaster {
        let rect = setting.rect
        if drawing == .photograph { return Pattern.photograph.picture(rect, layout, format, alpha: .opaque) }
        var random = SplitMix64(seed: 5)
        var samples: [Double] = []
        for y in rect.rows {
            for x in rect.columns {
                let value = drawing.value(x: x, y: y, setting.center, &random) * format.full
                samples += Array(repeating: value, count: layout.removingAlpha.channels)
                if layout.hasAlpha { samples.append(format.full) }
            }
        }
        switch format {
        case .u8: return .u8(Raster(rect: rect, layout: layout, samples: samples.map { UInt8($0) }))
        case .u16: return .u16(Raster(rect: rect, layout: layout, samples: samples.map { UInt16($0) }))
        case .f32: return .f32(Raster(rect: rect, layout: layout, samples: samples.map { Float($0) }))
        }
    }

    /// Where the errors are largest: along the axes and diagonals of the centre, at the picture's corners and sides, and some.
    private func parts(_ setting: Setting) -> [PixelRect] {
        let rect = setting.rect
        let (column, row) = (Int(setting.center.x.rounded(.down)), Int(setting.center.y.rounded(.down)))
        var parts = [
            PixelRect(x: 0, y: row, width: rect.width, height: 2),
            PixelRect(x: column, y: 0, width: 2, height: rect.height),
            PixelRect(x: 0, y: 0, width: 20, height: 12),
            PixelRect(x: rect.width - 20, y: rect.height - 12, width: 20, height: 12),
            PixelRect(x: 0, y: 77, width: 90, height: 1), PixelRect(x: 61, y: 0, width: 1, height: 90),
        ]
        parts += stride(from: -140, through: 140, by: 20).map { place in
            PixelRect(x: column + place, y: row + place, width: 3, height: 3)
        }
        return parts.map { $0.intersection(rect) }.filter { !$0.isEmpty }
    }

    private func filter(_ setting: Setting) throws -> any Filter {
        let place: [String: ParameterValue] = [
            "x": .length(.pixels(setting.center.x + 0.5)), "y": .length(.pixels(setting.center.y + 0.5)),
            "edge": .word(setting.edge.rawValue),
        ]
        switch setting.sweep {
        case .zoom(let amount):
            return try FilterRegistry.builtIn.make("zoom", place.merging(["amount": .number(amount * 100)]) { $1 })
        case .spin(let degrees):
            return try FilterRegistry.builtIn.make("spin", place.merging(["angle": .number(degrees)]) { $1 })
        }
    }

    /// In levels of 255.
    private func worst(_ drawing: Drawing, _ setting: Setting, _ layout: PixelLayout, _ format: SampleFormat) throws
        -> Double
    {
        let picture = picture(drawing, setting, layout, format)
        let filter = try filter(setting)
        let adds = filter.outputLayout(for: layout).hasAlpha
        let original = TruePixels(picture, light: .encoded, addsAlpha: adds)
        return try parts(setting).reduce(0) { worst, part in
            let far = [(part.x, part.y), (part.right, part.y), (part.x, part.bottom), (part.right, part.bottom)].map {
                setting.sweep.length(Double($0.0) - setting.center.x, Double($0.1) - setting.center.y)
            }
            let samples = 6 * Int(far.max() ?? 0) + 40
            let truth = original.swept(
                setting.sweep, samples: samples, edge: setting.edge, output: part, around: setting.center)
            return max(worst, worstError(try filter.render(picture, tile: part), truth) * 255 / format.full)
        }
    }

    /// Pixels whose paths are a little longer than those that are sampled one by one, or leave an axis by little, or end where
    /// lines are farthest apart; and some others. What is read for them lies in the picture.
    private func hardPixels(_ setting: Setting) -> [(x: Int, y: Int)] {
        let center = setting.center
        let across = max(abs(center.x), abs(Double(setting.width - 1) - center.x))
        let down = max(abs(center.y), abs(Double(setting.height - 1) - center.y))
        let farthest = (across * across + down * down).squareRoot()
        let perPixel = setting.sweep.length(1, 0)
        let shortest = setting.sweep.shortestOnLines / perPixel
        let distances: [Double] = [
            shortest * 1.02, shortest * 1.2, farthest * 0.97, farthest * 0.97 / 2, farthest * 0.97 / 4,
        ]
        var places: [(x: Double, y: Double)] = []
        for distance in distances {
            for least in [2.1, 3.2, 6.5] as [Double] {
                let drift = least / min(perPixel, 1)
                guard drift < distance else { continue }
                let rest = (distance * distance - drift * drift).squareRoot()
                places += [(drift, rest), (-rest, drift), (rest, -drift), (-drift, -rest)]
            }
        }
        var random = SplitMix64(seed: 11)
        places += (0..<40).map { _ in
            (
                random.share() * Double(setting.width) - center.x, random.share() * Double(setting.height) - center.y
            )
        }
        return places.map { (Int((center.x + $0.x).rounded()), Int((center.y + $0.y).rounded())) }.filter { x, y in
            let margin = PixelRect(x: 6, y: 6, width: setting.width - 12, height: setting.height - 12)
            return margin.contains(x: x, y: y)
                && stride(from: 0.0, through: 1, by: 0.01).allSatisfy { t in
                    let place = setting.sweep.point(Double(x) - center.x, Double(y) - center.y, at: t)
                    return margin.contains(x: Int(center.x + place.x), y: Int(center.y + place.y))
                }
        }
    }

    /// How much each pixel of a picture counts in the continuous mean of a path.
    private func trueWeights(_ x: Int, _ y: Int, _ setting: Setting) -> [[Int]: Double] {
        let center = setting.center
        let (right, down) = (Double(x) - center.x, Double(y) - center.y)
        let count = 60 * Int(setting.sweep.length(right, down)) + 60
        var weights: [[Int]: Double] = [:]
        for k in 0..<count {
            let place = setting.sweep.point(right, down, at: (Double(k) + 0.5) / Double(count))
            let (column, row) = (center.x + place.x, center.y + place.y)
            let (left, top) = (column.rounded(.down), row.rounded(.down))
            for (dx, dy) in [(0.0, 0.0), (1, 0), (0, 1), (1, 1)] {
                let share = (1 - abs(column - left - dx)) * (1 - abs(row - top - dy))
                weights[[Int(left + dx), Int(top + dy)], default: 0] += share / Double(count)
            }
        }
        return weights
    }

    /// The largest error that any picture of 0 to 255 has at a pixel: where a pixel counts for more than it should the picture is
    /// white, elsewhere black, or the other way round. What pixels count for is seen by one white pixel in each channel.
    private func worstOfAllPictures(_ x: Int, _ y: Int, _ setting: Setting, _ filter: any Filter) throws -> Double {
        let truth = trueWeights(x, y, setting)
        let near = Set(
            truth.keys.flatMap { place in
                (-2...2).flatMap { dy in (-2...2).map { dx in [place[0] + dx, place[1] + dy] } }
            }
        ).sorted { ($0[1], $0[0]) < ($1[1], $1[0]) }
        var raster = Raster<Float>(rect: setting.rect, layout: .rgb, repeating: 0)
        let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
        var (over, under, sum) = (0.0, 0.0, 0.0)
        for start in stride(from: 0, to: near.count, by: 3) {
            let places = near[start..<min(start + 3, near.count)]
            func set(_ value: Float) {
                for (channel, place) in places.enumerated() {
                    raster.samples[raster.index(x: place[0], y: place[1]) + channel] = value
                }
            }
            set(1)
            let weights = try filter.render(.f32(raster), tile: pixel).doubles
            set(0)
            for (weight, place) in zip(weights, places) {
                let error = weight - (truth[place] ?? 0)
                if error > 0 { over += error } else { under -= error }
                sum += weight
            }
        }
        #expect(abs(sum - 1) < 1e-3, "no pixel counts that was not looked at")
        return 255 * max(over, under)
    }

    @Test(arguments: settings.filter { $0.edge != .transparent })
    func `no picture whatever is farther off than docs claim`(setting: Setting) throws {
        let filter = try filter(setting)
        let worst = try hardPixels(setting).map { try worstOfAllPictures($0.x, $0.y, setting, filter) }.max() ?? 0
        #expect(worst <= 10, "\(worst)")
    }

    @Test(arguments: settings, Drawing.allCases)
    func `what docs claim holds for lines, borders, patterns and noise`(setting: Setting, drawing: Drawing) throws {
        let worst = try worst(drawing, setting, .gray, .u8)
        #expect(worst <= drawing.bound, "\(worst)")
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `and in every format and layout`(format: SampleFormat, layout: PixelLayout) throws {
        for setting in [Self.settings[4], Self.settings[10]] {
            for drawing in [Drawing.axes, .white, .checkerboard] {
                let worst = try worst(drawing, setting, layout, format)
                #expect(worst <= drawing.bound, "\(setting.testDescription) \(drawing): \(worst)")
            }
        }
    }
}
