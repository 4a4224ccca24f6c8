package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `gaussian`: the radius is the standard deviation in pixels (Core Image's `inputRadius`).
///
/// `extent: expand` grows by ⌈3·radius⌉ on each side, per axis.
package struct GaussianFilter: Filter {
    private let kernel: Gaussian
    private let growth: Halo
    private let options: AreaOptions
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws(FilterError) {
        let radius = try arguments.pair("radius")
        options = try AreaOptions(arguments)
        kernel = Gaussian(sigmaX: radius.x, sigmaY: radius.y)
        growth = Halo(horizontal: Int((3 * radius.x).rounded(.up)), vertical: Int((3 * radius.y).rounded(.up)))
        isIdentity = radius == (0, 0)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "gaussian", kind: .area, summary: "Gaussian blur", renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "radius", .numberOrPair(minimum: 0, maximum: 1000), fallback: .number(10), unit: "px",
                    summary: "standard deviation, for both axes or {x, y}",
                    synonyms: [ParameterDescriptor.Synonym("sigma")])
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try GaussianFilter($0) })

    package var edge: Edge { options.edge }
    package var halo: Halo { kernel.halo }

    package func extent(of input: PixelRect) -> PixelRect { options.extent(of: input, growth: growth) }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.needed(for: output, in: input, halo: halo)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { options.outputLayout(for: layout) }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.cost(layout, format, fixedPoint: 0.5, floating: 4.5)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel.render(
            source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
