/// Parses a text into a tree, line by line.
///
/// The grammar is a small part of YAML 1.2, and a YAML parser gives the same tree of strings for every accepted text.
/// All other YAML constructs are refused, each with a problem of its own:
///
///     document = block
///     block    = { key ':' value } | { '-' value }          all keys, or all dashes, in one column
///     value    = ' ' inline  |  a block on the next lines, indented deeper;
///                a list below a key may stand in the key's column
///     item     = also 'key: value', whose further keys stand below the first
///     inline   = scalar | '[' inline, … ']' | '{' key: inline, … '}'
///     scalar   = plain | 'single quoted' | "double quoted", all on one line
///
/// After a problem the parser continues with the next line of the same block. It skips lines that are indented deeper
/// than the refused line, so that one mistake gives one message.
package struct BlockParser {
    let text: SourceText
    let log: DiagnosticLog
    private var lines: [ContentLine]
    private var current = 0
    private var nodeCount = 0
    /// Whether a key stood among the items of a list. It may be a key that a mapping around the list lacks.
    private var hasStrayKey = false
    /// Whether a bracket is open at the end of its line, so that the lines below it may have been meant to be inside.
    private var hasOpenBracket = false

    /// The tree of a file's text. Nil if it is empty. Problems go to the log. If there are any, the tree may have
    /// holes.
    ///
    /// - Parameter empty: The problem of an empty text.
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

    /// The next line to be parsed.
    var line: ContentLine? {
        lines.indices.contains(current) ? lines[current] : nil
    }

    /// The content line before ``line``.
    var lineAbove: ContentLine? {
        lines.indices.contains(current - 1) ? lines[current - 1] : nil
    }

    mutating func skipLine() {
        current += 1
    }

    /// Makes the rest of the line, from `index`, a line of its own: the block inside a compact `- key: value`.
    mutating func cutLine(at index: Int) {
        lines[current] = lines[current].cut(at: index, of: text)
    }

    /// Skips the line and everything that belongs to it: deeper lines, and brackets that close its own.
    mutating func skip(deeperThan indent: Int) {
        skipLine()
        while let line, line.indent > indent || isCloser(line) { skipLine() }
    }

    private func isCloser(_ line: ContentLine) -> Bool {
        text.scalars[line.range].allSatisfy { "]},".unicodeScalars.contains($0) }
    }

    // MARK: Nodes and problems

    /// Counts nodes. Past the limit, the rest of the text is skipped.
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

    /// The node for a refused value.
    func placeholder(at line: ContentLine) -> SyntaxNode {
        SyntaxNode(.unreadable, span: text.span(line.range, line: line.number))
    }
}

extension BlockParser {
    /// Parses the block that begins on the current line.
    ///
    /// `endsAtKeys` is true for a list below a key in the key's own column. There, a key continues the mapping around
    /// the list.
    mutating func parseBlock(depth: Int, endsAtKeys: Bool) -> SyntaxNode {
        guard let line else { preconditionFailure("a block begins on a line") }
        return line.beginsWithDash
            ? parseSequence(from: line, depth: depth, endsAtKeys: endsAtKeys)
            : parseMapping(from: line, depth: depth)
    }

    private mutating func parseMapping(from first: ContentLine, depth: Int) -> SyntaxNode {
        var mapping = SyntaxNode.Mapping(entries: [])
        var firstLines: [String: Int] = [:]
        while let line = nextLine(ofBlockAt: first.indent, whole: &mapping.isComplete) {
            guard let key = readKey(on: line) else {
                mapping.isComplete = false
                skip(deeperThan: first.indent)
                continue
            }
            let value = parseValue(of: key, on: line, depth: depth)
            if hasStrayKey || hasOpenBracket { mapping.isComplete = false }
            if let firstLine = firstLines[key.name] {
                log.error(.block(.duplicateKey(key.name, firstLine: firstLine)), at: key.span)
                continue
            }
            firstLines[key.name] = line.number
            mapping.entries.append(.init(key: key.name, keySpan: key.span, value: value))
        }
        let span = mapping.entries.first?.keySpan ?? text.span(first.range, line: first.number)
        count(1, at: span)
        return SyntaxNode(.mapping(mapping), span: span)
    }

    private mutating func parseSequence(from first: ContentLine, depth: Int, endsAtKeys: Bool) -> SyntaxNode {
        var items: [SyntaxNode] = []
        var isWhole = true
        while let line = nextLine(ofBlockAt: first.indent, whole: &isWhole) {
            if line.beginsWithDash {
                items.append(parseItem(on: line, depth: depth))
                continue
            }
            if endsAtKeys, KeyReader(cursor(on: line)).looksLikeKey { break }
            let problem = notAnItem(line)
            if case .block(.keyAmongItems(_, .some)) = problem { hasStrayKey = true }
            refuse(problem, of: line)
            isWhole = false
            skip(deeperThan: first.indent)
        }
        let span = text.span(first.range, line: first.number)
        if !isWhole { items.append(placeholder(at: first)) }
        count(1, at: span)
        return SyntaxNode(.sequence(items), span: span)
    }

