import Coordination
package import JobModel
import Planning
import SafeFiles

/// The folders that are watched for jobs, and what is known of those that are missing.
package struct WatchedInputs: Sendable {
    private var jobs: [JobSpec] = []
    /// Missing folders that were reported.
    private var gone: Set<PathKey> = []
    /// Entries of `inputs` that name a folder, or named one when it last existed.
    private var namedFolders: Set<PathKey> = []
    /// Those of ``namedFolders`` that never existed. They may be meant for files.
    private var guessedFolders: Set<PathKey> = []

    package enum News: Hashable, Sendable {
        /// Neither a file nor a folder was ever there.
        case nothingThere(String)
        case missing(String)
        case appeared(String, isFile: Bool, isFirst: Bool)
    }

    package init() {}

    /// The jobs, as their manifests describe them now.
    package mutating func set(_ jobs: [JobSpec]) {
        self.jobs = jobs
        noteNamedFolders()
    }

    /// Reports each folder once when it disappears, and once when it comes back.
    package mutating func look() -> [News] {
        noteNamedFolders()
        var news: [News] = []
        let missing = Set(folders.filter { !FolderWatch.isFolder($0) }.map(PathKey.init))
        for folder in missing.subtracting(gone).sorted() {
            news.append(guessedFolders.contains(folder) ? .nothingThere(folder.path) : .missing(folder.path))
        }
        // The manifest may have dropped a folder that is still missing.
        for folder in gone.subtracting(missing).sorted() where FileStamp(of: folder.path) != nil {
            let isFirst = guessedFolders.remove(folder) != nil
            news.append(.appeared(folder.path, isFile: !FolderWatch.isFolder(folder.path), isFirst: isFirst))
        }
        gone = missing
        return news
    }

    /// The folders of inputs, and of pictures and regions that filters read. A folder inside another one is left out.
    package var folders: [String] {
        let inputs = jobs.flatMap { job in job.inputs.map { folder(of: $0, job) } }
        let pictures = jobs.flatMap(\.picturePaths).map { PathText.folder(of: $0) }
        let regions = jobs.flatMap { job in job.allFilters.compactMap { $0.regionFile?.fixedFolder } }
        let own = jobs.flatMap { $0.pictureTemplates.map(\.fixedFolder) }
        let all = Set((inputs + pictures + own + regions).map(PathKey.init)).sorted().map(\.path)
        return all.filter { folder in !all.contains { PathNames.isBelow(folder, $0) } }
    }

    private func folder(of input: String, _ job: JobSpec) -> String {
        let pattern = GlobPattern(input, in: job.folder)
        guard pattern.isLiteral else { return PathText.joined(pattern.fixedFolder) }
        return namedFolders.contains(PathKey(pattern.text)) ? pattern.text : PathText.folder(of: pattern.text)
    }

    /// An entry that does not exist is what it was before. If it never existed, it is a folder if its name has no extension.
    private mutating func noteNamedFolders() {
        let patterns = jobs.flatMap { job in job.inputs.map { GlobPattern($0, in: job.folder) } }
        for path in patterns.filter(\.isLiteral).map(\.text) {
            if FolderWatch.isFolder(path) {
                namedFolders.insert(PathKey(path))
                if !gone.contains(PathKey(path)) { guessedFolders.remove(PathKey(path)) }
            } else if FileStamp(of: path) != nil {
                namedFolders.remove(PathKey(path))
            } else if PathText.split(name: PathText.name(of: path)).ext.isEmpty,
                namedFolders.insert(PathKey(path)).inserted
            {
                guessedFolders.insert(PathKey(path))
            }
        }
    }
}
