/// One component of a pattern: the names that it stands for.
///
/// Names of ASCII, which most are, are matched byte by byte; others by characters, so that `?` is one letter. Letters are equal
/// however their accents are encoded, unless the pattern is to match exactly.
struct NamePattern: Hashable, Sendable {
    private let alternatives: [Alternative<Character>]
    /// The same in bytes; nil when the pattern is not ASCII.
    private let byteAlternatives: [Alternative<UInt8>]?
    /// What has to match beside, letters by their bytes; nil where that makes no difference.
    private let exactAlternatives: [Alternative<ExactLetter>]?

    /// - Parameter exactly: whether letters are equal by their bytes alone.
    init(_ text: String, exactly: Bool = false) {
        let texts = Self.width(text) <= Self.mostAlternatives ? Self.expand(Array(text)) : []
        alternatives = texts.map { Alternative($0, folded: Self.foldingExtension($0)) }
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        byteAlternatives = isASCII ? texts.map(Self.bytes) : nil
        exactAlternatives =
            isASCII || !exactly
            ? nil
            : texts.map { text in
                Alternative(text.map(ExactLetter.init), folded: Self.foldingExtension(text).map(ExactLetter.init))
            }
    }

    private static func bytes(_ text: [Character]) -> Alternative<UInt8> {
        Alternative(Array(String(text).utf8), folded: Array(String(foldingExtension(text)).utf8))
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

    static func hasWildcard(_ text: String) -> Bool {
        text.utf8.contains { "*?[{".utf8.contains($0) }
    }

    func matches(_ name: String) -> Bool { matches(Array(name.utf8)[...]) }

    /// - Parameter name: in UTF-8, or not: every byte that is no part of it is a character of its own.
    func matches(_ name: ArraySlice<UInt8>) -> Bool {
        if let byteAlternatives, name.allSatisfy({ $0 < 0x80 }) {
            return Alternative.anyMatches(byteAlternatives, name, folded: Self.foldingExtension(name))
        }
        let characters = NonUTF8Name.characters(of: name)
        let folded = Self.foldingExtension(characters)
        guard Alternative.anyMatches(alternatives, characters[...], folded: folded[...]) else { return false }
        return exactAlternatives.map {
            Alternative.anyMatches($0, characters.map(ExactLetter.init)[...], folded: folded.map(ExactLetter.init)[...])
        } ?? true
    }

    /// Lower case after the last dot.
    private static func foldingExtension(_ name: [Character]) -> [Character] {
        guard let dot = name.lastIndex(of: ".") else { return name }
        return name[..<dot] + name[dot...].flatMap { $0.lowercased() }
    }

    private static func foldingExtension(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let dot = name.lastIndex(of: PathBytes.dot),
            name[dot...].contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { return name }
        return name[..<dot] + PathBytes.lowercased(name[dot...])
    }

    /// `a.{jpg,png}` becomes `a.jpg` and `a.png`. Braces without a partner stand for themselves.
    private static func expand(_ text: [Character]) -> [[Character]] {
        guard let open = text.firstIndex(of: "{"), let close = text[open...].firstIndex(of: "}") else { return [text] }
        let choices = text[(open + 1)..<close].split(separator: ",", omittingEmptySubsequences: false)
        return choices.flatMap { choice in
            expand(Array(text[(close + 1)...])).map { Array(text[..<open]) + choice + $0 }
        }
    }
}

/// One of the names that braces stand for.
private struct Alternative<Unit: WildcardUnit>: Hashable, Sendable {
    private let exact: WildcardMatcher<Unit>
    /// With the extension in lower case.
    private let folded: WildcardMatcher<Unit>

    init(_ text: [Unit], folded: [Unit]) {
        exact = WildcardMatcher(pattern: text)
        self.folded = WildcardMatcher(pattern: folded)
    }

    static func anyMatches(_ alternatives: [Self], _ name: ArraySlice<Unit>, folded: ArraySlice<Unit>) -> Bool {
        let dot = Unit(ascii: ".")
        return alternatives.contains { alternative in
            guard name.first != dot || alternative.exact.pattern.first == dot else { return false }
            return alternative.exact.matches(name) || alternative.folded.matches(folded)
        }
    }
}
