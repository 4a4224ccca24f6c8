import JobModel

/// What a job's `inputs` and `exclude` say of paths.
struct InputRules: Sendable {
    let patterns: [InputPattern]
    private(set) var excluded: [ExcludePattern]

    /// - Parameter extensions: those of the formats that can be read.
    init(_ job: JobSpec, pictures extensions: Set<String>) {
        let extensions = Set(extensions.map { PathBytes.lowercased($0.utf8) })
        patterns = job.inputs.map { InputPattern($0, in: job.folder, pictures: extensions) }
        excluded = job.exclude.map { ExcludePattern($0, in: job.folder) }
    }

    /// Lets entries that leave nothing out by their bytes leave out what looks the same.
    ///
    /// - Parameter used: the positions of those that do.
    /// - Returns: the positions of the entries that changed.
    mutating func loosen(but used: Set<Int>) -> [Int] {
        excluded.indices.filter { index in
            guard !used.contains(index), let loosened = excluded[index].loosened else { return false }
            excluded[index] = loosened
            return true
        }
    }

    /// The positions, in ``excluded``, of all entries that leave a file out; empty for an input.
    func exclusions(of path: [UInt8]) -> [Int] { excluded.indices.filter { excluded[$0].matches(path) } }

    /// Refuses what nothing is looked up by.
    func refuseUnusable() throws(PlanProblem) {
        for pattern in patterns where pattern.kind == .remote { throw .remotePath(pattern.text) }
        for pattern in patterns.map(\.glob) + excluded.map(\.glob) where pattern.isTooWide {
            throw .patternTooWide(pattern.text)
        }
    }
}

/// What the rules say of the files of one folder, none of whose paths has to be looked at again.
struct FolderRules {
    private let patterns: [(pattern: InputPattern, positions: [Int], dir: String)]
    private let excluded: [(number: Int, exclusion: Exclusion)]

    /// What an entry of `exclude` says of one folder's files.
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

    /// - Parameter folder: absolute, without `.` and `..`.
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

    /// The positions of the entries that leave out the folder itself, with all that is in it.
    var exclusionsOfAll: [Int] {
        excluded.filter { if case .all = $0.exclusion { true } else { false } }.map(\.number)
    }

    /// The same, and the positions of those that may leave out something in it.
    var exclusionsOfAny: [Int] { excluded.map(\.number) }

    /// As ``InputRules/exclusions(of:)``.
    func exclusions(of name: ArraySlice<UInt8>) -> [Int] {
        excluded.filter { $0.exclusion.takes(name) }.map(\.number)
    }

    /// The folders between the fixed part of the first pattern that a file matches and the file; nil when none does.
    func dir(of name: ArraySlice<UInt8>) -> String? {
        patterns.first { $0.pattern.accepts(name, at: $0.positions) }?.dir
    }

    /// The pattern that would take this file in as an input, if one does.
    func pattern(matching name: ArraySlice<UInt8>) -> InputPattern? {
        guard let found = patterns.first(where: { $0.pattern.accepts(name, at: $0.positions) }), !excludes(name) else {
            return nil
        }
        return found.pattern
    }
}

/// One entry of `inputs`.
struct InputPattern: Sendable {
    /// What it names, as the disk has it.
    enum Kind: Hashable, Sendable {
        case glob
        /// All pictures in it and below.
        case folder
        case file
        /// No wildcards, and neither a file nor a folder.
        case nothing
        /// An object store or a server.
        case remote
    }

    /// As it was written, made absolute and free of `.` and `..` where it is a path.
    let text: String
    let kind: Kind
    /// Of a folder: one for all that it holds.
    let glob: GlobPattern
    /// Those that make a file of a folder a picture, in lower case.
    private let extensions: Set<[UInt8]>

    /// Looks up what an entry without wildcards names.
    init(_ entry: String, in folder: String, pictures extensions: Set<[UInt8]>) {
        let written = GlobPattern(entry, in: folder)
        let isRemote = PathText.isRemote(entry)
        text = isRemote ? entry : written.text
        kind = isRemote ? .remote : written.isLiteral ? Self.kind(of: written.text) : .glob
        glob = kind == .folder ? GlobPattern("**/*", in: written.text) : written
        self.extensions = extensions
    }

    private static func kind(of path: String) -> Kind {
        switch FileKind(of: path) {
        case .file: .file
        case .folder: .folder
        case .other, nil: .nothing
        }
    }

    /// Whether a file with such a name is taken, when the folders above it match. Receipts are no pictures.
    private func takes(_ name: ArraySlice<UInt8>) -> Bool {
        if kind != .file, ReceiptName.isReceipt(name) { return false }
        return kind != .folder || extensions.contains(PathBytes.lowercased(PathBytes.fileExtension(of: name)))
    }

    /// Whether a file of a folder matches that is at some positions of ``glob``.
    func accepts(_ name: ArraySlice<UInt8>, at positions: [Int]) -> Bool {
        !positions.isEmpty && takes(name) && glob.accepts(name, at: positions)
    }
}

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
