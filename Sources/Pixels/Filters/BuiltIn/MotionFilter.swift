package import Catalogs
package import Geometry
package import Kernels

/// `motion`: a blur along a straight line, like a camera that moves at constant speed.
///
/// `extent: expand` grows by |v.x| and |v.y|, rounded up.
package struct MotionFilter: BlurFilter {
    package let kernel: Motion
    package let growth: Halo
    package let options: AreaOptions
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let radius = try arguments.number("radius")
        let velocity = MotionTaps.Velocity(radius: radius, degrees: try arguments.number("angle"))
        let isContinuous = arguments.isWord("samples")
        options = try AreaOptions(arguments)
        kernel = Motion(velocity, isContinuous ? .continuous : .samples(try arguments.integer("samples")))
        growth = Halo(
            horizontal: Int(velocity.x.magnitude.rounded(.up)), vertical: Int(velocity.y.magnitude.rounded(.up)))
        isIdentity = radius == 0
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "motion", kind: .area, summary: "Blurs along a straight line, as a moving camera does",
            renderingVersion: 4,
            parameters: [
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 1000), fallback: .number(40), unit: "px",
                    summary: "Sets half of the length of the line",
                    synonyms: [ParameterDescriptor.Synonym("length", scale: 0.5)]),
                ParameterDescriptor(
                    "angle", .number(minimum: -3600, maximum: 3600), fallback: .number(90), unit: "°",
                    summary: "Sets the direction, counter-clockwise from the right"),
                ParameterDescriptor(
                    "samples", .integerOrWord(minimum: 1, maximum: 1000, words: ["continuous"]),
                    fallback: .integer(5),
                    summary: "Sets the number of samples on each side of the middle. 'continuous' blurs without steps"),
            ] + AreaOptions.parameters,
            rules: AreaOptions.rules),
        make: { try MotionFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        // Measured for continuous lines of 80 and 600 px at 40°. Lines with few samples are up to twice as fast.
        let (bytes, floats) = (0.25 * Double(kernel.summedBytePairs), 0.25 * Double(kernel.summedPairs))
        return options.cost(layout, format, fixedPoint: 1 + bytes, floating: 10 + floats)
    }
}
