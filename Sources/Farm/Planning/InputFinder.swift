import JobModel

/// What a search for inputs noticed beside them: possible mistakes in patterns, and links whose targets are missing.
struct SearchWarnings: Sendable {
    /// Patterns that match no file, not even an excluded one, in the manifest's order.
    var unmatched: [String] = []
    /// The number of files that each pattern matches, including excluded ones.
    var matches: [PathKey: Int] = [:]
    /// The files and folders that patterns name or begin with, and that do not exist. For a file also its folder, if
    /// that does not exist either.
    var missing: [String] = []
    /// Entries of `exclude` that excluded nothing, in the manifest's order.
    var unusedExcludes: [ExcludePattern] = []
    /// Links that would be inputs if their targets were files. A link may be listed twice.
    var danglingLinks: [String] = []
    /// The number of files, pipes and links in folders of `inputs` that are no inputs, by kind: `.nef`, `links to
    /// folders`.
    var passedBy: [String: Int] = [:]
    /// The number of pictures that are no inputs because their names begin with a dot.
    var hiddenPictures = 0
    /// The number of pictures that a pattern of one extension leaves out only because they have another one, by
    /// extension: `.jpeg`.
    var otherPictures: [String: Int] = [:]
    /// Everything that could not be inspected and that no `exclude` names. Each once.
    var unreadableFolders: [UnreadableFolder] = []
}

/// Finds a job's inputs: the matches of its patterns without the excluded files, sorted by path.
struct InputFinder {
    private(set) var rules: InputRules
    /// What the search noticed beside inputs. It may point to mistakes.
    private(set) var warnings = SearchWarnings()
    private var found: [InputFile] = []
    /// Indices of the rules.
    private var usedExcludes: Set<Int> = []
    /// Files that matched and were excluded.
    private(set) var excluded: Set<[UInt8]> = []
    /// Entries of `exclude` that may name something in a folder that another entry excludes.
    private var unprovenExcludes: Set<Int> = []
    /// Some folders of the current pattern were not opened, or could not be read.
    private var isPartial = false
    /// Some excluded folders were not opened.
    private(set) var leavesFoldersOut = false

    init(_ rules: InputRules) {
        self.rules = rules
    }

    /// Lists the folders that a pattern may reach. Opens no file.
    ///
    /// - Parameter allowsMissing: If true, an entry whose file or folder does not exist matches nothing, and the search
    ///   continues.
    mutating func find(allowsMissing: Bool = false) throws(PlanError) -> [InputFile] {
        try rules.refuseUnusable()
        for pattern in rules.patterns {
            isPartial = false
            switch pattern.kind {
            case .nothing where isHidden(Array(pattern.text.utf8)): continue
            case .nothing where allowsMissing:
                note(0, of: pattern)
                addMissing(pattern.text)
            case .nothing: throw Self.problem(ofMissing: pattern)
            case .remote: throw .missingFile(pattern.text)
            case .file:
                warnings.matches[PathKey(pattern.text)] = 1
                addFile(Array(pattern.text.utf8))
            case .folder, .glob: try addMatches(of: pattern, allowsMissing)
            }
        }
        excludeLookalikes()
        let idle = rules.excluded.indices.filter { !usedExcludes.contains($0) && !unprovenExcludes.contains($0) }
        warnings.unusedExcludes = idle.map { rules.excluded[$0] }
        return sortedInputs()
    }

    /// Why an entry without wildcards names neither a file nor a folder.
    private static func problem(ofMissing pattern: InputPattern) -> PlanError {
        if FileKind(of: pattern.text) == .other { return .notAFile(pattern.text) }
        return DeadLink(onWayTo: pattern.text).map { .deadLink($0, pattern: pattern.text) }
            ?? .missingFile(pattern.text)
    }

    /// If the folder exists and the file does not, the file was removed, and only the file is missing.
    private mutating func addMissing(_ path: String) {
        let folder = PathText.folder(of: path)
        warnings.missing += (FileKind(of: folder) == nil ? [folder] : []) + (FileKind(of: path) == nil ? [path] : [])
    }

