/// A tree after its overrides, with the texts that these came from.
package struct OverriddenTree {
    package private(set) var root: SyntaxNode?
    /// One per override, in order.
    package private(set) var texts: [SourceText] = []

    /// Applies the overrides in their order. One that cannot be applied is reported and changes nothing.
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
                // A root of another kind is the schema's to refuse, and has no keys to set.
                if let tree = root, case .mapping = tree.content { root = try tree.applying(assignment) }
            } catch {
                log.add(error)
            }
        }
    }
}
