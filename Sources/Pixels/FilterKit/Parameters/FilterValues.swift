/// The values of a filter's parameters from a manifest, with fallbacks for missing ones. The host has validated all of them.
public struct FilterValues: Sendable {
    private let values: [String: Double]

    /// - Parameter numbers: one for each parameter, in the description's order.
    init(_ numbers: [Double], _ description: FilterDescription) {
        let names = description.parameters.map(\.definition.name)
        values = Dictionary(zip(names, numbers)) { first, _ in first }
    }

    public subscript(parameter: Parameter<Double>) -> Double { number(parameter) }

    public subscript(parameter: Parameter<Int>) -> Int { Int(number(parameter)) }

    public subscript(parameter: Parameter<Bool>) -> Bool { number(parameter) != 0 }

    public subscript<Word: CaseIterable & RawRepresentable<String> & Equatable>(parameter: Parameter<Word>) -> Word {
        let cases = Array(Word.allCases)
        return cases[min(max(0, Int(number(parameter))), cases.count - 1)]
    }

    private func number(_ parameter: some FilterParameter) -> Double {
        let name = parameter.definition.name
        guard let value = values[name] else {
            preconditionFailure("parameter '\(name)' is not in the filter's description; add it there")
        }
        return value
    }
}
