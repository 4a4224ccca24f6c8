package import Catalogs

/// The options of a format as a job gave them, with the format's fallbacks where it is silent.
package struct FormatOptions: Sendable {
    private let values: [String: ParameterValue]
    private let parameters: [ParameterDescriptor]

    package init(_ values: [String: ParameterValue], of format: FormatDescriptor) {
        self.values = values
        self.parameters = format.options
    }

    func integer(_ name: String) throws(SaveProblem) -> Int {
        guard case .integer(let value) = value(of: name), case .integer(let minimum, let maximum) = kind(of: name),
            (minimum...maximum).contains(value)
        else { throw .option(name) }
        return value
    }

    func number(_ name: String) throws(SaveProblem) -> Double {
        guard case .number(let value) = value(of: name), case .number(let minimum, let maximum) = kind(of: name),
            (minimum...maximum).contains(value)
        else { throw .option(name) }
        return value
    }

    func boolean(_ name: String) throws(SaveProblem) -> Bool {
        guard case .boolean(let value) = value(of: name) else { throw .option(name) }
        return value
    }

    func word<Word: RawRepresentable<String>>(_ name: String) throws(SaveProblem) -> Word {
        guard case .word(let value) = value(of: name), let word = Word(rawValue: value) else { throw .option(name) }
        return word
    }

    private func value(of name: String) -> ParameterValue? {
        values[name] ?? parameters.first { $0.name == name }?.fallback
    }

    private func kind(of name: String) -> ParameterKind? {
        parameters.first { $0.name == name }?.kind
    }
}