    /// The next line of the block in this column. Nil at the end of the block. Lines that are indented deeper without
    /// reason, or with tabs, are reported once and skipped.
    private mutating func nextLine(ofBlockAt indent: Int, whole: inout Bool) -> ContentLine? {
        while let line {
            if line.hasTabIndent {
                refuseTabs(on: line)
            } else if line.indent > indent {
                refuse(misplaced(line, in: indent), of: line)
                skip(deeperThan: indent)
            } else {
                return line.indent == indent ? line : nil
            }
            whole = false
        }
        return nil
    }

    /// Reports the first of several lines that are indented with tabs, and skips all.
    mutating func refuseTabs(on first: ContentLine) {
        let start = first.range.lowerBound
        log.error(.text(.tabInIndentation), at: text.span(start..<start + 1, line: first.number))
        while let line, line.hasTabIndent { skipLine() }
    }

    /// The problem of a line that is indented deeper than its block and belongs to no line above.
    private func misplaced(_ line: ContentLine, in indent: Int) -> Problem {
        guard line.beginsWithDash || KeyReader(cursor(on: line)).looksLikeKey else { return .text(.continuationLine) }
        let above = lineAbove.map(\.indent).flatMap { $0 > indent ? $0 : nil }
        return .text(.badIndentation(found: line.indent, expected: [indent] + [above].compactMap(\.self)))
    }

    private func notAnItem(_ line: ContentLine) -> Problem {
        let cursor = cursor(on: line)
        if cursor.peek() == "-" { return .block(.missingBlankAfterDash) }
        return .block(.keyAmongItems(text: cursor.value(from: cursor.index), key: key(at: cursor)))
    }

    /// The name of a valid key at the cursor. Nil if there is none.
    private func key(at cursor: LineCursor) -> String? {
        var reader = KeyReader(cursor)
        // Another problem than a misplaced key is reported when the line is in its place.
        return try? reader.read().name
    }

    private func readKey(on line: ContentLine) -> KeyReader.Key? {
        if line.beginsWithDash {
            var item = cursor(on: line)
            item.advance()
            item.skipSpaces()
            refuse(.block(.itemAmongKeys(key: key(at: item))), of: line)
            return nil
        }
        var reader = KeyReader(cursor(on: line))
        do {
            return try reader.read()
        } catch {
            log.add(error)
            return nil
        }
    }

    /// Parses the value behind a key, on its line or below.
    mutating func parseValue(of key: KeyReader.Key, on line: ContentLine, depth: Int) -> SyntaxNode {
        var cursor = cursor(on: line)
        cursor.move(to: key.end)
        cursor.skipSpaces()
        if let node = parse(cursor, behind: .key, on: line, depth: depth) { return node }
        if let node = parseBelow(line, allowsItemsInColumn: true, depth: depth) { return node }
        log.error(.block(.emptyValue(key: key.name)), at: key.span)
        return placeholder(at: line)
    }

    /// Parses the value behind a dash, on its line or below.
    mutating func parseItem(on line: ContentLine, depth: Int) -> SyntaxNode {
        var cursor = cursor(on: line)
        cursor.advance()
        cursor.skipSpaces()
        if KeyReader(cursor).looksLikeKey {
            return parseCompactMapping(at: cursor.index, of: line, depth: depth)
        }
        if let node = parse(cursor, behind: .dash, on: line, depth: depth) { return node }
        if let node = parseBelow(line, allowsItemsInColumn: false, depth: depth) { return node }
        log.error(.block(.emptyItem), at: text.span(line.range.prefix(1), line: line.number))
        return placeholder(at: line)
    }

    private mutating func parseCompactMapping(at index: Int, of line: ContentLine, depth: Int) -> SyntaxNode {
        guard depth < SyntaxLimits.depth else { return refuseDepth(of: line, above: line.indent) }
        cutLine(at: index)
        return parseBlock(depth: depth + 1, endsAtKeys: false)
    }

    /// The value at the cursor. Nil if there is only a comment. Then the line is skipped.
    private mutating func parse(
        _ cursor: LineCursor, behind context: InlineScanner.Context, on line: ContentLine, depth: Int
    ) -> SyntaxNode? {
        do {
            if try cursor.isAtEndOrComment(valueStart: cursor.index) {
                skipLine()
                return nil
            }
            var scanner = InlineScanner(cursor, depth: depth)
            let node = try scanner.readLine(behind: context)
            skipLine()
            count(scanner.nodeCount, at: node.span)
            return node
        } catch {
            if case .flow(.unterminated) = error.problem { hasOpenBracket = true }
            log.add(error)
            skip(deeperThan: line.indent)
            return placeholder(at: line)
        }
    }

