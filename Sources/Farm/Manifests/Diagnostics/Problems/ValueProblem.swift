import Catalogs

/// The problems of a value with a type. `name` is the value's key, or `inputs[2]`.
package enum ValueProblem: Hashable, Sendable {
    // Mappings. `of` and `owner` are the subject of the sentence: "the job", "'save'". `noun` is the word for its keys:
    // "key", "parameter".
    case notAMapping(owner: String, found: String, example: String)
    case missingKey(String, of: String, example: String, or: String? = nil)
    case unknownKey(String, noun: String, of: String, nearest: String?, known: [String])

    // Kinds of nodes. `wanted` and `found` include their article.
    case wrongKind(name: String, wanted: String, found: String)
    case emptyText(name: String)
    case shortPath(name: String, example: String)
    case emptyList(name: String)

    // Scalars.
    case notANumber(name: String, text: String, fault: NumberError)
    case outOfRange(name: String, text: String, range: String)
    case notABoolean(name: String, text: String, meant: Bool?)
    case notAChoice(name: String, text: String, nearest: String?, choices: [String])
    case notADuration(name: String, text: String)
    case notACount(name: String, text: String, kind: String, example: String)
    case notALength(name: String, text: String)
    case notASize(name: String, text: String)
    case notAColor(name: String, text: String)
    /// A text that must not be passed to a program.
    case unfitArgument(name: String, text: String, reason: String)
    /// Not a digest. If `isList`, it is not a list of pins either.
    case notADigest(name: String, text: String, isList: Bool)
}

/// Why a text is not a number.
package enum NumberError: Error, Hashable {
    case notDecimal
    /// The same for whole numbers: `from 0 to 100`.
    case notInteger(range: String)
    case notFinite
    case hexadecimal
    case underscore
    case comma
    case missingDigit(written: String)
    case leadingZero(written: String)
    case hasUnit(GivenUnit)
    /// A whole number that is too large for an integer.
    case noInteger(isNegative: Bool)
    /// A whole number is needed. `nearest` has the number without fraction or exponent, or its valid neighbours.
    case notWhole(nearest: [String])

    /// The kind of value that is needed, with an article.
    fileprivate var wanted: String {
        switch self {
        case .notWhole, .notInteger: "a whole number"
        default: "a number"
        }
    }
}

