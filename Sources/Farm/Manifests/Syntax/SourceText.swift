/// A text, cut into lines. It keeps its scalars unchanged, so that a diagnostic can print them.
package struct SourceText: Sendable {
    package enum Kind: Hashable, Sendable {
        /// A file of lines.
        case file
        /// One command line argument: a single line, named by the whole argument.
        case argument
    }

    /// The name in messages: a path, or a flag with its value.
    package let name: String
    package let kind: Kind
    package let id: SourceID
    /// All lines' scalars, including breaks.
    let scalars: [Unicode.Scalar]
    /// Each line's scalars without its break. Never empty.
    package let lines: [Range<Int>]
    /// The arguments that the lines stand for, if the text was made of a command line. Nil for other lines.
    var arguments: [ArgumentLine?] = []

    init(name: String, kind: Kind, id: SourceID, scalars: [Unicode.Scalar]) {
        self.name = name
        self.kind = kind
        self.id = id
        self.scalars = scalars
        self.lines = Self.lines(of: scalars)
    }

    /// The scalars of a line, counted from 1. Empty if there is no such line.
    package func line(_ number: Int) -> ArraySlice<Unicode.Scalar> {
        guard lines.indices.contains(number - 1) else { return [] }
        return scalars[lines[number - 1]]
    }

    /// The position of a scalar of the line with this number.
    func position(of index: Int, line: Int) -> SourcePosition {
        SourcePosition(line: line, column: index - lines[line - 1].lowerBound + 1)
    }

    func span(_ range: Range<Int>, line: Int) -> SourceSpan {
        SourceSpan(source: id, start: position(of: range.lowerBound, line: line), length: range.count)
    }

    func string(_ range: Range<Int>) -> String {
        String(String.UnicodeScalarView(scalars[range]))
    }

    /// LF and CRLF end a line. So does CR alone, for files that have nothing else. The text behind the last break is a
    /// line, too, even if it is empty.
    private static func lines(of scalars: [Unicode.Scalar]) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for (index, scalar) in scalars.enumerated() where scalar == "\n" || scalar == "\r" {
            let isSecondHalf = scalar == "\n" && index > 0 && scalars[index - 1] == "\r"
            if !isSecondHalf { lines.append(start..<index) }
            start = index + 1
        }
        lines.append(start..<scalars.count)
        return lines
    }
}

extension SourceText {
    /// The argument that a line stands for. Lines count from 1.
    package func argument(ofLine number: Int) -> ArgumentLine? {
        arguments.indices.contains(number - 1) ? arguments[number - 1] : nil
    }
}

/// A line of a manifest that a command has made of one of its arguments. Messages name the argument in its place.
package struct ArgumentLine: Hashable, Sendable {
    /// The argument in messages, such as `--output a.png`.
    package let name: String
    /// How many scalars of the line stand before the argument's own text, and how many behind it.
    package let before: Int
    package let behind: Int

    package init(_ name: String, before: Int, behind: Int = 0) {
        self.name = name
        self.before = before
        self.behind = behind
    }

    /// The argument's part of a line.
    func part(of line: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
        line.dropFirst(before).dropLast(behind)
    }

    /// The column in the argument for one of the line. Both count from 1.
    package func column(for column: Int) -> Int { max(1, column - before) }
}

/// The texts of one reading: the file, and the arguments that override parts of it.
package struct SourceSet: Sendable {
    package let file: SourceText
    package let arguments: [SourceText]

    package init(file: SourceText, arguments: [SourceText] = []) {
        self.file = file
        self.arguments = arguments
    }

    package subscript(id: SourceID) -> SourceText {
        switch id {
        case .file: file
        case .argument(let index): arguments.indices.contains(index) ? arguments[index] : file
        }
    }
}

extension SourceText {
    /// Decodes a file's bytes. Reports bytes that are no UTF-8, a byte order mark, control characters, and characters
    /// that YAML but no editor takes for a line break.
    ///
    /// The text can be used whatever was reported. It is empty only if the bytes are no text, or too many.
    package init(bytes: [UInt8], name: String, log: DiagnosticLog) {
        self.init(bytes: bytes, name: name, kind: .file, id: .file, log: log)
    }

