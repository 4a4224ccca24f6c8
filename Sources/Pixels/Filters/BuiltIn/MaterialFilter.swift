package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `material`: frosted glass in one of the styles of Apple's sample UIImage+ImageEffects (2013), over the whole picture or a
/// part of it.
package struct MaterialFilter: AreaFilter {
    private let kernel: Material
    package let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        options = try AreaOptions(arguments)
        let style = Style(rawValue: try arguments.word("style")) ?? .light
        var tint = style.tint
        if let color = try arguments.optionalColor("color") {
            tint = Paint(color).withOpacity(style.tint.opacity * Double(color.alpha) / 255)
        }
        let isOpaque = try arguments.boolean("reduce_transparency")
        kernel = Material(
            radius: isOpaque ? 0 : try arguments.optionalNumber("radius") ?? style.radius, light: options.light,
            saturation: try arguments.optionalNumber("saturation") ?? style.saturation,
            tint: isOpaque ? tint.withOpacity(1) : tint)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "material", kind: .area, summary: "Looks like frosted glass: blur, saturation and tint",
            renderingVersion: 4,
            parameters: [
                ParameterDescriptor(
                    "style", .choice(Style.allCases.map(\.rawValue)), fallback: .word("light"),
                    summary: "Chooses how bright the glass is"),
                ParameterDescriptor(
                    "color", .color,
                    summary:
                        "Sets the colour of the tint, in place of the white or gray of the style. The style 'tint' uses white"
                ),
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 1000), unit: "px",
                    summary: "Sets the standard deviation of the blur, in place of the style's"),
                ParameterDescriptor(
                    "saturation", .number(minimum: -10, maximum: 10),
                    summary: "Sets the saturation, in place of the style's. 1 keeps colours, 0 makes them gray"),
                ParameterDescriptor(
                    "reduce_transparency", .boolean, fallback: .boolean(false),
                    summary: "Makes the glass opaque: there is only the tint, and no blur", isShared: true),
                AreaOptions.edge, AreaOptions.light,
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try MaterialFilter($0) })

    package var isIdentity: Bool { false }
    package var halo: Halo { kernel.halo }

    package func extent(of input: PixelRect) -> PixelRect { input }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.cost(layout, format, fixedPoint: 12, floating: 12)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel.render(source.pixels, light: .encoded, within: options.mask(in: source.extent), into: &destination)
    }
}

/// The published styles.
private enum Style: String, CaseIterable {
    case extraLight = "extra-light"
    case light
    case dark
    case tint

    /// The standard deviation of the blur, in pixels.
    var radius: Double {
        switch self {
        case .light: 30
        case .extraLight, .dark: 20
        case .tint: 10
        }
    }

    var saturation: Double { self == .tint ? -1 : 1.8 }

    var tint: Paint {
        switch self {
        case .extraLight: Paint(white: 0.97, opacity: 0.82)
        case .light: Paint(white: 1, opacity: 0.3)
        case .dark: Paint(white: 0.11, opacity: 0.73)
        case .tint: Paint(white: 1, opacity: 0.6)
        }
    }
}