extension ValueProblem {
    var words: Words {
        switch self {
        case .notAMapping(let owner, let found, let example):
            Words("\(owner) must be a mapping, not \(found)", remedy: "write \(example)")
        case .missingKey(let key, let owner, let example, let alternative):
            Words(
                "\(owner) has no '\(key)'",
                remedy: "add '\(key): \(example)'" + (alternative.map { ", or \($0)" } ?? ""))
        case .unknownKey(let key, let noun, let owner, let nearest, let known):
            Words(
                "\(owner) has no \(noun) \(key.quoted)",
                remedy: nearest.map { "did you mean '\($0)'?" } ?? others(noun, known))

        case .wrongKind(let name, let wanted, let found):
            Words("'\(name)' must be \(wanted), not \(found)", remedy: "write \(wanted)")
        case .emptyText(let name):
            Words("'\(name)' is empty", remedy: "write a text")
        case .shortPath(let name, let example):
            Words("'\(name)' needs at least two places", remedy: "write it as \(example)")
        case .emptyList(let name):
            Words("'\(name)' is an empty list", remedy: "write at least one item")

        case .notANumber(let name, let text, let fault):
            Words("'\(name)' needs \(fault.wanted), and \(text.quoted) is none", remedy: fault.remedy)
        case .outOfRange(let name, let text, let range):
            Words("'\(name)' cannot be \(text.cut(to: 60))", remedy: "write a value \(range)")
        case .notABoolean(let name, let text, let meant):
            Words(
                "'\(name)' needs true or false, not \(text.quoted)",
                remedy: meant.map { "write \($0)" } ?? "write true or false")
        case .notAChoice(let name, let text, let nearest, let choices):
            Words(
                "'\(name)' cannot be \(text.quoted)",
                remedy: (nearest.map { "did you mean '\($0)'? " } ?? "") + "it takes \(choices.alternatives)")
        case .notADuration(let name, let text):
            Words(
                "'\(name)' needs a time, and \(text.quoted) is none", remedy: "write seconds, or 90s, 5m, 1h or 2d")
        case .notACount(let name, let text, let kind, let example):
            Words("'\(name)' needs \(kind), and \(text.quoted) is none", remedy: "write it like \(example)")
        case .notALength(let name, let text):
            Words("'\(name)' needs a length, and \(text.quoted) is none", remedy: "write it like 12, 12px or 10%")
        case .notASize(let name, let text):
            Words(
                "'\(name)' needs a size, and \(text.quoted) is none",
                remedy: "write 320 (no side longer), 320x (a width), x240 (a height), 320x240 or 50%, up to "
                    + "\(SizeWish.largestSide) pixels and \(SizeWish.largestPercent.plain) %")
        case .notADigest(let name, let text, let isList):
            Words(
                "'\(name)' needs a SHA-256, and \(text.quoted) is none",
                remedy: "write \(isList ? "the file's name, a colon and " : "")the 64 digits that sha256sum prints")
        case .unfitArgument(let name, let text, let reason):
            Words("'\(name)' cannot be \(text.quoted)", remedy: reason)
        case .notAColor(let name, let text):
            Words(
                "'\(name)' needs a colour, and \(text.quoted) is none",
                remedy: "write it like '#fff', '#1a2b3c' or '#1a2b3c80' (in quotes), or white, black or transparent")
        }
    }

    private func others(_ noun: String, _ known: [String]) -> String {
        switch known.count {
        case 0: "it has none"
        case 1: "its only \(noun) is \(known[0])"
        default: "its \(noun)s are \(known.enumeration)"
        }
    }
}

extension NumberError {
    var remedy: String {
        switch self {
        case .notInteger(let range): "write one \(range)"
        case .notDecimal: "write it like 12, 0.5 or 1e3"
        case .notFinite: "write a finite number"
        case .hexadecimal: "write it in decimal"
        case .underscore: "write the digits without '_'"
        case .comma: "write a point for the decimals, and nothing between thousands"
        case .missingDigit(let written), .leadingZero(let written): "write \(written)"
        case .hasUnit(let given): given.remedy
        case .noInteger(let isNegative): isNegative ? "write a larger number" : "write a smaller number"
        case .notWhole(let nearest):
            (nearest.isEmpty ? "" : "write \(nearest.alternatives): ") + "only whole numbers will do"
        }
    }
}

/// A number with a unit that its parameter does not take.
package struct GivenUnit: Hashable, Sendable {
    /// The number without the unit.
    let number: Double
    /// The number as it was written.
    let written: String
    /// The unit as it was written: `px`, `%`, `deg`.
    let given: String
    /// The unit of the parameter. Empty if it has none.
    var wanted = ""
    /// True if fractions are not allowed.
    var isWhole = false

    /// Names of the units that parameters have.
    private static let names: [String: Set<String>] = [
        "px": ["px", "pixel", "pixels"], "%": ["%", "percent"], "°": ["°", "deg", "degree", "degrees"],
        "stops": ["stops", "stop", "ev"],
    ]
    /// The side in pixels for an example of the same value in another unit.
    private static let exampleSide = 1000.0

    /// A proposal that keeps the meaning. If the unit is the parameter's own, it is the number alone. Otherwise it is
    /// the value in the parameter's unit.
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

extension NumberError {
    /// The same fault for a parameter with the unit `unit`.
    func wanting(_ unit: String, isWhole: Bool) -> NumberError {
        guard case .hasUnit(var given) = self else { return self }
        given.wanted = unit
        given.isWhole = isWhole
        return .hasUnit(given)
    }
}

extension Double {
    /// With at most four decimals.
    fileprivate var short: String { ((self * 10_000).rounded() / 10_000).plain }
}
