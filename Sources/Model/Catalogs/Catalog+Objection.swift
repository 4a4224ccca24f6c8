/// Limits of a catalog. Plugins describe themselves, and their code runs in the process that prints the catalog. So it is
/// checked before anything is done with it.
package enum CatalogLimits {
    /// In bytes, for names, words, units and examples.
    package static let name = 1000
    /// In bytes, for sentences and paths. The system's longest path has 4,096 bytes, and a sentence may have three of them.
    package static let sentence = 16_000
    /// For filters, formats, versions and problems. An installation has some dozens.
    package static let entries = 10_000
    /// For the parameters of a filter, its rules, and the words of a parameter.
    package static let parts = 1000
    /// For the parameters of all filters together.
    package static let references = 100_000
    /// For the missing parts of a sandbox, which has three parts.
    package static let missingParts = 10
    /// The unit of an animation's times, in milliseconds.
    package static let frameTimes = 1...60_000
}

extension Catalog {
    /// Why it cannot be an installation's catalog. Nil if it can.
    package var objection: String? {
        let lists = [
            versions.count, filters.count, formats.count, missingFormats.count, pluginProblems.count,
            unpinnedPlugins.count,
        ]
        if let most = lists.max(), most > CatalogLimits.entries { return "a catalog with \(most) entries of a kind" }
        let ofNames = versions.lazy.compactMap { Self.objection(toNames: [$0, $1]) }.first
        let ofOffers =
            filters.lazy.compactMap(\.objection).first ?? formats.lazy.compactMap(\.objection).first
            ?? missingFormats.lazy.compactMap(\.objection).first
        return ofNames ?? ofOffers ?? Self.objection(toSentences: pluginProblems) ?? sandbox.objection
            ?? Self.objection(toSentences: unpinnedPlugins.flatMap { [$0.path, $0.sha256] })
    }

    /// Why texts cannot be names. Nil if they can.
    package static func objection(toNames names: [String]) -> String? {
        names.lazy.map(\.utf8.count).first { $0 > CatalogLimits.name }.map { "a name of \($0) bytes" }
    }

    /// Why texts cannot be sentences. Nil if they can.
    package static func objection(toSentences sentences: [String]) -> String? {
        sentences.lazy.map(\.utf8.count).first { $0 > CatalogLimits.sentence }.map { "a text of \($0) bytes" }
    }
}

extension SandboxReport {
    /// Why no worker can have reported it. Nil if a worker can.
    package var objection: String? {
        guard missing.count <= CatalogLimits.missingParts else {
            return "a sandbox with \(missing.count) missing parts"
        }
        return Catalog.objection(toSentences: missing)
    }
}

extension MissingFormat {
    fileprivate var objection: String? {
        if extensions.count > CatalogLimits.parts { return "a format with \(extensions.count) extensions" }
        return Catalog.objection(toNames: extensions) ?? Catalog.objection(toSentences: [reason, remedy])
    }
}

extension FilterDescriptor {
    fileprivate var objection: String? {
        if max(parameters.count, rules.count) > CatalogLimits.parts {
            return "a filter with \(parameters.count) parameters and \(rules.count) rules"
        }
        let path: String? = if case .plugin(let path) = origin { path } else { nil }
        return Catalog.objection(toNames: [name])
            ?? Catalog.objection(toSentences: [summary, path].compactMap { $0 })
            ?? parameters.lazy.compactMap(\.objection).first
            ?? rules.lazy.compactMap { Catalog.objection(toWords: $0.words) }.first
    }
}

extension FormatDescriptor {
    fileprivate var objection: String? {
        if let frameTime, !CatalogLimits.frameTimes.contains(frameTime) {
            return "a format with times in steps of \(frameTime) ms"
        }
        guard options.count <= CatalogLimits.parts else { return "a format with \(options.count) options" }
        guard sampleLimits.count <= CatalogLimits.parts else {
            return "a format with \(sampleLimits.count) limits of its samples"
        }
        guard conditions.count <= CatalogLimits.parts else {
            return "a format with \(conditions.count) conditions of its options"
        }
        return Catalog.objection(toNames: [name] + sampleLimits.map(\.option) + conditions.map(\.other))
            ?? Catalog.objection(toWords: extensions)
            ?? conditions.lazy.compactMap { Catalog.objection(toWords: $0.options) }.first
            ?? options.lazy.compactMap(\.objection).first
    }
}

extension Catalog {
    fileprivate static func objection(toWords words: [String]) -> String? {
        words.count > CatalogLimits.parts ? "a list of \(words.count) words" : objection(toNames: words)
    }
}

extension ParameterDescriptor {
    fileprivate var objection: String? {
        Catalog.objection(toNames: [name, unit, requiredLike ?? ""])
            ?? Catalog.objection(toWords: synonyms.map(\.name) + kind.words)
            ?? Catalog.objection(toSentences: [summary] + kind.sentences)
            ?? (kind.hasRange ? nil : "a parameter without a range of values")
    }
}

extension ParameterKind {
    fileprivate var words: [String] {
        switch self {
        case .numberOrWord(_, _, let words), .integerOrWord(_, _, let words), .choice(let words): words
        case .numbers(let ranges): ranges.map(\.name)
        case .command(let programs): programs.map(\.name)
        case .number, .numberOrPair, .integer, .boolean, .text, .address, .regions, .length, .distance, .path, .size,
            .color, .picture, .table, .layer, .font, .template:
            []
        }
    }

    fileprivate var sentences: [String] {
        guard case .command(let programs) = self else { return [] }
        return programs.flatMap { program in
            switch program.file {
            case .usable(let sha256): [program.path, sha256]
            case .unusable(let reason): [program.path, reason]
            }
        }
    }

    /// False if a minimum exceeds its maximum.
    fileprivate var hasRange: Bool {
        switch self {
        case .number(let minimum, let maximum), .numberOrPair(let minimum, let maximum),
            .numberOrWord(let minimum, let maximum, _):
            minimum <= maximum
        case .integer(let minimum, let maximum), .integerOrWord(let minimum, let maximum, _): minimum <= maximum
        case .numbers(let ranges): ranges.allSatisfy { $0.minimum <= $0.maximum }
        case .length(let limit): limit.pixels >= 0 && limit.percent >= 0
        case .choice, .boolean, .text, .address, .regions, .distance, .path, .size, .color, .picture, .table, .layer,
            .font, .template, .command:
            true
        }
    }
}

extension ParameterRule {
    fileprivate var words: [String] {
        switch self {
        case .implies(let parameter, let value, let other, let required): [parameter, value, other, required]
        case .excludes(let parameter, let value, let other): [parameter, value, other]
        case .replaces(let parameter, let others): [parameter] + others
        case .needs(let parameter, let other, let words): [parameter, other] + words
        case .belongs(let parameter, let others): [parameter] + others
        case .below(let parameter, let other): [parameter, other]
        case .idleAtMultiples(let parameter, let other, _): [parameter, other]
        }
    }
}
