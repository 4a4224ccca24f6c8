package import Catalogs
package import Kernels

/// `median`: the median of a square of pixels, separately for every channel.
///
/// `extent: expand` grows by the radius on each side.
package struct MedianFilter: BlurFilter {
    package let kernel: Median
    private let radius: Int
    package let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        radius = try arguments.integer("radius")
        options = try AreaOptions(arguments)
        kernel = Median(radius: radius)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "median", kind: .area,
            summary: "Removes specks and keeps edges: each pixel becomes the median of a square",
            renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "radius", .integer(minimum: 0, maximum: 100), fallback: .integer(2), unit: "px",
                    summary: "Sets the size of the square, which is 2·radius + 1 wide")
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try MedianFilter($0) })

    package var isIdentity: Bool { radius == 0 }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        let isSmall = radius <= 2
        return options.cost(
            layout, format, fixedPoint: isSmall ? 0.6 : 12, words: isSmall ? 0.9 : nil,
            floating: isSmall ? 5 : 75 + 5 * Double(radius))
    }
}
