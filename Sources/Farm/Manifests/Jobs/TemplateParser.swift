import Catalogs
import JobModel

/// Splits an output template, or a text, into literal text and fields.
///
/// Braces always belong to fields. They cannot be written as characters.
struct TemplateParser {
    private let node: SyntaxNode
    private let use: TemplateProblem.Use
    private let scalars: [Unicode.Scalar]
    private var index = 0

    /// The pieces of an output's path.
    ///
    /// - Parameter node: The template's node, for messages.
    static func pieces(of node: SyntaxNode, text: String) throws(Diagnostic) -> [OutputTemplate.Piece] {
        try parse(text, .path, of: node).map { piece in
            switch piece {
            case .literal(let text): .literal(text)
            case .name(let field): .field(field)
            case .exif, .missing: preconditionFailure("paths have fields of names alone")
            }
        }
    }

    /// The words of a text that is written on pictures.
    static func words(of node: SyntaxNode, text: String) throws(Diagnostic) -> TextTemplate {
        TextTemplate(try parse(text, .words, of: node))
    }

    private static func parse(
        _ text: String, _ use: TemplateProblem.Use, of node: SyntaxNode
    ) throws(Diagnostic) -> [TextTemplate.Piece] {
        var parser = TemplateParser(node: node, use: use, scalars: Array(text.unicodeScalars))
        return try parser.parse()
    }

    private mutating func parse() throws(Diagnostic) -> [TextTemplate.Piece] {
        var pieces: [TextTemplate.Piece] = []
        while index < scalars.count {
            switch scalars[index] {
            case "{": pieces.append(try parseField())
            case "}": throw error(.strayBrace(use), at: index..<index + 1)
            default: pieces.append(.literal(parseLiteral()))
            }
        }
        return pieces
    }

    private mutating func parseLiteral() -> String {
        let rest = scalars[index...].prefix { $0 != "{" && $0 != "}" }
        index = rest.endIndex
        return String(String.UnicodeScalarView(rest))
    }

    private mutating func parseField() throws(Diagnostic) -> TextTemplate.Piece {
        let start = index
        if scalars[start...].starts(with: ["{", "{"]) { throw error(.doubledBrace(use), at: start..<start + 2) }
        let inside = scalars[(start + 1)...].prefix { $0 != "{" && $0 != "}" }
        guard inside.endIndex < scalars.count, scalars[inside.endIndex] == "}" else {
            throw error(.unclosedField(use), at: start..<start + 1)
        }
        index = inside.endIndex + 1
        return try field(String(String.UnicodeScalarView(inside)), at: start..<index)
    }

    private func field(_ text: String, at range: Range<Int>) throws(Diagnostic) -> TextTemplate.Piece {
        if use == .words, let field = ExifField(rawValue: text) { return .exif(field) }
        if let field = try name(text, at: range) {
            if use == .words, field.needsProbe { throw error(.laterField(field.written), at: range) }
            return .name(field)
        }
        throw error(text.isEmpty ? .emptyField : unknown(text), at: range)
    }

    /// Nil for an unknown field.
    private func name(_ text: String, at range: Range<Int>) throws(Diagnostic) -> NameField? {
        if text.hasPrefix("index:") { return .index(digits: try digits(text, of: "index", at: range)) }
        if text.hasPrefix("frame:") { return .frame(digits: try digits(text, of: "frame", at: range)) }
        return Self.fields[text]
    }

    /// `index:04` means four digits.
    private func digits(_ text: String, of name: String, at range: Range<Int>) throws(Diagnostic) -> Int {
        let width = String(text.dropFirst(name.count + 1))
        guard width.utf8.count == 2, width.hasPrefix("0"), let digits = Int(width), digits > 0 else {
            throw error(.badDigits(width, field: name), at: range)
        }
        return digits
    }

