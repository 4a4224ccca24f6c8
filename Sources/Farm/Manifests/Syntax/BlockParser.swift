/// Parses a text into a tree, line by line.
///
/// The grammar is a small part of YAML 1.2, and every text that is accepted gives the same tree of strings under a YAML
/// parser. What YAML has beyond it is refused, each construct with a problem of its own:
///
///     document = block
///     block    = { key ':' value } | { '-' value }          all keys, or all dashes, in one column
///     value    = ' ' inline  |  a block on the next lines, indented deeper;
///                a list below a key may stand in the key's column
///     item     = also 'key: value', whose further keys stand below the first
///     inline   = scalar | '[' inline, … ']' | '{' key: inline, … '}'
///     scalar   = plain | 'single quoted' | "double quoted", all on one line
///
/// After a problem the parser goes on with the next line of the same block: what is indented deeper than the line that
/// was refused is passed over, so one slip gives one message.
package struct BlockParser {
    let text: SourceText
    let log: DiagnosticLog
    private var lines: [ContentLine]
    private var current = 0
    private var nodeCount = 0

    /// The tree of a file's text; nil when there is none. Problems go to the log; with any of them the tree may have
    /// holes.
    ///
    /// - Parameter empty: what is reported of a text that says nothing.
    package static func parse(
        _ text: SourceText, log: DiagnosticLog, empty: TextProblem = .empty
    ) -> SyntaxNode? {
        var parser = BlockParser(text, log: log)
        return parser.parseDocument(empty: empty)
    }

    private init(_ text: SourceText, log: DiagnosticLog) {
        self.text = text
        self.log = log
        self.lines = ContentLine.all(of: text, log: log)
    }

    private mutating func parseDocument(empty: TextProblem) -> SyntaxNode? {
        guard let first = line else {
            if !log.hasErrors { log.error(.text(empty), at: text.span(0..<0, line: 1)) }
            return nil
        }
        let root = parseBlock(depth: 1, endsAtKeys: false)
        if let line, !line.hasTabIndent {
            refuse(.text(.badIndentation(found: line.indent, expected: [first.indent])), of: line)
        }
        return root
    }

    // MARK: Lines

    /// The line that is parsed next.
    var line: ContentLine? {
        lines.indices.contains(current) ? lines[current] : nil
    }

    /// The content line before ``line``.
    var lineAbove: ContentLine? {
        lines.indices.contains(current - 1) ? lines[current - 1] : nil
    }

    mutating func passLine() {
        current += 1
    }

    /// Takes the rest of the line, from `index`, for a line of its own: the block inside a compact `- key: value`.
    mutating func cutLine(at index: Int) {
        lines[current] = lines[current].cut(at: index, of: text)
    }

    /// Passes over the line and what belongs to it: all deeper lines, and brackets that close what it opened.
    mutating func passOver(deeperThan indent: Int) {
        passLine()
        while let line, line.indent > indent || isCloser(line) { passLine() }
    }

    private func isCloser(_ line: ContentLine) -> Bool {
        text.scalars[line.range].allSatisfy { "]},".unicodeScalars.contains($0) }
    }

    // MARK: Nodes and problems

    /// Counts nodes; past the limit the rest of the text is left alone.
    mutating func count(_ nodes: Int, at span: SourceSpan) {
        let wasWithinLimit = nodeCount <= SyntaxLimits.nodes
        nodeCount += nodes
        guard wasWithinLimit, nodeCount > SyntaxLimits.nodes else { return }
        log.error(.text(.tooManyNodes), at: span)
        current = lines.count
    }

    func cursor(on line: ContentLine) -> LineCursor {
        LineCursor(text, line: line)
    }

    func refuse(_ problem: Problem, of line: ContentLine) {
        log.error(problem, at: text.span(line.range, line: line.number))
    }

    /// The node for a value that was refused.
    func hole(at line: ContentLine) -> SyntaxNode {
        SyntaxNode(.unreadable, span: text.span(line.range, line: line.number))
    }
}
