import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// Frosted glass and panels against their definitions in float64.
struct EffectFilterTests {
    private static let rect = PixelRect(x: -5, y: 3, width: 43, height: 31)

    private static let styles: [(name: String, sigma: Double, saturation: Double, tint: TruePaint)] = [
        ("extra-light", 20, 1.8, TruePaint(0.97, 0.97, 0.97, opacity: 0.82)),
        ("light", 30, 1.8, TruePaint(1, 1, 1, opacity: 0.3)),
        ("dark", 20, 1.8, TruePaint(0.11, 0.11, 0.11, opacity: 0.73)),
        ("tint", 10, -1, TruePaint(1, 1, 1, opacity: 0.6)),
    ]

    @Test(arguments: styles.indices, SampleFormat.allCases)
    func `every style is the published blur, saturation and tint`(index: Int, format: SampleFormat) throws {
        let style = Self.styles[index]
        let filter = try FilterRegistry.builtIn.make("material", ["style": .word(style.name)])
        for layout in PixelLayout.allCases {
            for pattern in [Pattern.noise, .steps, .photograph] {
                let picture = pattern.picture(Self.rect, layout, format)
                let truth = TruePixels(picture, light: .encoded).material(
                    sigma: style.sigma, saturation: style.saturation, tint: style.tint, edge: .clamp,
                    output: Self.rect, layout, full: format.full)
                #expect(worstError(try filter.render(picture), truth) <= format.allowedEffectError, "\(layout)")
            }
        }
    }

    @Test(arguments: Edge.allCases)
    func `a material of one's own, in a part, with every edge`(edge: Edge) throws {
        let mask = RoundedRect(left: 3.5, top: 5.25, width: 25, height: 20.5, cornerRadius: 7)
        let values: [String: ParameterValue] = [
            "color": .color(red: 40, green: 90, blue: 250, alpha: 128), "radius": .number(2.5),
            "saturation": .number(0.4), "edge": .word(edge.rawValue),
            "within": .region(
                Region(
                    x: .pixels(5 + 3.5), y: .pixels(5.25 - 3), width: .pixels(25), height: .pixels(20.5),
                    cornerRadius: .pixels(7))),
        ]
        let filter = try FilterRegistry.builtIn.make("material", values)
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u16)
        let original = TruePixels(picture, light: .encoded)
        let tint = TruePaint(40 / 255, 90 / 255, 250 / 255, opacity: 0.3 * 128 / 255)
        let truth = original.material(
            sigma: 2.5, saturation: 0.4, tint: tint, edge: edge, output: Self.rect, .rgba, full: 65535
        ).blended(over: original) { mask.coverage(x: $0, y: $1) }
        #expect(worstError(try filter.render(picture), truth) <= SampleFormat.u16.allowedEffectError)
    }

    @Test func `gray stays gray, whatever the saturation`() throws {
        let picture = AnyRaster.u8(
            Raster(
                rect: Self.rect, layout: .rgb,
                samples: (0..<Self.rect.area).flatMap { pixel in
                    [UInt8](repeating: UInt8(truncatingIfNeeded: pixel * 31), count: 3)
                }))
        let values: [String: ParameterValue] = [
            "saturation": .number(10), "radius": .number(0), "color": .color(red: 0, green: 0, blue: 0, alpha: 0),
        ]
        #expect(try FilterRegistry.builtIn.make("material", values).render(picture) == picture)
    }

    @Test(arguments: styles.indices)
    func `with less transparency there is only the tint, and no halo`(index: Int) throws {
        let style = Self.styles[index]
        let filter = try FilterRegistry.builtIn.make(
            "material", ["style": .word(style.name), "reduce_transparency": .boolean(true)])
        let result = try filter.render(Pattern.noise.picture(Self.rect, .rgba, .u8))
        let level = (style.tint.red * 255).rounded()
        #expect(filter.halo.isEmpty)
        #expect(Set(result.doubles) == Set([level, 255]))
    }

    /// Its first pixel is at 2, 6; the picture's at -5, 3.
    private func panel(_ values: [String: ParameterValue]) throws -> any Filter {
        let place: [String: ParameterValue] = [
            "x": .length(.pixels(5 + 2)), "y": .length(.pixels(6 - 3)), "width": .length(.pixels(30)),
            "height": .length(.pixels(20)),
        ]
        return try FilterRegistry.builtIn.make("backdrop", place.merging(values) { $1 })
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `a panel blurs, tints, shines and has a border`(format: SampleFormat, layout: PixelLayout) throws {
        let outline = RoundedRect(left: 2, top: 6, width: 30, height: 20, cornerRadius: 8)
        let inside = RoundedRect(left: 4.5, top: 8.5, width: 25, height: 15, cornerRadius: 5.5)
        let filter = try panel([
            "radius": .number(4), "corner_radius": .length(.pixels(8)), "gloss": .number(60),
            "tint": .color(red: 250, green: 240, blue: 10, alpha: 102),
            "border_color": .color(red: 10, green: 20, blue: 200, alpha: 204), "border_width": .number(2.5),
        ])
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let original = TruePixels(picture, light: .encoded)
        let truth = original.panel(
            sigma: 4, top: 6, height: 20, tint: TruePaint(250 / 255, 240 / 255, 10 / 255, opacity: 0.4), gloss: 0.6,
            border: TruePaint(10 / 255, 20 / 255, 200 / 255, opacity: 0.8),
            borderShare: { x, y in
                let covered = outline.coverage(x: x, y: y)
                return covered > 0 ? (covered - inside.coverage(x: x, y: y)) / covered : 0
            }, output: Self.rect, layout, full: format.full
        ).blended(over: original) { outline.coverage(x: $0, y: $1) }
        #expect(worstError(try filter.render(picture), truth) <= format.allowedEffectError)
    }

    @Test func `what lies outside the panel keeps its bytes, and the blur reads it`() throws {
        var picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let filter = try panel(["radius": .number(5)])
        let result = try filter.render(picture)
        let left = PixelRect(columns: -5..<2, rows: 3..<34)
        #expect(result.cropped(to: left) == picture.cropped(to: left))
        picture.paste(AnyRaster(zeroed: left, layout: .rgb, format: .u8))
        let edge = PixelRect(x: 2, y: 10, width: 1, height: 8)
        #expect(try filter.render(picture).cropped(to: edge) != result.cropped(to: edge))
    }

    @Test func `a panel with nothing to show changes nothing`() throws {
        #expect(try panel(["radius": .number(0), "border_width": .number(3)]).isIdentity == false)
        #expect(try panel(["radius": .number(0)]).isIdentity)
    }

    @Test func `panels are seen through those above them`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let black = ParameterValue.color(red: 0, green: 0, blue: 0, alpha: 255)
        let below = try panel(["tint": black])
        let above = try panel(["radius": .number(3), "x": .length(.pixels(5 + 10))])
        let result = try above.render(below.render(picture))
        let inBoth = PixelRect(x: 20, y: 15, width: 1, height: 1)
        #expect(result.cropped(to: inBoth).doubles == [0, 0, 0])
    }
}
