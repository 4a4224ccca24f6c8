package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `spin`: a blur along arcs around a centre; see ``Spin``.
///
/// `extent: expand` grows to the bounding box of the picture's arcs.
package struct SpinFilter: AreaFilter {
    private let angle: Double
    private let x: Length
    private let y: Length
    package let options: AreaOptions

    private init(_ arguments: FilterArguments) throws {
        angle = try arguments.number("angle")
        x = try arguments.length("x")
        y = try arguments.length("y")
        options = try AreaOptions(arguments)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "spin", kind: .area, summary: "Blurs along arcs around a centre", renderingVersion: 4,
            parameters: [
                ParameterDescriptor(
                    "angle", .number(minimum: 0, maximum: 360), fallback: .number(10), unit: "°",
                    summary: "Sets the angle of the arc. Half of it is on each side of a pixel")
            ] + SweepCenter.parameters + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try SpinFilter($0) })

    package var isIdentity: Bool { angle == 0 }
    /// The halo without a picture. ``halo(in:)`` returns the real one.
    package var halo: Halo { .none }
    package var isEven: Bool { false }

    private func kernel(_ input: PixelRect) -> Spin { Spin(degrees: angle, center: SweepCenter(x, y, in: input)) }

    package func halo(in input: PixelRect) -> Halo {
        let spin = kernel(input)
        return Halo.ofSweep(over: extent(of: input)) { spin.needed(for: $0) }
    }

    package func isRowLocal(in input: PixelRect) -> Bool { edge != .wrap }

    package func extent(of input: PixelRect) -> PixelRect { options.expands ? kernel(input).swept(input) : input }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.needed(for: output, in: input) { kernel(input).needed(for: $0) }
    }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.sweepCost(layout, encoded: 70)
    }

    /// The samples of a ring are divided among its pixels in the picture. These are few if the arc reaches far beyond the
    /// picture.
    package func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double {
        let arc = SweepCenter(x, y, in: input).farthestDistance(to: input) * angle * (Double.pi / 180)
        let side = Double(max(1, min(input.width, input.height)))
        return cost(layout, format) * (1 + 8 * max(0, arc / side - 2 * Double.pi))
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel(source.extent).render(
            source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
