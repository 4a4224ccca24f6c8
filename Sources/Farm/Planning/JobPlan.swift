package import Catalogs
package import JobModel

/// A job's frames in order, before any picture was opened.
package struct JobPlan: Sendable {
    package let job: JobSpec
    package let naming: OutputNaming
    package let frames: [PlannedFrame]
    /// Frames of a list whose files are not there.
    package let missing: [PlannedFrame]
    /// What a list sets for some of its files; frames have an index of it.
    package let settings: [[FileList.Setting]]
    /// Patterns of inputs that no file matches: perhaps a slip of the pen.
    package let unmatchedPatterns: [String]
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
        guard !inputs.isEmpty else {
            throw finder.excluded.isEmpty
                ? .nothingMatched(patterns: job.inputs) : .allExcluded(count: finder.excluded.count)
        }
        try self.init(
            job, catalog, date, selection, finder.rules, unmatched: finder.unmatched,
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
        try self.init(job, catalog, date, selection, rules, unmatched: [], found)
    }

    private init(
        _ job: JobSpec, _ catalog: Catalog, _ date: String, _ selection: Selection, _ rules: InputRules,
        unmatched: [String], _ found: FoundInputs
    ) throws(PlanProblem) {
        self.job = job
        self.rules = rules
        unmatchedPatterns = unmatched
        inputs = found.inputs
        settings = found.settings
        naming = OutputNaming(job, date: date)
        folderFormats = Set(catalog.formats.filter(\.isFolder).map(\.name))
        let chosen = found.choice(by: selection, in: job.folder)
        if let only = selection.only, chosen.isEmpty { throw .nothingMatched(patterns: [only]) }
        var choice = FormatChoice(naming, catalog)
        let pages = job.rendersPages ? PageChoice.first : .animation
        let frames = try chosen.map { (offset) throws(PlanProblem) in
            let input = found.inputs[offset]
            return PlannedFrame(
                index: offset + 1, input: input, formats: try choice.formats(of: input), pages: pages,
                settings: found.settingsOf?[offset])
        }
        guard let stamps = found.stamps else {
            (self.frames, missing, knownStamps) = (frames, [], nil)
            return
        }
        self.frames = frames.filter { stamps[$0.index - 1] != nil }
        missing = frames.filter { stamps[$0.index - 1] == nil }
        knownStamps = self.frames.map { stamps[$0.index - 1] }
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
    fileprivate var readableExtensions: Set<String> {
        Set(formats.filter(\.canRead).flatMap(\.extensions))
    }
}