    /// See ``ExcludePattern``.
    private mutating func excludeLookalikes() {
        let matchingLookalikes = rules.matchLookalikes(except: usedExcludes)
        guard !matchingLookalikes.isEmpty else { return }
        found.removeAll { input in
            let path = input.exactPath
            let exclusions = matchingLookalikes.filter { rules.excluded[$0].matches(path) }
            usedExcludes.formUnion(exclusions)
            if !exclusions.isEmpty { excluded.insert(path) }
            return !exclusions.isEmpty
        }
        warnings.unreadableFolders.removeAll { folder in
            let exclusions = matchingLookalikes.filter { rules.excluded[$0].names(unreadable: folder.path) }
            usedExcludes.formUnion(exclusions)
            return !exclusions.isEmpty
        }
    }

    private mutating func addMatches(of pattern: InputPattern, _ allowsMissing: Bool) throws(PlanError) {
        let root = PathText.joined(pattern.glob.fixedFolder)
        if isHidden(Array(root.utf8)) { return }
        let exists = FileKind(of: root) == .folder
        guard exists || allowsMissing else {
            throw DeadLink(onWayTo: root).map { .deadLink($0, pattern: pattern.text) }
                ?? .missingFolder(root, pattern: pattern.text)
        }
        var matches = 0
        if exists {
            walk(Array(root.utf8), below: "", pattern, pattern.glob.start, &matches)
        } else {
            warnings.missing.append(root)
        }
        note(matches, of: pattern)
    }

    /// Notes the reason why this user cannot inspect a path, if there is one.
    private mutating func isHidden(_ path: [UInt8]) -> Bool {
        guard let folder = UnreadableFolder(hiding: path) else { return false }
        let exclusions = rules.excluded.indices.filter { rules.excluded[$0].matches(path) }
        usedExcludes.formUnion(exclusions)
        if exclusions.isEmpty { note(folder) }
        return true
    }

    private mutating func note(_ folder: UnreadableFolder) {
        isPartial = true
        let exclusions = rules.excluded.indices.filter { rules.excluded[$0].names(unreadable: folder.path) }
        usedExcludes.formUnion(exclusions)
        if exclusions.isEmpty, !warnings.unreadableFolders.contains(folder) {
            warnings.unreadableFolders.append(folder)
        }
    }

    /// If some folders of a pattern were not read, the number of its matches is unknown. Zero is not recorded then.
    private mutating func note(_ matches: Int, of pattern: InputPattern) {
        if matches == 0, isPartial { return }
        warnings.matches[PathKey(pattern.text)] = matches
        if matches == 0 { warnings.unmatched.append(pattern.text) }
    }

    /// - Parameters:
    ///   - dir: The folders between the pattern's fixed part and this folder.
    ///   - positions: The folder path's positions in the pattern.
    private mutating func walk(
        _ folder: [UInt8], below dir: String, _ pattern: InputPattern, _ positions: [Int], _ matches: inout Int
    ) {
        let folderRules = FolderRules(rules, in: folder)
        for entry in entries(of: folder, folderRules) {
            let name = entry.name[...]
            switch entry.kind {
            case .file where pattern.accepts(name, at: positions):
                matches += 1
                add(PathBytes.joined(folder, entry.name), dir: dir, by: folderRules.exclusions(of: name))
            case .other where entry.trouble != nil:
                guard let code = entry.trouble, reaches(entry, pattern, positions) else { continue }
                let exclusions = folderRules.exclusions(of: name)
                usedExcludes.formUnion(exclusions)
                if exclusions.isEmpty {
                    let path = PathBytes.joined(folder, entry.name)
                    note(UnreadableFolder(path: path, entry.isSymbolicLink ? .link : .unknown, code: code))
                }
            case .other where entry.leadsNowhere && pattern.accepts(name, at: positions):
                guard folderRules.exclusions(of: name).isEmpty else { continue }
                warnings.danglingLinks.append(NonUTF8Name.readable(PathBytes.joined(folder, entry.name)))
            case .folder:
                let deeper = pattern.glob.positions(below: name, from: positions, isSymbolicLink: entry.isSymbolicLink)
                guard !deeper.isEmpty, !entry.isSymbolicLink || pattern.kind != .folder else {
                    if entry.isSymbolicLink { countSkipped(name, "links to folders", pattern, folderRules) }
                    continue
                }
                let readable = NonUTF8Name.readable(entry.name)
                walk(
                    PathBytes.joined(folder, entry.name), below: dir.isEmpty ? readable : "\(dir)/\(readable)",
                    pattern, deeper, &matches)
            case .file:
                let ext = PathBytes.lowercased(PathBytes.fileExtension(of: name))
                let kind = ext.isEmpty ? "without an extension" : ".\(NonUTF8Name.readable(ext))"
                if !positions.isEmpty { countSkipped(name, kind, pattern, folderRules) }
                countMissed(name, kind, pattern, positions, folderRules)
            case .other:
                // Pipes are never opened: a pipe without a writer would block.
                guard !positions.isEmpty, !entry.leadsNowhere, name.first != PathBytes.dot,
                    folderRules.exclusions(of: name).isEmpty
                else { continue }
                if pattern.kind == .folder || pattern.accepts(name, at: positions) {
                    warnings.passedBy["neither file nor folder", default: 0] += 1
                }
            }
        }
    }

