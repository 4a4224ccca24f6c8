package import Catalogs
import JobModel
package import Kernels

/// `tone-map`: brings light that is brighter than white into the range of a display.
package struct ToneMapFilter: ColoringFilter {
    package let recoloring: Recoloring
    package let masking: MaskOptions?
    package let isIdentity = false
    private let curve: ToneMapping.Curve

    private init(_ arguments: FilterArguments) throws {
        let (peak, target) = (try arguments.number("peak"), try arguments.number("target"))
        guard peak - target > 1e-6 else {
            throw FilterError(
                filter: Self.name,
                problem: .failed(
                    reason: "'target' must be smaller than 'peak'; the display shows all of the light otherwise"))
        }
        curve = ToneMapping.Curve(rawValue: try arguments.word("curve")) ?? .bt2390
        masking = try MaskOptions(arguments)
        recoloring = Recoloring(
            .light(ToneMapping(curve, exposure: try arguments.number("exposure"), peak: peak, target: target)))
    }

    fileprivate static let name = "tone-map"

    static let entry = FilterEntry(
        FilterDescriptor(
            name: name, kind: .point, summary: "Brings light that is brighter than white into the range of a display",
            renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "curve", .choice(ToneMapping.Curve.allCases.map(\.rawValue)), fallback: .word("bt2390"),
                    summary: "Chooses how bright light becomes darker"),
                ParameterDescriptor(
                    "exposure", .number(minimum: -20, maximum: 20), fallback: .number(0), unit: "stops",
                    summary: "Brightens or darkens the picture before the curve. Each stop doubles the light"),
                ParameterDescriptor(
                    "peak", .number(minimum: 100, maximum: 10000), fallback: .number(1000), unit: "nits",
                    summary:
                        "Sets the light that becomes full intensity, and all that is brighter. White paper, the value 1, has 203 nits"
                ),
                ParameterDescriptor(
                    "target", .number(minimum: 48, maximum: 4000), fallback: .number(203), unit: "nits",
                    summary: "Sets the light of full intensity on the display"),
            ] + MaskOptions.parameters,
            rules: [.below(parameter: "target", other: "peak")] + MaskOptions.rules(of: MaskOptions.parameters),
            refusesValues: true),
        make: { try ToneMapFilter($0) })

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        let colors = Double(layout.removingAlpha.channels)
        return format == .u8 ? 0.9 * colors : 12 * colors + (curve == .bt2390 ? 25 : 5)
    }
}

extension [FilterInvocation] {
    /// Whether a filter brings all light of a picture into the range of a display, so that a picture in HDR may be read.
    package var mapTones: Bool {
        contains { $0.filter == ToneMapFilter.name && $0.values["within"] == nil && $0.values["mask"] == nil }
    }

    /// Whether a filter does so in a part of the picture, or in all of it.
    package var mapSomeTones: Bool { contains { $0.filter == ToneMapFilter.name } }
}
