/// One entry of `exclude`: files, or a folder with all that is below it.
///
/// It names what has its bytes. Where nothing has, it names what looks the same: a name that was typed is encoded otherwise
/// than one that another system wrote, and what somebody wants to leave out must not be taken for that.
struct ExcludePattern: Sendable {
    /// As it was written.
    let entry: String
    let glob: GlobPattern
    /// A slash at its end makes it one for folders alone.
    let namesFiles: Bool
    /// Its last name has no wildcard, a slash follows, or it ends in `/**`: it may name a folder. (`photos/*` means files alone.)
    private let namesFolders: Bool
    /// Of an entry that ends in `/*`, what stands before: the folder whose files it names.
    private let above: GlobPattern?
    private let folder: String
    private let isExact: Bool

    /// - Parameters:
    ///   - folder: the absolute path that a relative entry starts from.
    ///   - exactly: whether names are equal by their bytes alone.
    init(_ entry: String, in folder: String, exactly: Bool = true) {
        self.entry = entry
        self.folder = folder
        isExact = exactly && !entry.utf8.allSatisfy { $0 < 0x80 }
        // '**/drafts/**' means drafts anywhere, above the manifest's folder too.
        let start = entry.utf8.starts(with: "**/".utf8) ? "/" : folder
        glob = GlobPattern(entry, in: start, exactly: exactly)
        namesFiles = !entry.hasSuffix("/")
        let name = PathText.name(of: glob.text)
        namesFolders = !namesFiles || !NamePattern.hasWildcard(name) || name == "**"
        above = entry.hasSuffix("/*") ? GlobPattern(String(entry.dropLast(2)), in: start, exactly: exactly) : nil
    }

    /// The same for what looks the same; nil where that is no difference.
    var loosened: ExcludePattern? { isExact ? ExcludePattern(entry, in: folder, exactly: false) : nil }

    /// Whether it leaves out this file, or a folder above it.
    func matches(_ path: [UInt8]) -> Bool {
        namesFiles && glob.matches(path) || coversAll(in: PathBytes.folder(of: path))
    }

    /// Whether it names a folder that cannot be read: as a whole, by all that is in it, or by its name as if it were a file.
    func names(unreadable folder: [UInt8]) -> Bool {
        coversAll(in: folder) || glob.matches(folder) || above?.matches(folder) == true
    }

    /// Whether it names this folder, or one above it.
    func coversAll(in folder: [UInt8]) -> Bool {
        guard namesFolders else { return false }
        let ends = folder.indices.dropFirst().filter { folder[$0] == PathBytes.slash } + [folder.count]
        return ends.contains { glob.matches(Array(folder[..<$0])) }
    }
}
