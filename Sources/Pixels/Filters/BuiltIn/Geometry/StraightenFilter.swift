package import Catalogs
package import Geometry
package import Kernels

/// `straighten`: rotates the picture a little, and crops it, so that no corner is empty.
package struct StraightenFilter: WarpFilter {
    private let angle: Double
    private let keepsShape: Bool
    private let kernel: Warp.Kernel

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "straighten", kind: .geometry,
            summary: "Turns the picture a little, and keeps the largest part without empty corners",
            renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "angle", .number(minimum: -45, maximum: 45), unit: "°",
                    summary: "Sets the angle. Degrees count counter-clockwise", requiredLike: "1.5")
            ] + appearance),
        make: { try StraightenFilter(by: $0.number("angle"), $0) })

    /// The parameters beside the angle.
    static let appearance = [
        ParameterDescriptor(
            "shape", .choice(["largest", "same"]), fallback: .word("largest"),
            summary:
                "Chooses what is kept. 'largest' is as large as possible, and 'same' has the proportions of the picture"
        ),
        Warp.Kernel.parameter,
    ]

    /// - Parameters:
    ///   - angle: in degrees, counter-clockwise; at most 45 to either side.
    ///   - arguments: with the parameters of ``appearance``.
    init(by angle: Double, _ arguments: FilterArguments) throws(FilterError) {
        self.angle = angle
        keepsShape = try arguments.word("shape") == "same"
        kernel = try Warp.Kernel(arguments)
    }

    package var isIdentity: Bool { angle == 0 }

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

    package func warp(_ input: PixelRect) -> Warp? {
        let output = extent(of: input)
        return Warp(
            Projection(
                degrees: angle, center: (Double(output.width) / 2, Double(output.height) / 2),
                pivot: input.center), kernel)
    }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { kernel.cost(format) }
}
