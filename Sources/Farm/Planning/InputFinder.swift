package import JobModel

/// One file that a job takes in.
package struct InputFile: Hashable, Sendable {
    /// Absolute, without `.` and `..`; symbolic links are not resolved.
    package let path: String
    /// The folders below the fixed part of the pattern that found it; empty or `a/b`.
    package let dir: String

    package init(path: String, dir: String) {
        self.path = path
        self.dir = dir
    }
}

/// Looks up a job's inputs: its globs, less what it excludes, sorted by path.
package struct InputFinder {
    private let patterns: [GlobPattern]
    private let excluded: [GlobPattern]
    /// Paths of files whose names are not UTF-8. They cannot be inputs.
    package private(set) var oddPaths: [[UInt8]] = []
    /// Patterns that no file matched, excluded ones included, in the manifest's order.
    package private(set) var unmatched: [String] = []
    private var found: [String: InputFile] = [:]
    /// A file counts for every pattern that it matches.
    private var matchCount = 0
    /// How many files matched and were excluded.
    package private(set) var excludedCount = 0

    package init(_ job: JobSpec) {
        patterns = job.inputs.map { GlobPattern($0, in: job.folder) }
        // '**/drafts/**' means drafts anywhere, above the manifest's folder too.
        excluded = job.exclude.map { GlobPattern($0, in: $0.hasPrefix("**/") ? "/" : job.folder) }
    }

    /// Lists the folders that a pattern may reach, and opens no file.
    package mutating func find() throws(PlanProblem) -> [InputFile] {
        for pattern in patterns + excluded where pattern.isTooWide { throw .patternTooWide(pattern.text) }
        for pattern in patterns {
            if pattern.isLiteral {
                try addLiteral(pattern)
            } else {
                let before = matchCount
                try addMatches(of: pattern)
                if matchCount == before { unmatched.append(pattern.text) }
            }
        }
        return found.values.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    private mutating func addLiteral(_ pattern: GlobPattern) throws(PlanProblem) {
        switch DirectoryListing.kind(at: pattern.text) {
        case .file: add(InputFile(path: pattern.text, dir: ""))
        case .folder: throw .inputIsFolder(pattern.text)
        case .other, nil: throw .missingFile(pattern.text)
        }
    }

    private mutating func addMatches(of pattern: GlobPattern) throws(PlanProblem) {
        let root = PathText.joined(pattern.fixedFolder)
        guard DirectoryListing.kind(at: root) == .folder else {
            throw .missingFolder(root, pattern: pattern.text)
        }
        try walk(root, below: "", pattern.components[pattern.fixedFolder.count...])
    }

    /// - Parameter components: what of the pattern is still to be matched below `folder`.
    private mutating func walk(
        _ folder: String, below dir: String, _ components: ArraySlice<String>
    ) throws(PlanProblem) {
        guard let first = components.first else { return }
        let rest = components.dropFirst()
        if first == "**" { try walk(folder, below: dir, rest.isEmpty ? ["*"] : rest) }
        let pattern = NamePattern(first == "**" ? "*" : first)
        for entry in try DirectoryListing.entries(of: folder) {
            guard let name = entry.name else {
                if rest.isEmpty, entry.kind == .file { oddPaths.append(Array("\(folder)/".utf8) + entry.bytes) }
                continue
            }
            guard pattern.matches(name) else { continue }
            let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            switch entry.kind {
            case .folder:
                let deeper = dir.isEmpty ? name : "\(dir)/\(name)"
                if first == "**" {
                    // A linked folder may lead back up: '**' stays out of it.
                    if !entry.isSymbolicLink { try walk(path, below: deeper, components) }
                } else {
                    try walk(path, below: deeper, rest)
                }
            case .file where rest.isEmpty && first != "**":
                add(InputFile(path: path, dir: dir))
            case .file, .other:
                break
            }
        }
    }

    private mutating func add(_ file: InputFile) {
        matchCount += 1
        guard !excluded.contains(where: { $0.matches(file.path) }) else {
            excludedCount += 1
            return
        }
        found[file.path] = found[file.path] ?? file
    }

    /// The pattern that would take this path in as an input, if one does.
    package func pattern(matching path: String) -> String? {
        guard !excluded.contains(where: { $0.matches(path) }) else { return nil }
        return patterns.first { $0.matches(path) }?.text
    }
}
