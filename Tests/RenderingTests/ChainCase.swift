import Catalogs
import Filters
import JobModel
import Rendering
import TestSupport
import Testing

/// A chain with a name that a failing test shows.
struct ChainCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let invocations: [FilterInvocation]

    init(_ name: String, _ invocations: [FilterInvocation]) {
        testDescription = name
        self.invocations = invocations
    }

    /// Whether no stream can render it.
    var needsLastRowsFirst: Bool {
        invocations.contains { filter in
            ["rotate", "straighten", "perspective"].contains(filter.filter)
                || filter.values["axis"] == .word("vertical")
                || filter.values["edge"] == .word("wrap") && testDescription != "gaussian {9, 0} wrap"
        }
    }

    /// True when a thumbnail may have to see all of the picture.
    var choosesWhatToKeep: Bool { invocations.contains { $0.values["crop"] != nil } }

    func make() throws -> Chain { try Chain(invocations, registry: .withMask) }

    /// Every filter with every edge and extent, alone.
    static let single: [ChainCase] =
        Edge.allCases.flatMap(withEdge) + [
            ChainCase("gaussian 5 expand", [.gaussian(5, expand)]),
            ChainCase("motion 12 at 200° expand", [.motion(12, 200, expand)]),
            ChainCase("box 4.5 expand", [.family("box", .number(4.5), expand)]),
            ChainCase("disc 3.2 expand", [.family("disc", .number(3.2), expand)]),
            ChainCase("lens-blur 3.2 expand", [.family("lens-blur", .number(3.2), expand)]),
            ChainCase(
                "lens-blur 4 with depths, expand",
                [.family("lens-blur", .number(4), expand.merging(["depth": mask]) { $1 })]),
            ChainCase("sharpen 1.5 expand", [.family("sharpen", .number(1.5), expand)]),
            ChainCase("median 2 expand", [.family("median", .integer(2), expand)]),
            ChainCase("variable 4 expand", [.variable(4, "linear", expand)]),
            ChainCase(
                "variable 4 with a hard border, expand",
                [.variable(4, "linear", expand.merging(["falloff": .length(.pixels(0))]) { $1 })]),
            ChainCase("levels", [FilterInvocation(filter: "levels", values: ["gamma": .number(0.6)])]),
            ChainCase("hue", [FilterInvocation(filter: "hue", values: ["angle": .number(-100)])]),
            ChainCase(
                "shadows and highlights",
                [
                    FilterInvocation(
                        filter: "shadows-highlights", values: ["shadows": .number(70), "radius": .number(4)])
                ]),
            ChainCase(
                "clarity",
                [FilterInvocation(filter: "clarity", values: ["amount": .number(-50), "radius": .number(6)])]),
            ChainCase("lut", [FilterInvocation(filter: "lut", values: ["file": mask])]),
            ChainCase("tone-map", [FilterInvocation(filter: "tone-map", values: ["exposure": .number(2)])]),
            ChainCase(
                "white balance",
                [
                    FilterInvocation(
                        filter: "white-balance", values: ["neutral": .color(red: 90, green: 100, blue: 120, alpha: 255)]
                    )
                ]),
        ] + sweepsAndBilateral + masked

    private static func withEdge(_ edge: Edge) -> [ChainCase] {
        func values(_ more: [String: ParameterValue] = [:]) -> [String: ParameterValue] {
            more.merging(["edge": .word(edge.rawValue)]) { $1 }
        }
        return [
            ChainCase("gaussian 3 \(edge)", [.gaussian(3, values())]),
            ChainCase("gaussian {9, 0.4} \(edge)", [.gaussian(x: 9, y: 0.4, values())]),
            ChainCase("gaussian 2 linear \(edge)", [.gaussian(2, values(["light": .word("linear")]))]),
            ChainCase("motion 17 at 25° \(edge)", [.motion(17, 25, values())]),
            ChainCase("motion 6 continuous \(edge)", [.motion(6, 118, values(["samples": .word("continuous")]))]),
            ChainCase("motion 23 continuous \(edge)", [.motion(23, 33, values(["samples": .word("continuous")]))]),
            ChainCase(
                "motion 31 continuous within a pill \(edge)",
                [.motion(31, -71, values(["samples": .word("continuous"), "within": pill]))]),
            ChainCase("gaussian 4 within a pill \(edge)", [.gaussian(4, values(["within": pill]))]),
            ChainCase("box 2 \(edge)", [.family("box", .number(2), values())]),
            ChainCase(
                "box {9.3, 4} within a pill \(edge)", [.family("box", .pair(x: 9.3, y: 4), values(["within": pill]))]),
            ChainCase("disc 1.4 within a pill \(edge)", [.family("disc", .number(1.4), values(["within": pill]))]),
            ChainCase("disc 7 \(edge)", [.family("disc", .number(7), values())]),
            ChainCase(
                "lens-blur 6 with a gain \(edge)",
                [.family("lens-blur", .number(6), values(["gain": .number(4), "blades": .integer(7)]))]),
            ChainCase(
                "lens-blur 9 with depths \(edge)",
                [.family("lens-blur", .number(9), values(["depth": mask, "gain": .number(3)]))]),
            ChainCase(
                "lens-blur 5 with depths, within a pill \(edge)",
                [.family("lens-blur", .number(5), values(["depth": mask, "shape": mask, "within": pill]))]),
            ChainCase("sharpen 1 \(edge)", [.family("sharpen", .number(1), values())]),
            ChainCase(
                "sharpen 6 in light, within a pill \(edge)",
                [.family("sharpen", .number(6), values(["light": .word("linear"), "within": pill]))]),
            ChainCase("median 1 \(edge)", [.family("median", .integer(1), values())]),
            ChainCase("median 4 within a pill \(edge)", [.family("median", .integer(4), values(["within": pill]))]),
            ChainCase("variable 7 \(edge)", [.variable(7, "tilt", values())]),
            ChainCase(
                "variable 7 with a hard border \(edge)",
                [.variable(7, "linear", values(["falloff": .length(.pixels(0))]))]),
            ChainCase("variable 3 linear \(edge)", [.variable(3, "radial", values(["light": .word("linear")]))]),
            ChainCase(
                "material within a pill \(edge)",
                [FilterInvocation(filter: "material", values: values(["radius": .number(3), "within": pill]))]),
            ChainCase("backdrop \(edge)", [.backdrop(values())]),
            ChainCase("variable 12 within a pill \(edge)", [.variable(12, "linear", values(["within": pill]))]),
        ]
    }

    static let several: [ChainCase] = [
        ChainCase("gaussian, motion", [.gaussian(2), .motion(9, 60)]),
        ChainCase("wrap, wrap", [.gaussian(6, ["edge": .word("wrap")]), .motion(11, 10, ["edge": .word("wrap")])]),
        ChainCase("expand, then mirror", [.gaussian(3, expand), .gaussian(2, ["edge": .word("mirror")])]),
        ChainCase("expand twice", [.motion(5, 45, expand), .gaussian(2.5, expand)]),
        ChainCase(
            "within, wrap, transparent",
            [
                .gaussian(4, ["within": pill]), .motion(8, 90, ["edge": .word("wrap")]),
                .gaussian(1.5, ["edge": .word("transparent")]),
            ]),
        ChainCase("identity in the middle", [.gaussian(2), .motion(0, 0, expand), .motion(4, 77)]),
    ]

    /// Filters that move pixels, alone and among blurs.
    static let geometry: [ChainCase] = [
        ChainCase("thumbnail", [.thumbnail("20")]),
        ChainCase(
            "thumbnail to cover, in linear light", [.thumbnail("19x11", ["fit": .word("cover"), "light": linear])]),
        ChainCase(
            "thumbnail of what draws the eye",
            [.thumbnail("17x23", ["fit": .word("cover"), "crop": .word("attention")])]),
        ChainCase(
            "thumbnail of what varies most, blurred before and after",
            [
                .gaussian(2), .thumbnail("23x17", ["fit": .word("cover"), "crop": .word("entropy")]), .gaussian(1),
            ]),
        ChainCase("thumbnail with bars", [.thumbnail("30x30", ["fit": .word("pad"), "background": blue])]),
        ChainCase("larger", [.resize("150%"), .gaussian(2)]),
        ChainCase("smaller by a box", [.gaussian(1), .resize("17x", ["kernel": .word("box")])]),
        ChainCase("blurred, halved, blurred", [.gaussian(4), .resize("50%"), .motion(6, 30), .gaussian(3)]),
        ChainCase(
            "thumbnail around a focal point",
            [
                .thumbnail(
                    "17x23", ["fit": .word("cover"), "focus_x": .length(.percent(90)), "focus_y": .length(.pixels(3))])
            ]),
        ChainCase(
            "crop around a focal point",
            [
                .gaussian(2),
                FilterInvocation(
                    filter: "crop",
                    values: [
                        "focus_x": .length(.percent(30)), "width": .length(.pixels(20)),
                        "height": .length(.percent(60)),
                    ]),
            ]),
        ChainCase("crop", [.crop(x: 5, y: 7, width: 20, height: 30), .gaussian(3)]),
        ChainCase("expand, then crop", [.gaussian(3, expand), .crop(x: -4, y: 2, width: 30, height: 9)]),
        ChainCase("flip", [.gaussian(2), flip("horizontal")]),
        ChainCase("upside down", [flip("vertical"), .motion(7, 40)]),
        ChainCase("right", [.gaussian(2), .rotate(.word("right")), .gaussian(x: 5, y: 0)]),
        ChainCase("left, half", [.rotate(.word("left")), .rotate(.word("half"))]),
        ChainCase("33°", [.rotate(.number(33)), .gaussian(2)]),
        ChainCase("-7° by Lanczos", [.gaussian(1), .rotate(.number(-7), ["kernel": .word("lanczos3")])]),
        ChainCase("straightened", [.gaussian(2), straighten(3.3, [:])]),
        ChainCase(
            "straightened by Lanczos, of the same shape",
            [straighten(-8, ["kernel": .word("lanczos3"), "shape": .word("same")])]),
        ChainCase("perspective", [perspective([:]), .gaussian(1)]),
        ChainCase("perspective by Lanczos", [perspective(["kernel": .word("lanczos3"), "aspect": .number(2.5)])]),
        ChainCase("-100° on blue", [.thumbnail("40"), .rotate(.number(-100), ["background": blue])]),
        ChainCase(
            "flattened", [.gaussian(2, expand), FilterInvocation(filter: "flatten", values: ["background": blue])]),
    ]

    private static let linear = ParameterValue.word("linear")
    private static let blue = ParameterValue.color(red: 20, green: 40, blue: 200, alpha: 255)

    private static func straighten(_ angle: Double, _ values: [String: ParameterValue]) -> FilterInvocation {
        FilterInvocation(filter: "straighten", values: values.merging(["angle": .number(angle)]) { $1 })
    }

    private static func perspective(_ values: [String: ParameterValue]) -> FilterInvocation {
        let corners: [(Double, Double)] = [(8, 12), (85, 4), (97, 92), (-3, 80)]
        return FilterInvocation(
            filter: "perspective",
            values: values.merging(["corners": .path(corners.map { Point(x: .percent($0.0), y: .percent($0.1)) })]) {
                $1
            })
    }

    private static func flip(_ axis: String) -> FilterInvocation {
        FilterInvocation(filter: "flip", values: ["axis": .word(axis)])
    }

    static let expand: [String: ParameterValue] = ["extent": .word("expand")]

    private static let pill = ParameterValue.region(
        Region(
            x: .percent(20), y: .pixels(3.5), width: .percent(55), height: .percent(40), cornerRadius: .percent(50)))
}

