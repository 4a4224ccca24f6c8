import JobModel

/// The rules for paths that a job's `inputs` and `exclude` contain.
struct InputRules: Sendable {
    let patterns: [InputPattern]
    private(set) var excluded: [ExcludePattern]

    /// - Parameter extensions: Extensions of the formats that can be read.
    init(_ job: JobSpec, pictures extensions: Set<String>) {
        let extensions = Set(extensions.map { PathBytes.lowercased($0.utf8) })
        patterns = job.inputs.map { InputPattern($0, in: job.folder, pictures: extensions) }
        excluded = job.exclude.map { ExcludePattern($0, in: job.folder) }
    }

    /// Lets the entries that exclude nothing by their exact bytes exclude names that look the same.
    ///
    /// - Parameter used: The indices of the entries that exclude something.
    /// - Returns: The indices of the entries that changed.
    mutating func matchLookalikes(except used: Set<Int>) -> [Int] {
        excluded.indices.filter { index in
            guard !used.contains(index), let matchingLookalikes = excluded[index].matchingLookalikes else {
                return false
            }
            excluded[index] = matchingLookalikes
            return true
        }
    }

    /// The indices, in ``excluded``, of all entries that exclude a file. Empty for an input.
    func exclusions(of path: [UInt8]) -> [Int] { excluded.indices.filter { excluded[$0].matches(path) } }

    /// Refuses entries that no file can match.
    func refuseUnusable() throws(PlanError) {
        for pattern in patterns where pattern.kind == .remote { throw .remotePath(pattern.text) }
        for pattern in patterns.map(\.glob) + excluded.map(\.glob) where pattern.isTooWide {
            throw .patternTooWide(pattern.text)
        }
    }
}

/// The rules for the files of one folder. The folder's path is matched once only.
struct FolderRules {
    private let patterns: [(pattern: InputPattern, positions: [Int], dir: String)]
    private let excluded: [(number: Int, exclusion: Exclusion)]

    /// The rule of an entry of `exclude` for one folder's files.
    private enum Exclusion {
        case all
        case matching(GlobPattern, positions: [Int])

        func takes(_ name: ArraySlice<UInt8>) -> Bool {
            switch self {
            case .all: true
            case .matching(let glob, let positions): glob.accepts(name, at: positions)
            }
        }
    }

    /// - Parameter folder: Absolute, without `.` and `..`.
    init(_ rules: InputRules, in folder: [UInt8]) {
        let names = PathText.components(NonUTF8Name.readable(folder))
        patterns = rules.patterns.map { pattern in
            let dir = names.dropFirst(pattern.glob.fixedFolder.count).joined(separator: "/")
            return (pattern, pattern.glob.positions(in: folder), dir)
        }.filter { !$0.1.isEmpty }
        excluded = rules.excluded.enumerated().compactMap { number, pattern in
            if pattern.coversAll(in: folder) { return (number, .all) }
            let positions = pattern.namesFiles ? pattern.glob.positions(in: folder) : []
            return positions.isEmpty ? nil : (number, .matching(pattern.glob, positions: positions))
        }
    }

    /// Whether no file of the folder can be an input.
    var takesNothing: Bool { patterns.isEmpty }

    func excludes(_ name: ArraySlice<UInt8>) -> Bool {
        excluded.contains { $0.exclusion.takes(name) }
    }

    /// The indices of the entries that exclude the folder itself with all its contents.
    var exclusionsOfAll: [Int] {
        excluded.filter { if case .all = $0.exclusion { true } else { false } }.map(\.number)
    }

    /// Also the indices of the entries that may exclude a part of its contents.
    var exclusionsOfAny: [Int] { excluded.map(\.number) }

    /// Like ``InputRules/exclusions(of:)``.
    func exclusions(of name: ArraySlice<UInt8>) -> [Int] {
        excluded.filter { $0.exclusion.takes(name) }.map(\.number)
    }

    /// The folders between the fixed part of the first pattern that matches a file, and the file. Nil if none matches.
    func dir(of name: ArraySlice<UInt8>) -> String? {
        patterns.first { $0.pattern.accepts(name, at: $0.positions) }?.dir
    }

    /// Whether no earlier pattern counts the pictures of this folder that are left out.
    func isFirstToMiss(_ pattern: InputPattern) -> Bool {
        patterns.first { $0.pattern.countsMisses }?.pattern.text == pattern.text
    }

    /// The pattern that would take this file as an input. Nil if there is none.
    func pattern(matching name: ArraySlice<UInt8>) -> InputPattern? {
        guard let found = patterns.first(where: { $0.pattern.accepts(name, at: $0.positions) }), !excludes(name) else {
            return nil
        }
        return found.pattern
    }
}

/// One entry of `inputs`.
struct InputPattern: Sendable {
    /// The kind of what it names on the disk.
    enum Kind: Hashable, Sendable {
        case glob
        /// All pictures in the folder and below.
        case folder
        case file
        /// No wildcards, and neither a file nor a folder exists.
        case nothing
        /// An object store or a server.
        case remote
    }

    /// As it was written. A path is made absolute, without `.` and `..`.
    let text: String
    let kind: Kind
    /// For a folder, a pattern that matches all its contents.
    let glob: GlobPattern
    /// The extensions of pictures in lower case. They decide which files of a folder are inputs.
    private let extensions: Set<[UInt8]>
    /// The extension that all matches of a glob have: `jpg` for `scans/**/*.jpg`. Nil if there is no such extension.
    private let onlyExtension: [UInt8]?

