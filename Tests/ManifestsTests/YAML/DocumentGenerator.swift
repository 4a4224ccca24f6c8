/// Writes random documents of the format's grammar, with the strings, quotes, comments, blanks and line ends that
/// parsers stumble over. Careful documents quote what needs quotes; the others try their luck.
struct DocumentGenerator {
    private var random: SplitMix64
    private let isCareful: Bool
    private var lines: [String] = []

    static func document(seed: UInt64) -> String {
        var generator = DocumentGenerator(seed: seed)
        return generator.document()
    }

    private init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        isCareful = !random.once(in: 4)
    }

    private mutating func document() -> String {
        let rootIndent = random.once(in: 12) ? 2 : 0
        block(indent: rootIndent, depth: 0)
        let lineEnd = random.once(in: 4) ? "\r\n" : "\n"
        return lines.joined(separator: lineEnd) + (random.once(in: 5) ? "" : lineEnd)
    }

    private mutating func block(indent: Int, depth: Int) {
        if random.once(in: 3) {
            for _ in 0..<Int.random(in: 1...4, using: &random) { item(indent: indent, depth: depth) }
        } else {
            mapping(indent: indent, depth: depth, first: nil)
        }
    }

    /// `first` is what already stands on the first key's line: a dash.
    private mutating func mapping(indent: Int, depth: Int, first: String?) {
        var lead = first ?? spaces(indent)
        for number in 0..<Int.random(in: 1...5, using: &random) {
            noise()
            entry("\(key())\(number):", lead: lead, indent: indent, depth: depth)
            lead = spaces(indent)
        }
    }

    private mutating func entry(_ key: String, lead: String, indent: Int, depth: Int) {
        guard depth < 4, random.once(in: 3) else {
            lines.append(lead + key + gap() + inline() + comment())
            return
        }
        lines.append(lead + key + comment())
        noise()
        if random.once(in: 3) {
            for _ in 0..<Int.random(in: 1...3, using: &random) { item(indent: indent, depth: depth + 1) }
        } else {
            block(indent: indent + Int.random(in: 1...4, using: &random), depth: depth + 1)
        }
    }

    private mutating func item(indent: Int, depth: Int) {
        noise()
        let dash = spaces(indent) + "-" + gap()
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where depth < 4: mapping(indent: dash.count, depth: depth + 1, first: dash)
        case 1 where depth < 4:
            lines.append(spaces(indent) + "-" + comment())
            block(indent: indent + Int.random(in: 1...4, using: &random), depth: depth + 1)
        default: lines.append(dash + inline() + comment())
        }
    }

    // MARK: Values

    private mutating func inline() -> String {
        random.once(in: 4) ? flow(depth: 1) : scalar(inFlow: false)
    }

    private mutating func flow(depth: Int) -> String {
        let isList = Bool.random(using: &random)
        var parts: [String] = []
        for number in 0..<Int.random(in: 0...3, using: &random) {
            let value = depth < 4 && random.once(in: 4) ? flow(depth: depth + 1) : scalar(inFlow: true)
            parts.append(isList ? value : "\(key())\(number):\(gap())\(value)")
        }
        let pad = random.once(in: 3) ? " " : ""
        let comma = random.pick([", ", ", ", ",", " , "])
        let body = pad + parts.joined(separator: comma) + pad
        return isList ? "[\(body)]" : "{\(body)}"
    }

    private mutating func scalar(inFlow: Bool) -> String {
        let text = text()
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "'" + text.replacing("'", with: "''") + "'"
        case 1: return "\"" + escaped(text) + "\""
        default: return isCareful ? random.pick(Self.plainTexts) : inFlow ? text.replacing(",", with: ";") : text
        }
    }

    private mutating func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "/" where random.once(in: 3): result += "\\/"
            case _ where scalar.value < 0x1_0000 && random.once(in: 8):
                let digits = String(scalar.value, radix: 16, uppercase: random.once(in: 2))
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + (random.once(in: 8) ? random.pick(["\\n", "\\t", "\\r", "\\b", "\\f"]) : "")
    }

    private mutating func text() -> String {
        if random.once(in: 3) { return random.pick(Self.texts) }
        let words = (0..<Int.random(in: 1...3, using: &random)).map { _ in random.pick(Self.words) }
        return words.joined(separator: random.pick([" ", "", "  "]))
    }

    private mutating func key() -> String {
        random.pick(["a", "key", "job", "x-y", "_", "no", "null", "True", "Z9", "y"])
    }

    // MARK: Blanks and comments

    private mutating func gap() -> String { random.once(in: 5) ? "   " : " " }

    private mutating func comment() -> String {
        random.once(in: 5) ? random.pick([" # why", "  # 'quotes' and: colons", " #", " # #3", "   "]) : ""
    }

    /// Sometimes an empty line or a comment of its own.
    private mutating func noise() {
        if random.once(in: 8) { lines.append(random.pick(["", "   ", "# note", "      # a: note", "#", "#tight"])) }
    }

    private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    /// Fit to stand without quotes everywhere.
    private static let plainTexts = [
        "12", "-1", "x", "a:b", "http://x/y?z=1", "it's", "a\"b", "a#b", "é", "e\u{301}", "😀", "日本語", "a  b", "a - b",
        "no", "null", "~", "007", "1e3", ".5", "12:30:45", "out/x.jpg", "C:\\x\\n", "=", "<<", "$HOME", "(x) y", "100%",
        "a & b", "a ? b", "a !b", "-x", "--", "a'b'c", "a|b>c", "x@y", "+3", "^", "a*",
    ]

    private static let words = [
        "photos/**/*.jpg", "12", "-1", "x", "a:b", "http://x/y?z=1", "it's", "\"", "#", "a#b", "–", "é", "e\u{301}",
        "😀", "{dir}", "[0]", "&", "!", "|", ">", "%", "@", "`", "?", "-", ":", "~", "=", "<<", "\\", "100%", "---",
        "...", "*", "日本", "\u{A0}", "\u{202F}", "$HOME", "a,b", "(x)", "<y>", "^", "+3", "1_0", ":x", "x:", "-x", "?x",
    ]

    private static let texts = [
        "", "no", "null", "~", "true", "007", "1e3", "0x1F", "1_000", ".5", "12:30:45", "2026-11-21", "plain text",
        "a - b", "a: b", "a #b", "a # b", " lead", "trail ", "- x", "? x", ": x", "-", "?", ":", "--- x", "... x",
        "---x",
        "[a", "a]", "{a", "a}", "'", "''", "\"", "\\", "\\n", "#x", "# x", "a\tb", "\t", "%TAG", "@x", "`x`", "|", ">-",
        "!tag x", "&a b", "*a", "<<", "<<: x", "a\u{85}b", "a\u{2028}b", "\u{FEFF}a", "=", "x=", "a,b", "C:\\x",
        "key:value", "a ? b", "a & b", "it''s", "\u{1F600}\u{200D}x", "Holiday #3", "a:", ":a", "a :b", "x'y\"z",
    ]
}
