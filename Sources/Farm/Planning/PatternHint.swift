import JobModel

/// What the author of a pattern that matches nothing may have meant.
package enum PatternHint: Hashable, Sendable {
    /// A file or folder has literally the pattern's name, but the name contains wildcards.
    case literalName(String, pattern: String)
    /// The pattern matches a folder, but files were asked for.
    case folder(String, pattern: String)

    /// - Parameters:
    ///   - entry: An entry of `inputs` or `exclude`, as it was written.
    ///   - folder: The absolute path that a relative entry starts from.
    init?(entry: String, in folder: String) {
        guard let found = GlobPattern.literally(entry, in: folder) else { return nil }
        self = .literalName(found.name, pattern: found.pattern)
    }

    /// - Parameters:
    ///   - choice: A pattern that matches no input of the job.
    ///   - folders: The absolute paths that a relative pattern may start from.
    init?(choice: String, in folders: [String], among inputs: [InputFile]) {
        let exact = folders.map { PathBytes.normalized(Array(choice.utf8), in: Array($0.utf8)) }
        let name = Array(choice.utf8)[...]
        let literal = GlobPattern.matching(choice)
        // An input with a name without wildcards may be there, and be left out for another reason.
        if literal != choice,
            inputs.contains(where: { exact.contains($0.exactPath) || PathBytes.name(of: $0.exactPath) == name })
        {
            self = .literalName(choice, pattern: literal)
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
    /// The hint for one of ``unmatchedPatterns``.
    package func hint(ofInput pattern: String) -> PatternHint? {
        let entry = job.inputs.first { PathKey(GlobPattern($0, in: job.folder).text) == PathKey(pattern) }
        return entry.flatMap { PatternHint(entry: $0, in: job.folder) }
    }

    /// The hint for one of ``unmatchedExcludes``.
    package func hint(ofExclude entry: String) -> PatternHint? { PatternHint(entry: entry, in: job.folder) }

    /// The hint for one of ``unmatchedChoices``.
    package func hint(ofChoice pattern: String) -> PatternHint? {
        PatternHint(choice: pattern, in: choiceFolders, among: inputs)
    }
}
