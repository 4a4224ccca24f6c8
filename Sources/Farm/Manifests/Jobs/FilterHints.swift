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
        if let zeroRadius { log.warning(.filter(.zeroRadius(filter: descriptor.name)), at: zeroRadius.span) }
        descriptor.rules.forEach { warnIfIdle($0, log) }
        descriptor.parameters.forEach { warnIfUnclear($0, log) }
        if let gap, gap.pixels > Self.widestGap {
            let rounded = (gap.pixels * 10).rounded() / 10
            let span = typed["samples"]?.span ?? typed["radius"]?.span ?? nameSpan
            log.warning(.filter(.fewSamples(samples: gap.samples, gap: rounded)), at: span)
        }
    }

    /// A radius that needs no worker to tell that nothing changes: of a filter that is nothing but a blur.
    var zeroRadius: ParameterTyper.Typed? {
        guard descriptor.parameters.first?.name == "radius" else { return nil }
        let zeros: [ParameterValue] = [.number(0), .integer(0), .pair(x: 0, y: 0)]
        return typed["radius"].flatMap { zeros.contains($0.value) ? $0 : nil }
    }

    private func warnIfIdle(_ rule: ParameterRule, _ log: DiagnosticLog) {
        guard case .needs(let parameter, let other, let words) = rule, let given = typed[parameter],
            case .word(let value) = values[other], !words.contains(value)
        else { return }
        let problem = FilterProblem.withoutEffect(parameter: parameter, other: other, value: value, words: words)
        log.warning(.filter(problem), at: given.keySpan)
    }

    /// Where percent are usual, as the fallback shows, a number from 0 to 100 alone is hardly meant in pixels.
    private func warnIfUnclear(_ parameter: ParameterDescriptor, _ log: DiagnosticLog) {
        if parameter.unit == "%", parameter.fallback == .number(100), let given = typed[parameter.name],
            let text = given.text, case .number(let part) = given.value, part > 0, part < 1
        {
            log.warning(
                .filter(.tinyPercent(parameter: parameter.name, written: text, meant: (100 * part).plain)),
                at: given.span)
        }
        guard case .length(.percent) = parameter.fallback, let given = typed[parameter.name], let text = given.text,
            case .length(.pixels(let pixels)) = given.value, pixels > 0, pixels <= 100, text.last?.isNumber == true
        else { return }
        log.warning(.filter(.pixelsWithoutUnit(parameter: parameter.name, written: text)), at: given.span)
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
