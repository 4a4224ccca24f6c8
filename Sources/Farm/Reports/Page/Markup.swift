import FoundationEssentials
import JobModel

/// HTML. Interpolated text is escaped. Only interpolated markup stays as it is.
///
///     let cell: Markup = "<td>\(fileName)</td>"
struct Markup: ExpressibleByStringInterpolation, Sendable {
    private(set) var html: String

    init(stringLiteral value: String) { html = value }
    init(stringInterpolation: StringInterpolation) { html = stringInterpolation.html }

    var isEmpty: Bool { html.isEmpty }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            html.reserveCapacity(literalCapacity + 24 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { html += literal }
        /// Text between tags. Invisible characters are made visible.
        mutating func appendInterpolation(_ text: String) { html += PageText.html(text) }
        /// Text in the quotes of an attribute, or in `<title>`.
        mutating func appendInterpolation(attribute text: String) { html += PageText.attribute(text) }
        mutating func appendInterpolation(_ number: Int) { html += String(number) }
        mutating func appendInterpolation(_ markup: Markup) { html += markup.html }
        mutating func appendInterpolation(_ parts: [Markup]) { for part in parts { html += part.html } }
        /// A share from 0 to 1 as a percentage for a style.
        mutating func appendInterpolation(percent share: Double) {
            let tenths = Int((min(1, max(0, share)) * 1000).rounded())
            html += "\(tenths / 10).\(tenths % 10)%"
        }
    }
}

// MARK: - Shared by all sections

extension Markup {
    /// A file's path. The folder is less visible than the name, lines may break anywhere, and right-to-left letters do not reorder it.
    static func path(_ path: String) -> Markup {
        guard let slash = path.utf8.dropLast().lastIndex(of: UInt8(ascii: "/")) else {
            return "<bdi class=\"path\">\(path)</bdi>"
        }
        let name = path.utf8.index(after: slash)
        return "<bdi class=\"path\"><span>\(String(path[..<name]))</span>\(String(path[name...]))</bdi>"
    }

    /// A message, with its line breaks.
    static func lines(_ text: String) -> Markup {
        // This splits bytes, because a carriage return with a newline is one Character.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        return "\(lines.enumerated().map { index, line -> Markup in index == 0 ? "\(line)" : "<br>\(line)" })"
    }

    /// Two times as text: `2026-11-21, 21:30:00 – 21:30:12 UTC`.
    static func span(from start: RunReport.Moment, to end: RunReport.Moment) -> Markup {
        let first = start.text.split(separator: "T").map { $0.filter { $0 != "Z" } }
        let last = end.text.split(separator: "T").map { $0.filter { $0 != "Z" } }
        let shown = first.count == 2 && first.first == last.first ? last.dropFirst() : last[...]
        return """
            <time datetime="\(attribute: start.text)">\(first.joined(separator: ", "))</time> – \
            <time datetime="\(attribute: end.text)">\(shown.joined(separator: ", ")) UTC</time>
            """
    }

    static func image(_ thumbnail: Thumbnail, alt: String) -> Markup {
        let data = Data(thumbnail.bytes).base64EncodedString()
        let source = "data:\(thumbnail.format.rawValue);base64,\(data)"
        // Base64 is long, and needs no escapes.
        return "<img src=\"\(Markup(stringLiteral: source))\" alt=\"\(attribute: alt)\">"
    }
}

/// Text as HTML. Characters with a meaning in HTML are escaped. Invisible characters are made visible, as in
/// ``VisibleText``.
enum PageText {
    /// Invisible code points stand out: `<i class="odd">\u{202e}</i>`.
    static func html(_ text: String) -> String { escaped(text, before: "<i class=\"odd\">", after: "</i>") }

    static func attribute(_ text: String) -> String { escaped(text, before: "", after: "") }

    private static func escaped(_ text: String, before: String, after: String) -> String {
        guard text.unicodeScalars.contains(where: { entity($0) != nil || VisibleText.isUnsafe($0) }) else {
            return text
        }
        var result = ""
        for scalar in text.unicodeScalars {
            if let entity = entity(scalar) {
                result += entity
            } else if VisibleText.isUnsafe(scalar) {
                result += "\(before)\\u{\(String(scalar.value, radix: 16))}\(after)"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func entity(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: nil
        }
    }
}
