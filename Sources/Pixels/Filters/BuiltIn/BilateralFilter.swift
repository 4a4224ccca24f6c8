package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `bilateral`: a blur that keeps edges, because it averages only pixels of similar values; see ``Bilateral``.
///
/// It has no `extent`: pixels beyond the border differ from the picture in alpha, so that they would receive almost nothing.
package struct BilateralFilter: AreaFilter {
    private let kernel: Bilateral?
    package let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        let radius = try arguments.number("radius")
        let range = try arguments.number("range")
        options = try AreaOptions(arguments)
        kernel = radius == 0 ? nil : Bilateral(radius: radius, range: range / 100)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "bilateral", kind: .area, summary: "Blurs and keeps edges", renderingVersion: 3,
            parameters: [
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 50), fallback: .number(4), unit: "px",
                    summary:
                        "Sets the standard deviation of the weights for distance. The time grows with the square of the radius. "
                        + "For most gray pictures, it does not"),
                ParameterDescriptor(
                    "range", .number(minimum: 0.1, maximum: 100), fallback: .number(10), unit: "%",
                    summary:
                        "Sets the standard deviation of the weights for different values, as a part of full intensity"),
                AreaOptions.edge, AreaOptions.light,
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try BilateralFilter($0) })

    package var isIdentity: Bool { kernel == nil }
    package var halo: Halo { kernel?.halo ?? .none }

    /// Just under a nanosecond for each pixel of the window (measured for RGB on a busy core), plus a small constant. The grid
    /// for gray pictures takes about a nanosecond for each of its levels.
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        guard let kernel else { return 10 }
        let layout = outputLayout(for: layout)
        if let levels = kernel.gridLevels(layout, format, options.light) { return 20 + Double(levels) }
        let side = Double(2 * kernel.reach + 1)
        return 10 + side * side * 0.785 * (0.3 + 0.2 * Double(layout.channels))
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        guard let kernel else { return source.pixels.copyPixels(to: &destination) }
        kernel.render(source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
