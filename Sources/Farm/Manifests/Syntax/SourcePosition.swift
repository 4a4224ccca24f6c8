/// A place in a source text. Lines and columns count from 1; a column is one Unicode scalar.
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

/// Which of the texts of one reading something stands in.
package enum SourceID: Hashable, Sendable, Comparable {
    /// The file that is read.
    case file
    /// The command line argument with this index in ``SourceSet/arguments``.
    case argument(Int)
}

/// A stretch of one line: what a caret line underlines.
package struct SourceSpan: Hashable, Sendable {
    package let source: SourceID
    package let start: SourcePosition
    /// In Unicode scalars. 0 where something is missing at the end of a line; a single caret shows it.
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
