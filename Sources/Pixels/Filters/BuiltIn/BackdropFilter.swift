package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `backdrop`: a panel that blurs the picture behind it, with rounded corners, a border, a tint and a gloss.
package struct BackdropFilter: Filter {
    private let region: Region
    private let radius: Double
    private let light: Light
    private let tint: Paint
    private let border: Paint
    private let borderWidth: Double
    private let gloss: Double
    package let edge: Edge
    package let halo: Halo

    private init(_ arguments: FilterArguments) throws(FilterError) {
        region = Region(
            x: try arguments.length("x"), y: try arguments.length("y"), width: try arguments.length("width"),
            height: try arguments.length("height"), cornerRadius: try arguments.length("corner_radius"))
        radius = try arguments.number("radius")
        light = Light(rawValue: try arguments.word("light")) ?? .encoded
        edge = Edge(rawValue: try arguments.word("edge")) ?? .clamp
        tint = Paint(try arguments.color("tint"))
        border = Paint(try arguments.color("border_color"))
        borderWidth = try arguments.number("border_width")
        gloss = try arguments.number("gloss") / 100
        halo = Gaussian(radius: radius).halo
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "backdrop", kind: .area, summary: "Draws a panel that blurs the picture behind it",
            renderingVersion: 3,
            parameters: [
                ParameterDescriptor(
                    "x", .length(), summary: "Sets the left side of the panel, from the left side of the picture",
                    requiredLike: "10%"),
                ParameterDescriptor(
                    "y", .length(), summary: "Sets the top side of the panel, from the top side of the picture",
                    requiredLike: "10%"),
                ParameterDescriptor("width", .distance, summary: "Sets the width of the panel", requiredLike: "200"),
                ParameterDescriptor("height", .distance, summary: "Sets the height of the panel", requiredLike: "80"),
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 1000), fallback: .number(1), unit: "px",
                    summary: "Sets the standard deviation of the blur"),
                ParameterDescriptor(
                    "corner_radius", .distance, fallback: .length(.pixels(0)),
                    summary:
                        "Sets the radius of the corners. A percentage is a part of the panel's shorter side: 50% makes a pill"
                ),
                ParameterDescriptor(
                    "tint", .color, fallback: clear,
                    summary: "Sets the colour over the blurred picture. #rrggbbaa lets the picture show through"),
                ParameterDescriptor("border_color", .color, fallback: black, summary: "Sets the colour of the border"),
                ParameterDescriptor(
                    "border_width", .number(minimum: 0, maximum: 1000), fallback: .number(0), unit: "px",
                    summary: "Sets the width of the border, which is inside the panel"),
                ParameterDescriptor(
                    "gloss", .number(minimum: 0, maximum: 100), fallback: .number(0), unit: "%",
                    summary: "Sets the strength of a white shine from the top side to the middle"),
                AreaOptions.edge, AreaOptions.light,
            ]),
        make: { try BackdropFilter($0) })

    private static let clear = ParameterValue.color(red: 0, green: 0, blue: 0, alpha: 0)
    private static let black = ParameterValue.color(red: 0, green: 0, blue: 0, alpha: 255)

    package var isIdentity: Bool {
        radius == 0 && tint.opacity == 0 && gloss == 0 && (borderWidth == 0 || border.opacity == 0)
    }

    package func extent(of input: PixelRect) -> PixelRect { input }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        let changed = outline(in: input).bounds(in: output)
        return changed.isEmpty ? output : output.union(changed.expanded(by: halo))
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout {
        edge == .transparent ? layout.addingAlpha : layout
    }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 4 * Double(layout.channels) }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        let outline = outline(in: source.extent)
        let kernel = Panel(
            radius: radius, light: light, outline: outline, tint: tint, border: border, borderWidth: borderWidth,
            gloss: gloss)
        kernel.render(source.pixels, light: .encoded, within: Mask(outline), into: &destination)
    }

    private func outline(in input: PixelRect) -> RoundedRect { RoundedRect(region, in: input) }
}
