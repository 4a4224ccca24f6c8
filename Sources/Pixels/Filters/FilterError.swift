/// Why a filter cannot be made or has failed.
///
/// The manifest reader finds bad values first and shows where they stand; these messages reach those who build a chain
/// in another way.
package struct FilterError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case unknownFilter(offered: [String])
        case unknownParameter(String, offered: [String])
        case missing(parameter: String)
        case wrongKind(parameter: String, expected: String)
        case outOfRange(parameter: String, value: Double, minimum: Double, maximum: Double)
        case unknownWord(parameter: String, word: String, offered: [String])
        /// `parameter`, or this value of it, does not go with `other`, or with this value of it.
        case conflict(parameter: String, value: String?, other: String)
        /// A plugin said so, or did not keep to the interface.
        case failed(reason: String)
        /// A plugin did what no plugin may do.
        case fault(reason: String)
    }

    package let filter: String
    package let problem: Problem

    package init(filter: String, problem: Problem) {
        self.filter = filter
        self.problem = problem
    }
}

extension FilterError: CustomStringConvertible {
    package var description: String {
        if case .unknownFilter(let offered) = problem {
            return "unknown filter '\(filter)'; there are \(Self.list(offered))"
        }
        return "\(filter): \(reason)"
    }

    /// The problem, without the filter's name before it.
    package var reason: String {
        switch problem {
        case .unknownFilter(let offered):
            "there is no such filter; there are \(Self.list(offered))"
        case .unknownParameter(let name, let offered):
            "unknown parameter '\(name)'; there are \(Self.list(offered))"
        case .missing(let parameter):
            "'\(parameter)' needs a value"
        case .wrongKind(let parameter, let expected):
            "'\(parameter)' takes \(expected)"
        case .outOfRange(let parameter, let value, let minimum, let maximum):
            "'\(parameter)' is \(value), but must be in \(minimum)…\(maximum)"
        case .unknownWord(let parameter, let word, let offered):
            "'\(parameter)' cannot be '\(word)'; there are \(Self.list(offered))"
        case .conflict(let parameter, let value, let other):
            "'\(parameter)\(value.map { ": \($0)" } ?? "")' does not go with '\(other)'; leave one of them out"
        case .failed(let reason), .fault(let reason):
            reason
        }
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
