package import Catalogs
package import JobModel

/// A job's frames in order, before any picture was opened.
package struct JobPlan: Sendable {
    package let job: JobSpec
    package let naming: OutputNaming
    package let frames: [PlannedFrame]
    /// Frames of a list whose files are not there, or are folders.
    package let missing: [PlannedFrame]
    /// Frames whose names ask for a format that cannot be written.
    package let unwritable: [(frame: PlannedFrame, problem: PlanProblem)]
    /// Folders that could not be listed, in the place of the pictures that may be in them, and why.
    package let unreadableFolders: [(frame: PlannedFrame, reason: String)]
    /// What a list sets for some of its files; frames have an index of it.
    package let settings: [[FileList.Setting]]
    /// Where the list says so first, for each of ``settings``: `list:3`.
    package let settingsPlaces: [String]
    /// Patterns of inputs that no file matches: perhaps a slip of the pen.
    package let unmatchedPatterns: [String]
    /// How many files each entry of `inputs` matched; empty where a list takes their place.
    package let matches: [PathKey: Int]
    /// Of several patterns that a command line chose by: those that no input matches.
    package let unmatchedChoices: [String]
    /// Links among the inputs that lead nowhere, sorted: what they led to is gone, or not mounted.
    package let danglingLinks: [String]
    /// How many files and links of folders that `inputs` names are no inputs, by what they are: `.nef`, `links to folders`.
    package let passedBy: [String: Int]
    /// Entries of `exclude` that left nothing out.
    private let idleExcludes: [ExcludePattern]
    let rules: InputRules
    /// All of the job's, whatever the selection, in order.
    let inputs: [InputFile]
    /// The names of formats whose outputs are folders.
    package let folderFormats: Set<String>
    /// Of the frames' inputs, where planning has read them.
    private let knownStamps: [FileStamp?]?

    /// Looks up the inputs and refuses what must not start.
    ///
    /// - Parameter date: for `{date}`.
    package init(_ job: JobSpec, catalog: Catalog, date: String, selection: Selection) throws(PlanProblem) {
        var finder = InputFinder(InputRules(job, pictures: catalog.readableExtensions))
        let inputs = try finder.find()
        if inputs.isEmpty, let folder = finder.oddities.unreadableFolders.first {
            throw .unreadableFolder(OddName.readable(folder.path), reason: folder.reason)
        }
        guard !inputs.isEmpty else {
            throw finder.excluded.isEmpty
                ? .nothingMatched(patterns: job.inputs) : .allExcluded(count: finder.excluded.count)
        }
        try self.init(
            job, catalog, date, selection, finder.rules, finder.oddities,
            FoundInputs(inputs: inputs))
    }

    /// Takes a list's files in place of what the job's patterns find, in the order and with the numbers that they would
    /// have there. What the job excludes is left out of the list, too.
    ///
    /// `{dir}` is as the first pattern that matches the file would give it; or else the folder below the manifest's; or
    /// else empty. Files that are not there are no reason to stop: they become ``missing``.
    package init(
        _ job: JobSpec, list: FileList, catalog: Catalog, date: String, selection: Selection
    ) throws(PlanProblem) {
        let rules = InputRules(job, pictures: catalog.readableExtensions)
        let found = FoundInputs(list, rules, folder: job.folder)
        guard !found.inputs.isEmpty else {
            throw list.entries.isEmpty ? .emptyList(list.name) : .allListedExcluded(count: list.entries.count)
        }
        try self.init(job, catalog, date, selection, rules, FindingOddities(), found)
    }

    private init(
        _ job: JobSpec, _ catalog: Catalog, _ date: String, _ selection: Selection, _ rules: InputRules,
        _ oddities: FindingOddities, _ found: FoundInputs
    ) throws(PlanProblem) {
        self.job = job
        self.rules = rules
        unmatchedPatterns = oddities.unmatched
        matches = oddities.matches
        danglingLinks = Set(oddities.danglingLinks).sorted()
        idleExcludes = oddities.idleExcludes
        passedBy = oddities.passedBy
        unreadableFolders = oddities.unreadableFolders.enumerated().map { offset, folder in
            let input = InputFile(bytes: folder.path, dir: "")
            let index = found.inputs.count + 1 + offset
            return (PlannedFrame(index: index, input: input, formats: [], pages: .first, settings: nil), folder.reason)
        }
        inputs = found.inputs
        settings = found.settings
        settingsPlaces = found.settingsPlaces
        naming = OutputNaming(job, date: date)
        folderFormats = Set(catalog.formats.filter(\.isFolder).map(\.name))
        let chosen = found.choice(by: selection, in: job.folder)
        if !selection.only.isEmpty, chosen.isEmpty { throw .nothingMatched(patterns: selection.only) }
        unmatchedChoices = found.unmatched(selection, in: job.folder)
        var choice = FormatChoice(naming, catalog)
        let pages = job.pages
        var (frames, unwritable): ([PlannedFrame], [(frame: PlannedFrame, problem: PlanProblem)]) = ([], [])
        frames.reserveCapacity(chosen.count)
        for offset in chosen {
            let input = found.inputs[offset]
            func frame(_ formats: [String]) -> PlannedFrame {
                PlannedFrame(
                    index: offset + 1, input: input, formats: formats, pages: pages,
                    settings: found.settingsOf?[offset])
            }
            do {
                frames.append(frame(try choice.formats(of: input)))
            } catch {
                unwritable.append((frame([]), error))
            }
        }
        if frames.isEmpty, let first = unwritable.first { throw first.problem }
        self.unwritable = unwritable
        guard let stamps = found.stamps else {
            (self.frames, missing, knownStamps) = (frames, [], nil)
            return
        }
        self.frames = frames.filter { stamps[$0.index - 1] != nil }
        missing = frames.filter { stamps[$0.index - 1] == nil }
        knownStamps = self.frames.map { stamps[$0.index - 1] }
    }

    /// Entries of `exclude` that match nothing: perhaps slips of the pen, too. Those that keep outputs from being inputs
    /// are none: there may be no output yet.
    package var unmatchedExcludes: [String] {
        guard !idleExcludes.isEmpty, let frame = frames.first else { return [] }
        let first = zip(outputs(of: frame, measures: nil), frame.formats).flatMap { path, format in
            folderFormats.contains(format) ? Self.contents(ofFolder: path) : [path]
        }.map { Array($0.utf8) }
        return idleExcludes.filter { exclude in !first.contains { exclude.matches($0) } }.map(\.entry)
    }

    /// Of the frames' inputs, in their order; nil for one that is gone. Reads what planning has not read.
    package func inputStamps() -> [FileStamp?] {
        knownStamps ?? FileStamp.ofEach(frames.map(\.input))
    }

    /// The absolute paths of a frame's outputs.
    ///
    /// - Parameter measures: one for each output; nil where no name needs them.
    package func outputs(of frame: PlannedFrame, measures: [OutputNaming.Measures]?) -> [String] {
        naming.templates.enumerated().map { index, template in
            let path = naming.path(
                template, for: frame.input, index: frame.index, page: frame.page, measures: measures?[index])
            guard folderFormats.contains(frame.formats[index]) else { return path }
            return String(path[..<(path.utf8.lastIndex(of: PathBytes.dot) ?? path.endIndex)])
        }
    }
}

extension Catalog {
    /// In lower case, without the dot.
    var readableExtensions: Set<String> {
        Set(formats.filter(\.canRead).flatMap(\.extensions))
    }
}
