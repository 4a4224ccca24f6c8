extension BlockParser {
    /// Parses the block that begins on the current line.
    ///
    /// `endsAtKeys` is true for the items below a key in the key's own column: there a key goes on with the mapping
    /// around.
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
                passOver(deeperThan: first.indent)
                continue
            }
            let value = parseValue(of: key, on: line, depth: depth)
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
            refuse(notAnItem(line), of: line)
            isWhole = false
            passOver(deeperThan: first.indent)
        }
        let span = text.span(first.range, line: first.number)
        if !isWhole { items.append(hole(at: first)) }
        count(1, at: span)
        return SyntaxNode(.sequence(items), span: span)
    }

    /// The next line of the block in this column; nil when the block ends. Lines that are indented deeper without
    /// reason, or with tabs, are reported once and passed over.
    private mutating func nextLine(ofBlockAt indent: Int, whole: inout Bool) -> ContentLine? {
        while let line {
            if line.hasTabIndent {
                refuseTabs(on: line)
            } else if line.indent > indent {
                refuse(misplaced(line, in: indent), of: line)
                passOver(deeperThan: indent)
            } else {
                return line.indent == indent ? line : nil
            }
            whole = false
        }
        return nil
    }

    /// Reports the first of several lines that are indented with tabs.
    mutating func refuseTabs(on first: ContentLine) {
        let start = first.range.lowerBound
        log.error(.text(.tabInIndentation), at: text.span(start..<start + 1, line: first.number))
        while let line, line.hasTabIndent { passLine() }
    }

    /// The problem of a line that is indented deeper than its block, with nothing above that it could belong to.
    private func misplaced(_ line: ContentLine, in indent: Int) -> Problem {
        guard line.beginsWithDash || KeyReader(cursor(on: line)).looksLikeKey else { return .text(.continuationLine) }
        let above = lineAbove.map(\.indent).flatMap { $0 > indent ? $0 : nil }
        return .text(.badIndentation(found: line.indent, expected: [indent] + [above].compactMap(\.self)))
    }

    private func notAnItem(_ line: ContentLine) -> Problem {
        let cursor = cursor(on: line)
        if cursor.peek() == "-" { return .block(.missingBlankAfterDash) }
        return .block(.keyAmongItems(text: cursor.value(from: cursor.index)))
    }

    private func readKey(on line: ContentLine) -> KeyReader.Key? {
        if line.beginsWithDash {
            refuse(.block(.itemAmongKeys), of: line)
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
}
