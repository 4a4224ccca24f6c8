import Catalogs

/// Warnings about filters that do what was asked, and probably not what was meant.
struct FilterHints {
    let descriptor: FilterDescriptor
    /// What the manifest gave.
    let typed: [String: ParameterTyper.Typed]
    /// The same with fallbacks.
    let values: [String: ParameterValue]
    let nameSpan: SourceSpan

    /// Between samples further apart than this, edges show several times.
    private static let widestGap = 4.0

    func warn(_ log: DiagnosticLog) {
        if let radius = typed["radius"], radius.value == .number(0) || radius.value == .pair(x: 0, y: 0) {
            log.warning(.filter(.changesNothing(filter: descriptor.name)), at: radius.span)
        }
        if let gap, gap.pixels > Self.widestGap {
            let rounded = (gap.pixels * 10).rounded() / 10
            let span = typed["samples"]?.span ?? typed["radius"]?.span ?? nameSpan
            log.warning(.filter(.fewSamples(samples: gap.samples, gap: rounded)), at: span)
        }
    }

    /// How far apart the samples along a path are: 2n + 1 of them over twice the radius. Nil for filters without
    /// samples, and where neither they nor the radius were chosen by hand.
    private var gap: (samples: Int, pixels: Double)? {
        guard typed["samples"] != nil || typed["radius"] != nil, offersContinuous,
            case .integer(let samples) = values["samples"], samples > 0, case .number(let radius) = values["radius"]
        else { return nil }
        return (samples, radius / Double(samples))
    }

    private var offersContinuous: Bool {
        descriptor.parameters.contains { parameter in
            guard case .integerOrWord(_, _, let words) = parameter.kind else { return false }
            return parameter.name == "samples" && words.contains("continuous")
        }
    }
}
