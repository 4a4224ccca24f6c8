import Catalogs
package import JobModel

/// Fills in an output template.
package struct OutputNaming: Sendable {
    /// Values that only a probe knows.
    package struct Measures: Hashable, Sendable {
        package let width: Int
        package let height: Int
        package let contentDigest: Digest?

        package init(width: Int, height: Int, contentDigest: Digest?) {
            self.width = width
            self.height = height
            self.contentDigest = contentDigest
        }
    }

    /// One for each of the job's outputs.
    package let templates: [OutputTemplate]
    let job: String
    /// Absolute, without `.` and `..`.
    private let folder: [UInt8]
    /// `2026-11-21`
    let date: String

    package init(_ job: JobSpec, date: String) {
        templates = job.outputs.map(\.template)
        self.job = job.name
        folder = PathBytes.normalized(Array(job.folder.utf8), in: [])
        self.date = date
    }

    /// An absolute output path.
    ///
    /// - Parameters:
    ///   - index: The input's number in sorted order, from 1.
    ///   - page: The page of the input, from 0.
    ///   - measures: Needed if the template ``OutputTemplate/needsProbe``.
    package func path(
        _ template: OutputTemplate, for input: InputFile, index: Int, page: Int, measures: Measures?
    ) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(input.path.utf8.count + 64)
        for piece in template.pieces {
            switch piece {
            case .literal(let literal): text.append(contentsOf: literal.utf8)
            case .field(let field):
                append(field, of: input, index: index, page: page, measures: measures, to: &text)
            }
        }
        return String(decoding: PathBytes.normalized(text, inNormal: folder), as: UTF8.self)
    }

    /// An address on a site, with the values of a frame in place of its fields. Values of other fields are empty: the reader of
    /// the manifest has refused them.
    package func address(_ template: String, for input: InputFile, index: Int, page: Int) -> String {
        AddressTemplate.filled(template) { text in
            let parts = text.split(separator: ":")
            let digits = parts.count > 1 ? Int(parts[1]) ?? 1 : 1
            let fields: [Substring: OutputTemplate.Field] = [
                "dir": .dir, "stem": .stem, "ext": .ext, "job": .job, "index": .index(digits: digits),
                "frame": .frame(digits: digits),
            ]
            guard let field = parts.first.flatMap({ fields[$0] }) else { return "" }
            var value: [UInt8] = []
            append(field, of: input, index: index, page: page, measures: nil, to: &value)
            return String(decoding: value, as: UTF8.self)
        }
    }

    private func append(
        _ field: OutputTemplate.Field, of input: InputFile, index: Int, page: Int, measures: Measures?,
        to text: inout [UInt8]
    ) {
        func append(_ value: String) { text.append(contentsOf: value.utf8) }
        switch field {
        case .dir: append(input.dir)
        case .stem: text.append(contentsOf: PathText.nameParts(of: input.path).stem.utf8)
        case .ext: append(PathText.nameParts(of: input.path).ext.lowercased())
        case .job: append(job)
        case .width: append(measures.map { String($0.width) } ?? "{width}")
        case .height: append(measures.map { String($0.height) } ?? "{height}")
        case .index(let digits): append(Self.padded(index, digits))
        case .frame(let digits): append(Self.padded(page + 1, digits))
        case .date: append(date)
        case .hash8: append(measures?.contentDigest.map { String($0.description.prefix(8)) } ?? "{hash8}")
        }
    }

    /// The filters with the names of a picture in their texts.
    package func filling(
        _ chain: [FilterInvocation], for input: InputFile, index: Int, page: Int
    ) -> [FilterInvocation] {
        chain.map { filter in
            filter.mappingTemplates { template in
                template.filling { piece in
                    guard case .name(let field) = piece else { return nil }
                    var text: [UInt8] = []
                    append(field, of: input, index: index, page: page, measures: nil, to: &text)
                    return .literal(String(decoding: text, as: UTF8.self))
                }
            }
        }
    }

    /// The extension of an output's name, as far as it is known without a probe.
    func fileExtension(_ template: OutputTemplate, for input: InputFile) -> String {
        let path = path(template, for: input, index: 1, page: 0, measures: nil)
        return PathText.split(name: PathText.name(of: path)).ext
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

/// One component of a pattern, which matches names.
///
/// ASCII names, which are most, are matched byte by byte. Others are matched character by character, so that `?` is one
/// letter.
/// Letters are equal however their accents are encoded, unless the pattern matches exactly.
struct NamePattern: Hashable, Sendable {
    private let alternatives: [Alternative<Character>]
    /// The alternatives in bytes. Nil if the pattern is not ASCII.
    private let byteAlternatives: [Alternative<UInt8>]?
    /// Alternatives that must match as well, with letters compared by their bytes. Nil if this makes no difference.
    private let exactAlternatives: [Alternative<ExactLetter>]?

    /// - Parameter exactly: If true, letters are equal only if their bytes are.
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

    /// Braces multiply: twenty pairs with two choices each make a million names.
    static let mostAlternatives = 1000

    /// An upper bound of the number of names that the braces stand for. It also exceeds ``mostAlternatives`` if all names
    /// together could be longer than ``mostLetters``.
    static func width(_ text: String) -> Int {
        let width = text.split(separator: "{").dropFirst().reduce(1) { product, part in
            let choices = part.prefix { $0 != "}" }.filter { $0 == "," }.count + 1
            return min(product * choices, mostAlternatives + 1)
        }
        return width > 1 && width * text.utf8.count > mostLetters ? mostAlternatives + 1 : width
    }

    /// In bytes, for all names that a pattern stands for. Real names are far shorter.
    private static let mostLetters = 1 << 20

    static func hasWildcard(_ text: String) -> Bool {
        text.utf8.contains { "*?[{".utf8.contains($0) }
    }

    func matches(_ name: String) -> Bool { matches(Array(name.utf8)[...]) }

    /// - Parameter name: Each byte that is not UTF-8 counts as one character.
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

    /// The name with everything behind its last dot in lower case.
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
    ///
    /// This is a loop, because a pattern can have so many braces that a recursion would need too much memory.
    private static func expand(_ text: [Character]) -> [[Character]] {
        var (names, rest) = ([[Character]()], text[...])
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let choices = rest[(open + 1)..<close].split(separator: ",", omittingEmptySubsequences: false)
            let before = rest[..<open]
            if choices.count == 1 {
                // Appending in place copies nothing.
                for index in names.indices { names[index] += before + choices[0] }
            } else {
                names = names.flatMap { name in choices.map { name + before + $0 } }
            }
            rest = rest[(close + 1)...]
        }
        return names.map { $0 + rest }
    }
}

