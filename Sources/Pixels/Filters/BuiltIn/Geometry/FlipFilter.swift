package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `flip`: mirrors the picture.
package struct FlipFilter: Filter {
    private let isHorizontal: Bool

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "flip", kind: .geometry, summary: "Mirrors the picture", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "axis", .choice(["horizontal", "vertical"]), fallback: .word("horizontal"),
                    summary:
                        "Chooses the direction. 'horizontal' exchanges left and right, 'vertical' exchanges top and bottom"
                )
            ]),
        make: { FlipFilter(isHorizontal: try $0.word("axis") == "horizontal") })

    package var isIdentity: Bool { false }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { input }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        isHorizontal
            ? PixelRect(
                x: input.x + input.right - output.right, y: output.y, width: output.width, height: output.height)
            : PixelRect(
                x: output.x, y: input.y + input.bottom - output.bottom, width: output.width, height: output.height)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    package func isRowLocal(in input: PixelRect) -> Bool { isHorizontal }
    package var copiesSamples: Bool { true }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 2 }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        let input = source.extent
        let placement =
            isHorizontal
            ? Placement(origin: (input.x + input.right - 1, 0), right: (-1, 0), down: (0, 1))
            : Placement(origin: (0, input.y + input.bottom - 1), right: (1, 0), down: (0, -1))
        placement.copy(source.pixels, to: &destination)
    }
}
