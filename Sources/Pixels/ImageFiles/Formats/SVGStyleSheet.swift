/// The rules of a style sheet that make work: those that refer to elements, and those that make layers.
///
/// A rule counts for every element that has the tag, or else the class or the name, of its last selector; that may be more than those
/// which the rule is for.
struct SVGStyleSheet {
    struct Rule {
        /// A tag, `.class`, `#name` or `*`.
        let subject: String
        let declarations: String
    }

    private(set) var rules: [Rule] = []
    /// It takes in another sheet that is written out within it.
    let importsData: Bool

    init(_ text: String) {
        let text = Self.plain(text)
        importsData = text.contains("@import") && text.contains("data:")
        var (current, selectors) = ("", "")
        for character in text {
            switch character {
            case "{":
                selectors = current
                current = ""
            case "}":
                let makesWork = !current.urls.isEmpty || current.contains("opacity") || current.contains("mix-blend")
                if makesWork {
                    for selector in selectors.split(separator: ",") {
                        rules.append(Rule(subject: Self.subject(selector), declarations: current))
                    }
                }
                current = ""
            default:
                current.append(character)
            }
        }
    }

    private static func subject(_ selector: Substring) -> String {
        let last = selector.split { $0.isWhitespace || ">+~".contains($0) }.last ?? "*"
        let parts = last.prefix { !":[".contains($0) }
        guard let mark = parts.firstIndex(where: { ".#".contains($0) }) else {
            return parts.isEmpty ? "*" : String(parts)
        }
        let name = parts[parts.index(after: mark)...].prefix { !".#".contains($0) }
        return String(parts[mark]) + name
    }

    /// Without comments, and with escaped characters as they are.
    static func plain(_ text: String) -> String {
        guard text.contains("\\") || text.contains("/*") else { return text }
        var (result, rest) = ("", text[...])
        while let character = rest.first {
            if rest.hasPrefix("/*") {
                rest = rest.firstRange(of: "*/").map { rest[$0.upperBound...] } ?? ""
                continue
            }
            rest = rest.dropFirst()
            guard character == "\\" else {
                result.append(character)
                continue
            }
            let digits = rest.prefix(6).prefix { $0.isHexDigit }
            if let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) {
                result.unicodeScalars.append(scalar)
                rest = rest[digits.endIndex...]
                if rest.first?.isWhitespace == true { rest = rest.dropFirst() }
            } else if let next = rest.first {
                result.append(next)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}

extension String {
    /// The names in all `url(#name)`.
    var urls: [String] {
        guard contains("(") else { return [] }
        var (names, rest) = ([String](), self[...])
        while let start = rest.firstRange(of: "(") {
            let before = rest[..<start.lowerBound].suffix(3).lowercased()
            rest = rest[start.upperBound...]
            guard before == "url" else { continue }
            let target = rest.drop { $0.isWhitespace || "'\"".contains($0) }
            guard target.hasPrefix("#") else { continue }
            names.append(String(target.dropFirst().prefix { !$0.isWhitespace && !"'\")".contains($0) }))
        }
        return names
    }

    var numbers: [Double] {
        split { $0.isWhitespace || $0 == "," }.map { Double($0) ?? 0 }.map { $0.isFinite ? $0 : 0 }
    }

    var trimmed: String {
        let front = drop(while: \.isWhitespace)
        return String(
            front.prefix(
                (front.lastIndex { !$0.isWhitespace }).map { front.distance(from: front.startIndex, to: $0) + 1 } ?? 0))
    }

    /// How much a transform enlarges at most.
    var scaling: Double {
        var (scale, rest) = (1.0, self[...])
        while let open = rest.firstRange(of: "("), let close = rest[open.upperBound...].firstRange(of: ")") {
            let name = rest[..<open.lowerBound].drop { !$0.isLetter }
            let values = String(rest[open.upperBound..<close.lowerBound]).numbers
            if name.hasPrefix("scale") {
                scale *= values.map(\.magnitude).max() ?? 1
            } else if name.hasPrefix("matrix"), values.count == 6 {
                scale *= max(values[0].magnitude + values[1].magnitude, values[2].magnitude + values[3].magnitude)
            }
            rest = rest[close.upperBound...]
        }
        return scale.isFinite ? max(1, scale) : 1e6
    }
}