/// One of the names that the braces stand for.
private struct Alternative<Unit: WildcardUnit>: Hashable, Sendable {
    private let exact: WildcardMatcher<Unit>
    /// The alternative with its extension in lower case.
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

/// Finds the formats of a frame's outputs by the extensions of their names. Caches the results: a job has many frames,
/// but few extensions.
struct FormatChoice {
    private let naming: OutputNaming
    private let catalog: Catalog
    /// For each template the extension that all its names share. Nil if they differ.
    private let extensions: [String?]
    private var known: [String: String] = [:]
    private var last: [String] = []

    init(_ naming: OutputNaming, _ catalog: Catalog) {
        self.naming = naming
        self.catalog = catalog
        extensions = naming.templates.map(Self.commonExtension)
    }

    private static func commonExtension(of template: OutputTemplate) -> String? {
        guard case .literal(let end) = template.pieces.last else { return nil }
        // The text before the literal may be empty, and then '.png' is no extension. A stem is never empty.
        let before = template.pieces.dropLast().last == .field(.stem) && !end.utf8.contains(PathBytes.slash) ? "x" : ""
        let name = end.utf8.split(separator: PathBytes.slash, omittingEmptySubsequences: false).last.map(String.init)
        let ext = PathText.split(name: before + (name.flatMap(\.self) ?? "")).ext
        return ext.isEmpty ? nil : ext
    }

    /// One name for each of the job's outputs. Equal lists share their memory.
    mutating func formats(of input: InputFile) throws(PlanError) -> [String] {
        if !last.isEmpty, !extensions.contains(nil) { return last }
        var result: [String] = []
        for (template, common) in zip(naming.templates, extensions) {
            result.append(try format(common ?? naming.fileExtension(template, for: input), input))
        }
        if result != last { last = result }
        return last
    }

    private mutating func format(_ ext: String, _ input: InputFile) throws(PlanError) -> String {
        if let name = known[ext] { return name }
        guard let format = catalog.format(forExtension: ext), format.canWrite else {
            let writable = catalog.formats.filter(\.canWrite).flatMap { $0.extensions.prefix(1) }
            throw .formatUnknown(extension: ext, input: input.path, known: writable)
        }
        known[ext] = format.name
        return format.name
    }
}
