extension SyntaxNode {
    /// The tree with the assignment's value at its path. Keys that are missing are added; a text `word` counts as
    /// `word: {}` when the path goes on below it.
    func applying(_ assignment: Assignment) throws(Diagnostic) -> SyntaxNode {
        try setting(assignment.path[...], to: assignment.value, name: "")
    }

    /// - Parameter name: this node's path, as messages print it.
    private func setting(
        _ path: ArraySlice<Assignment.Place>, to value: SyntaxNode, name: String
    ) throws(Diagnostic) -> SyntaxNode {
        guard let place = path.first else { return value }
        let rest = path.dropFirst()
        switch (place.step, content) {
        case (_, .unreadable):
            return self  // Reported; what the override would change is not known.
        case (.key(let key), .mapping(let mapping)):
            let path = name.isEmpty ? key : "\(name).\(key)"
            if mapping[key] == nil { try refuseIndex(rest.first, path: path, beside: mapping.entries.map(\.key)) }
            let node = mapping[key] ?? .emptyMapping(at: place.span)
            let entry = Entry(key: key, keySpan: place.span, value: try node.setting(rest, to: value, name: path))
            return SyntaxNode(.mapping(mapping.replacing(entry)), span: span)
        case (.key(let key), .scalar(let scalar)):
            return try asFilter(scalar, key: key, at: place, path: name).setting(path, to: value, name: name)
        case (.key(let key), .sequence(let items)):
            let having = items.indices.filter { items[$0].firstWord == key }
            throw Diagnostic(
                .override(.keyOfList(key: key, path: name, count: items.count, having: having)), at: place.span)
        case (.index(let digits), .sequence(var items)):
            guard let index = Int(digits), items.indices.contains(index) else {
                throw .outOfRange(digits, path: name, count: items.count, at: place.span)
            }
            items[index] = try items[index].setting(rest, to: value, name: "\(name)[\(index)]")
            return SyntaxNode(.sequence(items), span: span)
        case (.index, .scalar), (.index, .mapping):
            throw Diagnostic(.override(.indexOfOther(path: name, found: kindName)), at: place.span)
        }
    }

    /// A key that is missing can be added as a mapping, but not as a list.
    ///
    /// - Parameter keys: what there is beside it.
    private func refuseIndex(
        _ place: Assignment.Place?, path: String, beside keys: [String]
    ) throws(Diagnostic) {
        guard let place, case .index(let digits) = place.step else { return }
        let alias = JobTyper.aliases[path.lowercased()]
        if let meant = keys.first(where: { $0 == alias }) ?? Suggestion.nearest(to: path, among: keys) {
            throw Diagnostic(.override(.noList(path: path, meant: meant)), at: place.span)
        }
        throw .outOfRange(digits, path: path, count: 0, at: place.span)
    }

    /// This text as a mapping with itself as its only key: a filter that was written without parameters.
    private func asFilter(
        _ scalar: Scalar, key: String, at place: Assignment.Place, path: String
    ) throws(Diagnostic) -> SyntaxNode {
        guard scalar.text == key, scalar.quoting == .plain else {
            throw Diagnostic(.override(.keyOfText(key: key, path: path, text: scalar.text)), at: place.span)
        }
        let entry = Entry(key: key, keySpan: span, value: .emptyMapping(at: span))
        return SyntaxNode(.mapping(Mapping(entries: [entry])), span: span)
    }

    /// A filter's name, in a chain: a text, or a mapping's first key.
    private var firstWord: String? {
        if case .mapping(let mapping) = content { mapping.entries.first?.key } else { text }
    }

    private static func emptyMapping(at span: SourceSpan) -> SyntaxNode {
        SyntaxNode(.mapping(Mapping(entries: [])), span: span)
    }
}

extension SyntaxNode.Mapping {
    /// The mapping with the value of an entry that has the same key replaced, or else with the entry added.
    fileprivate func replacing(_ entry: SyntaxNode.Entry) -> SyntaxNode.Mapping {
        var mapping = self
        if let index = entries.firstIndex(where: { $0.key == entry.key }) {
            mapping.entries[index].value = entry.value
        } else {
            mapping.entries.append(entry)
        }
        return mapping
    }
}

extension Diagnostic {
    fileprivate static func outOfRange(_ index: String, path: String, count: Int, at span: SourceSpan) -> Diagnostic {
        Diagnostic(.override(.outOfRange(index: index, path: path, count: count)), at: span)
    }
}
