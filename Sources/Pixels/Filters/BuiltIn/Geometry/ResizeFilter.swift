package import Catalogs
import Geometry
import Kernels
import Raster

/// `resize`: makes the picture larger or smaller.
package struct ResizeFilter: ScalingFilter {
    package let scaling: Scaling

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "resize", kind: .geometry, summary: "Makes the picture larger or smaller", renderingVersion: 2,
            parameters: [
                Scaling.size,
                ParameterDescriptor(
                    "kernel", .choice(ResamplingKernel.allCases.map(\.rawValue)), fallback: .word("lanczos3"),
                    summary: "Chooses how pixels are combined. 'lanczos3' is sharp. 'box' averages the covered pixels"),
                AreaOptions.light,
            ]),
        make: { arguments in
            let wish = try arguments.size("size")
            // A box, and a single side, keep the proportions.
            let isBox = if case .box = wish { true } else { false }
            return ResizeFilter(
                scaling: Scaling(
                    wish: wish, fit: isBox ? .inside : .fill, enlarges: true,
                    kernel: ResamplingKernel(rawValue: try arguments.word("kernel")) ?? .lanczos3,
                    light: Light(rawValue: try arguments.word("light")) ?? .encoded))
        })

    package var isIdentity: Bool { scaling.wish == .percent(100) }
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (format == .u8 ? 8 : 14) * Double(layout.channels)
    }
}
