import CPenumbraPlugin
import CPluginTrial
import Catalogs

extension ParameterDescriptor {
    /// A plugin's parameter, as a manifest sees it.
    init(_ parameter: penumbra_parameter) throws(PluginProblem) {
        let name = try PluginDescription.name(parameter.name, "parameter name")
        let (kind, fallback) = try Self.kind(parameter, name)
        self.init(
            name, kind, fallback: fallback, unit: parameter.unit.map { String(cString: $0) } ?? "",
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
            let words = try words(parameter, name)
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

    private static func words(_ parameter: penumbra_parameter, _ name: String) throws(PluginProblem) -> [String] {
        var words: [String] = []
        while let word = parameter.choices?[words.count] {
            guard words.count < PLUGIN_MOST_CHOICES else {
                throw PluginProblem(
                    "gives '\(name)' more than \(PLUGIN_MOST_CHOICES) choices; give fewer, and NULL at their end")
            }
            words.append(String(cString: word))
        }
        guard !words.isEmpty else { throw PluginProblem("gives '\(name)' no choices; add some, and NULL at their end") }
        return words
    }
}
