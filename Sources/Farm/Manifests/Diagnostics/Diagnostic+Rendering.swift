extension Diagnostic {
    /// The problem with the line that has it, a caret line under it, and what to do:
    ///
    ///     jobs/poster.yaml:14:5: error: unknown filter 'gausian'
    ///     14 |   - gausian: {radius: 12}
    ///        |     ^^^^^^^
    ///        = did you mean 'gaussian'? `penumbra filters` lists the filters your workers offer
    ///
    /// Several lines, without a break after the last. `sources` are those of the reading that gave the diagnostic.
    package func rendered(in sources: SourceSet) -> String {
        let text = sources[span.source]
        let words = problem.words
        let excerpt = Excerpt(of: text.line(position.line), column: position.column, length: span.length)
        let gutter = text.kind == .file ? String(position.line) : " "
        let margin = String(repeating: " ", count: gutter.count)
        var lines = [
            "\(place(in: text)): \(severity.rawValue): \(words.message)".visible,
            "\(gutter) | \(excerpt.line)".trimmingTrailingSpaces,
            "\(margin) | \(excerpt.carets)",
        ]
        // Further lines of a remedy are an example.
        for (index, line) in (words.remedy ?? "").split(separator: "\n").enumerated() {
            lines.append("\(margin) \(index == 0 ? "=" : " ") \(line)".visible)
        }
        return lines.joined(separator: "\n")
    }

    private func place(in text: SourceText) -> String {
        switch text.kind {
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
