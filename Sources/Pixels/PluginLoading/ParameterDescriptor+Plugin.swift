import CPenumbraPlugin
import CPluginTrial
import Catalogs

extension ParameterDescriptor {
    /// A plugin's parameter, as a manifest sees it.
    init(_ parameter: penumbra_parameter) throws(PluginProblem) {
        let name = try PluginDescription.name(parameter.name, "parameter name")
        let (kind, fallback) = try Self.kind(parameter, name)
        let unit = parameter.unit == nil ? "" : try PluginDescription.text(parameter.unit, "unit for '\(name)'")
        self.init(
            name, kind, fallback: fallback, unit: unit,
            summary: try PluginDescription.text(parameter.summary, "summary for '\(name)'"))
    }

    private static func kind(
        _ parameter: penumbra_parameter, _ name: String
    ) throws(PluginProblem) -> (ParameterKind, ParameterValue) {
        let fallback = parameter.fallback
        switch Int(parameter.kind) {
        case Int(PENUMBRA_NUMBER):
            try check(fallback, in: parameter.minimum, parameter.maximum, name)
            return (.number(minimum: parameter.minimum, maximum: parameter.maximum), .number(fallback))
        case Int(PENUMBRA_INTEGER):
            try check(fallback, in: parameter.minimum, parameter.maximum, name)
            guard let low = Int(exactly: parameter.minimum), let high = Int(exactly: parameter.maximum),
                let value = Int(exactly: fallback)
            else { throw PluginProblem("gives whole-number parameter '\(name)' bounds with fractions; round them") }
            return (.integer(minimum: low, maximum: high), .integer(value))
        case Int(PENUMBRA_BOOLEAN):
            return (.boolean, .boolean(fallback != 0))
        case Int(PENUMBRA_CHOICE):
            let words = try Self.words(parameter.choices, name, "choices")
            guard !words.isEmpty else {
                throw PluginProblem("gives '\(name)' no choices; add some, and NULL at their end")
            }
            guard let index = Int(exactly: fallback), words.indices.contains(index) else {
                throw PluginProblem("gives '\(name)' a fallback that is not the index of a choice; correct it")
            }
            return (.choice(words), .word(words[index]))
        default:
            throw PluginProblem("gives '\(name)' the unknown kind \(parameter.kind); see penumbra_plugin.h")
        }
    }

    private static func check(_ value: Double, in low: Double, _ high: Double, _ name: String) throws(PluginProblem) {
        guard low.isFinite, high.isFinite, low <= value, value <= high else {
            throw PluginProblem("gives '\(name)' a range without its fallback; set minimum, maximum and fallback")
        }
    }

    /// Up to the null pointer behind them.
    ///
    /// - Parameter what: the words are for the parameter of this name.
    fileprivate static func words(
        _ list: UnsafePointer<UnsafePointer<CChar>?>?, _ name: String, _ what: String
    ) throws(PluginProblem) -> [String] {
        var words: [String] = []
        while let word = list?[words.count] {
            guard words.count < PLUGIN_MOST_CHOICES else {
                throw PluginProblem(
                    "gives '\(name)' more than \(PLUGIN_MOST_CHOICES) choices; give fewer, and NULL at their end")
            }
            let text = try PluginDescription.text(word, "\(what) for '\(name)'")
            guard !text.isEmpty else {
                throw PluginProblem("has an empty word in its \(what) for '\(name)'; give it letters, or remove it")
            }
            words.append(text)
        }
        return words
    }
}

extension ParameterRule {
    /// Nil for a parameter that always has an effect.
    init?(
        needOf parameter: penumbra_parameter, _ name: String, among parameters: [ParameterDescriptor]
    ) throws(PluginProblem) {
        guard parameter.needed != nil else { return nil }
        let needed = try PluginDescription.text(parameter.needed, "needed parameter for '\(name)'")
        let words = try ParameterDescriptor.words(parameter.needed_words, name, "needed words")
        guard case .choice(let choices) = parameters.first(where: { $0.name == needed })?.kind, !words.isEmpty,
            words.allSatisfy(choices.contains)
        else {
            throw PluginProblem(
                "says that '\(name)' needs '\(needed)', without words that this one has; correct needed_words")
        }
        self = .needs(parameter: name, other: needed, words: words)
    }
}

extension penumbra_parameter {
    /// What the first revision of the header had.
    static let firstSize = MemoryLayout<penumbra_parameter>.offset(of: \.needed) ?? .max

    /// With nothing in the members that an older header lacks.
    init(at place: UnsafeRawPointer, size: Int) {
        self.init()
        withUnsafeMutableBytes(of: &self) { target in
            target.copyMemory(from: UnsafeRawBufferPointer(start: place, count: min(size, target.count)))
        }
    }
}
