import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// How far zoom and spin are from the continuous mean of their definition, on pictures that are hard on them: what
/// docs/arithmetic.md claims.
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
            PixelRect(x: 0, y: row - 1, width: rect.width, height: 4),
            PixelRect(x: column - 1, y: 0, width: 4, height: rect.height),
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