    /// Whether a pattern matches an entry of unknown kind, as a file, a folder or a link.
    private func reaches(_ entry: DirectoryListing.Entry, _ pattern: InputPattern, _ positions: [Int]) -> Bool {
        let (name, isLink) = (entry.name[...], entry.isSymbolicLink)
        return pattern.accepts(name, at: positions)
            || !(isLink && pattern.kind == .folder)
                && !pattern.glob.positions(below: name, from: positions, isSymbolicLink: isLink).isEmpty
    }

    /// Counts a file that is no picture, in a folder that `inputs` names.
    private mutating func countSkipped(
        _ name: ArraySlice<UInt8>, _ kind: String, _ pattern: InputPattern, _ folderRules: FolderRules
    ) {
        guard pattern.kind == .folder, name.first != PathBytes.dot, !ReceiptName.isReceipt(name),
            folderRules.exclusions(of: name).isEmpty
        else { return }
        warnings.passedBy[kind, default: 0] += 1
    }

    /// Counts a picture that the pattern does not match, although the user may want it. Its name begins with a dot, or it has
    /// another extension than the pattern.
    private mutating func countMissed(
        _ name: ArraySlice<UInt8>, _ kind: String, _ pattern: InputPattern, _ positions: [Int],
        _ folderRules: FolderRules
    ) {
        guard let miss = pattern.miss(name, at: positions), folderRules.isFirstToMiss(pattern),
            folderRules.dir(of: name) == nil, folderRules.exclusions(of: name).isEmpty
        else { return }
        switch miss {
        case .hidden: warnings.hiddenPictures += 1
        case .otherExtension: warnings.otherPictures[kind, default: 0] += 1
        }
    }

    /// A folder that is excluded as a whole is not opened, because its disk may not answer. A folder that cannot be
    /// read, such as `lost+found` at the root of a disk, is noted, and the search continues.
    private mutating func entries(of folder: [UInt8], _ folderRules: FolderRules) -> [DirectoryListing.Entry] {
        let exclusions = folderRules.exclusionsOfAll
        guard exclusions.isEmpty else {
            usedExcludes.formUnion(exclusions)
            unprovenExcludes.formUnion(folderRules.exclusionsOfAny)
            (isPartial, leavesFoldersOut) = (true, true)
            return []
        }
        do {
            return try DirectoryListing.entries(of: folder)
        } catch {
            note(error)
            return []
        }
    }

    private mutating func addFile(_ path: [UInt8]) {
        add(path, dir: "", by: rules.exclusions(of: path))
    }

    /// - Parameter exclusions: The entries that exclude the file.
    private mutating func add(_ path: [UInt8], dir: String, by exclusions: [Int]) {
        if !exclusions.isEmpty {
            excluded.insert(path)
            usedExcludes.formUnion(exclusions)
        } else {
            found.append(InputFile(bytes: path, dir: dir))
        }
    }

    /// Each file once, as the first pattern found it. Sorting is stable.
    private func sortedInputs() -> [InputFile] {
        var result: [InputFile] = []
        result.reserveCapacity(found.count)
        for input in found.sorted(by: InputFile.isInOrder) where result.last?.isSameFile(as: input) != true {
            result.append(input)
        }
        return result
    }
}
