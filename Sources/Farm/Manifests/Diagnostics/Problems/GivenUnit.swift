/// A number that was written with a unit where numbers stand alone.
package struct GivenUnit: Hashable, Sendable {
    /// The number without the unit.
    let number: Double
    /// The same as it was written.
    let written: String
    /// As it was written: `px`, `%`, `deg`.
    let given: String
    /// What the place counts in; empty where it has no unit.
    var wanted = ""
    /// True where fractions will not do.
    var isWhole = false

    /// Names of the units that parameters have.
    private static let names: [String: Set<String>] = [
        "px": ["px", "pixel", "pixels"], "%": ["%", "percent"], "°": ["°", "deg", "degree", "degrees"],
        "stops": ["stops", "stop", "ev"],
    ]
    /// Of a side of so many pixels the same value is told in another unit.
    private static let exampleSide = 1000.0

    /// The number alone must not come to mean something else: it is proposed where the unit is the place's own, and
    /// what it is in the place's unit elsewhere.
    var remedy: String {
        if wanted.isEmpty {
            guard isGiven("%"), !isWhole else { return "write \(written), without a unit" }
            return "write \((number / 100).short), without a unit: \(written)% are \((number / 100).short)"
        }
        if isGiven(wanted) { return "write \(written), without a unit: it is in \(wanted)" }
        return "write a number without a unit: it is in \(wanted)" + (equal.map { ", and \($0)" } ?? "")
    }

    private func isGiven(_ unit: String) -> Bool { Self.names[unit, default: [unit]].contains(given.lowercased()) }

    /// `30% of 1000 px are 300 px`.
    private var equal: String? {
        let side = Self.exampleSide
        switch wanted {
        case "px" where isGiven("%"):
            return "\(written)% of \(side.plain) px are \((number * side / 100).short)"
        case "%" where isGiven("px"):
            return "\(written) px of \(side.plain) px are \((number * 100 / side).short)"
        case "°" where given.lowercased() == "rad":
            return "\(written) rad are \((number * 180 / .pi).short)"
        default:
            return nil
        }
    }
}

extension NumberFault {
    /// The same fault of a place that counts in `unit`.
    func wanting(_ unit: String, isWhole: Bool) -> NumberFault {
        guard case .hasUnit(var given) = self else { return self }
        given.wanted = unit
        given.isWhole = isWhole
        return .hasUnit(given)
    }
}

extension Double {
    /// With four decimals at most.
    fileprivate var short: String { ((self * 10_000).rounded() / 10_000).plain }
}
