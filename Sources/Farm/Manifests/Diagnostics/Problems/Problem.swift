/// All problems that a reading can report, as data. Each type has its sentences beside its cases.
package enum Problem: Hashable, Sendable {
    /// The text as a whole, or a line of it, does not have the right format.
    case text(TextProblem)
    /// A line is not an entry of its block.
    case block(BlockProblem)
    /// A value on a line cannot be read.
    case scalar(ScalarProblem)
    /// A list or mapping in brackets cannot be read.
    case flow(FlowProblem)
    /// A value does not have the type of its key.
    case value(ValueProblem)
    /// A job asks for something impossible.
    case job(JobProblem)
    /// A filter or one of its parameters does not match the catalog.
    case filter(FilterProblem)
    /// An output template has an error.
    case template(TemplateProblem)
    /// An override cannot be applied.
    case override(OverrideProblem)
    /// For readers of other files, whose keys this module does not know.
    case other(Words)
    /// The list of problems was cut.
    case more(count: Int)

    package var words: Words {
        switch self {
        case .text(let problem): problem.words
        case .block(let problem): problem.words
        case .scalar(let problem): problem.words
        case .flow(let problem): problem.words
        case .value(let problem): problem.words
        case .job(let problem): problem.words
        case .filter(let problem): problem.words
        case .template(let problem): problem.words
        case .override(let problem): problem.words
        case .other(let words): words
        case .more(let count):
            Words(
                count == 1 ? "one more problem is not shown" : "\(count) more problems are not shown",
                remedy: "fix those above first: some of these may be fixed with them")
        }
    }
}

/// The sentences of a problem.
package struct Words: Hashable, Sendable {
    /// The problem, without a capital or a full stop.
    package let message: String
    /// The remedy.
    package let remedy: String?

    package init(_ message: String, remedy: String? = nil) {
        self.message = message
        self.remedy = remedy
    }
}
