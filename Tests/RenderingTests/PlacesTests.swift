import Catalogs
import Filters
import Geometry
import JobModel
import Kernels
import Raster
import Rendering
import TestSupport
import Testing

/// A parameter that names a place counts from the picture that its filter gets, whatever was cut off or added before.
struct PlacesTests {
    private static let whole = PixelRect(x: 0, y: 0, width: 96, height: 80)
    private static let kept = PixelRect(x: 23, y: 17, width: 60, height: 51)

    private static let place: [String: ParameterValue] = [
        "x": .length(.pixels(11)), "y": .length(.percent(30)),
    ]
    private static let within = [
        "within": ParameterValue.region(
            Region(
                x: .pixels(9.5), y: .percent(20), width: .pixels(30), height: .percent(40), cornerRadius: .pixels(5)))
    ]

    private static func filter(_ name: String, _ values: [String: ParameterValue]) -> ChainCase {
        ChainCase(name, [FilterInvocation(filter: name, values: values)])
    }

    private static let cases: [ChainCase] = [
        filter(
            "overlay",
            place.merging(["picture": .picture(PictureReference(path: "/logo.png"))]) { $1 }),
        filter(
            "backdrop",
            [
                "x": .length(.pixels(7)), "y": .length(.pixels(5)), "width": .length(.pixels(31)),
                "height": .length(.percent(50)), "tint": .color(red: 200, green: 30, blue: 40, alpha: 160),
                "border_width": .number(3), "gloss": .number(40), "radius": .number(0),
            ]),
        filter("zoom", place.merging(["amount": .number(12)]) { $1 }),
        filter("spin", place.merging(["angle": .number(7)]) { $1 }),
        filter(
            "variable",
            place.merging([
                "gradient": .word("radial"), "radius": .number(1.5), "sharp": .length(.pixels(6)),
                "falloff": .length(.percent(40)),
            ]) { $1 }),
        filter("variable", ["mask": .picture(PictureReference(path: "/mask.png")), "radius": .number(1.5)]),
        filter(
            "move",
            [
                "picture": .picture(PictureReference(path: "/logo.png")), "frame": .integer(4), "radius": .number(3),
                "path": .path([
                    Point(x: .pixels(5), y: .percent(10)), Point(x: .percent(60), y: .pixels(37.5)),
                ]),
            ]),
        filter(
            "crop",
            place.merging(["width": .length(.pixels(20)), "height": .length(.percent(40))]) { $1 }),
        filter("gaussian", within.merging(["radius": .number(1.5)]) { $1 }),
        filter("box", within.merging(["radius": .number(2)]) { $1 }),
        filter("disc", within.merging(["radius": .number(2)]) { $1 }),
        filter("lens-blur", ["depth": .picture(PictureReference(path: "/mask.png")), "radius": .number(2)]),
        filter("median", within.merging(["radius": .integer(2)]) { $1 }),
        filter("bilateral", within.merging(["radius": .number(1)]) { $1 }),
        filter("sharpen", within.merging(["radius": .number(1)]) { $1 }),
        filter("motion", within.merging(["radius": .number(6)]) { $1 }),
        filter("material", within.merging(["style": .word("light"), "radius": .number(2)]) { $1 }),
    ]

    private static let mask: GrayPicture = {
        var mask = GrayPicture(width: 12, height: 10)
        mask.paste(Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 12, height: 10), .gray, .u8, seed: 9))
        return mask
    }()

    private static let registry = FilterRegistry(
        BuiltInFilters.all,
        pictures: PictureSource(
            picture: { _, _ in mask },
            layer: { _, _ in
                Layer(Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 13, height: 9), .rgba, .u8, seed: 4))
            }))

    private func render(_ invocations: [FilterInvocation], _ picture: AnyRaster) throws -> AnyRaster {
        let chain = try Chain(invocations, registry: Self.registry)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        let result = try chain.render(plan.output, from: picture)
        return result.translated(x: -plan.output.x, y: -plan.output.y)
    }

    /// Grids of multirate blurs hang on absolute coordinates, so a level is left.
    @Test(arguments: cases)
    func `a place counts from the picture as it was cropped`(chainCase: ChainCase) throws {
        let picture = Pattern.noise.picture(Self.whole, .rgba)
        let crop = FilterInvocation(
            filter: "crop",
            values: [
                "x": .length(.pixels(Double(Self.kept.x))), "y": .length(.pixels(Double(Self.kept.y))),
                "width": .length(.pixels(Double(Self.kept.width))),
                "height": .length(.pixels(Double(Self.kept.height))),
            ])
        let once = try render([crop] + chainCase.invocations, picture)
        let saved = picture.cropped(to: Self.kept).translated(x: -Self.kept.x, y: -Self.kept.y)
        let twice = try render(chainCase.invocations, saved)
        #expect(once.rect == twice.rect)
        #expect(once != saved, "the filter does something")
        #expect(worstError(once, TruePixels(twice, light: .encoded)) <= 1)
    }

    @Test(arguments: cases)
    func `a place counts from the picture as it has grown`(chainCase: ChainCase) throws {
        let picture = Pattern.noise.picture(Self.kept, .rgba)
        let grow = FilterInvocation(filter: "box", values: ["radius": .number(5), "extent": .word("expand")])
        let once = try render([grow] + chainCase.invocations, picture)
        let twice = try render(chainCase.invocations, try render([grow], picture))
        #expect(once.rect == twice.rect)
        #expect(worstError(once, TruePixels(twice, light: .encoded)) <= 1)
    }

    /// A tile or a preview is not the picture that a place counts from.
    @Test(arguments: cases)
    func `tiles after a crop have the bytes of the whole`(chainCase: ChainCase) throws {
        let picture = Pattern.noise.picture(Self.whole, .rgba)
        let crop = FilterInvocation(
            filter: "crop", values: ["x": .length(.pixels(23)), "y": .length(.percent(20))])
        let chain = try Chain([crop] + chainCase.invocations, registry: Self.registry)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        let whole = try chain.render(plan.output, from: picture)
        for y in stride(from: plan.output.y, to: plan.output.bottom, by: 13) {
            for x in stride(from: plan.output.x, to: plan.output.right, by: 17) {
                let tile = PixelRect(x: x, y: y, width: 17, height: 13).intersection(plan.output)
                #expect(try chain.render(tile, from: picture) == whole.cropped(to: tile))
            }
        }
    }
}
