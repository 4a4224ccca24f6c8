import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// Where `overlay` puts a picture, how large it is, how often, and how it mixes with what is behind it.
struct OverlayPlacementTests {
    private static let rect = PixelRect(x: -5, y: 3, width: 43, height: 37)
    private static let own = PixelRect(x: 0, y: 0, width: 10, height: 7)

    private func filter(_ front: AnyRaster, _ values: [String: ParameterValue]) throws -> any Filter {
        let pictures = PictureSource(
            picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in Layer(front) })
        return try FilterRegistry(BuiltInFilters.all, pictures: pictures).make(
            "overlay", values.merging(["picture": .picture(PictureReference(path: "/label.png"))]) { $1 })
    }

    private func front(
        _ layout: PixelLayout = .rgba, _ format: SampleFormat = .u8, _ rect: PixelRect = own
    ) -> AnyRaster {
        Pattern.noise.picture(rect, layout, format, seed: 5)
    }

    /// The filter with a whole position from the top left corner of the input.
    private func plain(_ front: AnyRaster, _ x: Int, _ y: Int) throws -> any Filter {
        try filter(front, ["x": .length(.pixels(Double(x))), "y": .length(.pixels(Double(y)))])
    }

    @Test(arguments: [
        ("top-left", 2, 3), ("top", 18, 3), ("top-right", 31, 3), ("left", 2, 18), ("center", 18, 18),
        ("right", 31, 18), ("bottom-left", 2, 27), ("bottom", 18, 27), ("bottom-right", 31, 27),
    ])
    func `distances count from the anchor, inwards`(anchor: String, x: Int, y: Int) throws {
        // 43 − 10 − 2 = 31 and 37 − 7 − 3 = 27. The middle is at 16 and 15.
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let placed = try filter(
            front(), ["anchor": .word(anchor), "x": .length(.pixels(2)), "y": .length(.pixels(3))])
        #expect(try placed.render(picture).hasSameBytes(as: plain(front(), x, y).render(picture)))
    }

    @Test func `percentages of a distance refer to the picture`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let placed = try filter(
            front(),
            ["anchor": .word("bottom-right"), "x": .length(.percent(10)), "y": .length(.percent(20))])
        // 43 − 10 − 4.3 = 28.7 and 37 − 7 − 7.4 = 22.6, on whole pixels.
        #expect(try placed.render(picture).hasSameBytes(as: plain(front(), 29, 23).render(picture)))
    }

    @Test(arguments: [
        (["width": ParameterValue.length(.percent(50))], 22, 15), (["height": .length(.pixels(21))], 30, 21),
        (["width": .length(.pixels(20)), "height": .length(.pixels(100))], 20, 14),
        (["width": .length(.pixels(0))], 1, 1),
    ])
    func `it is scaled as 'resize' does, and keeps its proportions`(
        size: [String: ParameterValue], width: Int, height: Int
    ) throws {
        for (layout, format) in [(PixelLayout.rgba, SampleFormat.u8), (.gray, .u16), (.rgb, .f32)] {
            let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
            let front = front(layout, format)
            let resize = try FilterRegistry.builtIn.make(
                "resize", ["size": .size(.sides(width: width, height: height))])
            let scaled = try resize.render(front)
            let placed = try filter(front, size.merging(["x": .length(.pixels(4))]) { $1 })
            #expect(try placed.render(picture).hasSameBytes(as: plain(scaled, 4, 0).render(picture)))
        }
    }

    @Test func `of a huge picture only the visible part is made, with the same pixels`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let values: [String: ParameterValue] = [
            "width": .length(.pixels(6000)), "x": .length(.pixels(-3000)), "y": .length(.pixels(-1500)),
        ]
        let huge = try filter(front(), values)
        let whole = try huge.render(picture)
        #expect(whole != picture)
        for tile in [PixelRect(x: 0, y: 5, width: 9, height: 3), PixelRect(x: 37, y: 39, width: 1, height: 1)] {
            #expect(try huge.render(picture, tile: tile).hasSameBytes(as: whole.cropped(to: tile)))
        }
        let tiled = try filter(front(), values.merging(["tiled": .boolean(true)]) { $1 })
        #expect(throws: FilterError.self) { try tiled.render(picture) }
    }

    @Test(arguments: [(0.0, 0.0), (3, 50)])
    func `copies are repeated over the whole picture`(pixels: Double, percent: Double) throws {
        let gap: Length = percent > 0 ? .percent(percent) : .pixels(pixels)
        let (stepX, stepY) = percent > 0 ? (15, 11) : (10, 7)
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
        let front = front()
        let tiled = try filter(
            front,
            [
                "tiled": .boolean(true), "gap": .length(gap), "x": .length(.pixels(4)), "y": .length(.pixels(-2)),
                "opacity": .number(60), "blend": .word("screen"),
            ])
        var expected = picture
        for y in stride(from: -2 - 10 * stepY, to: 60, by: stepY) {
            for x in stride(from: 4 - 10 * stepX, to: 60, by: stepX) {
                expected = try filter(
                    front,
                    [
                        "x": .length(.pixels(Double(x))), "y": .length(.pixels(Double(y))), "opacity": .number(60),
                        "blend": .word("screen"),
                    ]
                ).render(expected)
            }
        }
        let whole = try tiled.render(picture)
        #expect(whole == expected)
        for tile in [PixelRect(x: -5, y: 3, width: 1, height: 37), PixelRect(x: 11, y: 20, width: 20, height: 9)] {
            #expect(try tiled.render(picture, tile: tile).hasSameBytes(as: whole.cropped(to: tile)))
        }
    }

    // MARK: Blend modes

    /// The formulas of the W3C's Compositing and Blending Level 1, section 10, written down as they are there.
    private static func standard(_ mode: String, _ cb: [Double], _ cs: [Double]) -> [Double] {
        func lum(_ c: [Double]) -> Double { 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] }
        func clip(_ c: [Double]) -> [Double] {
            let (l, n, x) = (lum(c), c.min() ?? 0, c.max() ?? 0)
            var c = c
            if n < 0 { c = c.map { l + ($0 - l) * l / (l - n) } }
            if x > 1 { c = c.map { l + ($0 - l) * (1 - l) / (x - l) } }
            return c
        }
        func setLum(_ c: [Double], _ l: Double) -> [Double] { clip(c.map { $0 + (l - lum(c)) }) }
        func sat(_ c: [Double]) -> Double { (c.max() ?? 0) - (c.min() ?? 0) }
        func setSat(_ c: [Double], _ s: Double) -> [Double] {
            let order = [0, 1, 2].sorted { c[$0] < c[$1] }
            let (low, middle, high) = (order[0], order[1], order[2])
            var result = [0.0, 0, 0]
            if c[high] > c[low] {
                result[middle] = (c[middle] - c[low]) * s / (c[high] - c[low])
                result[high] = s
            }
            return result
        }
        func hardLight(_ b: Double, _ s: Double) -> Double {
            s <= 0.5 ? b * (2 * s) : b + (2 * s - 1) - b * (2 * s - 1)
        }
        func each(_ body: (Double, Double) -> Double) -> [Double] { zip(cb, cs).map(body) }
        switch mode {
        case "multiply": return each { $0 * $1 }
        case "screen": return each { 1 - (1 - $0) * (1 - $1) }
        case "overlay": return each { hardLight($1, $0) }
        case "darken": return each(min)
        case "lighten": return each(max)
        case "color-dodge": return each { $0 == 0 ? 0 : $1 == 1 ? 1 : min(1, $0 / (1 - $1)) }
        case "color-burn": return each { $0 == 1 ? 1 : $1 == 0 ? 0 : 1 - min(1, (1 - $0) / $1) }
        case "hard-light": return each(hardLight)
        case "soft-light":
            return each { b, s in
                let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot()
                return s <= 0.5 ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (d - b)
            }
        case "difference": return each { abs($0 - $1) }
        case "exclusion": return each { $0 + $1 - 2 * $0 * $1 }
        case "hue": return setLum(setSat(cs, sat(cb)), lum(cb))
        case "saturation": return setLum(setSat(cb, sat(cs)), lum(cb))
        case "color": return setLum(cs, lum(cb))
        case "luminosity": return setLum(cb, lum(cs))
        default: return cs
        }
    }

    private static let modes: [String] =
        FilterRegistry.builtIn.descriptors.first { $0.name == "overlay" }?.parameters
        .first { $0.name == "blend" }.flatMap { if case .choice(let words) = $0.kind { words } else { nil } } ?? []

    @Test func `all modes of the standard are there`() { #expect(Self.modes.count == 16) }

    @Test(arguments: modes)
    func `a mode mixes as the standard says, under any alpha`(mode: String) throws {
        for (layout, format) in [
            (PixelLayout.rgb, SampleFormat.u8), (.rgba, .u16), (.rgba, .f32), (.gray, .u8), (.grayAlpha, .u16),
        ] {
            let picture = Pattern.noise.picture(Self.rect, layout, format)
            let gray = layout.removingAlpha == .gray
            let front = Pattern.noise.picture(
                PixelRect(x: 0, y: 0, width: 43, height: 37), gray ? .grayAlpha : .rgba, format, seed: 8)
            let result = try filter(front, ["blend": .word(mode), "opacity": .number(70)]).render(picture)
            let (behind, over) = (TruePixels(picture, light: .encoded), TruePixels(front, light: .encoded))
            let full = format.full
            var values: [Double] = []
            for y in Self.rect.rows {
                for x in Self.rect.columns {
                    func color(_ pixels: TruePixels, _ x: Int, _ y: Int, _ alpha: Double) -> [Double] {
                        (0..<3).map { channel in
                            alpha > 0 ? pixels.value(x, y, gray ? 0 : channel, .clamp) / full / alpha : 0
                        }
                    }
                    let last = layout.channels - 1
                    let ab = layout.hasAlpha ? behind.value(x, y, last, .clamp) / full : 1
                    let whole = over.value(x + 5, y - 3, gray ? 1 : 3, .clamp) / full
                    let cb = color(behind, x, y, ab)
                    let cs = color(over, x + 5, y - 3, whole)
                    let own = whole * 0.7
                    let mixed = Self.standard(mode, cb, cs)
                    for channel in 0..<(gray ? 1 : 3) {
                        values.append(
                            full
                                * (own * (1 - ab) * cs[channel] + own * ab * mixed[channel]
                                    + (1 - own) * ab * cb[channel]))
                    }
                    if layout.hasAlpha { values.append(full * (own + ab * (1 - own))) }
                }
            }
            let truth = TruePixels(rect: Self.rect, channels: layout.channels, values: values)
            #expect(worstError(result, truth) <= format.allowedError, "\(layout) \(format)")
        }
    }

    // MARK: The shadow

    @Test(arguments: [0.0, 2.5])
    func `a shadow is the softened outline below the picture`(radius: Double) throws {
        let front = front()
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u16)
        let shaded = try filter(
            front,
            [
                "x": .length(.pixels(12)), "y": .length(.pixels(9)), "shadow": .number(80),
                "shadow_radius": .number(radius), "shadow_x": .length(.pixels(3)), "shadow_y": .length(.pixels(-2)),
                "shadow_color": .color(red: 200, green: 20, blue: 60, alpha: 255),
            ])
        let outline = TruePixels(front, light: .encoded)
        let around = PixelRect(x: -40, y: -40, width: 100, height: 100)
        let soft =
            radius == 0
            ? nil : outline.gaussian(sigmaX: radius, sigmaY: radius, edge: .transparent, output: around)
        let behind = TruePixels(picture, light: .encoded)
        var values: [Double] = []
        for y in Self.rect.rows {
            for x in Self.rect.columns {
                let (column, row) = (x + 5 - 12 - 3, y - 3 - 9 + 2)
                let inside = Self.own.contains(x: column, y: row)
                let alpha =
                    (soft?.value(column, row, 3, .clamp) ?? (inside ? outline.value(column, row, 3, .clamp) : 0)) / 255
                let isCovered = Self.own.contains(x: x + 5 - 12, y: y - 3 - 9)
                func own(_ channel: Int) -> Double {
                    isCovered ? outline.value(x + 5 - 12, y - 3 - 9, channel, .clamp) : 0
                }
                for (channel, color) in [200.0, 20, 60].enumerated() {
                    let shaded = behind.value(x, y, channel, .clamp) * (1 - 0.8 * alpha) + 0.8 * alpha * color * 257
                    values.append(own(channel) * 257 + shaded * (1 - own(3) / 255))
                }
            }
        }
        let truth = TruePixels(rect: Self.rect, channels: 3, values: values)
        #expect(worstError(try shaded.render(picture), truth) <= 10)
    }

    @Test func `tiles of a picture with a shadow have the bytes of the whole`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
        let shaded = try filter(
            front(), ["anchor": .word("center"), "width": .length(.percent(60)), "shadow": .number(50)])
        let whole = try shaded.render(picture)
        for tile in [PixelRect(x: 4, y: 8, width: 1, height: 1), PixelRect(x: 0, y: 3, width: 9, height: 20)] {
            #expect(try shaded.render(picture, tile: tile).hasSameBytes(as: whole.cropped(to: tile)))
        }
    }

    @Test func `what neither the picture nor its shadow touches keeps its bytes in every tile`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
        let shaded = try filter(
            front(),
            [
                "shadow": .number(50), "shadow_radius": .number(0), "shadow_x": .length(.pixels(20)),
                "shadow_y": .length(.pixels(15)),
            ])
        let whole = try shaded.render(picture)
        let between = PixelRect(x: 9, y: 3, width: 20, height: 10)
        #expect(whole.cropped(to: between).hasSameBytes(as: picture.cropped(to: between)))
        for tile in [between, PixelRect(x: 0, y: 5, width: 30, height: 30)] {
            #expect(try shaded.render(picture, tile: tile).hasSameBytes(as: whole.cropped(to: tile)))
        }
    }

    @Test func `a coloured shadow gives a gray picture colours, a black one leaves it gray`() throws {
        let gray = front(.grayAlpha)
        #expect(try filter(gray, ["shadow": .number(50)]).outputLayout(for: .gray) == .gray)
        let red = ParameterValue.color(red: 255, green: 0, blue: 0, alpha: 255)
        #expect(
            try filter(gray, ["shadow": .number(50), "shadow_color": red]).outputLayout(for: .grayAlpha) == .rgba)
    }

    @Test func `copies have no shadows`() {
        #expect(
            throws: FilterError(
                filter: "overlay", problem: .conflict(parameter: "tiled", value: "true", other: "shadow"))
        ) {
            try filter(front(), ["tiled": .boolean(true), "shadow": .number(50)])
        }
    }
}
