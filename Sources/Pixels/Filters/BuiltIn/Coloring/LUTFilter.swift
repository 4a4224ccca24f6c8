package import Catalogs
package import Kernels

/// `lut`: a table of colours of another program.
package struct LUTFilter: ColoringFilter {
    package let recoloring: Recoloring
    package let masking: MaskOptions?
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let strength = try arguments.number("strength") / 100
        isIdentity = strength == 0
        masking = try MaskOptions(arguments)
        recoloring = Recoloring(try arguments.table("file").withStrength(strength).function)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "lut", kind: .point, summary: "Changes colours by a table (a LUT) of another program",
            renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "file", .table, summary: "Names a '.cube' file, from the folder of the manifest",
                    requiredLike: "look.cube"),
                ParameterDescriptor(
                    "strength", .number(minimum: 0, maximum: 100), fallback: .number(100), unit: "%",
                    summary: "Sets how much of the change is made"),
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try LUTFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (format == .u8 ? 2.6 : 3) * Double(layout.channels)
    }
}
