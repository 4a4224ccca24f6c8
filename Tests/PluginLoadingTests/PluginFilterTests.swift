import Catalogs
import Filters
import Geometry
import Glibc
import Kernels
import PluginLoading
import Raster
import TestSupport
import Testing

/// What the host does around a plugin, with C plugins whose results are easy to tell.
struct PluginFilterTests {
    private let rect = PixelRect(x: -3, y: 4, width: 29, height: 13)

    /// The twin of `Fixtures/spread.c`.
    private func spread(
        _ picture: AnyRaster, distance: Int, edge: Edge, light: Light, output: PixelRect
    ) -> TruePixels {
        let hasAlpha = edge == .transparent
        let pixels = TruePixels(picture, light: light, addsAlpha: hasAlpha)
        let values = output.rows.flatMap { y in
            output.columns.flatMap { x in
                (0..<pixels.channels).map { channel in
                    (pixels.value(x - distance, y, channel, edge) + pixels.value(x + distance, y, channel, edge)) / 2
                }
            }
        }
        return TruePixels(rect: output, channels: pixels.channels, values: values)
    }

    @Test(arguments: Edge.allCases, SampleFormat.allCases)
    func `an area plugin gets its edges filled and its alpha multiplied`(edge: Edge, format: SampleFormat) throws {
        for light in Light.allCases {
            let filter = try PluginFixture.filter(
                "spread", ["edge": .word(edge.rawValue), "light": .word(light.rawValue), "distance": .integer(5)])
            for layout in PixelLayout.allCases {
                let picture = Pattern.noise.picture(rect, layout, format)
                let truth = spread(picture, distance: 5, edge: edge, light: light, output: rect)
                let error = worstError(try filter.render(picture), truth, light: light)
                #expect(error <= (light == .linear ? 2.3 : 1) * format.allowedError, "\(light) \(layout)")
            }
        }
    }

    @Test func `a plugin is told the frame, unless its host knows none`() throws {
        let filter = try PluginFixture.filter("frames")
        let picture = Pattern.noise.picture(rect, .rgb, .f32)
        for frame in [0, 1, 250] {
            #expect(try filter.render(picture, frame: frame).doubles.allSatisfy { $0 == Double(frame) })
        }
    }

    @Test func `an area plugin grows by what it says`() throws {
        let filter = try PluginFixture.filter("spread", ["extent": .word("expand"), "distance": .integer(7)])
        let grown = rect.expanded(by: Halo(horizontal: 7, vertical: 0))
        #expect(filter.extent(of: rect) == grown)
        #expect(filter.halo == Halo(horizontal: 7, vertical: 0))
        let picture = Pattern.noise.picture(rect, .rgb, .u16)
        let truth = spread(picture, distance: 7, edge: .transparent, light: .encoded, output: grown)
        #expect(worstError(try filter.render(picture), truth) <= 8)
    }

    @Test(arguments: ["clamp", "mirror", "wrap", "transparent"])
    func `tiles of a plugin have the bytes of the whole picture`(edge: String) throws {
        let filter = try PluginFixture.filter("spread", ["edge": .word(edge)])
        for layout in [PixelLayout.rgb, .grayAlpha] {
            let picture = Pattern.noise.picture(rect, layout)
            let whole = try filter.render(picture)
            for tile in TileGrid(extent: rect, tileWidth: 8, tileHeight: 5).tiles {
                #expect(try filter.render(picture, tile: tile) == whole.cropped(to: tile))
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, [PixelLayout.rgb, .rgba])
    func `a plugin works within a region, and blends at its border`(format: SampleFormat, layout: PixelLayout) throws {
        let region = Region(x: .pixels(2.5), y: .pixels(6), width: .pixels(15), height: .pixels(7.25))
        let picture = Pattern.noise.picture(rect, layout, format)
        let original = TruePixels(picture, light: .encoded)
        let shape = RoundedRect(region, in: rect)
        let truth = spread(picture, distance: 3, edge: .clamp, light: .encoded, output: rect)
            .blended(over: original) { shape.coverage(x: $0, y: $1) }
        let result = try PluginFixture.filter("spread", ["within": .region(region)]).render(picture)
        #expect(worstError(result, truth) <= format.allowedError)
        let corner = PixelRect(x: -3, y: 4, width: 5, height: 2)
        #expect(result.cropped(to: corner) == picture.cropped(to: corner))
    }

    @Test(arguments: SampleFormat.allCases)
    func `a point plugin gets straight pixels, converted to a format that it takes`(format: SampleFormat) throws {
        let filter = try PluginFixture.filter(
            "threshold", ["level": .number(0.25), "invert": .boolean(true), "channel": .word("second")])
        let picture = Pattern.noise.picture(rect, .rgba, format)
        let result = try filter.render(picture).doubles
        for (index, sample) in picture.doubles.enumerated() {
            let alpha = picture.doubles[index / 4 * 4 + 3]
            let negative = sample / format.full >= 0.25 ? 0 : format.full
            let expected = index % 4 == 3 ? alpha : alpha == 0 ? 0 : index % 4 == 1 ? negative : sample
            #expect(result[index] == expected)
        }
    }

    @Test func `a point plugin works within a region too`() throws {
        let region = Region(x: .pixels(0), y: .pixels(0), width: .pixels(9), height: .pixels(99))
        let filter = try PluginFixture.filter("threshold", ["within": .region(region)])
        let picture = Pattern.noise.picture(rect, .gray)
        let result = try filter.render(picture)
        #expect(filter.regionOfInterest(for: rect, in: rect) == [rect])
        for (pixel, (before, after)) in zip(picture.doubles, result.doubles).enumerated() {
            // Lengths count from the picture's corner, wherever that is.
            let isInside = pixel % rect.width < 9
            #expect(after == (isInside ? (before / 255 >= 0.5 ? 255 : 0) : before))
        }
    }

    @Test func `a plugin's failure comes through in its own words`() throws {
        let filter = try PluginFixture.filter("threshold", ["steps": .integer(13)])
        let error = #expect(throws: FilterError.self) { try filter.render(Pattern.noise.picture(rect)) }
        #expect(error?.description == "threshold: 13 steps bring bad luck")
    }

    @Test func `values that a plugin refuses make no filter, and the plugin says why`() {
        let error = #expect(throws: FilterError.self) {
            _ = try PluginFixture.filter("threshold", ["steps": .integer(14)])
        }
        #expect(error?.description == "threshold: 14 steps are one too many")
    }

    @Test func `a plugin that stops because it was cancelled says so`() throws {
        let fixture = try PluginFixture()
        try fixture.build("flawed")
        let cancelled = try #require(fixture.load(isCancelled: true).plugins.first).entry.makeFilter([:])
        #expect(throws: CancellationError.self) { try cancelled.render(Pattern.noise.picture(rect)) }
    }

    @Test func `a plugin that says so without being asked has failed`() throws {
        let filter = try PluginFixture.filter("flawed")
        let error = #expect(throws: FilterError.self) { try filter.render(Pattern.noise.picture(rect)) }
        #expect(
            error?.description == "flawed: says that it was cancelled, which it was not; report this to its author")
    }

