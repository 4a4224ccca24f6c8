/// One problem of a text, where it is, and how bad.
package struct Diagnostic: Error, Hashable, Sendable {
    package enum Severity: String, Hashable, Sendable {
        case error
        /// Worth knowing; changes no exit code.
        case warning
    }

    package let severity: Severity
    package let problem: Problem
    package let span: SourceSpan

    package init(_ problem: Problem, at span: SourceSpan, severity: Severity = .error) {
        self.severity = severity
        self.problem = problem
        self.span = span
    }

    package var position: SourcePosition { span.start }
}