    /// The block on the lines below `owner`. Nil if they do not belong to it.
    private mutating func parseBelow(
        _ owner: ContentLine, allowsItemsInColumn: Bool, depth: Int
    ) -> SyntaxNode? {
        guard let line else { return nil }
        if line.hasTabIndent { return refuseTabs(below: owner, from: line) }
        let isInOwnersColumn = allowsItemsInColumn && line.indent == owner.indent && line.beginsWithDash
        guard line.indent > owner.indent || isInOwnersColumn else { return nil }
        guard line.beginsWithDash || isEntry(line) else {
            refuse(.block(.valueOnOwnLine), of: line)
            skip(deeperThan: owner.indent)
            return placeholder(at: line)
        }
        guard depth < SyntaxLimits.depth else { return refuseDepth(of: line, above: owner.indent) }
        return parseBlock(depth: depth + 1, endsAtKeys: isInOwnersColumn)
    }

    private mutating func refuseTabs(below owner: ContentLine, from first: ContentLine) -> SyntaxNode {
        refuseTabs(on: first)
        while let line, line.indent > owner.indent { skipLine() }
        return placeholder(at: owner)
    }

    /// True if the reader of a mapping has a better message for the line than "not a value".
    private func isEntry(_ line: ContentLine) -> Bool {
        var reader = KeyReader(cursor(on: line))
        do {
            _ = try reader.read()
            return true
        } catch {
            if case .block(.notAnEntry) = error.problem { return false }
            if case .block(.bracketsAsLine) = error.problem { return false }
            return true
        }
    }

    private mutating func refuseDepth(of line: ContentLine, above indent: Int) -> SyntaxNode {
        refuse(.text(.tooDeep), of: line)
        skip(deeperThan: indent)
        return placeholder(at: line)
    }
}

/// A line with more than blanks and a comment.
struct ContentLine {
    /// Counted from 1.
    let number: Int
    /// Spaces before the content. In a compact `- key: value`, the columns before the key.
    let indent: Int
    /// The content without trailing spaces, as a range of the text's scalars.
    let range: Range<Int>
    /// Whether a tab stands in the indentation. Then `indent` has no meaning.
    let hasTabIndent: Bool

    /// True for `- item`, and for a dash alone.
    let beginsWithDash: Bool

    private init(_ text: SourceText, number: Int, indent: Int, range: Range<Int>) {
        let cursor = LineCursor(text, line: number, range: range)
        self.number = number
        self.indent = indent
        self.range = range
        self.hasTabIndent = cursor.peek() == "\t"
        self.beginsWithDash = cursor.peek() == "-" && cursor.isBlankOrEnd(1)
    }

    /// The same line without the part before `index`, as if it were indented up to there.
    func cut(at index: Int, of text: SourceText) -> ContentLine {
        ContentLine(
            text, number: number, indent: indent + index - range.lowerBound, range: index..<range.upperBound)
    }

    /// All content lines of a text. Document markers, directives, and everything from a second document on are reported
    /// and left out.
    static func all(of text: SourceText, log: DiagnosticLog) -> [ContentLine] {
        var lines: [ContentLine] = []
        for (index, range) in text.lines.enumerated() {
            guard let line = ContentLine(text, number: index + 1, range: range) else { continue }
            guard let problem = line.documentProblem(in: text, isFirst: lines.isEmpty) else {
                lines.append(line)
                continue
            }
            log.error(.text(problem), at: text.span(line.range, line: line.number))
            if case .secondDocument = problem { break }
        }
        return lines
    }

    /// Nil for blank lines and comments.
    private init?(_ text: SourceText, number: Int, range: Range<Int>) {
        let isSpace = { (index: Int) in text.scalars[index] == " " }
        guard let start = range.first(where: { !isSpace($0) }), let last = range.last(where: { !isSpace($0) }),
            text.scalars[start] != "#"
        else { return nil }
        self.init(text, number: number, indent: start - range.lowerBound, range: start..<last + 1)
    }

    /// The problem of a line that has a special meaning for YAML in its first column.
    private func documentProblem(in text: SourceText, isFirst: Bool) -> TextProblem? {
        guard indent == 0 else { return nil }
        let cursor = LineCursor(text, line: self)
        if cursor.peek() == "%" { return .directive }
        let start = text.string(range.prefix(3))
        guard start == "---" || start == "...", cursor.isBlankOrEnd(3) else { return nil }
        return isFirst ? .documentMarker(start) : .secondDocument(start)
    }
}
