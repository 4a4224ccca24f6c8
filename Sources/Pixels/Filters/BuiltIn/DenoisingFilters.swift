package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `non-local-means`: removes noise; see ``NonLocalMeans``.
package struct NonLocalMeansFilter: AreaFilter {
    private let kernel: NonLocalMeans
    private let window: Int
    package let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        let search = try arguments.integer("search")
        window = 2 * search + 1
        options = try AreaOptions(arguments)
        kernel = NonLocalMeans(
            strength: try arguments.number("strength") / 100, patch: try arguments.integer("patch"), search: search)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "non-local-means", kind: .area,
            summary: "Removes noise, and keeps fine detail that repeats", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "strength", .number(minimum: 0.1, maximum: 100), fallback: .number(4), unit: "%",
                    summary:
                        "Sets how different pixels may be that are averaged, as a part of full intensity. Take about the "
                        + "standard deviation of the noise"),
                ParameterDescriptor(
                    "patch", .integer(minimum: 0, maximum: 8), fallback: .integer(3), unit: "px",
                    summary: "Sets how far around a pixel its surroundings are compared"),
                ParameterDescriptor(
                    "search", .integer(minimum: 1, maximum: 25), fallback: .integer(10), unit: "px",
                    summary:
                        "Sets how far away pixels are averaged. The time grows with the square of this distance"),
                AreaOptions.edge, AreaOptions.light,
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try NonLocalMeansFilter($0) })

    package var isIdentity: Bool { false }
    package var halo: Halo { kernel.halo }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        20 + Double(window * window) * (1.5 + 0.5 * Double(outputLayout(for: layout).channels))
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel.render(source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}

/// `guided`: smooths, and keeps edges; see ``GuidedSmoothing``.
package struct GuidedFilter: AreaFilter {
    private let kernel: GuidedSmoothing?
    package let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        let radius = try arguments.integer("radius")
        options = try AreaOptions(arguments)
        kernel =
            radius == 0 ? nil : GuidedSmoothing(radius: radius, strength: try arguments.number("strength") / 100)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "guided", kind: .area, summary: "Smooths and keeps edges, at nearly the same speed for every radius",
            renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "radius", .integer(minimum: 0, maximum: 200), fallback: .integer(8), unit: "px",
                    summary: "Sets half the side of the square windows that are smoothed. 0 changes nothing"),
                ParameterDescriptor(
                    "strength", .number(minimum: 0.5, maximum: 100), fallback: .number(10), unit: "%",
                    summary:
                        "Sets how much values may vary in a window to be smoothed: their standard deviation, as a part "
                        + "of full intensity"),
                AreaOptions.edge, AreaOptions.light,
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try GuidedFilter($0) })

    package var isIdentity: Bool { kernel == nil }
    package var halo: Halo { kernel?.halo ?? .none }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        outputLayout(for: layout).hasAlpha ? 40 : 20
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        guard let kernel else { return source.pixels.copyPixels(to: &destination) }
        kernel.render(source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
