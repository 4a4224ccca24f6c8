import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// Zoom and spin against their definitions in float64.
struct SweepFilterTests {
    private static let zooms: [Double] = [-200, -70, 3, 21, 50, 100, 180]
    private static let spins: [Double] = [0.4, 10, 33, 90, 200, 360]
    private static let rect = PixelRect(x: -6, y: 3, width: 37, height: 29)

    private func filter(_ sweep: TrueSweep, _ values: [String: ParameterValue] = [:]) throws -> any Filter {
        switch sweep {
        case .zoom(let amount):
            try FilterRegistry.builtIn.make("zoom", values.merging(["amount": .number(amount * 100)]) { $1 })
        case .spin(let degrees):
            try FilterRegistry.builtIn.make("spin", values.merging(["angle": .number(degrees)]) { $1 })
        }
    }

    private func worst(
        _ sweep: TrueSweep, _ picture: AnyRaster, _ values: [String: ParameterValue] = [:], edge: Edge = .clamp,
        light: Light = .encoded
    ) throws -> Double {
        let filter = try filter(
            sweep, values.merging(["light": .word(light.rawValue)]) { $1 })
        let output = filter.extent(of: picture.rect)
        let original = TruePixels(
            picture, light: light, addsAlpha: filter.outputLayout(for: picture.layout).hasAlpha)
        var truth = original.sweptAsComputed(sweep, edge: edge, output: output)
        if picture.format != .f32 { truth.clamp(full: picture.format.full, hasAlpha: original.channels % 2 == 0) }
        return worstError(try filter.render(picture), truth, light: light)
    }

