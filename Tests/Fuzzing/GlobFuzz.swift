@testable import Planning

/// Compares patterns with paths, as inputs, `exclude` and `--only` do. A twin that tries everything must agree.
@c(LLVMFuzzerTestOneInput)
public func fuzzGlob(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let parts = Input(start, count).parts(2)
    guard parts.count == 2 else { return 0 }
    let text = String(decoding: parts[0], as: UTF8.self)
    checkName(text, parts[1])
    let path = PathBytes.normalized(parts[1], in: Array("/a/photos".utf8))
    for exactly in [false, true] {
        let pattern = GlobPattern(text, in: "/a/photos", exactly: exactly)
        guard !pattern.isTooWide else { continue }
        let expected = GlobTwin(text, exactly: exactly).matches(path)
        precondition(pattern.matches(path) == expected, "the pattern and its twin agree")
    }
    // A file is found by the pattern that is made of its path.
    let name = NonUTF8Name.text(of: path)
    let made = GlobPattern(GlobPattern.matching(name), in: "/")
    precondition(made.isTooWide || path == [PathBytes.slash] || made.matches(path), "a path matches its own pattern")
    return 0
}

/// Compares the matcher of names with the slow one, for bytes and for characters.
private func checkName(_ text: String, _ name: [UInt8]) {
    // The twin takes exponential time. With twelve stars it would need seconds.
    let stars = text.utf8.count { $0 == UInt8(ascii: "*") }
    guard text.utf8.count <= 24, name.count <= 24, stars <= 6 else { return }
    let pattern = Array(text.utf8)
    precondition(
        WildcardMatcher(pattern: pattern).matches(name[...]) == NameTwin(pattern: pattern).matches(name[...]),
        "bytes match as in the twin")
    let (characters, letters) = (Array(text), Array(String(decoding: name, as: UTF8.self)))
    precondition(
        WildcardMatcher(pattern: characters).matches(letters[...])
            == NameTwin(pattern: characters).matches(letters[...]),
        "characters match as in the twin")
}

/// `*`, `?` and classes by trying every possibility.
private struct NameTwin<Unit: WildcardUnit> {
    let pattern: [Unit]

    func matches(_ name: ArraySlice<Unit>) -> Bool { matches(name, pattern[...]) }

    private func matches(_ name: ArraySlice<Unit>, _ pattern: ArraySlice<Unit>) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        let rest = pattern.dropFirst()
        if first == Unit(ascii: "*") {
            return (name.startIndex...name.endIndex).contains { matches(name[$0...], rest) }
        }
        guard let unit = name.first else { return false }
        if first == Unit(ascii: "?") { return matches(name.dropFirst(), rest) }
        // A bracket that closes just behind the one that opens is a member.
        if first == Unit(ascii: "["), let close = rest.dropFirst().firstIndex(of: Unit(ascii: "]")) {
            return isIn(Array(rest[..<close]), unit) && matches(name.dropFirst(), rest[(close + 1)...])
        }
        return first == unit && matches(name.dropFirst(), rest)
    }

    private func isIn(_ members: [Unit], _ unit: Unit) -> Bool {
        let isNegated = members.first == Unit(ascii: "!") || members.first == Unit(ascii: "^")
        var (index, found) = (isNegated ? 1 : 0, false)
        while index < members.count {
            if index + 2 < members.count, members[index + 1] == Unit(ascii: "-") {
                found = found || members[index] <= unit && unit <= members[index + 2]
                index += 3
            } else {
                found = found || members[index] == unit
                index += 1
            }
        }
        return found != isNegated
    }
}

/// A pattern of paths by trying every number of folders for each `**`.
private struct GlobTwin {
    private enum Part {
        case anyFolders
        case exact([UInt8])
        case name(NamePattern)
    }

    private var parts: [Part] = []

    init(_ text: String, exactly: Bool) {
        let isAbsolute = text.utf8.first == PathBytes.slash
        var names = isAbsolute ? [] : ["a", "photos"]
        var literals = names.count
        for bytes in text.utf8.split(separator: PathBytes.slash) {
            switch String(Substring(bytes)) {
            case ".": continue
            case "..":
                _ = names.popLast()
                literals = min(literals, names.count)
            case let name: names.append(name)
            }
        }
        // In the fixed folders, up to the first name that is not ASCII, the case of an extension counts.
        let last = names.lastIndex { $0 != "**" } ?? 0
        let written = names.dropFirst(literals)
        let fixed = min(literals + written.prefix { !NamePattern.hasWildcard($0) }.count, max(0, names.count - 1), last)
        let comparable = names.prefix(fixed).prefix { $0.utf8.allSatisfy { $0 < 0x80 } }.count
        parts = names.enumerated().map { index, name in
            if index < max(literals, comparable) { return .exact(Array(name.utf8)) }
            return name == "**" ? .anyFolders : .name(NamePattern(name, exactly: exactly))
        }
    }

    func matches(_ path: [UInt8]) -> Bool {
        let names = path.split(separator: PathBytes.slash)
        return !names.isEmpty && matches(names[...], parts[...])
    }

    private func matches(_ names: ArraySlice<ArraySlice<UInt8>>, _ parts: ArraySlice<Part>) -> Bool {
        guard let part = parts.first else { return names.isEmpty }
        switch part {
        case .anyFolders:
            if matches(names, parts.dropFirst()) { return true }
            guard let name = names.first, name.first != PathBytes.dot else { return false }
            return matches(names.dropFirst(), parts)
        case .exact(let bytes):
            guard let name = names.first, name.elementsEqual(bytes) else { return false }
            return matches(names.dropFirst(), parts.dropFirst())
        case .name(let pattern):
            guard let name = names.first, pattern.matches(name) else { return false }
            return matches(names.dropFirst(), parts.dropFirst())
        }
    }
}
