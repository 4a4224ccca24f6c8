import JobModel

/// What a search for inputs found beside them: slips of the pen, and links that lost what they led to.
struct FindingOddities: Sendable {
    /// Patterns that no file matched, excluded ones included, in the manifest's order.
    var unmatched: [String] = []
    /// How many files each pattern matched, excluded ones included.
    var matches: [PathKey: Int] = [:]
    /// Entries of `exclude` that left nothing out, in the manifest's order.
    var idleExcludes: [ExcludePattern] = []
    /// Links that would be inputs if they led to files; a file may be there twice.
    var danglingLinks: [String] = []
    /// How many files and links of folders that `inputs` names are no inputs, by what they are: `.nef`, `links to folders`.
    var passedBy: [String: Int] = [:]
    /// Folders that could not be listed, each once, and that no `exclude` names.
    var unreadableFolders: [UnreadableFolder] = []
}

/// A folder that a pattern reaches and that cannot be listed: what is in it, nobody knows.
struct UnreadableFolder: Hashable, Sendable {
    /// Absolute.
    let path: [UInt8]
    let reason: String
}

/// Looks up a job's inputs: what its patterns match, less what it excludes, sorted by path.
struct InputFinder {
    private(set) var rules: InputRules
    /// What was found beside inputs, and may be a slip of the pen.
    private(set) var oddities = FindingOddities()
    private var found: [InputFile] = []
    /// By their places among the rules.
    private var usedExcludes: Set<Int> = []
    /// Files that matched and were excluded.
    private(set) var excluded: Set<[UInt8]> = []

    init(_ rules: InputRules) {
        self.rules = rules
    }

    /// Lists the folders that a pattern may reach, and opens no file.
    mutating func find() throws(PlanProblem) -> [InputFile] {
        try rules.refuseUnusable()
        for pattern in rules.patterns {
            switch pattern.kind {
            case .nothing, .remote: throw .missingFile(pattern.text)
            case .file:
                oddities.matches[PathKey(pattern.text)] = 1
                addFile(Array(pattern.text.utf8))
            case .folder, .glob: try addMatches(of: pattern)
            }
        }
        excludeLookalikes()
        oddities.idleExcludes = rules.excluded.indices.filter { !usedExcludes.contains($0) }.map { rules.excluded[$0] }
        return sortedInputs()
    }

    /// See ``ExcludePattern``.
    private mutating func excludeLookalikes() {
        let loosened = rules.loosen(but: usedExcludes)
        guard !loosened.isEmpty else { return }
        found.removeAll { input in
            let path = input.exactPath
            let exclusions = loosened.filter { rules.excluded[$0].matches(path) }
            usedExcludes.formUnion(exclusions)
            if !exclusions.isEmpty { excluded.insert(path) }
            return !exclusions.isEmpty
        }
        oddities.unreadableFolders.removeAll { folder in
            let exclusions = loosened.filter { rules.excluded[$0].coversAll(in: folder.path) }
            usedExcludes.formUnion(exclusions)
            return !exclusions.isEmpty
        }
    }

    private mutating func addMatches(of pattern: InputPattern) throws(PlanProblem) {
        let root = PathText.joined(pattern.glob.fixedFolder)
        guard FileKind(of: root) == .folder else { throw .missingFolder(root, pattern: pattern.text) }
        var matches = 0
        walk(Array(root.utf8), below: "", pattern, pattern.glob.start, &matches)
        oddities.matches[PathKey(pattern.text)] = matches
        if matches == 0 { oddities.unmatched.append(pattern.text) }
    }

    /// - Parameters:
    ///   - dir: the folders between the pattern's fixed part and this one.
    ///   - places: where in the pattern the folder's path is.
    private mutating func walk(
        _ folder: [UInt8], below dir: String, _ pattern: InputPattern, _ places: [Int], _ matches: inout Int
    ) {
        let folderRules = FolderRules(rules, in: folder)
        for entry in entries(of: folder, folderRules) {
            let name = entry.name[...]
            switch entry.kind {
            case .file where pattern.accepts(name, at: places):
                matches += 1
                add(PathBytes.joined(folder, entry.name), dir: dir, by: folderRules.exclusions(of: name))
            case .other where entry.leadsNowhere && pattern.accepts(name, at: places):
                guard folderRules.exclusions(of: name).isEmpty else { continue }
                oddities.danglingLinks.append(OddName.readable(PathBytes.joined(folder, entry.name)))
            case .folder:
                let deeper = pattern.glob.places(below: name, from: places, isSymbolicLink: entry.isSymbolicLink)
                guard !deeper.isEmpty, !entry.isSymbolicLink || pattern.kind != .folder else {
                    if entry.isSymbolicLink { passBy(name, "links to folders", pattern, folderRules) }
                    continue
                }
                let readable = OddName.readable(entry.name)
                walk(
                    PathBytes.joined(folder, entry.name), below: dir.isEmpty ? readable : "\(dir)/\(readable)",
                    pattern, deeper, &matches)
            case .file:
                let ext = PathBytes.lowercased(PathBytes.fileExtension(of: name))
                let kind = ext.isEmpty ? "without an extension" : ".\(OddName.readable(ext))"
                if !places.isEmpty { passBy(name, kind, pattern, folderRules) }
            case .other:
                break
            }
        }
    }

    /// Counts what a folder that `inputs` names holds beside its pictures.
    private mutating func passBy(
        _ name: ArraySlice<UInt8>, _ kind: String, _ pattern: InputPattern, _ folderRules: FolderRules
    ) {
        guard pattern.kind == .folder, name.first != PathBytes.dot, !ReceiptName.isReceipt(name),
            folderRules.exclusions(of: name).isEmpty
        else { return }
        oddities.passedBy[kind, default: 0] += 1
    }

    /// One folder that cannot be read, such as `lost+found` at the root of a disk, is noted and keeps no other from being read.
    private mutating func entries(of folder: [UInt8], _ folderRules: FolderRules) -> [DirectoryListing.Entry] {
        do {
            return try DirectoryListing.entries(of: folder)
        } catch {
            guard case .unreadableFolder(_, let reason) = error else { return [] }
            let exclusions = folderRules.exclusionsOfAll
            usedExcludes.formUnion(exclusions)
            let found = UnreadableFolder(path: folder, reason: reason)
            if exclusions.isEmpty, !oddities.unreadableFolders.contains(found) {
                oddities.unreadableFolders.append(found)
            }
            return []
        }
    }

    private mutating func addFile(_ path: [UInt8]) {
        add(path, dir: "", by: rules.exclusions(of: path))
    }

    /// - Parameter exclusions: those that leave it out.
    private mutating func add(_ path: [UInt8], dir: String, by exclusions: [Int]) {
        if !exclusions.isEmpty {
            excluded.insert(path)
            usedExcludes.formUnion(exclusions)
        } else {
            found.append(InputFile(bytes: path, dir: dir))
        }
    }

    /// Each file once, as the first pattern found it: sorting is stable.
    private func sortedInputs() -> [InputFile] {
        var result: [InputFile] = []
        result.reserveCapacity(found.count)
        for input in found.sorted(by: InputFile.isInOrder) where result.last?.isSameFile(as: input) != true {
            result.append(input)
        }
        return result
    }
}
