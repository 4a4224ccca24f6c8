import JobModel

/// What a pattern that matches nothing may have meant.
package enum PatternHint: Hashable, Sendable {
    /// A file or folder has a name that was written, in which there are wildcards.
    case literalName(String, pattern: String)
    /// A folder matches, where files are chosen.
    case folder(String, pattern: String)

    /// - Parameters:
    ///   - entry: of `inputs` or `exclude`, as it was written.
    ///   - folder: the absolute path that a relative one starts from.
    init?(entry: String, in folder: String) {
        guard let found = GlobPattern.literally(entry, in: folder) else { return nil }
        self = .literalName(found.name, pattern: found.pattern)
    }

    /// - Parameters:
    ///   - choice: a pattern that no input of the job matches.
    ///   - folders: the absolute paths that a relative one may start from.
    init?(choice: String, in folders: [String], among inputs: [InputFile]) {
        let exact = folders.map { PathBytes.normalized(Array(choice.utf8), in: Array($0.utf8)) }
        let name = Array(choice.utf8)[...]
        if inputs.contains(where: { exact.contains($0.exactPath) || PathBytes.name(of: $0.exactPath) == name }) {
            self = .literalName(choice, pattern: GlobPattern.matching(choice))
            return
        }
        let folder = PathNames.endsWithSlash(choice) ? String(choice.dropLast()) : choice
        for pattern in [folder, GlobPattern.matching(folder)].map({ "\($0)/**" }) {
            let globs = folders.map { GlobPattern(pattern, in: $0) }
            if inputs.contains(where: { input in globs.contains { $0.matches(input.exactPath) } }) {
                self = .folder(choice, pattern: pattern)
                return
            }
        }
        return nil
    }

    package var message: String {
        switch self {
        case .literalName(let name, let pattern):
            "'\(PathText.visible(name))' is there: '*', '?', '[' and '{' are wildcards, so write '\(PathText.visible(pattern))'"
        case .folder(let name, let pattern):
            "'\(PathText.visible(name))' names a folder: '\(PathText.visible(pattern))' chooses the files in it"
        }
    }
}

extension JobPlan {
    /// For one of ``unmatchedPatterns``.
    package func hint(ofInput pattern: String) -> PatternHint? {
        let entry = job.inputs.first { PathKey(GlobPattern($0, in: job.folder).text) == PathKey(pattern) }
        return entry.flatMap { PatternHint(entry: $0, in: job.folder) }
    }

    /// For one of ``unmatchedExcludes``.
    package func hint(ofExclude entry: String) -> PatternHint? { PatternHint(entry: entry, in: job.folder) }

    /// For one of ``unmatchedChoices``.
    package func hint(ofChoice pattern: String) -> PatternHint? {
        PatternHint(choice: pattern, in: choiceFolders, among: inputs)
    }
}
