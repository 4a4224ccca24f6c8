package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `straighten`: rotates the picture a little, and crops it, so that no corner is empty.
package struct StraightenFilter: Filter {
    private let angle: Double
    private let keepsShape: Bool
    private let kernel: Warp.Kernel

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "straighten", kind: .geometry,
            summary: "Turns the picture a little, and keeps the largest part without empty corners",
            renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "angle", .number(minimum: -45, maximum: 45), unit: "°",
                    summary: "Sets the angle. Degrees count counter-clockwise", requiredLike: "1.5"),
                ParameterDescriptor(
                    "shape", .choice(["largest", "same"]), fallback: .word("largest"),
                    summary:
                        "Chooses what is kept. 'largest' is as large as possible, and 'same' has the proportions of the picture"
                ),
                ParameterDescriptor(
                    "kernel", .choice(Warp.Kernel.allCases.map(\.rawValue)), fallback: .word("catmull-rom"),
                    summary: "Chooses the interpolation. 'lanczos3' is sharper and slower"),
            ]),
        make: { try StraightenFilter($0) })

    private init(_ arguments: FilterArguments) throws(FilterError) {
        angle = try arguments.number("angle")
        keepsShape = try arguments.word("shape") == "same"
        kernel = Warp.Kernel(rawValue: try arguments.word("kernel")) ?? .catmullRom
    }

    package var isIdentity: Bool { angle == 0 }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    /// Whole pixels inside of the rectangle.
    package func extent(of input: PixelRect) -> PixelRect {
        guard !input.isEmpty, !isIdentity else { return input }
        let (width, height) = (Double(input.width), Double(input.height))
        let kept =
            keepsShape
            ? InscribedRect.similar(width: width, height: height, degrees: angle)
            : InscribedRect.largest(width: width, height: height, degrees: angle)
        func side(_ value: Double) -> Int { max(1, Int((value + 1e-6).rounded(.down))) }
        return PixelRect(x: 0, y: 0, width: side(kept.width), height: side(kept.height))
    }

    private func warp(_ input: PixelRect) -> Warp {
        let output = extent(of: input)
        return Warp(
            Projection(
                degrees: angle, center: (Double(output.width) / 2, Double(output.height) / 2),
                pivot: (
                    Double(input.x) + Double(input.width) / 2, Double(input.y) + Double(input.height) / 2
                )), kernel)
    }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        guard !output.isEmpty, !input.isEmpty else { return PixelRect(x: input.x, y: input.y, width: 0, height: 0) }
        return warp(input).needed(for: output)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    package func isRowLocal(in input: PixelRect) -> Bool { false }
    package var isEven: Bool { false }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (kernel == .catmullRom ? 45 : 90) * Double(layout.channels)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        warp(source.extent).render(source.pixels, into: &destination)
    }
}
