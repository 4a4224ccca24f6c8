import Catalogs
import Filters
import Geometry
import JobModel
import TestSupport
import Testing

struct FilterArgumentsTests {
    private func message(_ filter: String, _ values: [String: ParameterValue]) throws -> String? {
        do {
            _ = try FilterRegistry.builtIn.make(filter, values)
            return nil
        } catch let error as FilterError {
            return error.description
        }
    }

    @Test func `a filter without values takes its fallbacks`() throws {
        #expect(try message("gaussian", [:]) == nil)
        #expect(try message("motion", [:]) == nil)
    }

    private static let names =
        "backdrop, bilateral, box, clarity, crop, crossfade, deskew, disc, flatten, flip, gaussian, gray-point, guided, hue, "
        + "lens-blur, levels, lut, material, median, motion, move, non-local-means, overlay, perspective, resize, "
        + "rotate, run, shadows-highlights, sharpen, spin, straighten, text, thumbnail, tone-map, trim, variable, "
        + "white-balance, zoom"
    private static let refused: [(String, [String: ParameterValue], String)] = [
        (
            "gausian", [:],
            "unknown filter 'gausian'; there are \(names)"
        ),
        (
            "gaussian", ["colour": .number(1)],
            "gaussian: unknown parameter 'colour'; there are radius, edge, extent, light, within, mask, mask_x, mask_y, inverted, feather"
        ),
        ("gaussian", ["radius": .number(1000.5)], "gaussian: 'radius' is 1000.5, but must be in 0.0…1000.0"),
        ("gaussian", ["radius": .pair(x: 1, y: -1)], "gaussian: 'radius' is -1.0, but must be in 0.0…1000.0"),
        ("gaussian", ["radius": .number(.nan)], "gaussian: 'radius' is nan, but must be in 0.0…1000.0"),
        ("gaussian", ["radius": .word("big")], "gaussian: 'radius' takes a number or {x, y}"),
        ("motion", ["radius": .pair(x: 1, y: 1)], "motion: 'radius' takes a number"),
        ("motion", ["samples": .integer(0)], "motion: 'samples' is 0.0, but must be in 1.0…1000.0"),
        ("motion", ["samples": .word("many")], "motion: 'samples' cannot be 'many'; there are continuous"),
        (
            "motion", ["edge": .word("black")],
            "motion: 'edge' cannot be 'black'; there are clamp, mirror, wrap, transparent"
        ),
        (
            "gaussian", ["extent": .word("expand"), "edge": .word("clamp")],
            "gaussian: 'extent: expand' does not go with 'edge'; leave one of them out"
        ),
        (
            "gaussian",
            [
                "extent": .word("expand"),
                "within": .region(Region(x: .pixels(0), y: .pixels(0), width: .pixels(1), height: .pixels(1))),
            ],
            "gaussian: 'extent: expand' does not go with 'within'; leave one of them out"
        ),
        (
            "gaussian",
            ["within": .region(Region(x: .pixels(0), y: .pixels(0), width: .pixels(-1), height: .pixels(1)))],
            "gaussian: 'within' is -1.0, but must be in 0.0…1000000000.0"
        ),
        (
            "spin", ["x": .length(.pixels(1e6))],
            "spin: 'x' is 1000000.0, but must be in -100000.0…100000.0"
        ),
        (
            "zoom", ["y": .length(.percent(-1001))],
            "zoom: 'y' is -1001.0, but must be in -1000.0…1000.0"
        ),
        (
            "crop", ["x": .length(.pixels(3)), "focus_y": .length(.percent(50))],
            "crop: 'focus_y' does not go with 'x'; leave one of them out"
        ),
        (
            "crop", ["focus_x": .length(.pixels(-1))],
            "crop: 'focus_x' is -1.0, but must be in 0.0…1000000000.0"
        ),
        (
            "thumbnail",
            ["size": .size(.box(9)), "fit": .word("cover"), "crop": .word("centre"), "focus_x": .length(.percent(50))],
            "thumbnail: 'focus_x' does not go with 'crop'; leave one of them out"
        ),
    ]

    @Test(arguments: refused)
    func `a value that does not fit is refused by name`(
        filter: String, values: [String: ParameterValue], expected: String
    ) throws {
        #expect(try message(filter, values) == expected)
    }

    @Test func `expand implies the transparent edge`() throws {
        let filter = try FilterRegistry.builtIn.make("gaussian", ["extent": .word("expand")])
        #expect(filter.edge == .transparent)
        let explicit = try FilterRegistry.builtIn.make(
            "gaussian", ["extent": .word("expand"), "edge": .word("transparent")])
        #expect(explicit.edge == .transparent)
    }

    @Test func `whole numbers are numbers too`() throws {
        let filter = try FilterRegistry.builtIn.make("gaussian", ["radius": .integer(2)])
        #expect(filter.halo == Halo(horizontal: 8, vertical: 8))
    }

    @Test func `the catalog shows all filters with their parameters`() throws {
        let descriptors = FilterRegistry.builtIn.descriptors
        #expect(
            descriptors.map(\.name) == [
                "backdrop", "bilateral", "box", "clarity", "crop", "crossfade", "deskew", "disc", "flatten",
                "flip", "gaussian", "gray-point", "guided", "hue", "lens-blur", "levels", "lut", "material", "median",
                "motion",
                "move", "non-local-means", "overlay", "perspective", "resize", "rotate", "run",
                "shadows-highlights", "sharpen", "spin", "straighten", "text", "thumbnail", "tone-map",
                "trim", "variable", "white-balance", "zoom",
            ])
        func parameters(_ name: String) -> [ParameterDescriptor] {
            descriptors.first { $0.name == name }?.parameters ?? []
        }
        let common = ["edge", "extent", "light", "within", "mask", "mask_x", "mask_y", "inverted", "feather"]
        for name in ["box", "disc", "gaussian", "median"] {
            #expect(parameters(name).map(\.name) == ["radius"] + common)
        }
        #expect(parameters("motion").map(\.name) == ["radius", "angle", "samples"] + common)
        #expect(parameters("sharpen").map(\.name) == ["radius", "amount", "threshold"] + common)
        #expect(
            parameters("lens-blur").map(\.name) == [
                "radius", "blades", "curvature", "angle", "shape", "threshold", "gain", "depth", "focus", "range",
                "near",
            ] + common)
        #expect(parameters("gaussian").first?.synonyms == [ParameterDescriptor.Synonym("sigma")])
        #expect(parameters("motion").first?.synonyms == [ParameterDescriptor.Synonym("length", scale: 0.5)])
        let required = descriptors.flatMap { filter in
            filter.parameters.filter { $0.requiredLike != nil }.map { "\(filter.name).\($0.name)" }
        }
        #expect(
            required == [
                "backdrop.x", "backdrop.y", "backdrop.width", "backdrop.height", "gray-point.x", "gray-point.y",
                "lut.file", "move.picture",
                "move.path", "overlay.picture", "perspective.corners", "resize.size", "rotate.angle", "run.command",
                "straighten.angle", "text.text", "text.font", "thumbnail.size", "white-balance.neutral",
            ])
    }
}
