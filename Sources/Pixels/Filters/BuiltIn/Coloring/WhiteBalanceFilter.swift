package import Catalogs
package import Kernels

/// `white-balance`: a colour of the picture that should be gray becomes gray.
package struct WhiteBalanceFilter: ColoringFilter {
    package let recoloring: Recoloring
    package let masking: MaskOptions?
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let color = try arguments.color("neutral")
        let channels = [color.red, color.green, color.blue]
        guard channels.allSatisfy({ $0 > 0 }) else {
            throw FilterError(
                filter: "white-balance",
                problem: .failed(
                    reason:
                        "one channel of 'neutral' is 0, and no factor makes such a colour gray; take a brighter spot"))
        }
        try self.init(NeutralBalance(neutral: channels.map { Double($0) / 255 }), arguments)
    }

    /// - Parameter arguments: those of the filter that limits the balance to a part of the picture.
    init(_ balance: NeutralBalance, _ arguments: FilterArguments) throws {
        isIdentity = balance.isIdentity
        masking = try MaskOptions(arguments)
        recoloring = Recoloring(.channels(balance))
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "white-balance", kind: .point,
            summary: "Makes a colour that should be gray gray, and shifts all others alike",
            renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "neutral", .color, summary: "Sets a colour of the picture, in sRGB, that should be gray",
                    requiredLike: "'#c8b49a'")
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters), refusesValues: true),
        make: { try WhiteBalanceFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (format == .f32 ? 60 : format == .u16 ? 2.1 : 0.8) * Double(layout.channels)
    }
}
