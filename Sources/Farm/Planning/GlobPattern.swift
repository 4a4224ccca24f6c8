/// A path pattern: `*` and `?` within a name, `**` for any number of folders, `[a-z]` classes, `{a,b}` alternatives.
///
/// Wildcards skip names that begin with a dot. The case of a name's extension is ignored.
package struct GlobPattern: Hashable, Sendable {
    /// As it was written, made absolute and free of `.` and `..`.
    package let text: String
    let components: [String]

    /// The part before the first component with a wildcard, as components.
    package let fixedFolder: [String]

    /// - Parameter folder: the absolute path that a relative pattern starts from.
    package init(_ pattern: String, in folder: String) {
        let absolute = pattern.hasPrefix("/") ? pattern : "\(folder)/\(pattern)"
        components = PathText.components(absolute)
        text = PathText.joined(components)
        fixedFolder = Array(components.prefix { !Self.hasWildcard($0) }.prefix(max(0, components.count - 1)))
    }

    /// True when it can match one file only.
    package var isLiteral: Bool { !components.contains(where: Self.hasWildcard) }

    /// True when its braces stand for more names than are tried.
    package var isTooWide: Bool { components.contains { NamePattern.width($0) > NamePattern.mostAlternatives } }

    static func hasWildcard(_ component: String) -> Bool {
        component.utf8.contains { "*?[{".utf8.contains($0) }
    }

    /// Whether the whole of `path`, absolute and free of `.` and `..`, matches.
    package func matches(_ path: String) -> Bool {
        Self.matches(PathText.components(path)[...], components[...])
    }

    private static func matches(_ path: ArraySlice<String>, _ pattern: ArraySlice<String>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        if first == "**" {
            if matches(path, pattern.dropFirst()) { return true }
            guard let name = path.first, !name.hasPrefix(".") else { return false }
            return matches(path.dropFirst(), pattern)
        }
        guard let name = path.first, NamePattern(first).matches(name) else { return false }
        return matches(path.dropFirst(), pattern.dropFirst())
    }
}

/// One component of a pattern.
struct NamePattern: Hashable, Sendable {
    private let alternatives: [[Character]]

    init(_ text: String) {
        alternatives = Self.width(text) <= Self.mostAlternatives ? Self.expand(Array(text)) : []
    }

    /// Braces multiply: twenty pairs of two already make a million names.
    static let mostAlternatives = 1000

    /// How many names the braces stand for, at most.
    static func width(_ text: String) -> Int {
        text.split(separator: "{").dropFirst().reduce(1) { product, part in
            let choices = part.prefix { $0 != "}" }.filter { $0 == "," }.count + 1
            return min(product * choices, mostAlternatives + 1)
        }
    }

    func matches(_ name: String) -> Bool {
        let exact = Array(name)
        let folded = Self.foldingExtension(exact)
        return alternatives.contains { pattern in
            guard exact.first != "." || pattern.first == "." else { return false }
            return Self.matches(exact[...], pattern[...])
                || Self.matches(folded[...], Self.foldingExtension(pattern)[...])
        }
    }

    /// Lower case after the last dot.
    private static func foldingExtension(_ name: [Character]) -> [Character] {
        guard let dot = name.lastIndex(of: ".") else { return name }
        return name[..<dot] + name[dot...].flatMap { $0.lowercased() }
    }

    /// `a.{jpg,png}` becomes `a.jpg` and `a.png`. Braces without a partner stand for themselves.
    private static func expand(_ text: [Character]) -> [[Character]] {
        guard let open = text.firstIndex(of: "{"), let close = text[open...].firstIndex(of: "}") else { return [text] }
        let choices = text[(open + 1)..<close].split(separator: ",", omittingEmptySubsequences: false)
        return choices.flatMap { choice in
            expand(Array(text[(close + 1)...])).map { Array(text[..<open]) + choice + $0 }
        }
    }

    /// Backtracks over the last `*` only, which is enough and never costs more than name × pattern.
    private static func matches(_ name: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
        var (n, p) = (name.startIndex, pattern.startIndex)
        var star: (name: Int, pattern: Int)?
        while n < name.endIndex {
            if p < pattern.endIndex, pattern[p] == "*" {
                star = (n, p)
                p += 1
            } else if p < pattern.endIndex, let next = step(name[n], pattern, p) {
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
        return pattern[p...].allSatisfy { $0 == "*" }
    }

    /// The pattern's index after matching one character, or nil.
    private static func step(_ character: Character, _ pattern: ArraySlice<Character>, _ p: Int) -> Int? {
        switch pattern[p] {
        case "?": return p + 1
        case "[":
            guard let close = pattern[(p + 1)...].dropFirst().firstIndex(of: "]") else {
                return character == "[" ? p + 1 : nil
            }
            return classContains(pattern[(p + 1)..<close], character) ? close + 1 : nil
        default: return pattern[p] == character ? p + 1 : nil
        }
    }

    private static func classContains(_ set: ArraySlice<Character>, _ character: Character) -> Bool {
        let negated = set.first == "!" || set.first == "^"
        var members = negated ? set.dropFirst() : set
        var found = false
        while let first = members.popFirst() {
            if members.first == "-", let last = members.dropFirst().first {
                members = members.dropFirst(2)
                found = found || (first <= character && character <= last)
            } else {
                found = found || first == character
            }
        }
        return found != negated
    }
}
