import JobModel

/// A path pattern: `*` and `?` within a name, `**` for any number of folders, `[a-z]` classes, `{a,b}` alternatives.
///
/// Wildcards skip names that begin with a dot. The case of a name's extension is ignored.
package struct GlobPattern: Hashable, Sendable {
    enum Component: Hashable, Sendable {
        case anyFolders
        case name(NamePattern)
        /// A name with exactly these bytes.
        case literal([UInt8])
    }

    /// As it was written, but absolute and without `.` and `..`.
    package let text: String
    /// The components before the first one with a wildcard.
    package let fixedFolder: [String]
    /// True if it can match one file only.
    package let isLiteral: Bool
    /// True if its braces stand for more names than are tried.
    package let isTooWide: Bool

    private let components: [Component]
    /// From this index on, all components are `**`.
    private let tail: Int
    /// The first components as a path, if bytes can be compared. A comparison with it rejects most paths quickly.
    private let prefix: [UInt8]
    private let prefixCount: Int

    /// - Parameter folder: The absolute path that a relative pattern starts from. Its names are taken literally: a
    ///   folder may be
    /// called `site[1]`.
    package init(_ pattern: String, in folder: String) { self.init(pattern, in: folder, exactly: false) }

    /// - Parameter exactly: If true, letters are equal only if their bytes are. If false, different encodings of
    ///   accents are equal.
    init(_ pattern: String, in folder: String, exactly: Bool) {
        let (literals, written) = Self.names(of: pattern, in: folder)
        let fixed = literals + written.prefix { !NamePattern.hasWildcard($0) }
        text = PathText.joined(literals + written)
        isLiteral = !written.contains(where: NamePattern.hasWildcard)
        isTooWide = written.contains { NamePattern.width($0) > NamePattern.mostAlternatives }
        fixedFolder = Array(fixed.prefix(max(0, literals.count + written.count - 1)))
        let all: [Component] =
            literals.map { .literal(Array($0.utf8)) }
            + written.map { $0 == "**" ? .anyFolders : .name(NamePattern($0, exactly: exactly)) }
        // Several '**' mean the same as one, and a path would be at each of them at once.
        components = all.reduce(into: []) { if $1 != .anyFolders || $0.last != .anyFolders { $0.append($1) } }
        tail = components.lastIndex { $0 != .anyFolders }.map { $0 + 1 } ?? 0
        // 'out/**' matches 'out', too, so the last name before a final '**' is not part of the prefix.
        let comparable = fixedFolder.prefix(max(0, tail - 1)).prefix { $0.utf8.allSatisfy { $0 < 0x80 } }
        prefixCount = comparable.count
        prefix = comparable.flatMap { [PathBytes.slash] + Array($0.utf8) }
    }

    /// A pattern that matches this path, and no other path but for the case of its extension.
    ///
    /// `{{}` stands for `{`: it is a choice of one text. A brace that closes stands for itself behind it.
    ///
    /// - Parameter path: Bytes that are not UTF-8 stand in it as ``NonUTF8Name/text(of:)`` gives them.
    package static func matching(_ path: String) -> String {
        path.map { character in
            switch character {
            case "*", "?", "[": "[\(character)]"
            case "{": "{{}"
            case _ where NonUTF8Name.isByte(character): "[\(character)]"
            default: String(character)
            }
        }.joined()
    }

    /// The pattern with existing names taken literally: `photos/IMG [[]1].jpg` for `photos/IMG [1].jpg`. Nil if no name
    /// with a wildcard exists.
    ///
    /// - Parameter folder: The absolute path that a relative pattern starts from.
    /// - Returns: Also the part of the pattern that ends with the last such name.
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

    /// The remaining names of the folder, and the names of the pattern below it. `..` leads out of the folder.
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

    /// Whether the whole `path` matches. It is absolute, without `.` and `..`.
    package func matches(_ path: String) -> Bool { matches(Array(path.utf8)) }

    /// - Parameter path: A path that may not be UTF-8.
    package func matches(_ path: [UInt8]) -> Bool {
        let name = PathBytes.name(of: path)
        // The path `/` has none.
        return !name.isEmpty && accepts(name, at: positions(in: PathBytes.folder(of: path)))
    }
}

// The components as a state machine. A path can be in several positions at once, because `**` may have ended or not.
extension GlobPattern {
    /// The positions of a folder's path. Empty if nothing in the folder or below can match.
    func positions(in folder: [UInt8]) -> [Int] {
        guard folder.starts(with: prefix) else { return [] }
        let rest = folder[prefix.count...]
        guard rest.first ?? PathBytes.slash == PathBytes.slash else { return [] }
        return rest.split(separator: PathBytes.slash).reduce(closure([prefixCount])) { positions, name in
            positions.isEmpty ? [] : self.positions(below: name, from: positions)
        }
    }

    /// The positions of the fixed folder's path, whatever links it contains.
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

    /// The positions behind a folder's name. Empty if nothing below can match.
    ///
    /// - Parameter isSymbolicLink: `**` does not enter such a folder, because it may lead back up.
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

    /// Adds the positions behind every `**`, because it may stand for no folder at all.
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

/// The unit that one `?` matches: a byte of an ASCII name, or a character of another name.
protocol WildcardUnit: Hashable, Comparable, Sendable {
    init(ascii scalar: Unicode.Scalar)
}

extension UInt8: WildcardUnit {}

extension Character: WildcardUnit {
    init(ascii scalar: Unicode.Scalar) { self.init(scalar) }
}

/// A character that equals only characters with the same bytes: `é` in one code point is not `é` in two.
struct ExactLetter: WildcardUnit {
    private let character: Character

    init(_ character: Character) { self.character = character }

    init(ascii scalar: Unicode.Scalar) { character = Character(scalar) }

    static func == (a: Self, b: Self) -> Bool { a.character.utf8.elementsEqual(b.character.utf8) }

    static func < (a: Self, b: Self) -> Bool { a.character < b.character }

    func hash(into hasher: inout Hasher) { hasher.combine(character) }
}

/// Matches a name with a pattern of `*`, `?` and classes. Braces are expanded before.
struct WildcardMatcher<Unit: WildcardUnit>: Hashable, Sendable {
    let pattern: [Unit]

    private static var star: Unit { Unit(ascii: "*") }

    /// Backtracks over the last `*` only. This is enough, and never costs more than name × pattern.
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
