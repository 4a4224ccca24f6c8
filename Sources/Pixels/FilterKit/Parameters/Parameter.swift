/// A parameter of a filter in manifests, and its Swift type: `Double`, `Int`, `Bool`, or an enum of words.
///
///     static let size = Parameter("size", 2...200, fallback: 8, unit: "px", "from a dot to the next")
public struct Parameter<Value: Sendable>: FilterParameter {
    public internal(set) var definition: ParameterDefinition
}

/// A parameter of any type, for ``FilterDescription/parameters``.
public protocol FilterParameter: Sendable {
    var definition: ParameterDefinition { get }
}

/// The facts about a parameter that the host needs.
public struct ParameterDefinition: Sendable {
    enum Kind: Sendable {
        case number(ClosedRange<Double>)
        case integer(ClosedRange<Int>)
        case boolean
        case choice([String])
    }

    let name: String
    let kind: Kind
    /// The fallback in the form of the C interface: booleans are 0 or 1, choices are the index of a word.
    let fallback: Double
    let unit: String
    let summary: String
    /// The choice on which the parameter depends, and the words with which it has an effect.
    var needs: (choice: String, words: [String])?
}

extension Parameter {
    /// The same parameter, which has an effect only if a choice has one of these words. Users who set it with another word get
    /// a warning.
    ///
    ///     static let black = Parameter("black", 0...100, fallback: 100, unit: "%", "…").needing(colors, .cmyk)
    public func needing<Word: RawRepresentable<String>>(_ choice: Parameter<Word>, _ words: Word...) -> Parameter {
        var parameter = self
        parameter.definition.needs = (choice.definition.name, words.map(\.rawValue))
        return parameter
    }
}

extension Parameter<Double> {
    /// A number.
    ///
    /// - Parameters:
    ///   - name: the parameter's name in manifests: small letters, digits and `_`.
    ///   - range: the valid range of finite numbers; the host refuses all others.
    ///   - fallback: the value if a manifest has none.
    ///   - unit: `px`, `%`, `°`, or empty.
    ///   - summary: a sentence on one line, without its full stop: "Sets the width of a grain".
    public init(_ name: String, _ range: ClosedRange<Double>, fallback: Double, unit: String = "", _ summary: String) {
        definition = ParameterDefinition(
            name: name, kind: .number(range), fallback: fallback, unit: unit, summary: summary)
    }
}

extension Parameter<Int> {
    /// An integer. The label prevents that `2...200` becomes a range of integers by accident, with integer division.
    public init(integer name: String, _ range: ClosedRange<Int>, fallback: Int, unit: String = "", _ summary: String) {
        definition = ParameterDefinition(
            name: name, kind: .integer(range), fallback: Double(fallback), unit: unit, summary: summary)
    }
}

extension Parameter<Bool> {
    /// `true` or `false`.
    public init(_ name: String, fallback: Bool, _ summary: String) {
        definition = ParameterDefinition(
            name: name, kind: .boolean, fallback: fallback ? 1 : 0, unit: "", summary: summary)
    }
}

extension Parameter where Value: CaseIterable & RawRepresentable<String> & Equatable {
    /// A choice between the words of an enum.
    public init(_ name: String, fallback: Value, _ summary: String) {
        let cases = Array(Value.allCases)
        definition = ParameterDefinition(
            name: name, kind: .choice(cases.map(\.rawValue)),
            fallback: Double(cases.firstIndex(of: fallback) ?? 0), unit: "", summary: summary)
    }
}
