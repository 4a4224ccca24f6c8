package import JobModel

/// Fills in an output template.
package struct OutputNaming: Sendable {
    /// What is known only after a probe.
    package struct Measures: Hashable, Sendable {
        package let width: Int
        package let height: Int
        package let contentDigest: Digest?

        package init(width: Int, height: Int, contentDigest: Digest?) {
            self.width = width
            self.height = height
            self.contentDigest = contentDigest
        }
    }

    /// One for each of the job's outputs.
    package let templates: [OutputTemplate]
    let job: String
    let folder: String
    /// `2026-11-21`
    let date: String

    package init(_ job: JobSpec, date: String) {
        templates = job.outputs.map(\.template)
        self.job = job.name
        folder = job.folder
        self.date = date
    }

    /// An absolute output path.
    ///
    /// - Parameters:
    ///   - index: the input's place in sorted order, from 1.
    ///   - page: of the input, from 0.
    ///   - measures: needed when the template ``OutputTemplate/needsProbe``.
    package func path(
        _ template: OutputTemplate, for input: InputFile, index: Int, page: Int, measures: Measures?
    ) -> String {
        let (stem, ext) = PathText.split(name: PathText.name(of: input.path))
        var text = ""
        for piece in template.pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .field(.dir): text += input.dir
            case .field(.stem): text += stem
            case .field(.ext): text += ext.lowercased()
            case .field(.job): text += job
            case .field(.width): text += measures.map { String($0.width) } ?? "{width}"
            case .field(.height): text += measures.map { String($0.height) } ?? "{height}"
            case .field(.index(let digits)): text += Self.padded(index, digits)
            case .field(.frame(let digits)): text += Self.padded(page + 1, digits)
            case .field(.date): text += date
            case .field(.hash8): text += measures?.contentDigest.map { String($0.description.prefix(8)) } ?? "{hash8}"
            }
        }
        return PathText.normalized(text, in: folder)
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
