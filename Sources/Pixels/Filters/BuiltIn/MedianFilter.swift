package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `median`: the median of a square of pixels, of every channel for itself.
///
/// `extent: expand` grows by the radius on each side.
package struct MedianFilter: Filter {
    private let kernel: Median
    private let radius: Int
    private let options: AreaOptions

    private init(_ arguments: FilterArguments) throws(FilterError) {
        radius = try arguments.integer("radius")
        options = try AreaOptions(arguments)
        kernel = Median(radius: radius)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "median", kind: .area, summary: "Median of a square: takes out specks, keeps edges",
            renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "radius", .integer(minimum: 0, maximum: 100), fallback: .integer(2), unit: "px",
                    summary: "the square is 2·radius + 1 wide")
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try MedianFilter($0) })

    package var isIdentity: Bool { radius == 0 }
    package var edge: Edge { options.edge }
    package var halo: Halo { kernel.halo }

    package func extent(of input: PixelRect) -> PixelRect { options.extent(of: input, growth: halo) }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.needed(for: output, in: input, halo: halo)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { options.outputLayout(for: layout) }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        let isSmall = radius <= 2
        return options.cost(
            layout, format, fixedPoint: isSmall ? 0.6 : 12, floating: isSmall ? 5 : 75 + 5 * Double(radius))
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel.render(
            source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
