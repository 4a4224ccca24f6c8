import JobModel

/// The inputs of a job in order, with what the search learned about each.
struct FoundInputs {
    let inputs: [InputFile]
    /// Lists of settings, all different.
    var settings: [[FileList.Setting]] = []
    /// The first line of the list that has each of `settings`: `list:3`.
    var settingsOrigins: [String] = []
    /// For each input an index of `settings`, or nil. Nil as a whole if no input has settings.
    var settingsOf: [Int?]?
    /// For each input its stamp, or nil for a folder or a missing file. Nil as a whole if the search found existing
    /// files only.
    var stamps: [FileStamp?]?
}

extension FoundInputs {
    /// The files of a list without those that the rules exclude.
    init(_ list: FileList, _ rules: InputRules, folder: String) {
        var rules = rules
        _ = rules.matchLookalikes(except: Set(list.entries.flatMap { rules.exclusions(of: $0.exactPath) }))
        var folders = ListedFolders(rules, manifestFolder: folder)
        var entries: [FileList.Entry] = []
        inputs = list.entries.compactMap { entry in
            guard let input = folders.input(entry) else { return nil }
            entries.append(entry)
            return input
        }
        stamps = concurrentMap(inputs) { FileKind(of: $0) == .folder ? nil : FileStamp(of: $0) }
        var known: [[FileList.Setting]: Int] = [:]
        for entry in entries where !entry.settings.isEmpty && known[entry.settings] == nil {
            known[entry.settings] = settings.count
            settings.append(entry.settings)
            settingsOrigins.append("\(PathText.visible(list.name)):\(entry.line)")
        }
        settingsOf = settings.isEmpty ? nil : entries.map { known[$0.settings] }
    }

    /// The indices of the inputs that a run takes.
    func choice(by selection: JobPlan.Selection, in folder: String) -> [Int] {
        let matcher = selection.matcher(in: folder, among: inputs)
        return Array(inputs.indices.lazy.filter { matcher.includes(inputs[$0]) }.prefix(selection.limit ?? .max))
    }

    /// The patterns of a selection that match no input. Empty if the selection has one pattern only.
    func unmatched(_ selection: JobPlan.Selection, in folder: String) -> [String] {
        guard selection.only.count > 1 else { return [] }
        return selection.matcher(in: folder, among: inputs).idle(among: inputs).map { selection.only[$0] }
    }
}

/// Makes inputs of a list's entries. Reads the rules once for every folder, because most entries share theirs with
/// others.
private struct ListedFolders {
    private let rules: InputRules
    private let manifestFolder: [String]
    private var known: [[UInt8]: (rules: FolderRules, dir: String)] = [:]

    init(_ rules: InputRules, manifestFolder: String) {
        self.rules = rules
        self.manifestFolder = PathText.components(manifestFolder)
    }

    /// Nil if the file is excluded.
    mutating func input(_ entry: FileList.Entry) -> InputFile? {
        let path = entry.exactPath
        let name = PathBytes.name(of: path)
        let folder = inspect(PathBytes.folder(of: path))
        guard !folder.rules.excludes(name) else { return nil }
        return InputFile(bytes: path, dir: folder.rules.dir(of: name) ?? folder.dir)
    }

    /// The rules for a folder, and its path below the manifest's folder.
    private mutating func inspect(_ folder: [UInt8]) -> (rules: FolderRules, dir: String) {
        if let found = known[folder] { return found }
        let names = PathText.components(NonUTF8Name.readable(folder))
        let isBelow = names.starts(with: manifestFolder) { PathKey($0) == PathKey($1) }
        let dir = isBelow ? names.dropFirst(manifestFolder.count).joined(separator: "/") : ""
        let found = (FolderRules(rules, in: folder), dir)
        known[folder] = found
        return found
    }
}
