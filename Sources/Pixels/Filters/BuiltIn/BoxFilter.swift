package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `box`: a mean over a rectangle of 2·radius + 1 pixels along each axis.
///
/// `extent: expand` grows by ⌈radius⌉ on each side, per axis.
package struct BoxFilter: Filter {
    private let kernel: Box
    private let options: AreaOptions
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws(FilterError) {
        let radius = try arguments.pair("radius")
        options = try AreaOptions(arguments)
        kernel = Box(radiusX: radius.x, radiusY: radius.y)
        isIdentity = radius == (0, 0)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "box", kind: .area, summary: "Mean over a rectangle", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "radius", .numberOrPair(minimum: 0, maximum: 1000), fallback: .number(10), unit: "px",
                    summary: "the rectangle is 2·radius + 1 wide, for both axes or {x, y}")
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try BoxFilter($0) })

    package var edge: Edge { options.edge }
    package var halo: Halo { kernel.halo }

    package func extent(of input: PixelRect) -> PixelRect { options.extent(of: input, growth: halo) }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.needed(for: output, in: input, halo: halo)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { options.outputLayout(for: layout) }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.cost(layout, format, fixedPoint: 0.6, floating: 12)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel.render(
            source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
