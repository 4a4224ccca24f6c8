package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `lens-blur`: a blur like that of a lens, whose aperture shows in the highlights. A depth picture keeps what is in focus sharp.
///
/// `extent: expand` grows by ⌈radius⌉ on each side.
package struct LensBlurFilter: AreaFilter {
    private let radius: Double
    private let kernel: LensBlur
    private let distances: GrayPicture?
    package let options: AreaOptions

    package var isIdentity: Bool { radius == 0 }
    package var halo: Halo { kernel.halo }

    private init(_ arguments: FilterArguments) throws {
        radius = try arguments.number("radius")
        options = try AreaOptions(arguments)
        distances = try arguments.picture("depth")
        let highlights = try arguments.optionalNumber("gain").map {
            Highlights(threshold: try arguments.number("threshold") / 100, gain: $0)
        }
        let layers =
            try distances == nil
            ? nil
            : FocusLayers(
                radius: radius, focus: arguments.number("focus") / 100, range: arguments.number("range") / 100,
                isWhiteNear: arguments.word("near") == "white")
        kernel = LensBlur(
            radius: radius, aperture: try Self.aperture(arguments), highlights: highlights, layers: layers)
    }

    private static func aperture(_ arguments: FilterArguments) throws -> Aperture {
        if let picture = try arguments.picture("shape") {
            let aperture = Aperture.picture(picture)
            guard !aperture.isClosed else {
                throw FilterError(
                    filter: "lens-blur",
                    problem: .failed(
                        reason: "the picture of 'shape' is black, so that no light passes; draw it in white"))
            }
            return aperture
        }
        return .blades(
            Aperture.Blades(
                count: arguments.isWord("blades") ? 0 : try arguments.integer("blades"),
                curvature: try arguments.number("curvature") / 100, degrees: try arguments.number("angle")))
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "lens-blur", kind: .area,
            summary: "Blurs as a lens does, with an aperture, bright highlights and a focus", renderingVersion: 1,
            parameters: parameters, rules: rules, refusesValues: true),
        make: { try LensBlurFilter($0) })

    private static let parameters: [ParameterDescriptor] =
        [radius] + aperture + highlights + [depth] + focus
        + [AreaOptions.edge, AreaOptions.extent, AreaOptions.light(fallback: .linear)] + MaskOptions.parameters

    private static let rules: [ParameterRule] =
        AreaOptions.rules + [
            .replaces(parameter: "shape", others: ["blades", "curvature", "angle"]),
            .needs(parameter: "curvature", other: "blades", words: []),
            .needs(parameter: "angle", other: "blades", words: []),
            .belongs(parameter: "threshold", to: ["gain"]),
        ] + focus.map { .belongs(parameter: $0.name, to: ["depth"]) }

    private static let radius = ParameterDescriptor(
        "radius", .number(minimum: 0, maximum: 100), fallback: .number(12), unit: "px",
        summary: "Sets the largest blur. The aperture is 2·radius + 1 wide")

    private static let depth = ParameterDescriptor(
        "depth", .picture,
        summary: "Names a gray picture of the distances, which Penumbra spreads over the input. "
            + "Without it, everything is equally blurred")

    private static let aperture = [
        ParameterDescriptor(
            "blades", .integerOrWord(minimum: 3, maximum: 16, words: ["none"]), fallback: .word("none"),
            summary: "Sets the number of sides of the aperture. 'none' is a disc"),
        ParameterDescriptor(
            "curvature", .number(minimum: 0, maximum: 100), fallback: .number(0), unit: "%",
            summary: "Sets how round the sides are. 0 % is a polygon, and 100 % a disc"),
        ParameterDescriptor(
            "angle", .number(minimum: -3600, maximum: 3600), fallback: .number(0), unit: "°",
            summary: "Sets the direction of a corner of the aperture, counter-clockwise from the right"),
        ParameterDescriptor(
            "shape", .picture,
            summary: "Names a gray picture of the aperture, white on black, instead of blades"),
    ]

    private static let highlights = [
        ParameterDescriptor(
            "threshold", .number(minimum: 0, maximum: 100), fallback: .number(80), unit: "%",
            summary: "Sets the brightness from which pixels are highlights"),
        ParameterDescriptor(
            "gain", .number(minimum: 1, maximum: 100),
            summary:
                "Sets how many times brighter white is before it is blurred. Without it, highlights stay as they are"),
    ]

    private static let focus = [
        ParameterDescriptor(
            "focus", .number(minimum: 0, maximum: 100), fallback: .number(50), unit: "%",
            summary: "Sets the shade of the depth picture that is sharp. 0 % is black, and 100 % white"),
        ParameterDescriptor(
            "range", .number(minimum: 0, maximum: 100), fallback: .number(10), unit: "%",
            summary: "Sets how far the shades that are sharp lie apart"),
        ParameterDescriptor(
            "near", .choice(["white", "black"]), fallback: .word("white"),
            summary: "Chooses the shade of what is near in the depth picture"),
    ]

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        // Most pixels lie in two layers, which have more values than a pixel has.
        options.cost(
            layout, format, fixedPoint: 10 + 0.2 * kernel.loads, floating: 10 + 0.2 * kernel.loads)
            * (distances == nil ? 1 : 4)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        let depth = distances.map { picture in
            DepthMap(
                picture, extent: source.extent, columns: places(source.pixels.columns, in: source.extent.columns),
                rows: places(source.pixels.rows, in: source.extent.rows))
        }
        kernel.render(
            source.pixels, depth: depth, light: options.light, within: options.mask(in: source.extent),
            into: &destination)
    }

    /// Where depths are read for the pixels of a table. Beyond a transparent edge, the border's depth continues.
    private func places(_ table: AxisTable, in extent: Range<Int>) -> AxisTable {
        let edge = edge == .transparent ? Edge.clamp : edge
        return AxisTable(
            range: table.range,
            positions: table.range.map { Int32((edge.resolve($0, in: extent) ?? 0) - extent.lowerBound) })
    }
}
