package import Catalogs
package import Geometry
package import Kernels

/// `sharpen`: an unsharp mask, in + amount·sign(d)·max(0, |d| − threshold) with d = in − gaussian(in).
///
/// `extent: expand` grows by ⌈3·radius⌉ on each side, like the Gaussian.
package struct SharpenFilter: BlurFilter {
    package let kernel: Sharpening
    package let growth: Halo
    package let options: AreaOptions
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let radius = try arguments.number("radius")
        let amount = try arguments.number("amount")
        options = try AreaOptions(arguments)
        kernel = Sharpening(sigma: radius, amount: amount, threshold: try arguments.number("threshold") / 100)
        let reach = Int((3 * radius).rounded(.up))
        growth = Halo(horizontal: reach, vertical: reach)
        isIdentity = radius == 0 || amount == 0
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "sharpen", kind: .area, summary: "Sharpens by an unsharp mask", renderingVersion: 4,
            parameters: [
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 1000), fallback: .number(1), unit: "px",
                    summary: "Sets the standard deviation of the Gaussian that the picture is compared with",
                    synonyms: [ParameterDescriptor.Synonym("sigma")]),
                ParameterDescriptor(
                    "amount", .number(minimum: 0, maximum: 10), fallback: .number(1),
                    summary: "Sets how much of the difference is added"),
                ParameterDescriptor(
                    "threshold", .number(minimum: 0, maximum: 100), fallback: .number(0), unit: "%",
                    summary: "Sets the difference below which pixels stay unchanged, as a part of full intensity"),
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try SharpenFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.cost(layout, format, fixedPoint: 1.2, floating: 2.8)
    }
}
