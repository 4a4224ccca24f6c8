package import Catalogs
package import Geometry
package import Kernels

/// `gaussian`: the radius is the standard deviation in pixels (Core Image's `inputRadius`).
///
/// `extent: expand` grows by ⌈3·radius⌉ on each side, per axis.
package struct GaussianFilter: BlurFilter {
    package let kernel: Gaussian
    package let growth: Halo
    package let options: AreaOptions
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let radius = try arguments.pair("radius")
        options = try AreaOptions(arguments)
        kernel = Gaussian(sigmaX: radius.x, sigmaY: radius.y)
        growth = Halo(horizontal: Int((3 * radius.x).rounded(.up)), vertical: Int((3 * radius.y).rounded(.up)))
        isIdentity = radius == (0, 0)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "gaussian", kind: .area, summary: "Blurs with a Gaussian", renderingVersion: 4,
            parameters: [
                ParameterDescriptor(
                    "radius", .numberOrPair(minimum: 0, maximum: 1000), fallback: .number(10), unit: "px",
                    summary: "Sets the standard deviation, for both axes or as {x, y}",
                    synonyms: [ParameterDescriptor.Synonym("sigma")])
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try GaussianFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.cost(layout, format, fixedPoint: 0.5, floating: 1.8)
    }
}
