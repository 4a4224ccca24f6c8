import Arithmetic
package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `variable`: a Gaussian whose radius varies across the picture, according to a mask or a gradient. What stays sharp does not
/// get into the blur around it.
///
/// `extent: expand` grows by ⌈3·radius⌉ on each side.
package struct VariableFilter: AreaFilter {
    private let radius: Double
    private let strength: Strength
    package let options: AreaOptions
    /// The halo of the widest possible blur.
    package let halo: Halo
    package var isIdentity: Bool { radius == 0 }

    /// The factor of the radius, before the input's extent is known.
    fileprivate enum Strength {
        case mask(GrayPicture)
        case gradient(Gradient)
    }

    fileprivate struct Gradient {
        let shape: StrengthGradient.Shape
        let x: Length
        let y: Length
        let degrees: Double
        let sharp: Length
        let falloff: Length
    }

    private init(_ arguments: FilterArguments) throws {
        radius = try arguments.number("radius")
        options = try AreaOptions(arguments, masks: MaskOptions.parametersWithoutMask)
        if let mask = try arguments.picture("mask") {
            strength = .mask(mask)
        } else {
            strength = .gradient(
                Gradient(
                    shape: StrengthGradient.Shape(rawValue: try arguments.word("gradient")) ?? .tilt,
                    x: try arguments.length("x"), y: try arguments.length("y"),
                    degrees: try arguments.number("angle"), sharp: try arguments.length("sharp"),
                    falloff: try arguments.length("falloff")))
        }
        halo = Variable(radius: radius, map: .picture(GrayPicture(width: 1, height: 1))).halo
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "variable", kind: .area, summary: "Blurs with a Gaussian whose radius changes across the picture",
            renderingVersion: 3,
            parameters: [
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 200), fallback: .number(20), unit: "px",
                    summary: "Sets the largest standard deviation"),
                ParameterDescriptor(
                    "mask", .picture,
                    summary:
                        "Names a picture that Penumbra spreads over the input. White gets the full radius. Black stays sharp, and does not get into the blur"
                ),
            ] + gradient + [AreaOptions.edge, AreaOptions.extent, AreaOptions.light]
                + MaskOptions.parametersWithoutMask,
            rules: AreaOptions.rules(with: MaskOptions.parametersWithoutMask) + [
                .replaces(parameter: "mask", others: gradient.map(\.name)),
                .needs(parameter: "angle", other: "gradient", words: ["tilt", "linear"]),
            ]),
        make: { try VariableFilter($0) })

    private static let gradient = [
        ParameterDescriptor(
            "gradient", .choice(StrengthGradient.Shape.allCases.map(\.rawValue)), fallback: .word("tilt"),
            summary:
                "Chooses the shape without a mask: 'tilt' is a sharp band, 'linear' is sharp to one side, 'radial' is a sharp disc"
        ),
        ParameterDescriptor(
            "x", .length(), fallback: .length(.percent(50)),
            summary: "Sets the centre of the gradient, from the left side"),
        ParameterDescriptor(
            "y", .length(), fallback: .length(.percent(50)),
            summary: "Sets the centre of the gradient, from the top side"),
        ParameterDescriptor(
            "angle", .number(minimum: -3600, maximum: 3600), fallback: .number(90), unit: "°",
            summary: "Sets the direction in which 'tilt' and 'linear' grow, counter-clockwise from the right"),
        ParameterDescriptor(
            "sharp", .distance, fallback: .length(.percent(10)),
            summary: "Sets the distance from the centre up to which the picture stays sharp"),
        ParameterDescriptor(
            "falloff", .distance, fallback: .length(.percent(30)),
            summary: "Sets the distance over which the radius grows to its full value"),
    ]

    package var growth: Halo {
        let growth = Int((3 * radius).rounded(.up))
        return Halo(horizontal: growth, vertical: growth)
    }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        let changed = options.mask(in: input).map { $0.bounds(in: output) } ?? output
        return options.needed(for: output, in: input, halo: kernel(in: input).halo(around: changed, in: input))
    }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        options.cost(layout, format, fixedPoint: 15, floating: 40)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        // Beyond a transparent edge the strengths go on as they do for pixels of an expanded picture.
        let places = StrengthPlaces(of: source.pixels, in: source.extent) { edge.resolve($0, in: $1) ?? $0 }
        kernel(in: source.extent).render(
            source.pixels, extent: source.extent, places: places, light: options.light,
            within: options.mask(in: source.extent), into: &destination)
    }

    private func kernel(in input: PixelRect) -> Variable { Variable(radius: radius, map: map(in: input)) }

    private func map(in input: PixelRect) -> StrengthMap {
        switch strength {
        case .mask(let picture): .picture(picture)
        case .gradient(let gradient): .gradient(gradient.placed(in: input))
        }
    }
}

extension VariableFilter.Gradient {
    /// The gradient in an input. Percents of `x` and `y` refer to the input's sides. Percents of other lengths refer to the
    /// input's length along the gradient's direction (for `radial`, to the shorter side).
    fileprivate func placed(in input: PixelRect) -> StrengthGradient {
        let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        let along =
            shape == .radial
            ? Double(min(input.width, input.height))
            : cos.magnitude * Double(input.width) + sin.magnitude * Double(input.height)
        func distance(_ length: Length) -> Double {
            switch length {
            case .pixels(let pixels): pixels
            case .percent(let percent): percent * along / 100
            }
        }
        return StrengthGradient(
            shape: shape, centerX: x.coordinate(along: input.columns), centerY: y.coordinate(along: input.rows),
            degrees: degrees, sharp: distance(sharp), falloff: distance(falloff))
    }
}
