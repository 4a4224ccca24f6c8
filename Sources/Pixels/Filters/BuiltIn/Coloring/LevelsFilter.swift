package import Catalogs
package import Kernels

/// `levels`: the darkest and the brightest value, and the middle between them.
package struct LevelsFilter: ColoringFilter {
    package let recoloring: Recoloring
    package let masking: MaskOptions?
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        func share(_ name: String) throws(FilterError) -> Double { try arguments.number(name) / 100 }
        let (black, white, gamma) = (try share("black"), try share("white"), try arguments.number("gamma"))
        let (darkest, brightest) = (try share("darkest"), try share("brightest"))
        // Shares may be equal where percents differ in their last digit.
        guard white - black > 1e-9 else {
            throw FilterError(
                filter: "levels",
                problem: .failed(reason: "'black' must be smaller than 'white'; there is nothing between them"))
        }
        let channel = Channel(rawValue: try arguments.word("channel")) ?? .all
        isIdentity = (black, white, gamma, darkest, brightest) == (0, 1, 1, 0, 1)
        masking = try MaskOptions(arguments)
        recoloring = Recoloring(
            .channels(
                Levels(
                    black: black, white: white, gamma: gamma, darkest: darkest, brightest: brightest,
                    channels: channel.number.map { [$0] })))
    }

    private enum Channel: String, CaseIterable {
        case all, red, green, blue

        var number: Int? { self == .all ? nil : self == .red ? 0 : self == .green ? 1 : 2 }
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "levels", kind: .point, summary: "Sets what is black and white, and how bright the middle is",
            renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "black", .number(minimum: 0, maximum: 100), fallback: .number(0), unit: "%",
                    summary: "Sets the value that becomes black, and all that is darker"),
                ParameterDescriptor(
                    "white", .number(minimum: 0, maximum: 100), fallback: .number(100), unit: "%",
                    summary: "Sets the value that becomes white, and all that is brighter"),
                ParameterDescriptor(
                    "gamma", .number(minimum: 0.1, maximum: 10), fallback: .number(1),
                    summary: "Makes the middle brighter (above 1) or darker (below 1)"),
                ParameterDescriptor(
                    "darkest", .number(minimum: 0, maximum: 100), fallback: .number(0), unit: "%",
                    summary: "Sets the value of black in the output"),
                ParameterDescriptor(
                    "brightest", .number(minimum: 0, maximum: 100), fallback: .number(100), unit: "%",
                    summary: "Sets the value of white in the output. If it is below 'darkest', the picture is inverted"),
                ParameterDescriptor(
                    "channel", .choice(Channel.allCases.map(\.rawValue)), fallback: .word("all"),
                    summary: "Chooses what changes in a picture with colours"),
            ] + MaskOptions.parameters,
            rules: [.below(parameter: "black", other: "white")] + MaskOptions.rules(of: MaskOptions.parameters),
            refusesValues: true),
        make: { try LevelsFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        // Bytes without alpha are looked up many at a time.
        (format == .f32 ? 30 : format == .u16 ? 2.1 : layout.hasAlpha ? 1.2 : 0.4) * Double(layout.channels)
    }
}