extension FilterInvocation {
    static func gaussian(_ radius: Double, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        gaussian(x: radius, y: radius, values)
    }

    static func gaussian(x: Double, y: Double, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        FilterInvocation(filter: "gaussian", values: values.merging(["radius": .pair(x: x, y: y)]) { $1 })
    }

    static func motion(
        _ radius: Double, _ angle: Double, _ values: [String: ParameterValue] = [:]
    ) -> FilterInvocation {
        FilterInvocation(
            filter: "motion", values: values.merging(["radius": .number(radius), "angle": .number(angle)]) { $1 })
    }

    static func family(
        _ name: String, _ radius: ParameterValue, _ values: [String: ParameterValue] = [:]
    ) -> FilterInvocation {
        FilterInvocation(filter: name, values: values.merging(["radius": radius]) { $1 })
    }

    static func variable(
        _ radius: Double, _ gradient: String, _ values: [String: ParameterValue] = [:]
    ) -> FilterInvocation {
        FilterInvocation(
            filter: "variable",
            values: values.merging([
                "radius": .number(radius), "gradient": .word(gradient), "angle": .number(75),
                "sharp": .length(.percent(5)),
            ]) { $1 })
    }

    static func backdrop(_ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        let own: [String: ParameterValue] = [
            "x": .length(.percent(10)), "y": .length(.pixels(4.5)), "width": .length(.percent(70)),
            "height": .length(.percent(60)), "radius": .number(3), "corner_radius": .length(.percent(30)),
            "border_width": .number(1.5), "gloss": .number(50),
        ]
        return FilterInvocation(filter: "backdrop", values: values.merging(own) { $1 })
    }

    static func thumbnail(_ size: String, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        FilterInvocation(filter: "thumbnail", values: values.merging(sized(size)) { $1 })
    }

    static func resize(_ size: String, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        FilterInvocation(filter: "resize", values: values.merging(sized(size)) { $1 })
    }

    private static func sized(_ size: String) -> [String: ParameterValue] {
        SizeWish(size).map { ["size": .size($0)] } ?? [:]
    }

    static func crop(x: Double, y: Double, width: Double, height: Double) -> FilterInvocation {
        FilterInvocation(
            filter: "crop",
            values: [
                "x": .length(.pixels(x)), "y": .length(.pixels(y)), "width": .length(.pixels(width)),
                "height": .length(.pixels(height)),
            ])
    }

    static func rotate(_ angle: ParameterValue, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        FilterInvocation(filter: "rotate", values: values.merging(["angle": angle]) { $1 })
    }
}
