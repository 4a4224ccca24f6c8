extension SyntaxNode {
    /// The tree with the assignment's value at its path. Keys that are missing are added; a text `word` counts as
    /// `word: {}` when the path goes on below it.
    func applying(_ assignment: Assignment) throws(Diagnostic) -> SyntaxNode {
        try setting(assignment.path[...], to: assignment.value, name: "")
    }

    /// - Parameter name: this node's path, as messages print it.
    private func setting(
        _ path: ArraySlice<(step: Assignment.Step, span: SourceSpan)>, to value: SyntaxNode, name: String
    ) throws(Diagnostic) -> SyntaxNode {
        guard let (step, span) = path.first else { return value }
        switch (step, content) {
        case (_, .unreadable):
            return self  // Reported; what the override would change is not known.
        case (.key(let key), .mapping(var mapping)):
            let name = name.isEmpty ? key : "\(name).\(key)"
            let rest = path.dropFirst()
            if case (.index(let digits), let span)? = rest.first, mapping[key] == nil {
                throw Diagnostic(.override(.outOfRange(index: digits, path: name, count: 0)), at: span)
            }
            let index = mapping.index(of: key, addingAt: span)
            mapping.entries[index].value = try mapping.entries[index].value.setting(rest, to: value, name: name)
            return SyntaxNode(.mapping(mapping), span: self.span)
        case (.key(let key), .scalar(let scalar)):
            guard scalar.text == key, scalar.quoting == .plain else {
                throw Diagnostic(.override(.keyOfText(key: key, path: name, text: scalar.text)), at: span)
            }
            let entry = Entry(key: key, keySpan: self.span, value: .emptyMapping(at: self.span))
            let mapping = SyntaxNode(.mapping(Mapping(entries: [entry])), span: self.span)
            return try mapping.setting(path, to: value, name: name)
        case (.key(let key), .sequence(let items)):
            throw Diagnostic(.override(.keyOfList(key: key, path: name, count: items.count)), at: span)
        case (.index(let digits), .sequence(var items)):
            guard let index = Int(digits), items.indices.contains(index) else {
                let problem = OverrideProblem.outOfRange(index: digits, path: name, count: items.count)
                throw Diagnostic(.override(problem), at: span)
            }
            items[index] = try items[index].setting(path.dropFirst(), to: value, name: "\(name)[\(index)]")
            return SyntaxNode(.sequence(items), span: self.span)
        case (.index, .scalar), (.index, .mapping):
            throw Diagnostic(.override(.indexOfOther(path: name, found: kindName)), at: span)
        }
    }

    fileprivate static func emptyMapping(at span: SourceSpan) -> SyntaxNode {
        SyntaxNode(.mapping(Mapping(entries: [])), span: span)
    }
}

extension SyntaxNode.Mapping {
    /// The index of a key's entry, which is added, with an empty mapping, when there is none.
    fileprivate mutating func index(of key: String, addingAt span: SourceSpan) -> Int {
        if let index = entries.firstIndex(where: { $0.key == key }) { return index }
        entries.append(.init(key: key, keySpan: span, value: .emptyMapping(at: span)))
        return entries.count - 1
    }
}
