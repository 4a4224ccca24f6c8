import Catalogs
import JobModel

/// Reads `output:`, a path with `{…}` fields, and finds the format of its extension.
struct OutputReader {
    /// The format of the output.
    enum Format {
        case known(FormatDescriptor)
        /// `{ext}`: the format of each input.
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
        let length = ext.unicodeScalars.count
        let span = node.span(ofText: (node.text ?? "").unicodeScalars.count - length, length: length)
        if let missing = catalog.missingFormat(forExtension: ext) {
            throw Diagnostic(
                .template(.missingFormat(ext, reason: missing.reason, remedy: missing.remedy)), at: span)
        }
        let known = catalog.formats.filter(\.canWrite).flatMap(\.extensions)
        let nearest = Suggestion.nearest(to: ext, among: known)
        throw Diagnostic(.template(.unknownExtension(ext, nearest: nearest, known: known)), at: span)
    }

    private func example(for template: OutputTemplate) -> String {
        let ext = catalog.formats.first { $0.canWrite }?.extensions.first ?? "png"
        return "\(template.source.cut(to: 60)).\(ext)"
    }
}

/// Reads the paths and formats of a job's outputs: `output:` and `save:`, or `outputs:`, a list of `{path, filters,
/// save}`.
struct OutputsReader {
    let catalog: Catalog
    let pictures: PictureLookup
    let log: DiagnosticLog

    /// One output, and the position that messages about it point to.
    struct Output {
        let job: JobOutput
        let format: OutputReader.Format
        let span: SourceSpan
    }

    /// More outputs of one input are certainly a mistake. Each needs a thread and memory.
    static let most = 32

    /// All outputs. Nil if one of them is missing or wrong.
    func outputs(from reader: inout MappingReader) -> [Output]? {
        if reader.mapping["outputs"] == nil {
            defer { _ = reader.entry("outputs") }  // a key that may be given
            return single(from: &reader, path: "output").map { [$0] }
        }
        guard let several = reader.entry("outputs") else { return nil }
        for key in ["output", "save"] {
            if let entry = reader.entry(key) { log.error(.job(.besideOutputs(key)), at: entry.keySpan) }
        }
        return list(several.value)
    }

    private func list(_ node: SyntaxNode) -> [Output]? {
        guard case .sequence(let items) = node.content else {
            if !node.isUnreadable { log.error(.job(.outputsNotAList(found: node.kindName)), at: node.span) }
            return nil
        }
        guard !items.isEmpty else {
            log.error(.value(.emptyList(name: "outputs")), at: node.span)
            return nil
        }
        guard items.count <= Self.most else {
            log.error(.job(.tooManyOutputs(count: items.count, most: Self.most)), at: node.span)
            return nil
        }
        let outputs = items.enumerated().map { output(of: $1, number: $0) }
        let present = outputs.compactMap(\.self)
        reportDoubles(present)
        return present.count == outputs.count ? present : nil
    }

    private func output(of item: SyntaxNode, number: Int) -> Output? {
        guard
            var reader = MappingReader(
                item, of: "'outputs[\(number)]'", example: "'path: out/{stem}.png', and 'filters' and 'save' if needed",
                log: log)
        else { return nil }
        let chain = reader.value("filters", ChainReader(catalog: catalog, pictures: pictures).chain, default: [])
        let output = single(from: &reader, path: "path", chain: chain)
        reader.finish(aliases: Self.aliases)
        return output
    }

    private func single(
        from reader: inout MappingReader, path: String, chain: [FilterInvocation] = []
    ) -> Output? {
        let span = reader.mapping[path]?.span ?? reader.span
        let output = reader.required(path, OutputReader(catalog: catalog).output, example: "out/{stem}.png")
        // Several outputs share one decoding. If each could choose its samples, a picture could be decoded again for some.
        let precision: ChainPrecision = path == "output" ? .auto : .input
        let save = reader.optional(
            "save",
            SaveReader(catalog: catalog, output: output, usualPrecision: precision, pictures: pictures).options)
        if case .known(let format)? = output?.format, reader.mapping["save"] == nil,
            reader.mapping.isComplete, let missing = SaveReader.missingOption(of: format, in: nil)
        {
            let owner = "the output in \(format.name)"
            log.error(
                .value(.missingKey("save", of: owner, example: "{\(missing.name): \"\(missing.example)\"}")), at: span)
        }
        return output.map {
            Output(
                job: JobOutput(template: $0.template, chain: chain, save: save ?? SaveOptions(precision: precision)),
                format: $0.format,
                span: span)
        }
    }

    private func reportDoubles(_ outputs: [Output]) {
        var seen: Set<String> = []
        for output in outputs where !seen.insert(output.job.template.source).inserted {
            log.error(.job(.outputTwice(path: output.job.template.source)), at: output.span)
        }
    }

    private static let aliases = [
        "output": "path", "file": "path", "to": "path", "name": "path", "out": "path", "destination": "path",
        "filter": "filters", "chain": "filters", "steps": "filters", "options": "save", "encode": "save",
    ]
}
