package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `zoom`: a blur along lines towards a centre; see ``Zoom``.
///
/// It has no `extent`: the paths of a picture have no bound as the amount approaches 100 %. With negative amounts they stay
/// inside the picture.
package struct ZoomFilter: AreaFilter {
    private let amount: Double
    private let x: Length
    private let y: Length
    package let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        amount = try arguments.number("amount") / 100
        x = try arguments.length("x")
        y = try arguments.length("y")
        options = try AreaOptions(arguments)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "zoom", kind: .area, summary: "Blurs along lines towards a centre", renderingVersion: 3,
            parameters: [
                ParameterDescriptor(
                    "amount", .number(minimum: -200, maximum: 200), fallback: .number(20), unit: "%",
                    summary:
                        "Sets the length of the lines, as a part of the way to the centre. Negative values blur away from the centre"
                )
            ] + SweepCenter.parameters + [AreaOptions.edge, AreaOptions.light] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try ZoomFilter($0) })

    package var isIdentity: Bool { amount == 0 }
    /// The halo without a picture. ``halo(in:)`` returns the real one.
    package var halo: Halo { .none }
    package var isEven: Bool { false }

    private func kernel(_ input: PixelRect) -> Zoom {
        Zoom(amount: amount, center: SweepCenter(x, y, in: input), extent: input)
    }

    package func halo(in input: PixelRect) -> Halo {
        let zoom = kernel(input)
        return Halo.ofSweep(over: input) { zoom.needed(for: $0) }
    }

    package func isRowLocal(in input: PixelRect) -> Bool { edge != .wrap }

    package func extent(of input: PixelRect) -> PixelRect { input }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.needed(for: output, in: input) { kernel(input).needed(for: $0) }
    }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.sweepCost(layout, encoded: 190)
    }

    /// Paths along the centre's row and column are sampled one by one. These are many if the centre is far away.
    package func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double {
        let distance = SweepCenter(x, y, in: input).farthestDistance(to: input)
        let side = Double(max(1, min(input.width, input.height)))
        let samples = min(distance * amount.magnitude, 8 * distance / side)
        return cost(layout, format) + 3 * max(0, samples - 16)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel(source.extent).render(
            source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
