extension ValueReader where Value == String {
    /// A job's name: `[A-Za-z0-9][A-Za-z0-9._-]{0,99}`.
    static var jobName: ValueReader {
        ValueReader { node, name, log in
            guard let text = nonEmptyText.read(node, for: name, log: log) else { return nil }
            let scalars = text.unicodeScalars
            let first = scalars.first
            let beginsWell = first.map { $0.fitsInJobName && !["_", "-", "."].contains($0) } ?? false
            guard beginsWell, scalars.count <= JobProblem.nameLength, scalars.allSatisfy(\.fitsInJobName) else {
                log.error(.job(.badName(text)), at: node.span)
                return nil
            }
            return text
        }
    }
}

extension ValueReader where Value == [String] {
    /// Glob patterns, at least one.
    static var patterns: ValueReader { .nonEmptyList(of: .nonEmptyText) }
}
