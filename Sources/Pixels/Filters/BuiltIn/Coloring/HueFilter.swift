package import Catalogs
package import Kernels

/// `hue`: a rotation of all hues, as by `hue-rotate` of CSS.
package struct HueFilter: ColoringFilter {
    package let recoloring: Recoloring
    package let masking: MaskOptions?
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let angle = try arguments.number("angle")
        isIdentity = angle.truncatingRemainder(dividingBy: 360) == 0
        masking = try MaskOptions(arguments)
        recoloring = Recoloring(.colors(HueRotation(degrees: angle)))
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "hue", kind: .point, summary: "Turns all hues, from red to green to blue", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "angle", .number(minimum: -360, maximum: 360), fallback: .number(90), unit: "°",
                    summary: "Sets how far hues turn, as 'hue-rotate' of CSS does")
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try HueFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (format == .u8 ? 0.7 : format == .u16 ? 0.9 : 1.2) * Double(layout.channels)
    }
}
