package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `resize`: a change of size, up or down.
package struct ResizeFilter: Filter {
    private let scaling: Scaling

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "resize", kind: .geometry, summary: "Change the size, up or down", renderingVersion: 1,
            parameters: [
                Scaling.size,
                ParameterDescriptor(
                    "kernel", .choice(ResamplingKernel.allCases.map(\.rawValue)), fallback: .word("lanczos3"),
                    summary: "lanczos3 is sharp; box averages the pixels that are covered"),
                AreaOptions.light,
            ]),
        make: { arguments in
            let wish = try arguments.size("size")
            // A box keeps the proportions; so does one side alone.
            let isBox = if case .box = wish { true } else { false }
            return ResizeFilter(
                scaling: Scaling(
                    wish: wish, fit: isBox ? .inside : .fill, enlarges: true,
                    kernel: ResamplingKernel(rawValue: try arguments.word("kernel")) ?? .lanczos3,
                    light: Light(rawValue: try arguments.word("light")) ?? .encoded))
        })

    package var isIdentity: Bool { scaling.wish == .percent(100) }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { scaling.extent(of: input) }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        scaling.needed(for: output, in: input)
    }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    package func halo(in input: PixelRect) -> Halo { scaling.halo(in: input) }
    package func scale(in input: PixelRect) -> (x: Double, y: Double) { scaling.scale(in: input) }
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 8 * Double(layout.channels) }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        scaling.render(source, into: &destination)
    }
}
