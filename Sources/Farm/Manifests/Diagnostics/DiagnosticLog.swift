/// Gathers the problems of one reading, in whatever order they are found.
///
/// A class, because every reader of a nested value adds to the same log. It stays inside one reading.
package final class DiagnosticLog {
    /// A file that is something else altogether has a problem on every line; nobody reads on after so many.
    static let limit = 100

    private var diagnostics: [Diagnostic] = []
    /// What else a reading has found.
    private(set) var pictures: [PictureMention] = []
    private(set) var filters: [FilterMention] = []

    package init() {}

    package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    package func error(_ problem: Problem, at span: SourceSpan) {
        add(Diagnostic(problem, at: span))
    }

    package func warning(_ problem: Problem, at span: SourceSpan) {
        add(Diagnostic(problem, at: span, severity: .warning))
    }

    package func add(_ diagnostic: Diagnostic) {
        diagnostics.append(diagnostic)
    }

    func mention(_ picture: PictureMention) { pictures.append(picture) }
    func mention(_ filter: FilterMention) { filters.append(filter) }

    /// Adds the problems of an attempt that was made on a log of its own.
    func add(_ other: DiagnosticLog) {
        diagnostics += other.diagnostics
    }

    /// The first ``limit`` problems in the order of the text, the file's before the arguments', and what was cut.
    package func sorted() -> [Diagnostic] {
        let all = diagnostics.sorted { ($0.span.source, $0.position) < ($1.span.source, $1.position) }
        guard all.count > Self.limit else { return all }
        let rest = all[Self.limit...]
        let severity: Diagnostic.Severity = rest.contains { $0.severity == .error } ? .error : .warning
        return all.prefix(Self.limit) + [
            Diagnostic(.more(count: rest.count), at: all[Self.limit].span, severity: severity)
        ]
    }
}
