import Catalogs
import JobModel
import Manifests

/// A text read as a job, with what tests look at.
struct Reading {
    let result: ReadResult

    init(_ text: String, set overrides: String..., catalog: Catalog = .example) {
        self.init(bytes: Array(text.utf8), overrides: overrides, catalog: catalog)
    }

    init(
        bytes: [UInt8], overrides: [String] = [], shared: [String: ParameterValue] = [:], catalog: Catalog = .example
    ) {
        result = JobReader.read(
            bytes: bytes, path: "job.yaml", realPath: "/home/ann/jobs/job.yaml", catalog: catalog,
            overrides: overrides.map { Override($0) }, shared: shared)
    }

    /// A job that is right but for `lines`, which may also replace one of its keys.
    static func job(_ lines: String, set overrides: String..., catalog: Catalog = .example) -> Reading {
        let base = [("job", "nightly"), ("inputs", "'*.jpg'"), ("filters", "[invert]"), ("output", "out/{stem}.png")]
        let given = lines.split(separator: "\n").map { $0.prefix { $0 != ":" } }
        let rest = base.filter { key, _ in !given.contains { $0 == key } }.map { "\($0): \($1)\n" }
        return Reading(
            bytes: Array((lines + "\n" + rest.joined()).utf8), overrides: overrides, catalog: catalog)
    }

    /// A job with one filter: a list item.
    static func filter(_ item: String, set overrides: String..., catalog: Catalog = .example) -> Reading {
        let text = "job: nightly\ninputs: '*.jpg'\nfilters:\n  - \(item)\noutput: out/{stem}.png\n"
        return Reading(bytes: Array(text.utf8), overrides: overrides, catalog: catalog)
    }

    var job: JobSpec? { result.job }

    /// The values of the only filter.
    var values: [String: ParameterValue]? { job?.chain.first?.values }

    /// All diagnostics as a person reads them.
    var messages: String { result.messages.joined(separator: "\n") }

    /// Each diagnostic's line and column with its sentence.
    var problems: [String] {
        result.diagnostics.map { "\($0.position.line):\($0.position.column): \($0.problem.words.message)" }
    }

    /// Each diagnostic's advice.
    var remedies: [String?] { result.diagnostics.map(\.problem.words.remedy) }
}

/// A text parsed without any schema.
struct ParsedText {
    let root: SyntaxNode?
    let diagnostics: [Diagnostic]
    let text: SourceText

    init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    init(bytes: [UInt8]) {
        let log = DiagnosticLog()
        text = SourceText(bytes: bytes, name: "text.yaml", log: log)
        root = BlockParser.parse(text, log: log)
        diagnostics = log.sorted()
    }

    /// All diagnostics as a person reads them.
    var messages: String {
        diagnostics.map { $0.rendered(in: SourceSet(file: text)) }.joined(separator: "\n")
    }

    /// The tree on one line: `{inputs: ["a", "b"]}`, or the messages when there are any.
    var outline: String {
        diagnostics.isEmpty ? root.map(Self.outline) ?? "nothing" : messages
    }

    private static func outline(of node: SyntaxNode) -> String {
        switch node.content {
        case .scalar(let scalar):
            return scalar.text.literal
        case .sequence(let items):
            return "[" + items.map(outline).joined(separator: ", ") + "]"
        case .mapping(let mapping):
            return "{" + mapping.entries.map { "\($0.key): \(outline(of: $0.value))" }.joined(separator: ", ") + "}"
        case .unreadable:
            return "unreadable"
        }
    }
}

extension String {
    /// The text in double quotes, with backslashes for what would be unclear.
    var literal: String {
        let escaped = replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\t", with: "\\t")
        return "\"\(escaped)\""
    }
}

extension JobSpec {
    /// Of the first output.
    var output: OutputTemplate { outputs[0].template }
    var save: SaveOptions { outputs[0].save }
}
