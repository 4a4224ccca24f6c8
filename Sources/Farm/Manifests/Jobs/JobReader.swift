package import Catalogs
package import JobModel

/// Reads job manifests.
package enum JobReader {
    /// Reads one manifest: its syntax, then the overrides, then every key by the catalog. Finds all problems at once.
    ///
    /// - Parameters:
    ///   - bytes: the file's content.
    ///   - path: the manifest as messages name it.
    ///   - realPath: the manifest's absolute path without symbolic links; relative inputs start from its folder.
    ///   - catalog: what filters, parameters, formats and options there are.
    ///   - overrides: applied in their order, before anything is typed.
    ///   - look: what is known of pictures that filters name.
    package static func read(
        bytes: [UInt8], path: String, realPath: String, catalog: Catalog, overrides: [Override] = [],
        look: @escaping PictureLookup.Look = PictureLookup.nowhere
    ) -> ReadResult {
        let log = DiagnosticLog()
        let text = SourceText(bytes: bytes, name: path, log: log)
        let tree = BlockParser.parse(text, log: log)
        let overridden = OverriddenTree(tree, overrides: overrides, log: log)
        let job = overridden.root.flatMap { root in
            JobTyper(catalog: catalog, look: look, log: log).job(from: root, manifestPath: realPath)
        }
        return ReadResult(
            job: log.hasErrors ? nil : job, diagnostics: log.sorted(),
            pictures: log.pictures, sources: SourceSet(file: text, arguments: overridden.texts))
    }
}

/// A manifest that was read.
package struct ReadResult: Sendable {
    /// Nil exactly when there is an error among the diagnostics.
    package let job: JobSpec?
    /// In the order of the text.
    package let diagnostics: [Diagnostic]
    /// Pictures that filters name.
    package let pictures: [PictureMention]
    /// The texts that the diagnostics point into.
    package let sources: SourceSet

    /// The diagnostics as a person reads them, in order.
    package var messages: [String] { diagnostics.map { $0.rendered(in: sources) } }
}
