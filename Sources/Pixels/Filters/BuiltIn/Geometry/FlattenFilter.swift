package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `flatten`: puts the picture in front of a background, and drops its alpha.
package struct FlattenFilter: Filter {
    private let background: BackgroundColor

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "flatten", kind: .point,
            summary: "Puts the picture in front of a background and removes its transparency",
            renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "background", .color, fallback: .color(red: 255, green: 255, blue: 255, alpha: 255),
                    summary: "Sets the colour of the background. Its alpha is ignored")
            ]),
        make: { FlattenFilter(background: try $0.color("background")) })

    package var isIdentity: Bool { false }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { input }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout.removingAlpha }
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 4 * Double(layout.channels) }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        guard source.pixels.raster.layout.hasAlpha else { return source.pixels.copyPixels(to: &destination) }
        background.flatten(source.pixels, into: &destination)
    }
}
