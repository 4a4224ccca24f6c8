/// What one `?` stands for: a byte of an ASCII name, a character of another.
protocol WildcardUnit: Hashable, Comparable, Sendable {
    init(ascii scalar: Unicode.Scalar)
}

extension UInt8: WildcardUnit {}

extension Character: WildcardUnit {
    init(ascii scalar: Unicode.Scalar) { self.init(scalar) }
}

/// A character that is equal to those alone that have the same bytes: `é` in one code point is not `é` in two.
struct ExactLetter: WildcardUnit {
    private let character: Character

    init(_ character: Character) { self.character = character }

    init(ascii scalar: Unicode.Scalar) { character = Character(scalar) }

    static func == (a: Self, b: Self) -> Bool { a.character.utf8.elementsEqual(b.character.utf8) }

    static func < (a: Self, b: Self) -> Bool { a.character < b.character }

    func hash(into hasher: inout Hasher) { hasher.combine(character) }
}

/// Matches a name with a pattern of `*`, `?` and classes. Braces were expanded before.
struct WildcardMatcher<Unit: WildcardUnit>: Hashable, Sendable {
    let pattern: [Unit]

    private static var star: Unit { Unit(ascii: "*") }

    /// Backtracks over the last `*` only, which is enough and never costs more than name × pattern.
    func matches(_ name: ArraySlice<Unit>) -> Bool {
        var (n, p) = (name.startIndex, 0)
        var star: (name: Int, pattern: Int)?
        while n < name.endIndex {
            if p < pattern.count, pattern[p] == Self.star {
                star = (n, p)
                p += 1
            } else if p < pattern.count, let next = step(name[n], p) {
                n += 1
                p = next
            } else if let last = star {
                n = last.name + 1
                star = (n, last.pattern)
                p = last.pattern + 1
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == Self.star }
    }

    /// The pattern's index after matching one unit, or nil.
    private func step(_ unit: Unit, _ p: Int) -> Int? {
        switch pattern[p] {
        case Unit(ascii: "?"): return p + 1
        case Unit(ascii: "["):
            guard let close = pattern[(p + 1)...].dropFirst().firstIndex(of: Unit(ascii: "]")) else {
                return unit == Unit(ascii: "[") ? p + 1 : nil
            }
            return classContains(pattern[(p + 1)..<close], unit) ? close + 1 : nil
        default: return pattern[p] == unit ? p + 1 : nil
        }
    }

    private func classContains(_ set: ArraySlice<Unit>, _ unit: Unit) -> Bool {
        let negated = set.first == Unit(ascii: "!") || set.first == Unit(ascii: "^")
        var members = negated ? set.dropFirst() : set
        var found = false
        while let first = members.popFirst() {
            if members.first == Unit(ascii: "-"), let last = members.dropFirst().first {
                members = members.dropFirst(2)
                found = found || (first <= unit && unit <= last)
            } else {
                found = found || first == unit
            }
        }
        return found != negated
    }
}
