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
    /// Absolute, without `.` and `..`.
    private let folder: [UInt8]
    /// `2026-11-21`
    let date: String

    package init(_ job: JobSpec, date: String) {
        templates = job.outputs.map(\.template)
        self.job = job.name
        folder = PathBytes.normalized(Array(job.folder.utf8), in: [])
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
        var text: [UInt8] = []
        text.reserveCapacity(input.path.utf8.count + 64)
        for piece in template.pieces {
            switch piece {
            case .literal(let literal): text.append(contentsOf: literal.utf8)
            case .field(let field):
                append(field, of: input, index: index, page: page, measures: measures, to: &text)
            }
        }
        return String(decoding: PathBytes.normalized(text, inNormal: folder), as: UTF8.self)
    }

    private func append(
        _ field: OutputTemplate.Field, of input: InputFile, index: Int, page: Int, measures: Measures?,
        to text: inout [UInt8]
    ) {
        func append(_ value: String) { text.append(contentsOf: value.utf8) }
        switch field {
        case .dir: append(input.dir)
        case .stem: text.append(contentsOf: PathText.nameParts(of: input.path).stem.utf8)
        case .ext: append(PathText.nameParts(of: input.path).ext.lowercased())
        case .job: append(job)
        case .width: append(measures.map { String($0.width) } ?? "{width}")
        case .height: append(measures.map { String($0.height) } ?? "{height}")
        case .index(let digits): append(Self.padded(index, digits))
        case .frame(let digits): append(Self.padded(page + 1, digits))
        case .date: append(date)
        case .hash8: append(measures?.contentDigest.map { String($0.description.prefix(8)) } ?? "{hash8}")
        }
    }

    /// The extension of an output's name, as far as it is known without a probe.
    func fileExtension(_ template: OutputTemplate, for input: InputFile) -> String {
        let path = path(template, for: input, index: 1, page: 0, measures: nil)
        return PathText.split(name: PathText.name(of: path)).ext
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
