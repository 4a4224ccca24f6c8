package import Catalogs
package import JobModel

/// Warnings about filters that do what the manifest says, but probably not what the author meant.
struct FilterHints {
    let descriptor: FilterDescriptor
    /// The values of the manifest.
    let typed: [String: ParameterTyper.Typed]
    /// The values with fallbacks.
    let values: [String: ParameterValue]
    let nameSpan: SourceSpan

    /// If samples are further apart than this, edges show several times.
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

    /// A radius of 0 in a filter that is only a blur. It changes nothing, and no worker has to confirm it.
    var zeroRadius: ParameterTyper.Typed? {
        guard descriptor.parameters.first?.name == "radius" else { return nil }
        let zeros: [ParameterValue] = [.number(0), .integer(0), .pair(x: 0, y: 0)]
        return typed["radius"].flatMap { zeros.contains($0.value) ? $0 : nil }
    }

    private func warnIfIdle(_ rule: ParameterRule, _ log: DiagnosticLog) {
        switch rule {
        case .needs(let parameter, let other, let words):
            guard case .word(let value) = values[other], !words.contains(value) else { return }
            warn(log, without: parameter, other: other, value: value, words: words)
        case .idleAtMultiples(let parameter, let other, let step):
            guard let value = values[other]?.number, value.truncatingRemainder(dividingBy: step) == 0 else { return }
            warn(log, without: parameter, other: other, value: value.plain, words: [])
        case .implies, .excludes, .replaces, .belongs, .below: break
        }
    }

    private func warn(
        _ log: DiagnosticLog, without parameter: String, other: String, value: String, words: [String]
    ) {
        guard let given = typed[parameter] else { return }
        let problem = FilterProblem.withoutEffect(parameter: parameter, other: other, value: value, words: words)
        log.warning(.filter(problem), at: given.keySpan)
    }

    /// If the fallback is in percent, a number from 0 to 100 without a unit is probably not meant in pixels.
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

    /// The distance of the samples along a path: 2n + 1 samples over twice the radius. Nil for filters without samples,
    /// and if the manifest gives neither samples nor radius.
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

/// A filter in a manifest, with its position.
package struct FilterMention: Hashable, Sendable {
    package let invocation: FilterInvocation
    /// The span of its name.
    package let span: SourceSpan
    /// The path of its parameters for overrides, from the job or from its entry of `outputs:`: `filters[1].motion`,
    /// `layers[0]`.
    package let path: String
    /// Whether the reader has warned that it changes nothing.
    package let isKnownAsIdle: Bool
}

/// The remedy for an unknown filter's name.
package struct UnknownFilter {
    private let name: String
    private let catalog: Catalog

    package init(_ name: String, in catalog: Catalog) {
        self.name = name
        self.catalog = catalog
    }

    package var remedy: String { plugins.remedy(nearest: nearest) }

    var problem: FilterProblem { .unknown(name, nearest: nearest, plugins: plugins) }

    private var plugins: UnusedPlugins {
        UnusedPlugins(
            refused: catalog.unpinnedPlugins.first { Self.folded($0.libraryName) == Self.folded(name) },
            broken: catalog.pluginProblems.count, unpinned: catalog.unpinnedPlugins.count)
    }

    private var nearest: String? {
        let names = catalog.filters.map(\.name)
        let alias = Self.aliases[name.lowercased()].flatMap { names.contains($0) ? $0 : nil }
        return alias ?? Suggestion.nearest(to: name, among: names)
    }

    /// A library usually has the name of its filter, except for hyphens and capitals.
    private static func folded(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }

    /// The names that other tools have for a filter, sorted.
    static func otherNames(of filter: String) -> [String] {
        aliases.filter { $0.value == filter }.map(\.key).sorted()
    }

    /// Other tools' names for filters, in lower case. One is proposed if the catalog has the filter.
    private static let aliases = [
        "blur": "gaussian", "gaussian_blur": "gaussian", "gaussian-blur": "gaussian", "gaussianblur": "gaussian",
        "gaussblur": "gaussian", "gblur": "gaussian", "cigaussianblur": "gaussian",
        "motion_blur": "motion", "motion-blur": "motion", "motionblur": "motion", "cimotionblur": "motion",
        "box_blur": "box", "boxblur": "box", "ciboxblur": "box",
        "median_blur": "median", "medianblur": "median",
        "negate": "invert", "negative": "invert", "cicolorinvert": "invert",
    ]
}

/// Plugins that exist, but whose filters are not used.
package struct UnusedPlugins: Hashable, Sendable {
    /// The plugin that contains the filter, according to its name.
    let refused: UnpinnedPlugin?
    let broken: Int
    let unpinned: Int

    func remedy(nearest: String?) -> String {
        if let refused {
            return "\(refused.path) is there, and refused by 'plugins: pinned-only': add '\(refused.pin)' to "
                + "'plugin_pins' in the config file"
        }
        var counts: [String] = []
        if broken > 0 { counts.append("\(counted(broken, "plugin")) could not be loaded") }
        if unpinned > 0 { counts.append("\(counted(unpinned, "plugin")) refused for want of a pin") }
        return (nearest.map { "did you mean '\($0)'? " } ?? "")
            + "'penumbra filters' lists the filters your workers offer"
            + (counts.isEmpty ? "" : " (\(counts.joined(separator: ", ")))")
    }
}