    /// The text of a command line argument. `name` is the argument with its flag.
    package init(argument: String, name: String, index: Int, log: DiagnosticLog) {
        self.init(bytes: Array(argument.utf8), name: name, kind: .argument, id: .argument(index), log: log)
        guard lines.count > 1 else { return }
        let end = lines[0].upperBound
        log.error(.text(.lineBreakInArgument), at: span(end..<end, line: 1))
    }

    private init(bytes: [UInt8], name: String, kind: Kind, id: SourceID, log: DiagnosticLog) {
        if let problem = Self.refusal(of: bytes) {
            self.init(name: name, kind: kind, id: id, scalars: [])
            log.error(.text(problem), at: span(0..<0, line: 1))
            return
        }
        let decoded = Self.decode(bytes)
        self.init(name: name, kind: kind, id: id, scalars: decoded.scalars)
        if bytes.starts(with: Self.byteOrderMark) { log.error(.text(.byteOrderMark), at: span(0..<0, line: 1)) }
        reportReturns(log)
        reportCharacters(badBytes: decoded.badBytes, log: log)
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Why bytes are not decoded at all.
    private static func refusal(of bytes: [UInt8]) -> TextProblem? {
        if bytes.count > SyntaxLimits.bytes { return .tooLarge(bytes: bytes.count) }
        return bytes.contains(0) ? .notText : nil
    }

    /// The scalars of UTF-8 without a byte order mark. U+FFFD replaces each malformed sequence. Also the indices of
    /// these.
    private static func decode(_ bytes: [UInt8]) -> (scalars: [Unicode.Scalar], badBytes: [Int: UInt8]) {
        var scalars: [Unicode.Scalar] = []
        var badBytes: [Int: UInt8] = [:]
        var offset = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes[offset...].makeIterator()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                scalars.append(Unicode.UTF8.decode(encoded))
                offset += encoded.count
            case .error(let length):
                badBytes[scalars.count] = bytes[offset]
                scalars.append("\u{FFFD}")
                offset += length
            case .emptyInput:
                return (scalars, badBytes)
            }
        }
    }

    /// Reports the first line that ends with a carriage return alone, as all lines of old files do.
    private func reportReturns(_ log: DiagnosticLog) {
        for (line, range) in lines.enumerated() {
            let end = range.upperBound
            guard end < scalars.count, scalars[end] == "\r", !scalars[end...].starts(with: ["\r", "\n"]) else {
                continue
            }
            log.error(.text(.loneCarriageReturn), at: span(end..<end, line: line + 1))
            return
        }
    }

    /// Reports at most one invalid character in each line. The next one is found after a correction.
    private func reportCharacters(badBytes: [Int: UInt8], log: DiagnosticLog) {
        for (line, range) in lines.enumerated() {
            for index in range {
                guard let problem = problem(at: index, badByte: badBytes[index]) else { continue }
                log.error(.text(problem), at: span(index..<index + 1, line: line + 1))
                break
            }
        }
    }

    private func problem(at index: Int, badByte: UInt8?) -> TextProblem? {
        if let badByte { return .notUTF8(byte: badByte) }
        let scalar = scalars[index]
        switch scalar {
        case "\u{FEFF}": return .byteOrderMark
        case "\u{85}", "\u{2028}", "\u{2029}": return .lineSeparator(scalar.value)
        default: return scalar.isPrintableInYAML ? nil : .controlCharacter(scalar.value)
        }
    }
}

/// A position in a source text. Lines and columns count from 1. A column is one Unicode scalar.
package struct SourcePosition: Hashable, Sendable, Comparable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// Which text of a reading a position belongs to.
package enum SourceID: Hashable, Sendable, Comparable {
    /// The file that is read.
    case file
    /// The command line argument with this index in ``SourceSet/arguments``.
    case argument(Int)
}

/// A range within one line, which a caret line underlines.
package struct SourceSpan: Hashable, Sendable {
    package let source: SourceID
    package let start: SourcePosition
    /// In Unicode scalars. 0 if something is missing at the end of a line. Then there is a single caret.
    package let length: Int

    package init(source: SourceID, start: SourcePosition, length: Int) {
        self.source = source
        self.start = start
        self.length = length
    }

    /// The part that begins `offset` scalars into this span.
    func part(at offset: Int, length: Int) -> SourceSpan {
        SourceSpan(
            source: source, start: SourcePosition(line: start.line, column: start.column + offset), length: length)
    }
}
