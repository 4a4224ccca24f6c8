import Catalogs
import JobModel

/// Finds the formats of a frame's outputs by their names' extensions. Remembers what it found: a job's outputs have
/// few extensions, and it has many frames.
struct FormatChoice {
    private let naming: OutputNaming
    private let catalog: Catalog
    /// For each template the extension that all its names have, if there is one.
    private let extensions: [String?]
    private var known: [String: String] = [:]
    private var last: [String] = []

    init(_ naming: OutputNaming, _ catalog: Catalog) {
        self.naming = naming
        self.catalog = catalog
        extensions = naming.templates.map(Self.commonExtension)
    }

    private static func commonExtension(of template: OutputTemplate) -> String? {
        guard case .literal(let end) = template.pieces.last else { return nil }
        // What stands before the literal may be empty, and then '.png' is no extension; a stem never is.
        let before = template.pieces.dropLast().last == .field(.stem) && !end.utf8.contains(PathBytes.slash) ? "x" : ""
        let name = end.utf8.split(separator: PathBytes.slash, omittingEmptySubsequences: false).last.map(String.init)
        let ext = PathText.split(name: before + (name.flatMap(\.self) ?? "")).ext
        return ext.isEmpty ? nil : ext
    }

    /// One name for each of the job's outputs; equal lists share their memory.
    mutating func formats(of input: InputFile) throws(PlanProblem) -> [String] {
        if !last.isEmpty, !extensions.contains(nil) { return last }
        var result: [String] = []
        for (template, common) in zip(naming.templates, extensions) {
            result.append(try format(common ?? naming.fileExtension(template, for: input), input))
        }
        if result != last { last = result }
        return last
    }

    private mutating func format(_ ext: String, _ input: InputFile) throws(PlanProblem) -> String {
        if let name = known[ext] { return name }
        guard let format = catalog.format(forExtension: ext), format.canWrite else {
            let writable = catalog.formats.filter(\.canWrite).flatMap { $0.extensions.prefix(1) }
            throw .formatUnknown(extension: ext, input: input.path, known: writable)
        }
        known[ext] = format.name
        return format.name
    }
}
