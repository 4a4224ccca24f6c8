package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// A filter that changes a pixel by the brightness around it.
package protocol LocalToneFilter: Filter {
    var kernel: LocalTones { get }
}

extension LocalToneFilter {
    package var edge: Edge { .clamp }
    package var halo: Halo { kernel.halo }
    package func extent(of input: PixelRect) -> PixelRect { input }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        masking.needed(for: output, in: input) { $0.expanded(by: halo) }
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel.render(
            source.pixels, light: .encoded, within: masking?.mask(in: source.extent), into: &destination)
    }
}

extension LocalTones {
    /// The cost of the luma and of its blur, which each band computes again for the rows around it.
    fileprivate func cost(_ layout: PixelLayout) -> Double {
        (layout.hasAlpha ? 2 : 1) * (1 + Double(halo.top + halo.bottom) / 512)
    }
}

extension ParameterDescriptor {
    fileprivate static let surroundings = ParameterDescriptor(
        "radius", .number(minimum: 1, maximum: 300), fallback: .number(40), unit: "px",
        summary: "Sets how far the surroundings reach that count: the standard deviation of their blur")
}

/// `shadows-highlights`: brightens what lies in the dark, or darkens what lies in the light.
package struct ShadowsHighlightsFilter: LocalToneFilter {
    package let kernel: LocalTones
    package let masking: MaskOptions?
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let (shadows, highlights) = (try arguments.number("shadows"), try arguments.number("highlights"))
        isIdentity = shadows == 0 && highlights == 0
        masking = try MaskOptions(arguments)
        kernel = LocalTones(
            .brightness(shadows: shadows / 100, highlights: highlights / 100), radius: try arguments.number("radius"))
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "shadows-highlights", kind: .area,
            summary: "Brightens or darkens the dark and the light parts of the picture", renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "shadows", .number(minimum: -100, maximum: 100), fallback: .number(40), unit: "%",
                    summary: "Makes the dark parts brighter, or darker if it is negative"),
                ParameterDescriptor(
                    "highlights", .number(minimum: -100, maximum: 100), fallback: .number(0), unit: "%",
                    summary: "Makes the light parts brighter, or darker if it is negative"),
                .surroundings,
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try ShadowsHighlightsFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (format == .u8 ? 4 : 6.5) * Double(layout.channels) + kernel.cost(layout)
    }
}

/// `clarity`: more or less contrast between a pixel and its surroundings.
package struct ClarityFilter: LocalToneFilter {
    package let kernel: LocalTones
    package let masking: MaskOptions?
    package let isIdentity: Bool

    private init(_ arguments: FilterArguments) throws {
        let amount = try arguments.number("amount")
        isIdentity = amount == 0
        masking = try MaskOptions(arguments)
        kernel = LocalTones(.contrast(amount / 100), radius: try arguments.number("radius"))
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "clarity", kind: .area,
            summary: "Adds contrast to the middle tones, or takes it away, and leaves black and white",
            renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "amount", .number(minimum: -100, maximum: 200), fallback: .number(40), unit: "%",
                    summary: "Sets how much of the difference from the surroundings is added"),
                .surroundings,
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try ClarityFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (format == .u8 ? 2.4 : 5) * Double(layout.channels) + kernel.cost(layout)
    }
}