    private func unknown(_ name: String) -> TemplateProblem {
        let known =
            use == .path
            ? Self.fieldNames
            : Self.table.filter { !$0.field.needsProbe }.map(\.name) + ExifField.allCases.map(\.rawValue)
        let trimmed = String(name.drop { $0 == " " }.prefix { $0 != " " }).lowercased()
        let alias = Self.aliases[trimmed].flatMap { known.contains($0) ? $0 : nil }
        let nearest =
            (use == .words ? Self.exifAliases[trimmed] : nil) ?? alias ?? Suggestion.nearest(to: trimmed, among: known)
        return .unknownField(name, nearest: nearest, known: known)
    }

    private func error(_ problem: TemplateProblem, at range: Range<Int>) -> Diagnostic {
        Diagnostic(.template(problem), at: node.span(ofText: range.lowerBound, length: range.count))
    }

    static let fieldNames = table.map(\.name)

    private static let fields = Dictionary(uniqueKeysWithValues: table.map { ($0.name, $0.field) })

    /// The fields as the reference lists them.
    static let described = table.map { name, _, example, sentence in
        OutputField(field: "{\(name)}", example: example, sentence: sentence)
    }

    /// The examples are of the first picture of photos/**/*.jpg, photos/2026/cat.jpg.
    private static let table: [(name: String, field: OutputTemplate.Field, example: String, sentence: String)] = [
        (
            "dir", .dir, "2026",
            "The folder of the picture, below the part of the glob that has no wildcard. It is empty for pictures directly in "
                + "that folder."
        ),
        ("stem", .stem, "cat", "The name of the picture without its extension."),
        (
            "ext", .ext, "jpg",
            "The extension of the picture. At the end of a path, it gives each output the format of its picture."
        ),
        ("job", .job, "small", "The name of the job."),
        ("width", .width, "1920", "The width of the output in pixels."),
        ("height", .height, "1280", "The height of the output in pixels."),
        (
            "index", .index(digits: 1), "1",
            "The number of the picture among all inputs, in the order of their paths, from 1. {index:04} writes four digits."
        ),
        (
            "frame", .frame(digits: 1), "1",
            "The number of the page or of the animation's frame, from 1. With it, each page becomes an output. {frame:03} "
                + "writes three digits."
        ),
        ("date", .date, "2026-11-21", "The day of the run in UTC."),
        (
            "hash8", .hash8, "5c1fe02b",
            "Eight hexadecimal digits that change with the bytes of the picture, its filters and its save options."
        ),
    ]

    /// The names of these values in the EXIF standard, and other words for them.
    private static let exifAliases = [
        "exif.datetimeoriginal": "exif.date", "datetimeoriginal": "exif.date", "exif.datetime": "exif.date",
        "taken": "exif.date", "exif.model": "exif.camera", "model": "exif.camera", "exif.make": "exif.camera",
        "camera": "exif.camera", "exif.lensmodel": "exif.lens", "lensmodel": "exif.lens", "lens": "exif.lens",
        "exif.focallength": "exif.focal_length", "exif.exposuretime": "exif.exposure", "exposure": "exif.exposure",
        "exif.shutter": "exif.exposure", "exif.fnumber": "exif.aperture", "fnumber": "exif.aperture",
        "aperture": "exif.aperture", "exif.isospeedratings": "exif.iso",
        "exif.photographicsensitivity": "exif.iso", "iso": "exif.iso",
    ]

    /// Other tools' names for fields.
    private static let aliases = [
        "name": "stem", "filename": "stem", "basename": "stem", "base": "stem", "file": "stem",
        "extension": "ext", "suffix": "ext", "folder": "dir", "directory": "dir", "path": "dir",
        "n": "index", "i": "index", "number": "index", "counter": "index",
        "page": "frame", "w": "width", "h": "height", "hash": "hash8", "digest": "hash8",
    ]
}

extension ValueReader where Value == TextTemplate {
    /// Words with fields.
    static var template: ValueReader {
        ValueReader { node, name, log in
            guard let text = ValueReader<String>.nonEmptyText.read(node, for: name, log: log) else { return nil }
            do throws(Diagnostic) {
                return try TemplateParser.words(of: node, text: text)
            } catch {
                log.add(error)
                return nil
            }
        }
    }
}
