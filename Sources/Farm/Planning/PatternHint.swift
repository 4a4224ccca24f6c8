import JobModel

/// What the author of a pattern that matches nothing may have meant.
package enum PatternHint: Hashable, Sendable {
    /// A file or folder has literally the pattern's name, but the name contains wildcards.
    case literalName(String, pattern: String)
    /// The pattern matches a folder, but files were asked for.
    case folder(String, pattern: String)
    /// The entry is a folder, which does not stand for the raw pictures of cameras in it. They have these extensions.
    case rawPictures(folder: String, extensions: [String])
    /// The entry consists of several patterns with commas between them.
    case list(String, patterns: [String])

    /// - Parameters:
    ///   - entry: An entry of `inputs` or `exclude`, as it was written.
    ///   - folder: The absolute path that a relative entry starts from.
    ///   - rawKinds: The kinds of raw pictures, as `.nef`, that folders of `inputs` were found to hold.
    init?(entry: String, in folder: String, rawKinds: Set<String> = []) {
        if !rawKinds.isEmpty, FileKind(of: PathText.normalized(entry, in: folder)) == .folder {
            self = .rawPictures(folder: entry, extensions: rawKinds.map { String($0.dropFirst()) }.sorted())
        } else if let found = GlobPattern.literally(entry, in: folder) {
            self = .literalName(found.name, pattern: found.pattern)
        } else if let patterns = Self.patterns(listedIn: entry) {
            self = .list(entry, patterns: patterns)
        } else {
            return nil
        }
    }

    /// The patterns between commas. Nil if one of the parts names no files, as in `Berlin, 2026/*.jpg`.
    private static func patterns(listedIn entry: String) -> [String]? {
        var parts: [[Character]] = [[]]
        var depth = 0
        for character in entry {
            if "{[".contains(character) { depth += 1 }
            if "}]".contains(character) { depth -= 1 }
            if character == ",", depth == 0 { parts.append([]) } else { parts[parts.count - 1].append(character) }
        }
        let patterns = parts.map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        let nameFiles = patterns.allSatisfy { pattern in
            let name = pattern.split(separator: "/").last.map(String.init) ?? ""
            return NamePattern.hasWildcard(name) || name.contains(".")
        }
        return patterns.count > 1 && nameFiles ? patterns : nil
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
        case .rawPictures(let folder, let extensions):
            "a folder does not stand for the raw pictures of cameras in it, so write "
                + "'\(PathText.visible(folder.hasSuffix("/") ? folder : folder + "/"))**/*.\(Self.pattern(of: extensions))'"
        case .list(let entry, let patterns):
            "'\(PathText.visible(entry))' is a single pattern, so write a list: "
                + "[\(patterns.map { "'\(PathText.visible($0).replacing("'", with: "''"))'" }.joined(separator: ", "))]"
        }
    }
}

extension PatternHint {
    /// `nef`, or `{dng,nef}`.
    package static func pattern(of extensions: [String]) -> String {
        extensions.count == 1 ? extensions[0] : "{\(extensions.joined(separator: ","))}"
    }
}

extension JobPlan {
    /// The hint for one of ``unmatchedPatterns``.
    package func hint(ofInput pattern: String) -> PatternHint? {
        let entry = job.inputs.first { PathKey(GlobPattern($0, in: job.folder).text) == PathKey(pattern) }
        return entry.flatMap { PatternHint(entry: $0, in: job.folder, rawKinds: rawKinds) }
    }

    /// The hint for one of ``unmatchedExcludes``.
    package func hint(ofExclude entry: String) -> PatternHint? { PatternHint(entry: entry, in: job.folder) }

    /// The hint for one of ``unmatchedChoices``.
    package func hint(ofChoice pattern: String) -> PatternHint? {
        PatternHint(choice: pattern, in: choiceFolders, among: inputs)
    }
}
