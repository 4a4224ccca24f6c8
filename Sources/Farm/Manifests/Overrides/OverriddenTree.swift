/// A tree after its overrides, with the overrides' texts.
package struct OverriddenTree {
    package private(set) var root: SyntaxNode?
    /// One for each override, in order.
    package private(set) var texts: [SourceText] = []

    /// Applies the overrides in order. An override that cannot be applied is reported and changes nothing.
    package init(_ tree: SyntaxNode?, overrides: [Override], log: DiagnosticLog) {
        root = tree
        for (index, override) in overrides.enumerated() {
            let decoding = DiagnosticLog()
            let text = SourceText(argument: override.argument, name: override.name, index: index, log: decoding)
            texts.append(text)
            log.add(decoding)
            guard !decoding.hasErrors else { continue }
            do {
                let assignment = try AssignmentParser.parse(text)
                // A root of another kind has no keys to set. The schema refuses it later.
                if let tree = root, case .mapping = tree.content { root = try tree.applying(assignment) }
            } catch {
                log.add(error)
            }
        }
    }
}

/// The text of a manifest after its overrides, which can be kept as a file.
package struct OverriddenText {
    /// Ends with a line break.
    package let text: String

    /// - Parameters:
    ///   - bytes: A manifest that can be read with these overrides.
    ///   - pictures: The pictures that its filters name. They are written with absolute paths.
    ///   - whole: Makes paths absolute that overrides give for inputs and outputs. Nil if they may stay relative.
    package init(
        bytes: [UInt8], overrides: [Override], pictures: [PictureMention] = [], whole: ((String) -> String)? = nil
    ) {
        let log = DiagnosticLog()
        let tree = BlockParser.parse(SourceText(bytes: bytes, name: "", log: log), log: log, empty: .emptyManifest)
        let overridden = OverriddenTree(tree, overrides: overrides, log: log).root
        let paths = whole == nil ? [] : pictures.map { ($0.span, $0.path) }
        let writer = FlowWriter(paths: Dictionary(paths) { first, _ in first })
        guard case .mapping(let root)? = overridden?.content else {
            text = String(decoding: bytes, as: UTF8.self)
            return
        }
        text = root.entries.map { entry in
            writer.block(entry.key, whole.map { Self.withWholePaths(entry, $0) } ?? entry.value)
        }.joined()
    }

    /// The value of a key that may contain paths.
    private static func withWholePaths(_ entry: SyntaxNode.Entry, _ whole: (String) -> String) -> SyntaxNode {
        switch entry.key {
        case "inputs", "output", "exclude": entry.value.mappingTexts(whole)
        case "outputs": entry.value.mappingEntries("path") { $0.mappingTexts(whole) }
        default: entry.value
        }
    }
}

extension SyntaxNode {
    /// Changes this text, or the texts of this list, if they come from an override.
    fileprivate func mappingTexts(_ change: (String) -> String) -> SyntaxNode {
        switch content {
        case .scalar(let scalar) where span.source != .file:
            SyntaxNode(.scalar(Scalar(text: change(scalar.text), quoting: .double)), span: span)
        case .sequence(let items): SyntaxNode(.sequence(items.map { $0.mappingTexts(change) }), span: span)
        case .scalar, .mapping, .unreadable: self
        }
    }

    /// Changes the values of a key in the mappings of this list.
    fileprivate func mappingEntries(_ key: String, _ change: (SyntaxNode) -> SyntaxNode) -> SyntaxNode {
        switch content {
        case .sequence(let items):
            return SyntaxNode(.sequence(items.map { $0.mappingEntries(key, change) }), span: span)
        case .mapping(var mapping):
            for index in mapping.entries.indices where mapping.entries[index].key == key {
                mapping.entries[index].value = change(mapping.entries[index].value)
            }
            return SyntaxNode(.mapping(mapping), span: span)
        case .scalar, .unreadable: return self
        }
    }
}

/// Writes nodes on one line each: `{radius: 12, edge: mirror}`.
private struct FlowWriter {
    /// The texts that replace those of the manifest.
    let paths: [SourceSpan: String]

    /// A key of the manifest. Items of lists stand in lines of their own.
    func block(_ key: String, _ value: SyntaxNode) -> String {
        guard case .sequence(let items) = value.content, !items.isEmpty else { return "\(key): \(flow(value))\n" }
        return "\(key):\n" + items.map { "  - \(item($0))\n" }.joined()
    }

    /// Filters are written in the usual form: `gaussian: {radius: 12}`.
    private func item(_ node: SyntaxNode) -> String {
        guard case .mapping(let mapping) = node.content, mapping.entries.count == 1 else { return flow(node) }
        return "\(mapping.entries[0].key): \(flow(mapping.entries[0].value))"
    }

