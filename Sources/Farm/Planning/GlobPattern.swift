import JobModel

/// A path pattern: `*` and `?` within a name, `**` for any number of folders, `[a-z]` classes, `{a,b}` alternatives.
///
/// Wildcards skip names that begin with a dot. The case of a name's extension is ignored.
package struct GlobPattern: Hashable, Sendable {
    enum Component: Hashable, Sendable {
        case anyFolders
        case name(NamePattern)
        /// Names with these bytes alone.
        case literal([UInt8])
    }

    /// As it was written, made absolute and free of `.` and `..`.
    package let text: String
    /// The part before the first component with a wildcard, as components.
    package let fixedFolder: [String]
    /// True when it can match one file only.
    package let isLiteral: Bool
    /// True when its braces stand for more names than are tried.
    package let isTooWide: Bool

    private let components: [Component]
    /// From here on there is nothing but `**`.
    private let tail: Int
    /// The first components as a path, where bytes can be compared. Most paths are refused by it.
    private let prefix: [UInt8]
    private let prefixCount: Int

    /// - Parameter folder: the absolute path that a relative pattern starts from. It stands for itself, whatever is in its
    ///   names: a folder may be called `site[1]`.
    package init(_ pattern: String, in folder: String) { self.init(pattern, in: folder, exactly: false) }

    /// - Parameter exactly: whether letters are equal by their bytes alone, and not however their accents are encoded.
    init(_ pattern: String, in folder: String, exactly: Bool) {
        let (literals, written) = Self.names(of: pattern, in: folder)
        let fixed = literals + written.prefix { !NamePattern.hasWildcard($0) }
        text = PathText.joined(literals + written)
        isLiteral = !written.contains(where: NamePattern.hasWildcard)
        isTooWide = written.contains { NamePattern.width($0) > NamePattern.mostAlternatives }
        fixedFolder = Array(fixed.prefix(max(0, literals.count + written.count - 1)))
        components =
            literals.map { .literal(Array($0.utf8)) }
            + written.map { $0 == "**" ? .anyFolders : .name(NamePattern($0, exactly: exactly)) }
        tail = components.lastIndex { $0 != .anyFolders }.map { $0 + 1 } ?? 0
        // 'out/**' matches 'out', too: what only '**' follows is never passed by.
        let comparable = fixedFolder.prefix(max(0, tail - 1)).prefix { $0.utf8.allSatisfy { $0 < 0x80 } }
        prefixCount = comparable.count
        prefix = comparable.flatMap { [PathBytes.slash] + Array($0.utf8) }
    }

    /// A pattern that matches this path, whatever is in its names. (Braces have no escape: any character stands for one.)
    ///
    /// - Parameter path: bytes that are not UTF-8 stand in it as ``NonUTF8Name/text(of:)`` gives them.
    package static func matching(_ path: String) -> String {
        path.map { character in
            switch character {
            case "*", "?", "[": "[\(character)]"
            case "{", "}": "?"
            case _ where NonUTF8Name.isByte(character): "[\(character)]"
            default: String(character)
            }
        }.joined()
    }

    /// The pattern with those names taken as they are written that are there: `photos/IMG [[]1].jpg` for
    /// `photos/IMG [1].jpg`. Nil where no name with a wildcard is there.
    ///
    /// - Parameter folder: the absolute path that a relative pattern starts from.
    /// - Returns: also the part of the pattern that ends with the last such name.
    static func literally(_ pattern: String, in folder: String) -> (name: String, pattern: String)? {
        var (names, written): ([String], [String]) = ([], [])
        var found: String?
        var path = PathNames.isAbsolute(pattern) ? "/" : folder
        var exists = true
        for bytes in pattern.utf8.split(separator: PathBytes.slash, omittingEmptySubsequences: false) {
            let name = String(Substring(bytes))
            path = PathText.normalized(name, in: path)
            let hasWildcard = NamePattern.hasWildcard(name)
            exists = exists && (!hasWildcard || FileKind(of: path) != nil)
            written.append(name)
            names.append(exists && hasWildcard ? matching(name) : name)
            if exists, hasWildcard { found = written.joined(separator: "/") }
        }
        return found.map { ($0, names.joined(separator: "/")) }
    }

    /// What is left of the folder's names, and those of the pattern below: `..` leads out of the folder.
    private static func names(of pattern: String, in folder: String) -> (literals: [String], written: [String]) {
        var literals = PathNames.isAbsolute(pattern) ? [] : PathText.components(folder)
        var written: [String] = []
        for bytes in pattern.utf8.split(separator: PathBytes.slash) {
            switch String(Substring(bytes)) {
            case ".": continue
            case "..": if written.popLast() == nil { _ = literals.popLast() }
            case let name: written.append(name)
            }
        }
        return (literals, written)
    }

    /// Whether the whole of `path`, absolute and free of `.` and `..`, matches.
    package func matches(_ path: String) -> Bool { matches(Array(path.utf8)) }

    /// - Parameter path: one that may not be UTF-8.
    package func matches(_ path: [UInt8]) -> Bool {
        accepts(PathBytes.name(of: path), at: positions(in: PathBytes.folder(of: path)))
    }
}

// A path walks over the components, and can be in several positions at once: `**` may have ended, or not.
extension GlobPattern {
    /// Where a folder's path is; empty when nothing in it or below can match.
    func positions(in folder: [UInt8]) -> [Int] {
        guard folder.starts(with: prefix) else { return [] }
        let rest = folder[prefix.count...]
        guard rest.first ?? PathBytes.slash == PathBytes.slash else { return [] }
        return rest.split(separator: PathBytes.slash).reduce(closure([prefixCount])) { positions, name in
            positions.isEmpty ? [] : self.positions(below: name, from: positions)
        }
    }

    /// Where the fixed folder's path is, whatever links are in it.
    var start: [Int] { closure([fixedFolder.count]) }

    /// Whether a path that ends with `name` matches.
    func accepts(_ name: ArraySlice<UInt8>, at positions: [Int]) -> Bool {
        positions.contains { position in
            guard position < components.count else { return false }
            switch components[position] {
            case .anyFolders: return position >= tail && name.first != PathBytes.dot
            case .name(let pattern): return position + 1 >= tail && pattern.matches(name)
            case .literal(let bytes): return position + 1 >= tail && name.elementsEqual(bytes)
            }
        }
    }

    /// Where a path is after a folder's name; empty when nothing below can match.
    ///
    /// - Parameter isSymbolicLink: such a folder may lead back up: `**` stays out of it.
    func positions(below name: ArraySlice<UInt8>, from positions: [Int], isSymbolicLink: Bool = false) -> [Int] {
        closure(
            positions.compactMap { position in
                guard position < components.count else { return nil }
                switch components[position] {
                case .anyFolders: return isSymbolicLink || name.first == PathBytes.dot ? nil : position
                case .name(let pattern): return pattern.matches(name) ? position + 1 : nil
                case .literal(let bytes): return name.elementsEqual(bytes) ? position + 1 : nil
                }
            }.filter { $0 < components.count })
    }

    /// With the positions behind every `**`, which may stand for no folder at all.
    private func closure(_ positions: [Int]) -> [Int] {
        var result: [Int] = []
        for var position in positions {
            while !result.contains(position) {
                result.append(position)
                guard position < components.count, components[position] == .anyFolders else { break }
                position += 1
            }
        }
        return result
    }
}

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
