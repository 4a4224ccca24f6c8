package import Catalogs
package import Kernels

/// `box`: a mean over a rectangle of 2·radius + 1 pixels along each axis.
///
/// `extent: expand` grows by ⌈radius⌉ on each side, per axis.
package struct BoxFilter: BlurFilter {
    package let kernel: Box
    package let options: AreaOptions
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let radius = try arguments.pair("radius")
        options = try AreaOptions(arguments)
        kernel = Box(radiusX: radius.x, radiusY: radius.y)
        isIdentity = radius == (0, 0)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "box", kind: .area, summary: "Blurs by the mean of a rectangle", renderingVersion: 3,
            parameters: [
                ParameterDescriptor(
                    "radius", .numberOrPair(minimum: 0, maximum: 1000), fallback: .number(10), unit: "px",
                    summary: "Sets the size of the rectangle, which is 2·radius + 1 wide, for both axes or as {x, y}")
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try BoxFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.cost(layout, format, fixedPoint: 0.6, words: 0.8, floating: 12)
    }
}
