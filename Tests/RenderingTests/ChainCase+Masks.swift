import Catalogs
import Filters
import Geometry
import JobModel
import Kernels
import Raster
import TestSupport

extension FilterRegistry {
    /// The built-in filters, with a small gray picture for every path.
    static let withMask: FilterRegistry = {
        let rect = PixelRect(x: 0, y: 0, width: 12, height: 10)
        var mask = GrayPicture(width: 12, height: 10)
        mask.paste(Pattern.noise.picture(rect, .gray, .u8, seed: 9))
        let layer = Layer(Pattern.noise.picture(rect, .rgba, .u8, seed: 10))
        return FilterRegistry(
            BuiltInFilters.all,
            pictures: PictureSource(
                picture: { [mask] _, _ in mask }, layer: { _, _ in layer },
                table: { _, _ in .inverting }))
    }()
}

/// Filters that are limited to several regions, or by a picture.
extension ChainCase {
    static let masked: [ChainCase] =
        [
            masked("gaussian", ["radius": .number(4)]), masked("gaussian", ["radius": .number(0.8)]),
            masked("box", ["radius": .number(3)]), masked("disc", ["radius": .number(2.4)]),
            masked("lens-blur", ["radius": .number(3), "depth": mask]),
            masked("sharpen", ["radius": .number(1.5)]), masked("median", ["radius": .integer(2)]),
            masked("motion", ["radius": .number(9), "angle": .number(30)]), masked("zoom", ["amount": .number(30)]),
            masked("spin", ["angle": .number(25)]), masked("bilateral", ["radius": .number(1.5)]),
            masked("guided", ["radius": .integer(4)]),
            masked("non-local-means", ["patch": .integer(1), "search": .integer(2)]),
            masked("material", ["radius": .number(3)]),
            masked("levels", ["gamma": .number(1.7), "black": .number(12)], light: [:]),
            masked(
                "shadows-highlights", ["shadows": .number(80), "highlights": .number(-60), "radius": .number(3)],
                light: [:]),
            masked("clarity", ["amount": .number(90), "radius": .number(2)], light: [:]),
            masked("hue", ["angle": .number(70)], light: [:]), masked("lut", ["file": mask], light: [:]),
            masked("tone-map", ["curve": .word("reinhard"), "exposure": .number(1)], light: [:]),
            masked(
                "white-balance", ["neutral": .color(red: 200, green: 170, blue: 120, alpha: 255)], light: [:]),
            masked("overlay", ["picture": mask, "tiled": .boolean(true), "blend": .word("multiply")], light: [:]),
            masked("overlay", ["picture": mask, "x": .length(.percent(20)), "shadow": .number(60)], light: [:]),
        ].flatMap(\.self) + [
            ChainCase(
                "variable in regions with soft borders",
                [.variable(5, "linear", ["within": regions, "feather": .number(2), "inverted": .boolean(true)])]),
            ChainCase("gaussian in outlines", [.gaussian(4, ["within": outlines(grow: 0)])]),
            ChainCase("gaussian in grown outlines", [.gaussian(4, ["within": outlines(grow: 2.3)])]),
            ChainCase(
                "gaussian in outlines with soft borders",
                [.gaussian(2, ["within": outlines(grow: 0), "feather": .number(1.6)])]),
        ]

    static let mask = ParameterValue.picture(PictureReference(path: "/mask.png"))

    /// Two that overlap, and one that is far from them.
    static let regions = ParameterValue.regions(
        RegionSet([
            Region(
                x: .percent(5), y: .pixels(3.5), width: .percent(30), height: .percent(40), cornerRadius: .pixels(6)),
            Region(x: .percent(25), y: .percent(20), width: .pixels(9.25), height: .percent(50)),
            Region(x: .percent(80), y: .percent(75), width: .percent(15), height: .percent(20)),
        ]))

    /// One with a hole, and one that leaves the picture.
    private static func outlines(grow: Double) -> ParameterValue {
        .regions(
            RegionSet(
                [Region(x: .percent(80), y: .percent(75), width: .percent(15), height: .percent(20))],
                outlines: [
                    RegionOutline(
                        rings: [[4, 5, 40.5, 9, 33, 44, 8.25, 30], [14, 15, 20, 28, 26, 17]], grow: grow),
                    RegionOutline(rings: [[30, -20, 300, 12.75, 41, 35]], grow: grow),
                ]))
    }

    /// - Parameter light: for filters that have this parameter.
    private static func masked(
        _ filter: String, _ values: [String: ParameterValue],
        light: [String: ParameterValue] = ["light": .word("linear")]
    ) -> [ChainCase] {
        func with(_ name: String, _ more: [String: ParameterValue]) -> ChainCase {
            ChainCase(
                "\(filter) \(name)", [FilterInvocation(filter: filter, values: values.merging(more) { $1 })])
        }
        return [
            with("in regions", ["within": regions]),
            with("in regions with soft borders", ["within": regions, "feather": .number(1.6)]),
            with("under a mask", ["mask": mask]),
            with(
                "under a soft mask in its place, in regions, in linear light",
                [
                    "mask": mask, "mask_x": .length(.percent(10)), "mask_y": .length(.pixels(4)), "within": regions,
                    "feather": .number(3),
                ].merging(light) { $1 }),
            with("around regions and a mask", ["mask": mask, "within": regions, "inverted": .boolean(true)]),
        ]
    }
}
