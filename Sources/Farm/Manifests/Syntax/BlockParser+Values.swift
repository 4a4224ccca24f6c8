extension BlockParser {
    /// Parses what stands behind a key, on its line or below.
    mutating func parseValue(of key: KeyReader.Key, on line: ContentLine, depth: Int) -> SyntaxNode {
        var cursor = cursor(on: line)
        cursor.move(to: key.end)
        cursor.skipSpaces()
        if let node = parse(cursor, behind: .key, on: line, depth: depth) { return node }
        if let node = parseBelow(line, allowsItemsInColumn: true, depth: depth) { return node }
        log.error(.block(.emptyValue(key: key.name)), at: key.span)
        return hole(at: line)
    }

    /// Parses what stands behind a dash, on its line or below.
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
        return hole(at: line)
    }

    private mutating func parseCompactMapping(at index: Int, of line: ContentLine, depth: Int) -> SyntaxNode {
        guard depth < SyntaxLimits.depth else { return refuseDepth(of: line, above: line.indent) }
        cutLine(at: index)
        return parseBlock(depth: depth + 1, endsAtKeys: false)
    }

    /// The value at the cursor; nil, with the line passed, when there is only a comment.
    private mutating func parse(
        _ cursor: LineCursor, behind place: InlineScanner.Place, on line: ContentLine, depth: Int
    ) -> SyntaxNode? {
        do {
            if try cursor.isAtEndOrComment(valueStart: cursor.index) {
                passLine()
                return nil
            }
            var scanner = InlineScanner(cursor, depth: depth)
            let node = try scanner.readLine(behind: place)
            passLine()
            count(scanner.nodeCount, at: node.span)
            return node
        } catch {
            log.add(error)
            passOver(deeperThan: line.indent)
            return hole(at: line)
        }
    }

    /// The block on the lines below `owner`; nil when they do not belong to it.
    private mutating func parseBelow(
        _ owner: ContentLine, allowsItemsInColumn: Bool, depth: Int
    ) -> SyntaxNode? {
        guard let line else { return nil }
        if line.hasTabIndent { return refuseTabs(below: owner, from: line) }
        let isInOwnersColumn = allowsItemsInColumn && line.indent == owner.indent && line.beginsWithDash
        guard line.indent > owner.indent || isInOwnersColumn else { return nil }
        guard line.beginsWithDash || isEntry(line) else {
            refuse(.block(.valueOnOwnLine), of: line)
            passOver(deeperThan: owner.indent)
            return hole(at: line)
        }
        guard depth < SyntaxLimits.depth else { return refuseDepth(of: line, above: owner.indent) }
        return parseBlock(depth: depth + 1, endsAtKeys: isInOwnersColumn)
    }

    private mutating func refuseTabs(below owner: ContentLine, from first: ContentLine) -> SyntaxNode {
        refuseTabs(on: first)
        while let line, line.indent > owner.indent { passLine() }
        return hole(at: owner)
    }

    /// True for a line that the reader of a mapping has a better message for than "not a value".
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
        passOver(deeperThan: indent)
        return hole(at: line)
    }
}