    private func flow(_ node: SyntaxNode) -> String {
        switch node.content {
        case .scalar(let scalar): paths[node.span].map(SyntaxNode.Scalar.quoted) ?? Self.text(scalar)
        case .sequence(let items): "[\(items.map(flow).joined(separator: ", "))]"
        case .mapping(let mapping):
            "{\(mapping.entries.map { "\($0.key): \(flow($0.value))" }.joined(separator: ", "))}"
        case .unreadable: "''"
        }
    }

    /// Numbers and words stay without quotes, because in quotes they would be texts.
    private static func text(_ scalar: SyntaxNode.Scalar) -> String {
        let isBare =
            scalar.quoting == .plain && !scalar.text.isEmpty
            && scalar.text.unicodeScalars.allSatisfy { bare.contains($0) } && scalar.text.first != "%"
        return isBare ? scalar.text : SyntaxNode.Scalar.quoted(scalar.text)
    }

    private static let bare = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%+-".unicodeScalars)
}

extension SyntaxNode.Scalar {
    /// A text in double quotes, with JSON's escapes.
    package static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 0x20:
                "\\u" + String(repeating: "0", count: 4 - String(scalar.value, radix: 16).count)
                    + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}

extension SyntaxNode {
    /// The tree with the assignment's value at its path. Missing keys are added. A text `word` counts as `word: {}` if
    /// the path continues below it.
    func applying(_ assignment: Assignment) throws(Diagnostic) -> SyntaxNode {
        try setting(assignment.path[...], to: assignment.value, name: "")
    }

    /// - Parameter name: This node's path in messages.
    private func setting(
        _ path: ArraySlice<Assignment.Component>, to value: SyntaxNode, name: String
    ) throws(Diagnostic) -> SyntaxNode {
        guard let component = path.first else { return value }
        let rest = path.dropFirst()
        switch (component.step, content) {
        case (_, .unreadable):
            return self  // Reported; what the override would change is not known.
        case (.key(let key), .mapping(let mapping)):
            let path = name.isEmpty ? key : "\(name).\(key)"
            if mapping[key] == nil { try refuseIndex(rest.first, path: path, beside: mapping.entries.map(\.key)) }
            let node = mapping[key] ?? .emptyMapping(at: component.span)
            let entry = Entry(key: key, keySpan: component.span, value: try node.setting(rest, to: value, name: path))
            return SyntaxNode(.mapping(mapping.replacing(entry)), span: span)
        case (.key(let key), .scalar(let scalar)):
            return try asFilter(scalar, key: key, at: component, path: name).setting(path, to: value, name: name)
        case (.key(let key), .sequence(let items)):
            let having = items.indices.filter { items[$0].firstWord == key }
            throw Diagnostic(
                .override(.keyOfList(key: key, path: name, count: items.count, having: having)), at: component.span)
        case (.index(let digits), .sequence(var items)):
            guard let index = Int(digits), items.indices.contains(index) else {
                throw .outOfRange(digits, path: name, count: items.count, at: component.span)
            }
            items[index] = try items[index].setting(rest, to: value, name: "\(name)[\(index)]")
            return SyntaxNode(.sequence(items), span: span)
        case (.index, .scalar), (.index, .mapping):
            throw Diagnostic(.override(.indexOfOther(path: name, found: kindName)), at: component.span)
        }
    }

    /// Refuses an index below a missing key. A missing key can be added as a mapping, but not as a list.
    ///
    /// - Parameter keys: The other keys.
    private func refuseIndex(
        _ component: Assignment.Component?, path: String, beside keys: [String]
    ) throws(Diagnostic) {
        guard let component, case .index(let digits) = component.step else { return }
        let alias = JobTyper.aliases[path.lowercased()]
        if let meant = keys.first(where: { $0 == alias }) ?? Suggestion.nearest(to: path, among: keys) {
            throw Diagnostic(.override(.noList(path: path, meant: meant)), at: component.span)
        }
        throw .outOfRange(digits, path: path, count: 0, at: component.span)
    }

    /// This text as a mapping with the text as its only key, for a filter without parameters.
    private func asFilter(
        _ scalar: Scalar, key: String, at component: Assignment.Component, path: String
    ) throws(Diagnostic) -> SyntaxNode {
        guard scalar.text == key, scalar.quoting == .plain else {
            throw Diagnostic(.override(.keyOfText(key: key, path: path, text: scalar.text)), at: component.span)
        }
        let entry = Entry(key: key, keySpan: span, value: .emptyMapping(at: span))
        return SyntaxNode(.mapping(Mapping(entries: [entry])), span: span)
    }

    /// The name of a filter in a chain: a text, or a mapping's first key.
    private var firstWord: String? {
        if case .mapping(let mapping) = content { mapping.entries.first?.key } else { text }
    }

    private static func emptyMapping(at span: SourceSpan) -> SyntaxNode {
        SyntaxNode(.mapping(Mapping(entries: [])), span: span)
    }
}

extension SyntaxNode.Mapping {
    /// The mapping with an entry of the same key replaced, or else with the entry added.
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
