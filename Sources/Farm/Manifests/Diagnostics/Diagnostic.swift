import JobModel

/// One problem of a text, with its position and severity.
package struct Diagnostic: Error, Hashable, Sendable {
    package enum Severity: String, Hashable, Sendable {
        case error
        /// A hint. It changes no exit code.
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

extension Diagnostic {
    /// The problem with the line that has it, a caret line under it, and what to do:
    ///
    ///     jobs/poster.yaml:14:5: error: unknown filter 'gausian'
    ///     14 |   - gausian: {radius: 12}
    ///        |     ^^^^^^^
    ///        = did you mean 'gaussian'? 'penumbra filters' lists the filters your workers offer
    ///
    /// Several lines, without a break after the last. `sources` are those of the reading that gave the diagnostic.
    package func rendered(in sources: SourceSet) -> String {
        let text = sources[span.source]
        let words = problem.words
        let argument = text.argument(ofLine: position.line)
        let line = text.line(position.line)
        let excerpt = Excerpt(
            of: argument?.part(of: line) ?? line, column: argument?.column(for: position.column) ?? position.column,
            length: span.length)
        // The number of a line that a command has made says nothing to its user.
        let gutter = text.kind == .file && text.arguments.isEmpty ? String(position.line) : " "
        let margin = String(repeating: " ", count: gutter.count)
        var lines = [
            "\(location(in: text)): \(severity.rawValue): \(words.message)".visible,
            "\(gutter) | \(excerpt.line)".trimmingTrailingSpaces,
            "\(margin) | \(excerpt.carets)",
        ]
        // Further lines of a remedy are an example.
        for (index, line) in (words.remedy ?? "").split(separator: "\n").enumerated() {
            lines.append("\(margin) \(index == 0 ? "=" : " ") \(line)".visible)
        }
        return lines.joined(separator: "\n")
    }

    private func location(in text: SourceText) -> String {
        if let argument = text.argument(ofLine: position.line) { return argument.name.cut(to: 100) }
        guard text.arguments.isEmpty else { return text.name }
        return switch text.kind {
        case .file: "\(text.name):\(position.line):\(position.column)"
        case .argument: text.name.cut(to: 100)
        }
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var end = endIndex
        while end > startIndex, self[index(before: end)] == " " { end = index(before: end) }
        return String(self[..<end])
    }
}

/// The part of a source line that a terminal shows, and the caret line below it.
///
/// Characters that would move the cursor or hide text are shown as `�`, and tabs as `→`. So the carets stand under the
/// right characters, and a manifest cannot write control sequences to the terminal.
struct Excerpt {
    let line: String
    let carets: String

    /// Lines up to this length are shown whole.
    private static let wholeLine = 160
    /// The number of scalars that are shown before and after the marked one, in longer lines.
    private static let reach = 70

    /// `column` counts from 1. A length of 0 gets one caret.
    init(of line: ArraySlice<Unicode.Scalar>, column: Int, length: Int) {
        let marked = line.startIndex + max(0, min(column - 1, line.count))
        let reach = line.count <= Self.wholeLine ? Self.wholeLine : Self.reach
        let first = max(line.startIndex, marked - reach)
        let last = min(line.endIndex, marked + reach)
        let before = line[first..<marked].map(\.shown)
        let after = line[marked..<last].map(\.shown)
        let lead = first > line.startIndex ? "…" : ""
        let tail = last < line.endIndex ? "…" : ""

        self.line = lead + Self.string(before) + Self.string(after) + tail
        let indent = lead.count + Self.columns(before)
        let width = Self.columns(Array(after.prefix(length)))
        self.carets = String(repeating: " ", count: indent) + String(repeating: "^", count: max(1, width))
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String {
        var string = String.UnicodeScalarView()
        string.append(contentsOf: scalars)
        return String(string)
    }

    private static func columns(_ scalars: [Unicode.Scalar]) -> Int {
        scalars.reduce(0) { $0 + $1.terminalColumns }
    }
}

extension Unicode.Scalar {
    /// The scalar that the terminal shows instead.
    fileprivate var shown: Unicode.Scalar {
        if self == "\t" { return "→" }
        return isObeyedOrHidden ? "\u{FFFD}" : self
    }
}

/// Collects the problems of one reading, in any order.
///
/// It is a class, because every reader of a nested value adds to the same log. It stays inside one reading.
package final class DiagnosticLog {
    /// A file that is no manifest has a problem on every line. Messages show no more than this number.
    static let limit = 100

    private var diagnostics: [Diagnostic] = []
    /// Other findings of a reading.
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

    /// Adds the problems of an attempt that had a log of its own.
    func add(_ other: DiagnosticLog) {
        diagnostics += other.diagnostics
    }

    /// The first ``limit`` problems in the order of the text, first the file's and then the arguments', and the number
    /// of the others.
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
