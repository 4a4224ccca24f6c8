/// The problems of a text as a whole, or of a line before its contents have a meaning.
package enum TextProblem: Hashable, Sendable {
    // The bytes.
    case notText
    case notUTF8(byte: UInt8)
    case byteOrderMark
    case controlCharacter(UInt32)
    case lineSeparator(UInt32)
    case loneCarriageReturn
    case lineBreakInArgument

    // Limits.
    case tooLarge(bytes: Int)
    case tooDeep
    case tooManyNodes

    // Lines.
    case empty
    /// For a manifest, whose keys are known.
    case emptyManifest
    case tabInIndentation
    case tab
    case deceptiveBlank(UInt32)
    case badIndentation(found: Int, expected: [Int])
    case continuationLine
    case documentMarker(String)
    case secondDocument(String)
    case directive
    /// `value` is the whole value with the part that would be cut off. Nil if the value does not begin without quotes.
    case commentWithoutBlank(text: String, value: String?)
    case commentTouchesValue
}

extension TextProblem {
    var words: Words {
        switch self {
        case .notText:
            Words("this is not a text file: it has a zero byte", remedy: "a manifest is UTF-8 text; UTF-16 is not read")
        case .notUTF8(let byte):
            Words("byte 0x\(hex(byte)) is not UTF-8 here", remedy: "save the file as UTF-8")
        case .byteOrderMark:
            Words("the file has a byte order mark", remedy: "save it as 'UTF-8', not as 'UTF-8 with BOM'")
        case .controlCharacter(let value):
            Words(
                "control character \(codePoint(value))",
                remedy: "remove it; where it is meant, write \\u\(fourDigits(value)) inside double quotes")
        case .lineSeparator(let value):
            Words(
                "\(codePoint(value)) is a line break to some programs and none to others",
                remedy: "remove it, or write \\u\(fourDigits(value)) inside double quotes")
        case .loneCarriageReturn:
            Words("a carriage return without a line feed", remedy: "end lines with LF or CRLF")
        case .lineBreakInArgument:
            Words("the value has a line break", remedy: "write \\n inside double quotes")

        case .tooLarge(let bytes):
            Words(
                "the file has \(bytes) bytes, more than the \(SyntaxLimits.bytes) that are read",
                remedy: "name inputs by globs instead of one by one, or cut the job into several")
        case .tooDeep:
            Words("more than \(SyntaxLimits.depth) blocks inside each other", remedy: "no key needs that many")
        case .tooManyNodes:
            Words(
                "more than \(SyntaxLimits.nodes) values",
                remedy: "name inputs by globs instead of one by one, or cut the job into several")

        case .empty:
            Words("there is nothing in here but blanks and comments", remedy: "write 'key: value' lines")
        case .emptyManifest:
            Words(
                "there is nothing in here but blanks and comments",
                remedy: """
                    a manifest needs the name of a job, its inputs, its filters and an output:
                    job: blurred
                    inputs: [photos/**/*.jpg]
                    filters: [{gaussian: {radius: 12}}]
                    output: out/{dir}/{stem}.jpg
                    """)
        case .tabInIndentation:
            Words("a tab in the indentation", remedy: "indent with spaces")
        case .tab:
            Words("a tab outside quotes", remedy: "write a space, or quote the text that has the tab")
        case .deceptiveBlank(let value):
            Words(
                "\(codePoint(value)) looks like a space and is none",
                remedy: "write an ordinary space, or quote the text if the character is meant")
        case .badIndentation(let found, let expected):
            Words(
                "indented by \(counted(found, "space")) where \(expected.map(String.init).alternatives) would fit",
                remedy: "the lines of one block start in the same column")
        case .continuationLine:
            Words(
                "this line continues the value above, but a value is one line",
                remedy: #"join the lines; for a line break in the text write "…\n…" in double quotes"#)
        case .documentMarker(let marker):
            Words("'\(marker)' is not needed: a file is one document", remedy: "remove this line")
        case .secondDocument(let marker):
            Words(
                "'\(marker)' begins another document, but a file is one document",
                remedy: "remove this line, or put what follows into a file of its own")
        case .directive:
            Words("YAML directives ('%…') are not read", remedy: "remove this line")
        case .commentWithoutBlank(let text, let value):
            Words(
                "\(text.quoted) would be cut off as a comment",
                remedy: (value.map(quoteIt) ?? "put it inside the quotes") + "; for a comment put a blank after '#'")
        case .commentTouchesValue:
            Words("no blank before '#'", remedy: "put a blank between the value and its comment")
        }
    }

    private func hex(_ byte: UInt8) -> String {
        String(byte, radix: 16, uppercase: true)
    }

    private func fourDigits(_ value: UInt32) -> Substring {
        codePoint(value).dropFirst(2)
    }
}
