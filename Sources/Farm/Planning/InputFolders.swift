import JobModel

/// The folders and files of a job's inputs, as far as its patterns show them. Programs that copy inputs to other
/// machines need them.
package struct InputFolders: Hashable, Sendable {
    /// Absolute, none of them below another, sorted: the parts of patterns before their first wildcard.
    package let folders: [String]
    /// Single files outside of these folders, sorted.
    package let files: [String]

    package init(folders: [String], files: [String]) {
        self.folders = folders
        self.files = files
    }

    init(of rules: InputRules) {
        let patterns = rules.patterns
        let roots = patterns.compactMap { pattern in
            switch pattern.kind {
            case .glob, .folder: PathKey(PathText.joined(pattern.glob.fixedFolder))
            case .file, .nothing, .remote: nil
            }
        }
        folders = Set(roots).sorted().map(\.path).filter { folder in
            !roots.contains { PathNames.isBelow(folder, $0.path) }
        }
        files = Set(patterns.filter { $0.kind == .file }.map { PathKey($0.text) }).sorted().map(\.path).filter { file in
            !roots.contains { PathNames.isBelow(file, $0.path) }
        }
    }
}

extension JobPlan {
    package var inputFolders: InputFolders { InputFolders(of: rules) }
}
