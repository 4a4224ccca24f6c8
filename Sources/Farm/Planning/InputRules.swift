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
    /// - Parameter used: the places of those that do.
    /// - Returns: the places of the entries that changed.
    mutating func loosen(but used: Set<Int>) -> [Int] {
        excluded.indices.filter { place in
            guard !used.contains(place), let loosened = excluded[place].loosened else { return false }
            excluded[place] = loosened
            return true
        }
    }

    /// The places, in ``excluded``, of all entries that leave a file out; empty for an input.
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
    private let patterns: [(pattern: InputPattern, places: [Int], dir: String)]
    private let excluded: [(number: Int, exclusion: Exclusion)]

    /// What an entry of `exclude` says of one folder's files.
    private enum Exclusion {
        case all
        case matching(GlobPattern, places: [Int])

        func takes(_ name: ArraySlice<UInt8>) -> Bool {
            switch self {
            case .all: true
            case .matching(let glob, let places): glob.accepts(name, at: places)
            }
        }
    }

    /// - Parameter folder: absolute, without `.` and `..`.
    init(_ rules: InputRules, in folder: [UInt8]) {
        let names = PathText.components(NonUTF8Name.readable(folder))
        patterns = rules.patterns.map { pattern in
            let dir = names.dropFirst(pattern.glob.fixedFolder.count).joined(separator: "/")
            return (pattern, pattern.glob.places(in: folder), dir)
        }.filter { !$0.1.isEmpty }
        excluded = rules.excluded.enumerated().compactMap { number, pattern in
            if pattern.coversAll(in: folder) { return (number, .all) }
            let places = pattern.namesFiles ? pattern.glob.places(in: folder) : []
            return places.isEmpty ? nil : (number, .matching(pattern.glob, places: places))
        }
    }

    /// Whether no file of the folder can be an input.
    var takesNothing: Bool { patterns.isEmpty }

    func excludes(_ name: ArraySlice<UInt8>) -> Bool {
        excluded.contains { $0.exclusion.takes(name) }
    }

    /// The places of the entries that leave out the folder itself, with all that is in it.
    var exclusionsOfAll: [Int] {
        excluded.filter { if case .all = $0.exclusion { true } else { false } }.map(\.number)
    }

    /// The same, and the places of those that may leave out something in it.
    var exclusionsOfAny: [Int] { excluded.map(\.number) }

    /// As ``InputRules/exclusions(of:)``.
    func exclusions(of name: ArraySlice<UInt8>) -> [Int] {
        excluded.filter { $0.exclusion.takes(name) }.map(\.number)
    }

    /// The folders between the fixed part of the first pattern that a file matches and the file; nil when none does.
    func dir(of name: ArraySlice<UInt8>) -> String? {
        patterns.first { $0.pattern.accepts(name, at: $0.places) }?.dir
    }

    /// The pattern that would take this file in as an input, if one does.
    func pattern(matching name: ArraySlice<UInt8>) -> InputPattern? {
        guard let found = patterns.first(where: { $0.pattern.accepts(name, at: $0.places) }), !excludes(name) else {
            return nil
        }
        return found.pattern
    }
}