    /// Inspects the path of an entry without wildcards.
    init(_ entry: String, in folder: String, pictures extensions: Set<[UInt8]>) {
        let written = GlobPattern(entry, in: folder)
        let isRemote = PathText.isRemote(entry)
        text = isRemote ? entry : written.text
        kind = isRemote ? .remote : written.isLiteral ? Self.kind(of: written.text) : .glob
        glob = kind == .folder ? GlobPattern("**/*", in: written.text) : written
        self.extensions = extensions
        onlyExtension = kind == .glob ? Self.onlyExtension(of: PathText.name(of: text)) : nil
    }

    private static func onlyExtension(of name: String) -> [UInt8]? {
        let found = Array(PathBytes.fileExtension(of: Array(name.utf8)[...]))
        let isFixed = !found.isEmpty && !NamePattern.hasWildcard(String(decoding: found, as: UTF8.self))
        return isFixed && !found.contains(UInt8(ascii: "}")) ? found : nil
    }

    private static func kind(of path: String) -> Kind {
        switch FileKind(of: path) {
        case .file: .file
        case .folder: .folder
        case .other, nil: .nothing
        }
    }

    /// Whether a file with this name is an input if its folder matches. Receipts are no pictures.
    private func takes(_ name: ArraySlice<UInt8>) -> Bool {
        if kind != .file, ReceiptName.isReceipt(name) { return false }
        return kind != .folder || extensions.contains(PathBytes.lowercased(PathBytes.fileExtension(of: name)))
    }

    /// Why a picture is no input although it looks like one.
    enum Miss: Hashable, Sendable {
        /// Its name begins with a dot.
        case hidden
        /// Only its extension is not the one of the pattern.
        case otherExtension
    }

    var countsMisses: Bool { kind == .folder || onlyExtension != nil }

    /// Why a file that the pattern does not match may be meant nevertheless. Nil if there is no such reason.
    func miss(_ name: ArraySlice<UInt8>, at positions: [Int]) -> Miss? {
        guard countsMisses, !positions.isEmpty, !name.starts(with: Self.ownPrefix) else { return nil }
        let ext = PathBytes.fileExtension(of: name)
        guard extensions.contains(PathBytes.lowercased(ext)) else { return nil }
        if name.first == PathBytes.dot { return accepts(name.dropFirst(), at: positions) ? .hidden : nil }
        guard let onlyExtension else { return nil }
        let similar = Array(name.dropLast(ext.count)) + onlyExtension
        return accepts(similar[...], at: positions) ? .otherExtension : nil
    }

    /// The prefix of the names of Penumbra's own files beside others.
    private static let ownPrefix = Array(".penumbra-".utf8)

    /// Whether a file of a folder matches if the folder is at these positions of ``glob``.
    func accepts(_ name: ArraySlice<UInt8>, at positions: [Int]) -> Bool {
        !positions.isEmpty && takes(name) && glob.accepts(name, at: positions)
    }
}

/// One entry of `exclude`: files, or a folder with all its contents.
///
/// An entry excludes names with its exact bytes. If there are none, it excludes names that look the same: a typed name
/// may be encoded in another way than a name that another system wrote, and a file that the user wants to exclude must
/// not become an input for this reason.
struct ExcludePattern: Sendable {
    /// As it was written.
    let entry: String
    let glob: GlobPattern
    /// An entry with a slash at its end names folders only.
    let namesFiles: Bool
    /// An entry may name a folder if its last name has no wildcard, if a slash follows, or if it ends in `/**`.
    /// (`photos/*` names files only.)
    private let namesFolders: Bool
    /// For an entry that ends in `/*`, the part before it: the folder whose files it names.
    private let above: GlobPattern?
    private let folder: String
    private let isExact: Bool

    /// - Parameters:
    ///   - folder: The absolute path that a relative entry starts from.
    ///   - exactly: If true, names are equal only if their bytes are.
    init(_ entry: String, in folder: String, exactly: Bool = true) {
        self.entry = entry
        self.folder = folder
        isExact = exactly && !entry.utf8.allSatisfy { $0 < 0x80 }
        // '**/drafts/**' means drafts anywhere, also above the manifest's folder.
        let start = entry.utf8.starts(with: "**/".utf8) ? "/" : folder
        glob = GlobPattern(entry, in: start, exactly: exactly)
        namesFiles = !entry.hasSuffix("/")
        let name = PathText.name(of: glob.text)
        namesFolders = !namesFiles || !NamePattern.hasWildcard(name) || name == "**"
        above = entry.hasSuffix("/*") ? GlobPattern(String(entry.dropLast(2)), in: start, exactly: exactly) : nil
    }

    /// The entry that also excludes names that look the same. Nil if this one does already.
    var matchingLookalikes: ExcludePattern? { isExact ? ExcludePattern(entry, in: folder, exactly: false) : nil }

    /// Whether it excludes this file, or a folder above it.
    func matches(_ path: [UInt8]) -> Bool {
        namesFiles && glob.matches(path) || coversAll(in: PathBytes.folder(of: path))
    }

    /// Whether it names a folder that cannot be read: as a whole, by all its contents, or by its name as if it were a
    /// file.
    func names(unreadable folder: [UInt8]) -> Bool {
        coversAll(in: folder) || glob.matches(folder) || above?.matches(folder) == true
    }

    /// Whether it names this folder, or a folder above it.
    func coversAll(in folder: [UInt8]) -> Bool {
        guard namesFolders else { return false }
        let ends = folder.indices.dropFirst().filter { folder[$0] == PathBytes.slash } + [folder.count]
        return ends.contains { glob.matches(Array(folder[..<$0])) }
    }
}
