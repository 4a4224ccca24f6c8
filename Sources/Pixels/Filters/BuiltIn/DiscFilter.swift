package import Catalogs
package import Kernels

/// `disc`: a mean over a disc of 2·radius + 1 pixels across, like a lens that is out of focus.
///
/// `extent: expand` grows by ⌈radius⌉ on each side.
package struct DiscFilter: BlurFilter {
    package let kernel: Disc
    private let radius: Double
    package let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        radius = try arguments.number("radius")
        options = try AreaOptions(arguments)
        kernel = Disc(radius: radius)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "disc", kind: .area, summary: "Blurs by the mean of a disc, as a lens out of focus does",
            renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 200), fallback: .number(8), unit: "px",
                    summary: "Sets the size of the disc, which is 2·radius + 1 wide")
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try DiscFilter($0) })

    package var isIdentity: Bool { radius == 0 }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.cost(layout, format, fixedPoint: 1 + 0.5 * radius, floating: 4 + 1.2 * radius)
    }
}