    @Test(arguments: [1e-17, 1e-300, 1e-9])
    func `paths too short to see change nothing, whatever their radius`(value: Double) throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        for filter in [("zoom", "amount"), ("spin", "angle")] {
            let made = try FilterRegistry.builtIn.make(filter.0, [filter.1: .number(value)])
            #expect(try made.render(picture) == picture, "\(filter.0)")
        }
    }

    @Test func `a spin around a far centre is known to cost more`() throws {
        func cost(_ x: Double, _ angle: Double) throws -> Double {
            let values = ["angle": ParameterValue.number(angle), "x": .length(.pixels(x))]
            let spin = try FilterRegistry.builtIn.make("spin", values)
            return spin.cost(.rgb, .u8, in: PixelRect(x: 0, y: 0, width: 900, height: 600))
        }
        let usual = try cost(450, 360)
        #expect(try cost(450, 10) == usual)
        #expect(try cost(100_000, 360) > 1000 * usual)
        #expect(try cost(100_000, 0.01) == usual)
    }

    @Test(arguments: zooms.map { TrueSweep.zoom(amount: $0 / 100) } + spins.map { .spin(degrees: $0) })
    func `means along paths, on every format and layout`(sweep: TrueSweep) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = Pattern.noise.picture(Self.rect, layout, format)
                #expect(try worst(sweep, picture) <= format.allowedError, "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: Pattern.allCases, Edge.allCases)
    func `every pattern and edge, on pictures of a pixel or a row too`(pattern: Pattern, edge: Edge) throws {
        let rects = [
            PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 4, y: -7, width: 60, height: 1),
            PixelRect(x: 0, y: 0, width: 2, height: 23),
        ]
        for rect in rects {
            for sweep in [TrueSweep.zoom(amount: 0.7), .zoom(amount: -1.5), .spin(degrees: 70), .spin(degrees: 300)] {
                let picture = pattern.picture(rect, .rgba)
                let error = try worst(sweep, picture, ["edge": .word(edge.rawValue)], edge: edge)
                #expect(error <= 0.75, "\(sweep) \(rect)")
            }
        }
    }

    @Test(arguments: Edge.allCases)
    func `what is added as alpha is full inside and nothing outside`(edge: Edge) throws {
        for sweep in [TrueSweep.zoom(amount: -0.6), .spin(degrees: 117)] {
            for layout in [PixelLayout.gray, .rgb] {
                let picture = Pattern.noise.picture(Self.rect, layout, .u16)
                #expect(try worst(sweep, picture, ["edge": .word(edge.rawValue)], edge: edge) <= 8)
            }
        }
    }

    @Test(arguments: [TrueSweep.zoom(amount: 0.21), .zoom(amount: -1.13), .spin(degrees: 10), .spin(degrees: 90)])
    func `linear light is averaged as light`(sweep: TrueSweep) throws {
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(Self.rect, .rgba, format)
            let bound = format == .u8 ? 2.3 : format.allowedError
            #expect(try worst(sweep, picture, light: .linear) <= bound, "\(format)")
        }
    }

    @Test(arguments: [
        TrueSweep.zoom(amount: 0.2), .zoom(amount: -0.5), .zoom(amount: 1), .zoom(amount: 2), .spin(degrees: 10),
        .spin(degrees: 45), .spin(degrees: 360),
    ])
    func `photographs are within a level of the continuous mean, noise within four`(sweep: TrueSweep) throws {
        let rect = PixelRect(x: 0, y: 0, width: 1201, height: 907)
        for (pattern, bound) in [(Pattern.photograph, 1.0), (.noise, 4)] {
            let picture = pattern.picture(rect, .gray)
            let filter = try filter(sweep)
            for part in [PixelRect(x: 3, y: 60, width: 60, height: 4), PixelRect(x: 640, y: 250, width: 4, height: 90)]
            {
                let truth = TruePixels(picture, light: .encoded).swept(sweep, samples: 5000, edge: .clamp, output: part)
                #expect(worstError(try filter.render(picture, tile: part), truth) <= bound, "\(pattern)")
            }
        }
    }

    @Test func `a spinning picture grows to the box that it sweeps`() throws {
        let picture = Pattern.steps.picture(PixelRect(x: 5, y: -3, width: 41, height: 11), .rgb, .u16)
        let filter = try filter(.spin(degrees: 90), ["extent": .word("expand")])
        #expect(filter.extent(of: picture.rect) == PixelRect(x: 4, y: -16, width: 43, height: 37))
        #expect(try worst(.spin(degrees: 90), picture, ["extent": .word("expand")], edge: .transparent) <= 8)
        let whole = try self.filter(.spin(degrees: 360), ["extent": .word("expand")]).extent(of: picture.rect)
        #expect(whole == PixelRect(x: 4, y: -19, width: 43, height: 43))
    }

    @Test func `a centre far away makes straight lines`() throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 240, height: 130), .rgb)
        let far: [String: ParameterValue] = ["x": .length(.pixels(-100_000)), "y": .length(.percent(50))]
        let tile = PixelRect(x: 120, y: 10, width: 100, height: 60)
        func render(_ name: String, _ values: [String: ParameterValue], _ tile: PixelRect) throws -> [UInt8] {
            let filter = try FilterRegistry.builtIn.make(name, values)
            guard case .u8(let result) = try filter.render(picture, tile: tile) else { return [] }
            return result.samples
        }
        func motion(_ radius: Double, _ angle: Double, _ tile: PixelRect) throws -> [UInt8] {
            let values: [String: ParameterValue] = [
                "radius": .number(radius), "angle": .number(angle), "samples": .word("continuous"),
            ]
            return try render("motion", values, tile)
        }
        // 87.4 px of arc, half of it to each side; 100 px towards the centre, that is to the left.
        let spun = try render("spin", far.merging(["angle": .number(0.05)]) { $1 }, tile)
        #expect(worst(spun, try motion(43.7, 90, tile)) <= 2)
        let zoomed = try render("zoom", far.merging(["amount": .number(0.1)]) { $1 }, tile)
        #expect(worst(zoomed, try motion(50.1, 0, PixelRect(x: 70, y: 10, width: 100, height: 60))) <= 2)
    }

    private func worst(_ a: [UInt8], _ b: [UInt8]) -> Int {
        a.count == b.count ? zip(a, b).map { abs(Int($0) - Int($1)) }.max() ?? 0 : .max
    }

    @Test func `arcs of more samples than whole numbers can add are averaged, too`() throws {
        // 77,000 pixels of arc.
        let values: [String: ParameterValue] = ["x": .length(.pixels(-12_200)), "angle": .number(360)]
        let picture = Pattern.steps.picture(PixelRect(x: 0, y: 0, width: 24, height: 9), .gray)
        let filter = try FilterRegistry.builtIn.make("spin", values)
        let rows = try [PixelRect(x: 3, y: 2, width: 5, height: 3), PixelRect(x: 3, y: 4, width: 17, height: 4)].map {
            try filter.render(picture, tile: $0).cropped(to: PixelRect(x: 3, y: 4, width: 5, height: 1))
        }
        #expect(rows[0] == rows[1])
        let words = Pattern.steps.picture(picture.rect, .gray, .u16)
        #expect(try filter.render(words, tile: picture.rect).rect == picture.rect)
    }

    @Test func `nothing is the identity`() throws {
        #expect(try filter(.zoom(amount: 0)).isIdentity)
        #expect(try filter(.spin(degrees: 0)).isIdentity)
    }

    @Test(arguments: ["zoom", "spin"])
    func `the centre stays, wherever it is`(name: String) throws {
        let picture = Pattern.noise.picture(Self.rect)
        // From the left side of the picture to the middle of its pixel 7, and to that of the second row from below.
        let filter = try FilterRegistry.builtIn.make(
            name, ["x": .length(.pixels(7.5)), "y": .length(.percent(100 * 27.5 / 29))])
        let center = PixelRect(x: 1, y: 30, width: 1, height: 1)
        #expect(try filter.render(picture).cropped(to: center) == picture.cropped(to: center))
    }

    @Test(arguments: ["zoom", "spin"])
    func `pixels outside a region keep their bytes, inside they are as ever`(name: String) throws {
        let region = Region(x: .pixels(6 + 2), y: .pixels(8 - 3), width: .pixels(11), height: .pixels(9))
        let picture = Pattern.noise.picture(Self.rect, .rgba)
        let whole = try FilterRegistry.builtIn.make(name).render(picture)
        let part = try FilterRegistry.builtIn.make(name, ["within": .region(region)]).render(picture)
        for y in Self.rect.rows {
            for x in Self.rect.columns {
                let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                let isInside = (2..<13).contains(x) && (8..<17).contains(y)
                #expect(part.cropped(to: pixel) == (isInside ? whole : picture).cropped(to: pixel))
            }
        }
    }
}

extension TruePixels {
    /// Cuts off what a cubic overshoots: integers hold no more than their range, and colours no more than their alpha. Colours
    /// go with an alpha that is too large.
    fileprivate mutating func clamp(full: Double, hasAlpha: Bool) {
        for pixel in stride(from: 0, to: hasAlpha ? values.count : 0, by: channels) {
            let alpha = values[pixel + channels - 1]
            guard alpha > full else { continue }
            for index in pixel..<pixel + channels { values[index] *= full / alpha }
        }
        for index in values.indices {
            let alpha = index - index % channels + channels - 1
            let most = hasAlpha && index != alpha ? min(full, values[alpha]) : full
            values[index] = max(0, min(most, values[index]))
        }
    }
}
