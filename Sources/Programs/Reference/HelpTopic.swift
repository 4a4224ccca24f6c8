package import Catalogs
import JobModel
import Manifests
import Settings

/// A page of `penumbra help`.
package enum HelpTopic: String, CaseIterable, Sendable {
    case manifest
    case outputNames = "output-names"
    case exitCodes = "exit-codes"
    case environment
    case files

    /// One line, for the list of topics.
    package var sentence: String {
        switch self {
        case .manifest: "All keys of a manifest, with their values and defaults."
        case .outputNames: "The fields of output paths, such as {stem}."
        case .exitCodes: "What each exit code means, and what you can do."
        case .environment: "The environment variables that Penumbra reads."
        case .files: "The files that Penumbra reads and writes."
        }
    }

    /// The whole page.
    ///
    /// - Parameters:
    ///   - catalog: What the workers offer. Without it, keys that come from filters are missing.
    ///   - width: The columns of the terminal.
    package func text(_ catalog: Catalog, width: Int) -> String {
        var page = HelpPage(width: width)
        switch self {
        case .manifest: manifest(catalog, &page)
        case .outputNames:
            page.paragraph(
                "The path of an output contains fields in braces. Penumbra replaces them for each picture. The examples are "
                    + "those of the picture photos/2026/cat.jpg, with the input photos/**/*.jpg:")
            page.example("output: out/{dir}/{stem}.webp")
            for field in ManifestSchema.fields {
                page.entry(field.field, field.sentence, "Example: \(field.example)")
            }
        case .exitCodes:
            page.paragraph(
                "If a command has several jobs, the highest code counts. A manifest with errors counts before one that is "
                    + "missing.")
            for outcome in RunOutcome.allCases { page.entry("\(outcome.number)", outcome.sentence, outcome.remedy) }
        case .environment:
            page.paragraph(
                "Variables override the config file, and flags override variables. 'penumbra config' shows each setting with "
                    + "its origin.")
            for variable in EnvironmentVariable.forUsers { page.entry(variable.name, variable.sentence) }
        case .files:
            for file in DescribedFile.all { page.entry(file.path, file.sentence) }
        }
        return page.text
    }

    private func manifest(_ catalog: Catalog, _ page: inout HelpPage) {
        page.paragraph(
            "A manifest is a YAML file that describes one job. Every manifest has 'job', 'inputs', and 'output' or 'outputs':"
        )
        page.example(
            """
            job: small
            inputs: photos/**/*.jpg
            filters:
              - thumbnail: {size: 1200}
            output: web/{dir}/{stem}.webp
            """)
        page.paragraph(
            "'penumbra check FILE' reads a manifest and says what is wrong with it. 'penumbra filters NAME' describes a filter. "
                + "'penumbra formats' lists the save options of each format.")
        for key in ManifestSchema(catalog).keys {
            let fallback = key.isRequired ? " It is required." : key.fallback.map { " Default: \($0)." } ?? ""
            page.entry(
                key.path, key.sentence, "Takes \(key.takes).\(fallback)",
                items: key.choices.map { ($0.word, $0.sentence) })
        }
    }
}

/// Text for a terminal: paragraphs, and entries with indented explanations.
struct HelpPage {
    private var lines: [String] = []
    private let width: Int

    /// - Parameter width: Narrow terminals get 40 columns, wide ones 100, because long lines are hard to read.
    init(width: Int) { self.width = min(max(width, 40), 100) }

    var text: String { lines.joined(separator: "\n") }

    mutating func paragraph(_ text: String) {
        separate()
        wrap(text, indent: 0)
    }

    mutating func example(_ text: String) {
        separate()
        lines += text.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
    }

    /// A name, and below it paragraphs and a list.
    mutating func entry(_ name: String, _ paragraphs: String..., items: [(String, String)] = []) {
        separate()
        lines.append("  \(name)")
        for paragraph in paragraphs { wrap(paragraph, indent: 6) }
        let column = (items.map(\.0.count).max() ?? 0) + 2
        for (word, sentence) in items {
            let start = lines.count
            wrap(sentence, indent: 8 + column)
            let padded = word + String(repeating: " ", count: column - word.count)
            lines[start] = "        \(padded)\(lines[start].dropFirst(8 + column))"
        }
    }

    private mutating func separate() { if !lines.isEmpty { lines.append("") } }

    /// Breaks a text between words.
    private mutating func wrap(_ text: String, indent: Int) {
        let margin = String(repeating: " ", count: indent)
        var line = margin
        for word in text.split(separator: " ") {
            if line.count > indent, line.count + 1 + word.count > width {
                lines.append(line)
                line = margin
            }
            line += (line.count > indent ? " " : "") + word
        }
        lines.append(line)
    }
}
