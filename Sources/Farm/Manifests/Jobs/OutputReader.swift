import Catalogs
import JobModel

/// Reads `output:`, a path with `{…}` fields, and finds the format that its extension asks for.
struct OutputReader {
    /// What the output is written as.
    enum Format {
        case known(FormatDescriptor)
        /// `{ext}`: each input's own.
        case inputs
        /// The template has an error.
        case unknown
    }

    struct Output {
        let template: OutputTemplate
        let format: Format
    }

    let catalog: Catalog

    var output: ValueReader<Output> {
        ValueReader { node, name, log in
            guard let text = ValueReader<String>.nonEmptyText.read(node, for: name, log: log) else { return nil }
            do throws(Diagnostic) {
                let pieces = try TemplateParser.pieces(of: node, text: text)
                let template = OutputTemplate(source: text, pieces: pieces)
                return Output(template: template, format: try format(of: template, at: node))
            } catch {
                log.add(error)
                return nil
            }
        }
    }

    private func format(of template: OutputTemplate, at node: SyntaxNode) throws(Diagnostic) -> Format {
        let noExtension = Diagnostic(.template(.noExtension(example: example(for: template))), at: node.span)
        switch template.pieces.last {
        case .field(.ext):
            guard case .literal(let text)? = template.pieces.dropLast().last, text.hasSuffix(".") else {
                throw Diagnostic(.template(.extensionWithoutDot), at: node.span)
            }
            return .inputs
        case .field, nil:
            throw noExtension
        case .literal(let text):
            if PathNames.endsWithSlash(text) { throw Diagnostic(.template(.folder), at: node.span) }
            let name = PathNames.last(of: text)
            guard let dot = name.lastIndex(of: ".") else { throw noExtension }
            return .known(try descriptor(String(name[name.index(after: dot)...]), at: node))
        }
    }

    private func descriptor(_ ext: String, at node: SyntaxNode) throws(Diagnostic) -> FormatDescriptor {
        if let format = catalog.format(forExtension: ext), format.canWrite { return format }
        let known = catalog.formats.filter(\.canWrite).flatMap(\.extensions)
        let nearest = Suggestion.nearest(to: ext, among: known)
        let length = ext.unicodeScalars.count
        let start = (node.text ?? "").unicodeScalars.count - length
        throw Diagnostic(
            .template(.unknownExtension(ext, nearest: nearest, known: known)),
            at: node.span(ofText: start, length: length))
    }

    private func example(for template: OutputTemplate) -> String {
        let ext = catalog.formats.first { $0.canWrite }?.extensions.first ?? "png"
        return "\(template.source.cut(to: 60)).\(ext)"
    }
}
