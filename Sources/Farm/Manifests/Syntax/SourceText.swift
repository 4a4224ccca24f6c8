/// A text that is read, cut into lines. Keeps the scalars as they are, so that a diagnostic can print them.
package struct SourceText: Sendable {
    package enum Kind: Hashable, Sendable {
        /// A file of lines.
        case file
        /// One command line argument: a single line, named by the whole argument.
        case argument
    }

    /// How messages name it: a path, or a flag with its value.
    package let name: String
    package let kind: Kind
    package let id: SourceID
    /// All lines' scalars, breaks included.
    let scalars: [Unicode.Scalar]
    /// Each line's scalars, without its break. Never empty.
    package let lines: [Range<Int>]

    init(name: String, kind: Kind, id: SourceID, scalars: [Unicode.Scalar]) {
        self.name = name
        self.kind = kind
        self.id = id
        self.scalars = scalars
        self.lines = Self.lines(of: scalars)
    }

    /// The scalars of a line, counted from 1; empty when there is no such line.
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

    /// LF and CRLF end a line, and so does CR alone, for files that have nothing else; what follows the last break is a
    /// line too, even when it is empty.
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
