package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `bilateral`: a blur that keeps edges, because it averages only pixels of similar values; see ``Bilateral``.
///
/// It has no `extent`: pixels beyond the border differ from the picture in alpha, so that they would receive almost nothing.
package struct BilateralFilter: Filter {
    private let kernel: Bilateral?
    private let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        let radius = try arguments.number("radius")
        let range = try arguments.number("range")
        options = try AreaOptions(arguments)
        kernel = radius == 0 ? nil : Bilateral(radius: radius, range: range / 100)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "bilateral", kind: .area, summary: "Blurs and keeps edges", renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 50), fallback: .number(4), unit: "px",
                    summary:
                        "Sets the standard deviation of the weights for distance. Pixels beyond three of them do not count. "
                        + "The time grows with the square of the radius"),
                ParameterDescriptor(
                    "range", .number(minimum: 0.1, maximum: 100), fallback: .number(10), unit: "%",
                    summary:
                        "Sets the standard deviation of the weights for different values, as a part of full intensity"),
                AreaOptions.edge, AreaOptions.light,
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try BilateralFilter($0) })

    package var isIdentity: Bool { kernel == nil }
    package var masking: MaskOptions? { options.masking }
    package var edge: Edge { options.edge }
    package var halo: Halo { kernel?.halo ?? .none }

    package func extent(of input: PixelRect) -> PixelRect { input }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.needed(for: output, in: input, halo: halo)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { options.outputLayout(for: layout) }

    /// Just under a nanosecond for each pixel of the window (measured for RGB on a busy core), plus a small constant.
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        let side = Double(2 * halo.left + 1)
        return 10 + side * side * 0.785 * (0.3 + 0.2 * Double(outputLayout(for: layout).channels))
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        guard let kernel else { return source.pixels.copyPixels(to: &destination) }
        kernel.render(source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
