import Catalogs
import JobModel

/// Types the tree of a job manifest.
struct JobTyper {
    let catalog: Catalog
    let log: DiagnosticLog

    /// The job; nil when something that it cannot be without is missing or wrong. Wrong values elsewhere are in the
    /// log, and the job has defaults in their place.
    func job(from root: SyntaxNode, manifestPath: String) -> JobSpec? {
        guard var reader = MappingReader(root, of: "the job", log: log) else { return nil }
        let name = reader.required("job", .jobName, example: "nightly-blur")
        let summary = reader.value("description", .text, default: "")
        let inputs = reader.required("inputs", .patterns, example: "photos/**/*.jpg")
        let exclude = reader.value("exclude", .list(of: .nonEmptyText), default: [])
        let chain = reader.required("filters", ChainReader(catalog: catalog).chain, example: "[invert]")
        let output = reader.required("output", OutputReader(catalog: catalog).output, example: "out/{stem}.png")
        let save = reader.optional("save", SaveReader(catalog: catalog, format: output?.format ?? .unknown).options)
        let policies = Policies(from: &reader)
        reader.finish(aliases: Self.aliases) { ForeignKeys(catalog: catalog).problem(of: $0) }
        guard let name, let inputs, let chain, let output else { return nil }

        checkNames(of: output, inputs: inputs, at: reader)
        return policies.job(
            JobSpec(
                name: name, summary: summary, manifestPath: manifestPath, folder: Self.folder(of: manifestPath),
                inputs: inputs, exclude: exclude, chain: chain, output: output.template, save: save ?? SaveOptions()))
    }

    /// What stands before the last slash.
    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Warns of what is allowed and probably not meant.
    private func checkNames(of output: OutputReader.Output, inputs: [String], at reader: MappingReader) {
        for (key, texts) in [("inputs", inputs), ("output", [output.template.source])] {
            guard let node = reader.mapping[key], texts.contains(where: { $0.hasPrefix("~") }) else { continue }
            log.warning(.job(.tilde(name: key)), at: node.span)
        }
        let wildcard = inputs.first { $0.contains { "*?[".contains($0) } }
        guard let node = reader.mapping["output"], !output.template.tellsInputsApart else { return }
        if let cause = wildcard ?? (inputs.count > 1 ? inputs.joined(separator: ", ") : nil) {
            log.warning(.job(.sameNameForAll(inputs: cause.quoted)), at: node.span)
        }
    }
}

extension OutputTemplate {
    /// False when every input surely gets the same name.
    fileprivate var tellsInputsApart: Bool {
        pieces.contains { piece in
            switch piece {
            case .field(.stem), .field(.index), .field(.hash8): true
            case .field, .literal: false
            }
        }
    }
}
