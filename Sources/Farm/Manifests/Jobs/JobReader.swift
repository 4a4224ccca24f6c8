package import Catalogs
package import JobModel

/// Reads job manifests.
package enum JobReader {
    /// Reads one manifest: its syntax, then the overrides, then every key with the catalog. Finds all problems at once.
    ///
    /// - Parameters:
    ///   - bytes: The file's contents.
    ///   - path: The manifest's name in messages.
    ///   - realPath: The manifest's absolute path without symbolic links. Relative inputs start from its folder.
    ///   - catalog: The available filters, parameters, formats and options.
    ///   - arguments: The arguments of a command line that the lines of the text were made of. Nil for other lines.
    ///   - overrides: Applied in order, before anything is typed.
    ///   - shared: The values of shared parameters that neither a filter nor the job sets.
    ///   - inspect: Finds out what is known about pictures that filters name.
    package static func read(
        bytes: [UInt8], path: String, realPath: String, arguments: [ArgumentLine?] = [], catalog: Catalog,
        overrides: [Override] = [], shared: [String: ParameterValue] = [:],
        inspect: @escaping PictureLookup.Inspection = PictureLookup.nowhere
    ) -> ReadResult {
        let log = DiagnosticLog()
        var text = SourceText(bytes: bytes, name: path, log: log)
        text.arguments = arguments
        let tree = BlockParser.parse(text, log: log, empty: .emptyManifest)
        let overridden = OverriddenTree(tree, overrides: overrides, log: log)
        let job = overridden.root.flatMap { root in
            JobTyper(catalog: catalog.sharing(shared), inspect: inspect, log: log).job(
                from: root, manifestPath: realPath)
        }
        return ReadResult(
            job: log.hasErrors ? nil : job, diagnostics: log.sorted(),
            pictures: log.pictures, filters: log.filters, sources: SourceSet(file: text, arguments: overridden.texts))
    }
}

extension JobReader {
    /// Whether the text is a mapping with a key of manifests. A manifest may have errors nevertheless.
    ///
    /// The problems of a text quote it. Who may name a file, but not read it, must not get the problems of any other file.
    package static func isManifest(_ bytes: [UInt8]) -> Bool {
        let log = DiagnosticLog()
        let text = SourceText(bytes: bytes, name: "", log: log)
        guard case .mapping(let mapping)? = BlockParser.parse(text, log: log, empty: .emptyManifest)?.content else {
            return false
        }
        let keys = Set(JobKeys.all.map(\.name))
        return mapping.entries.contains { keys.contains($0.key) }
    }
}

/// The result of reading a manifest.
package struct ReadResult: Sendable {
    /// Nil if the diagnostics contain an error, and only then.
    package private(set) var job: JobSpec?
    /// In the order of the text.
    package private(set) var diagnostics: [Diagnostic]
    /// Pictures that filters name.
    package let pictures: [PictureMention]
    /// The filters that could be read.
    package let filters: [FilterMention]
    /// The texts that the diagnostics point into.
    package let sources: SourceSet

    /// Adds a warning of a worker: a filter that changes nothing.
    package mutating func addIdle(_ filter: FilterMention) {
        guard !filter.isKnownAsIdle else { return }
        add(Diagnostic(.filter(.changesNothing(filter: filter.invocation.filter)), at: filter.span, severity: .warning))
    }

    /// Adds a filter that cannot be made.
    package mutating func add(_ reason: String, of filter: FilterMention) {
        add(Diagnostic(.filter(.impossible(filter: filter.invocation.filter, reason: reason)), at: filter.span))
    }

    /// Adds a file that is no picture.
    package mutating func add(_ reason: String, of picture: PictureMention) {
        let problem = FilterProblem.pictureUnusable(
            parameter: picture.parameter, path: picture.written, whole: picture.path,
            kind: picture.kind, isOpen: true, reason: reason)
        add(Diagnostic(.filter(problem), at: picture.span))
    }

    /// Adds pictures of inputs whose folder is not there, so that none of them can be found.
    ///
    /// - Parameter folder: as it is shown.
    package mutating func addMissing(folder: String, of picture: PictureMention) {
        let problem = FilterProblem.folderOfPictures(
            parameter: picture.parameter, path: picture.written, folder: folder)
        add(Diagnostic(.filter(problem), at: picture.span))
    }

    private mutating func add(_ diagnostic: Diagnostic) {
        let log = DiagnosticLog()
        (diagnostics + [diagnostic]).forEach(log.add)
        diagnostics = log.sorted()
        if log.hasErrors { job = nil }
    }

    /// The diagnostics as people read them, in order.
    package var messages: [String] { diagnostics.map { $0.rendered(in: sources) } }
}

extension ValueReader where Value == String {
    /// A job's name: `[A-Za-z0-9][A-Za-z0-9._-]{0,99}`.
    static var jobName: ValueReader {
        ValueReader { node, name, log in
            guard let text = nonEmptyText.read(node, for: name, log: log) else { return nil }
            let scalars = text.unicodeScalars
            let first = scalars.first
            let beginsWell = first.map { $0.fitsInJobName && !["_", "-", "."].contains($0) } ?? false
            guard beginsWell, scalars.count <= JobProblem.nameLength, scalars.allSatisfy(\.fitsInJobName) else {
                log.error(.job(.badName(text)), at: node.span)
                return nil
            }
            return text
        }
    }
}

extension ValueReader where Value == [String] {
    /// Glob patterns, at least one.
    static var patterns: ValueReader { .nonEmptyList(of: .nonEmptyText) }
}