    @Test func `a halo without measure is refused`() throws {
        let fixture = try PluginFixture()
        try fixture.build("flawed", ["KIND=PENUMBRA_AREA", "HALO=vast"])
        let plugin = try #require(fixture.load().plugins.first)
        let error = #expect(throws: FilterError.self) { try plugin.entry.makeFilter([:]) }
        #expect(
            error?.description
                == "flawed: the plugin asks for a halo or growth outside 0…16384; report this to its author")
    }

    @Test func `values are checked before a plugin sees them`() throws {
        let error = #expect(throws: FilterError.self) {
            try PluginFixture.filter("spread", ["distance": .integer(101)])
        }
        #expect(error?.description == "spread: 'distance' is 101.0, but must be in 0.0…100.0")
    }

    @Test(arguments: SampleFormat.allCases)
    func `a plugin that was built with the first header gives the same bytes`(format: SampleFormat) throws {
        let picture = Pattern.noise.picture(rect, .rgba, format)
        for source in ["spread", "threshold"] {
            let old = try PluginFixture.filter(
                source, [:], ["FIRST_HEADER"], headers: PluginFixture.firstHeaders)
            #expect(try old.render(picture) == PluginFixture.filter(source).render(picture))
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `a plugin reads and writes where it says`(format: SampleFormat) throws {
        let filter = try PluginFixture.filter("mirror", ["edge": .word("wrap")])
        let wider = PixelRect(x: rect.x, y: rect.y, width: rect.width + 3, height: rect.height)
        #expect(filter.extent(of: rect) == wider)
        #expect(!filter.isRowLocal(in: rect))
        let picture = Pattern.noise.picture(rect, .rgb, format)
        let truth = TruePixels(picture, light: .encoded)
        let values = wider.rows.flatMap { y in
            wider.columns.flatMap { x in
                (0..<3).map { truth.value(2 * rect.x + rect.width - 1 - x, y, $0, .wrap) }
            }
        }
        let result = try filter.render(picture)
        #expect(worstError(result, TruePixels(rect: wider, channels: 3, values: values)) == 0)
        for tile in TileGrid(extent: wider, tileWidth: 8, tileHeight: 5).tiles {
            #expect(try filter.render(picture, tile: tile) == result.cropped(to: tile))
        }
    }

    /// Ways to write where nothing may be written, and what is said.
    private static let overruns = [
        ("overrun", "outside of its tile, behind the end of row 5"),
        ("underrun", "outside of its tile, before the first row"),
        ("wrecking", "outside of its tile, behind the end of row 4"),
        ("scribbling", "before the room for its error text"),
    ]

    @Test(arguments: overruns)
    func `a plugin that writes outside of its tile fails that picture`(misdeed: (String, String)) throws {
        let filter = try PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=\(misdeed.0)"])
        for _ in 0..<2 {
            let error = #expect(throws: FilterError.self) { try filter.render(Pattern.noise.picture(rect)) }
            #expect(error?.description == "misdeed: the plugin wrote \(misdeed.1); report this to its author")
            #expect(error?.problem.isFault == true)
        }
    }

    @Test func `an error text without an end goes as far as its room`() throws {
        let filter = try PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=endless"])
        let error = #expect(throws: FilterError.self) { try filter.render(Pattern.noise.picture(rect)) }
        #expect(error?.description == "misdeed: " + String(repeating: "a", count: 1024))
    }

    @Test func `what a plugin leaves unwritten is zero, whatever was there before`() throws {
        let filter = try PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=lazy"])
        let picture = Pattern.noise.picture(rect, .rgb)
        let row = PixelRect(x: rect.x, y: rect.y + 3, width: rect.width, height: 1)
        for top in [rect.y, rect.y, rect.y + 2] {
            let tile = PixelRect(x: rect.x, y: top, width: rect.width, height: rect.bottom - top)
            let left = row.translated(x: 0, y: top - rect.y)
            let result = try filter.render(picture, tile: tile)
            #expect(result.cropped(to: left).doubles.allSatisfy { $0 == 0 })
        }
    }

    @Test func `what a failed call wrote is in no later output`() throws {
        let filter = try PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=stumbling"])
        let picture = Pattern.noise.picture(rect, .rgb)
        #expect(throws: FilterError.self) { try filter.render(picture) }
        let result = try filter.render(picture)  // without the fourth row
        let left = PixelRect(x: rect.x, y: rect.y + 3, width: rect.width, height: 1)
        #expect(result.cropped(to: left).doubles.allSatisfy { $0 == 0 })
        #expect(!picture.cropped(to: left).doubles.allSatisfy { $0 == 0 })
    }

    @Test func `a call gets many rows, however wide the picture is`() throws {
        let filter = try PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=counting"])
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 20000, height: 64), .gray, .f32)
        let result = try filter.render(picture)
        let rest = PixelRect(x: 0, y: 1, width: 20000, height: 63)  // each call leaves its mark in its first row
        #expect(result.cropped(to: rest) == picture.cropped(to: rest))
        let marks = zip(result.doubles, picture.doubles).count { $0 != $1 }
        #expect(marks > 10, "a call gets \(20000 / max(1, marks)) columns, which do not fit the cache")
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `a wide and a tall picture get every pixel of a point plugin once`(
        format: SampleFormat, layout: PixelLayout
    ) throws {
        let filter = try PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=none"])
        for rect in [
            PixelRect(x: -7, y: 3, width: 5003, height: 131), PixelRect(x: 5, y: -9, width: 1, height: 200_003),
            PixelRect(x: 0, y: 0, width: 200_003, height: 1),
        ] {
            let picture = Pattern.noise.picture(rect, layout, format, alpha: .opaque)
            #expect(try filter.render(picture) == picture, "\(rect)")
        }
    }

    @Test(arguments: SampleFormat.allCases, [PixelLayout.grayAlpha, .rgba])
    func `colours under an alpha of 0 or −0 become 0, and no other sample changes`(
        format: SampleFormat, layout: PixelLayout
    ) throws {
        let filter = try PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=none"])
        let channels = layout.channels
        var picture = Pattern.noise.picture(rect, layout, format)
        var expected = picture
        func set(_ raster: inout AnyRaster, _ change: (Int) -> Double?) {
            func apply<Sample: PixelSample>(_ own: inout Raster<Sample>) {
                for index in own.samples.indices {
                    if let value = change(index) { own.samples[index] = Sample(rounding: value) }
                }
            }
            switch format {
            case .u8: raster.modifyU8 { apply(&$0) }
            case .u16: raster.modifyU16 { apply(&$0) }
            case .f32: raster.modifyF32 { apply(&$0) }
            }
        }
        func isAlpha(_ index: Int) -> Bool { index % channels == channels - 1 }
        set(&picture) { isAlpha($0) ? [0, -0.0, 1, 200][$0 / channels % 4] : nil }
        let alphas = picture.doubles
        set(&expected) { index in
            let alpha = alphas[index / channels * channels + channels - 1]
            return isAlpha(index) ? alphas[index] : alpha == 0 ? 0 : nil
        }
        #expect(try filter.render(picture).doubles.map(\.bitPattern) == expected.doubles.map(\.bitPattern))
    }

    @Test func `a plugin that changes the floating-point mode changes it for nobody else`() throws {
        let filter = try PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=upwards"])
        _ = try filter.render(Pattern.noise.picture(rect))
        #expect(fegetround() == FE_TONEAREST)
    }

    @Test func `values that a plugin calls an identity are no work`() throws {
        #expect(try PluginFixture.filter("misdeed", ["amount": .number(0)], ["MISDEED=none"]).isIdentity)
        #expect(try !PluginFixture.filter("misdeed", ["amount": .number(1)], ["MISDEED=none"]).isIdentity)
    }
}

extension FilterError.Problem {
    fileprivate var isFault: Bool { if case .fault = self { true } else { false } }
}
