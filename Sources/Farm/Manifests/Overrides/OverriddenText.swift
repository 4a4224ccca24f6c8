/// The text of a manifest after its overrides, so that it can be kept as a file.
package struct OverriddenText {
    /// Ends with a line break.
    package let text: String

    /// - Parameters:
    ///   - bytes: a manifest that can be read with these overrides.
    ///   - pictures: those that its filters name; they are written with whole paths.
    ///   - whole: makes paths whole that overrides give for inputs and outputs; nil where they may stay relative.
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

    /// The value of a key that may hold paths.
    private static func withWholePaths(_ entry: SyntaxNode.Entry, _ whole: (String) -> String) -> SyntaxNode {
        switch entry.key {
        case "inputs", "output", "exclude": entry.value.mappingTexts(whole)
        case "outputs": entry.value.mappingEntries("path") { $0.mappingTexts(whole) }
        default: entry.value
        }
    }
}

extension SyntaxNode {
    /// Changes this text, or those of this list, where an override has given them.
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
    /// What stands in the places of texts.
    let paths: [SourceSpan: String]

    /// A key of the manifest, with lists in lines of their own.
    func block(_ key: String, _ value: SyntaxNode) -> String {
        guard case .sequence(let items) = value.content, !items.isEmpty else { return "\(key): \(flow(value))\n" }
        return "\(key):\n" + items.map { "  - \(item($0))\n" }.joined()
    }

    /// Filters look as one would write them: `gaussian: {radius: 12}`.
    private func item(_ node: SyntaxNode) -> String {
        guard case .mapping(let mapping) = node.content, mapping.entries.count == 1 else { return flow(node) }
        return "\(mapping.entries[0].key): \(flow(mapping.entries[0].value))"
    }

    private func flow(_ node: SyntaxNode) -> String {
        switch node.content {
        case .scalar(let scalar): paths[node.span].map(Self.quoted) ?? Self.text(scalar)
        case .sequence(let items): "[\(items.map(flow).joined(separator: ", "))]"
        case .mapping(let mapping):
            "{\(mapping.entries.map { "\($0.key): \(flow($0.value))" }.joined(separator: ", "))}"
        case .unreadable: "''"
        }
    }

    /// Numbers and words stay bare: within quotes they would be texts.
    private static func text(_ scalar: SyntaxNode.Scalar) -> String {
        let isBare =
            scalar.quoting == .plain && !scalar.text.isEmpty
            && scalar.text.unicodeScalars.allSatisfy { bare.contains($0) } && scalar.text.first != "%"
        return isBare ? scalar.text : quoted(scalar.text)
    }

    private static let bare = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%+-".unicodeScalars)

    /// With JSON's escapes.
    private static func quoted(_ text: String) -> String {
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
