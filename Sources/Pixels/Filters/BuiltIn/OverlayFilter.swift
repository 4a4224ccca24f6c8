package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `overlay`: another picture in front of the input.
package struct OverlayFilter: Filter {
    private let picture: AnyRaster
    private let x: Length
    private let y: Length
    private let opacity: Double

    private init(_ arguments: FilterArguments) throws {
        x = try arguments.length("x")
        y = try arguments.length("y")
        opacity = try arguments.boolean("hidden") ? 0 : try arguments.number("opacity") / 100
        picture = try arguments.layer("picture").raster
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "overlay", kind: .point, summary: "Puts another picture in front of the picture", renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "picture", .layer, summary: "Names the other picture, from the folder of the manifest",
                    requiredLike: "logo.png"),
                ParameterDescriptor(
                    "x", .length(), fallback: .length(.pixels(0)),
                    summary: "Sets its left side, from the left side of the picture"),
                ParameterDescriptor(
                    "y", .length(), fallback: .length(.pixels(0)),
                    summary: "Sets its top side, from the top side of the picture"),
                ParameterDescriptor(
                    "opacity", .number(minimum: 0, maximum: 100), fallback: .number(100), unit: "%",
                    summary: "Sets how opaque the other picture is. 0 makes it invisible"),
                ParameterDescriptor(
                    "hidden", .boolean, fallback: .boolean(false), summary: "Leaves the other picture out"),
            ]),
        make: { try OverlayFilter($0) })

    package var isIdentity: Bool { opacity == 0 }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { input }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout {
        Overlay.layout(of: layout, under: picture.layout)
    }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 8 * Double(layout.channels) }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        let input = source.extent
        let front = Overlay.Front(
            picture, x: x.coordinate(along: input.columns), y: y.coordinate(along: input.rows), opacity: opacity)
        Overlay([front]).render(source.pixels, into: &destination)
    }
}
