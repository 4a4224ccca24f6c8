package import Catalogs
package import JobModel

/// The frames of a job in order, before any picture is opened.
package struct JobPlan: Sendable {
    package let job: JobSpec
    package let naming: OutputNaming
    package let frames: [PlannedFrame]
    /// Frames of a list whose files do not exist or are folders.
    package let missing: [PlannedFrame]
    /// Frames whose output names ask for a format that cannot be written.
    package let unwritable: [(frame: PlannedFrame, problem: PlanError)]
    /// Folders that could not be listed, and names that could not be inspected. Each stands for pictures that may be
    /// there.
    package let unreadableFolders: [(frame: PlannedFrame, folder: UnreadableFolder)]
    /// The settings that a list has for some of its files. Frames have an index of it.
    package let settings: [[FileList.Setting]]
    /// The list's first line with each of ``settings``: `list:3`.
    package let settingsOrigins: [String]
    /// Patterns of inputs that match no file, perhaps by mistake.
    package let unmatchedPatterns: [String]
    /// The number of files that each entry of `inputs` matched. Empty if a list replaces the entries.
    package let matches: [PathKey: Int]
    /// All patterns of inputs. ``matches`` lacks those whose folders could not be read.
    package var entries: Set<PathKey> { Set(rules.patterns.map { PathKey($0.text) }) }
    /// Patterns of the command line that match no input. Empty if there was only one pattern.
    package let unmatchedChoices: [String]
    /// The folders that patterns of a command line may start from.
    let choiceFolders: [String]
    /// Links among the inputs whose targets do not exist or are not mounted, sorted.
    package let danglingLinks: [String]
    /// The files and folders that entries of `inputs` name or begin with, and that do not exist. For a file also its
    /// folder, if that does not exist either.
    package let missingPaths: [String]
    /// The number of files, pipes and links in folders of `inputs` that are no inputs, by kind: `.nef`, `links to
    /// folders`.
    package let passedBy: [String: Int]
    /// The kinds in ``passedBy`` that are raw pictures of cameras, which a folder does not stand for.
    package let rawKinds: Set<String>
    /// The number of pictures that are no inputs because their names begin with a dot.
    package let hiddenPictures: Int
    /// The number of pictures that a pattern of one extension leaves out only because they have another one, by
    /// extension: `.jpeg`.
    package let otherPictures: [String: Int]
    /// Entries of `exclude` that excluded nothing.
    private let unusedExcludes: [ExcludePattern]
    let rules: InputRules
    /// All inputs of the job in order, whatever the selection.
    package let inputs: [InputFile]
    /// The names of formats whose outputs are folders.
    package let folderFormats: Set<String>
    /// What an output of a format is, if it is a folder.
    package func folder(of format: String) -> FolderFormat? {
        folderFormats.contains(format) ? FolderFormat(rawValue: format) : nil
    }
    /// Whether some outputs are folders, which workers create themselves.
    package var makesFolders: Bool {
        frames.contains { frame in frame.formats.contains { folderFormats.contains($0) } }
    }
    private let catalog: Catalog
    /// The stamps of the frames' inputs, if planning has read them.
    private let knownStamps: [FileStamp?]?

    /// The indices of the inputs that a selection does not take.
    var otherInputs: [Int] {
        // Each chosen input is one of these frames.
        guard frames.count + missing.count + unwritable.count < inputs.count else { return [] }
        let chosen = Set((frames + missing + unwritable.map(\.frame)).map(\.index))
        return inputs.indices.filter { !chosen.contains($0 + 1) }
    }

    /// The outputs of inputs that a selection does not take, as far as their names are known without a probe. Their
    /// files are not inspected.
    var otherOutputs: [PlannedOutput] {
        guard !job.needsProbe else { return [] }
        var choice = FormatChoice(naming, catalog)
        return otherInputs.flatMap { offset -> [PlannedOutput] in
            // Without a format, nothing is written.
            guard let formats = try? choice.formats(of: inputs[offset]) else { return [] }
            let frame = PlannedFrame(
                index: offset + 1, input: inputs[offset], formats: formats, pages: job.pages, settings: nil)
            return zip(outputs(of: frame, measures: nil), formats).map { path, format in
                PlannedOutput(frame: frame, path: path, folder: folder(of: format), stamp: nil)
            }
        }
    }

    /// Finds the inputs, and refuses a job that must not start.
    ///
    /// - Parameters:
    ///   - date: The value of `{date}`.
    ///   - allowsMissing: If true, entries whose file or folder does not exist match nothing, and the job starts.
    ///   - allowsNothing: If true, a job without any input starts, too.
    package init(
        _ job: JobSpec, catalog: Catalog, date: String, selection: Selection, allowsMissing: Bool = false,
        allowsNothing: Bool = false
    ) throws(PlanError) {
        var finder = InputFinder(InputRules(job, pictures: catalog.inputExtensions(of: job)))
        let inputs = try finder.find(allowsMissing: allowsMissing)
        if inputs.isEmpty, let folder = finder.warnings.unreadableFolders.first {
            throw .unreadableFolder(folder)
        }
        guard !inputs.isEmpty || allowsNothing else {
            guard finder.excluded.isEmpty, !finder.leavesFoldersOut else {
                throw .allExcluded(count: finder.excluded.count)
            }
            let rawKinds = catalog.rawKinds(of: finder.warnings)
            let hints = job.inputs.compactMap { PatternHint(entry: $0, in: job.folder, rawKinds: rawKinds) }
            throw .nothingMatched(patterns: job.inputs, hints: hints)
        }
        try self.init(
            job, catalog, date, selection, finder.rules, finder.warnings,
            FoundInputs(inputs: inputs))
    }

    /// Takes a list's files instead of the matches of the job's patterns, in the same order and with the same numbers.
    /// Files that the job excludes are removed from the list, too.
    ///
    /// `{dir}` comes from the first pattern that matches the file, or else from the folder below the manifest's, or
    /// else it is empty.
    /// Files that do not exist become ``missing`` and do not stop the job.
    package init(
        _ job: JobSpec, list: FileList, catalog: Catalog, date: String, selection: Selection
    ) throws(PlanError) {
        let rules = InputRules(job, pictures: catalog.inputExtensions(of: job))
        let found = FoundInputs(list, rules, folder: job.folder)
        guard !found.inputs.isEmpty else {
            throw list.entries.isEmpty ? .emptyList(list.name) : .allListedExcluded(count: list.entries.count)
        }
        try self.init(job, catalog, date, selection, rules, SearchWarnings(), found)
    }

    private init(
        _ job: JobSpec, _ catalog: Catalog, _ date: String, _ selection: Selection, _ rules: InputRules,
        _ warnings: SearchWarnings, _ found: FoundInputs
    ) throws(PlanError) {
        self.job = job
        self.catalog = catalog
        self.rules = rules
        unmatchedPatterns = warnings.unmatched
        matches = warnings.matches
        danglingLinks = Set(warnings.danglingLinks).sorted()
        unusedExcludes = warnings.unusedExcludes
        passedBy = warnings.passedBy
        rawKinds = catalog.rawKinds(of: warnings)
        hiddenPictures = warnings.hiddenPictures
        otherPictures = warnings.otherPictures
        missingPaths = warnings.missing
        unreadableFolders = warnings.unreadableFolders.enumerated().map { offset, folder in
            let input = InputFile(bytes: folder.path, dir: "")
            let index = found.inputs.count + 1 + offset
            return (PlannedFrame(index: index, input: input, formats: [], pages: .first, settings: nil), folder)
        }
        inputs = found.inputs
        settings = found.settings
        settingsOrigins = found.settingsOrigins
        naming = OutputNaming(job, date: date)
        folderFormats = Set(catalog.formats.filter(\.isFolder).map(\.name))
        let chosen = found.choice(by: selection, in: job.folder)
        if !selection.only.isEmpty, chosen.isEmpty {
            let matcher = selection.matcher(in: job.folder, among: inputs)
            if let closed = warnings.unreadableFolders.first(where: { matcher.mayReach($0.path) }) {
                throw .unreadableFolder(closed)
            }
            let folders = selection.folders(with: job.folder)
            let hints = selection.only.compactMap { PatternHint(choice: $0, in: folders, among: found.inputs) }
            throw .nothingMatched(patterns: selection.only, hints: hints)
        }
        unmatchedChoices = found.unmatched(selection, in: job.folder)
        choiceFolders = selection.folders(with: job.folder)
        var choice = FormatChoice(naming, catalog)
        let pages = job.pages
        var (frames, unwritable): ([PlannedFrame], [(frame: PlannedFrame, problem: PlanError)]) = ([], [])
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

    /// The pictures that a job's own patterns match. Empty if there are none.
    package static func pictures(of job: JobSpec, catalog: Catalog) throws(PlanError) -> [InputFile] {
        try JobPlan(
            job, catalog: catalog, date: "", selection: Selection(), allowsMissing: true, allowsNothing: true
        ).inputs
    }

    /// Entries of `exclude` that exclude nothing, perhaps by mistake. Entries that keep outputs from being inputs are
    /// not listed, because there may be no output yet.
    package var unmatchedExcludes: [String] {
        guard !unusedExcludes.isEmpty, let frame = frames.first else { return [] }
        let first = zip(outputs(of: frame, measures: nil), frame.formats).flatMap { path, format in
            folder(of: format).map { $0.names.init(of: path).samples } ?? [path]
        }.map { Array($0.utf8) }
        return unusedExcludes.filter { exclude in !first.contains { exclude.matches($0) } }.map(\.entry)
    }

    /// Links of a selection whose targets do not exist now, as frames after all others.
    ///
    /// - Parameter known: The paths of pictures that earlier runs found.
    package func lostLinks(among known: Set<PathKey>, by selection: Selection) -> [PlannedFrame] {
        let first = inputs.count + unreadableFolders.count + 1
        let matcher = selection.matcher(in: job.folder, among: inputs)
        let links = danglingLinks.filter { known.contains(PathKey($0)) }.map { InputFile(path: $0, dir: "") }
        return links.filter { matcher.includes($0) }.enumerated().map { offset, link in
            PlannedFrame(index: first + offset, input: link, formats: [], pages: .first, settings: nil)
        }
    }

    /// Whether a selection's patterns may match something in a folder that could not be listed.
    package func mayReach(_ folder: PlannedFrame, by selection: Selection) -> Bool {
        selection.matcher(in: job.folder, among: inputs).mayReach(folder.input.exactPath)
    }

    /// The stamps of the frames' inputs, in their order. Nil for a missing file. Reads the stamps that planning has not
    /// read.
    package func inputStamps() -> [FileStamp?] {
        knownStamps ?? FileStamp.ofEach(frames.map(\.input))
    }

    /// The absolute paths of a frame's outputs.
    ///
    /// - Parameter measures: One for each output. Nil if no name needs them.
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
    /// The extensions of the pictures that folders stand for, in lower case, without the dot. Many cameras store a JPEG beside each raw
    /// picture, and their outputs would have the same name. So raw pictures are inputs only where they are named.
    var pictureExtensions: Set<String> {
        Set(formats.filter { $0.canRead && !$0.isVideo }.flatMap(\.extensions)).subtracting(rawExtensions)
    }

    /// The extensions of raw pictures of cameras, in lower case, without the dot.
    private var rawExtensions: Set<String> { Set(formats.filter(\.isCameraRaw).flatMap(\.extensions)) }

    /// The kinds of files that a search passed by that are raw pictures: `.nef`.
    fileprivate func rawKinds(of warnings: SearchWarnings) -> Set<String> {
        Set(rawExtensions.map { ".\($0)" }).intersection(warnings.passedBy.keys)
    }

    /// The extensions of the files that a folder among a job's inputs stands for: pictures, and clips if an output is a video of the
    /// inputs, and is not written into such a folder.
    func inputExtensions(of job: JobSpec) -> Set<String> {
        let videos = formats.filter { $0.isVideo && $0.canWrite }.flatMap(\.extensions)
        let made = job.outputs.filter { output in
            guard output.animations.isEmpty, case .literal(let end) = output.template.pieces.last else { return false }
            let ext = PathText.split(name: "x\(end)").ext.lowercased()
            return videos.contains(ext)
        }
        // Videos that are written into a folder of inputs, such as those beside their GIFs, are no inputs of the next run.
        let lieAmongInputs = made.contains { output in
            guard case .literal(let start) = output.template.pieces.first else { return true }
            let path = PathText.normalized("\(start)x", in: job.folder)
            return job.inputs.contains { PathNames.isBelow(path, PathText.normalized($0, in: job.folder)) }
        }
        guard !made.isEmpty, !lieAmongInputs else { return pictureExtensions }
        return pictureExtensions.union(formats.filter { $0.canRead && $0.isVideo }.flatMap(\.extensions))
    }
}

extension JobPlan {
    /// Refuses a job that would overwrite an input, or whose outputs would be inputs of the next run. In other jobs,
    /// refuses single frames with conflicting names.
    ///
    /// Reads only the real paths of folders, and the stamps of inputs outside the selection if an output exists.
    ///
    /// - Parameters:
    ///   - outputs: All outputs that will be published. Outputs of inputs outside the selection are checked, too.
    ///   - inputStamps: One for each of ``frames``, as ``inputStamps()`` gives them.
    ///   - pictures: The paths of the pictures that filters read.
    /// - Returns: The frames that must not be rendered, with the reasons. The others are rendered.
    /// - Throws: A problem of the job as a whole, for example that no frame is left.
    package func check(
        _ outputs: [PlannedOutput], inputStamps: [FileStamp?], pictures: [String] = []
    ) throws(PlanError) -> [PlannedOutput.Owner: PlanError] {
        let others = otherOutputs
        var unlucky = NameCollisions(outputs + others)
        unlucky.refuseCollisions()
        unlucky.refuseFilesAsFolders()
        if !others.isEmpty { unlucky.keep(Set(outputs.map(\.owner))) }
        unlucky.refuseOneFile()
        unlucky.refuseInsideFolders()
        unlucky.refuseLongNames { $0 }
        if job.receipts == .sidecar { unlucky.refuseReceipts() }
        unlucky.refuse(try linkedToInputs(unlucky.rest, inputStamps))
        if unlucky.rest.isEmpty, let first = unlucky.first { throw first }
        let outputs = unlucky.rest
        let folders = outputs.filter(\.isFolder)
        try refuseOverwriting(outputs, pictures: pictures)
        for folder in folders { try refuseInput(inside: folder.path) }
        if job.receipts == .sidecar { try checkReceipts(of: outputs, pictures: pictures) }
        try refuseFutureInputs(outputs.map(\.path))
        try refuseFutureInputs(folders.flatMap { $0.folder?.names.init(of: $0.path).samples ?? [] })
        return unlucky.problems
    }

    /// Refuses receipts whose paths are those of inputs.
    private func checkReceipts(of outputs: [PlannedOutput], pictures: [String]) throws(PlanError) {
        let pictures = Dictionary(pictures.map { (PathKey($0), $0) }) { first, _ in first }
        for path in outputs.map({ ReceiptName.path(of: $0.path) }) {
            if let picture = pictures[PathKey(path)] { throw .overwritesPicture(output: path, picture: picture) }
            guard let input = inputs.first(inOrderNotBefore: path), PathKey(input.path) == PathKey(path) else {
                continue
            }
            throw .overwritesInput(output: path, input: input.path)
        }
    }

    /// Outputs whose path leads to an input's file under another name.
    ///
    /// - Throws: If the paths are the same path. Then the job as a whole would write to its inputs.
    private func linkedToInputs(
        _ outputs: [PlannedOutput], _ inputStamps: [FileStamp?]
    ) throws(PlanError) -> [(PlannedOutput, PlanError)] {
        var existing: [FileStamp.Identity: [PlannedOutput]] = [:]
        for output in outputs {
            if let stamp = output.stamp { existing[stamp.identity, default: []].append(output) }
        }
        guard !existing.isEmpty else { return [] }
        let others = otherInputs.map { inputs[$0] }
        return try linked(existing, frames.map(\.input), inputStamps)
            + linked(existing, others, FileStamp.ofEach(others))
    }

    /// Refuses outputs at the paths of pictures that filters read, or of folders around them.
    private func refuseOverwriting(_ outputs: [PlannedOutput], pictures: [String]) throws(PlanError) {
        guard !pictures.isEmpty else { return }
        // Each input may have pictures of its own, so both are many.
        let byPath = Dictionary(outputs.map { (PathKey($0.path), $0) }) { first, _ in first }
        let byIdentity = Dictionary(outputs.compactMap { output in output.stamp.map { ($0.identity, output) } }) {
            first, _ in first
        }
        let folders = outputs.filter(\.isFolder)
        for picture in pictures {
            let identity = byIdentity.isEmpty ? nil : FileStamp(of: picture)?.identity
            let output =
                byPath[PathKey(picture)] ?? identity.flatMap { byIdentity[$0] }
                ?? folders.first { PathNames.isBelow(picture, $0.path) }
            if let output { throw .overwritesPicture(output: output.path, picture: picture) }
        }
    }

    private func linked(
        _ existing: [FileStamp.Identity: [PlannedOutput]], _ inputs: [InputFile], _ stamps: [FileStamp?]
    ) throws(PlanError) -> [(PlannedOutput, PlanError)] {
        var found: [(PlannedOutput, PlanError)] = []
        for (input, stamp) in zip(inputs, stamps) {
            guard let stamp else { continue }
            for output in existing[stamp.identity] ?? [] {
                guard !Self.isOnePath(output.path, input) else {
                    throw .overwritesInput(output: output.path, input: input.path)
                }
                found.append((output, .linkedToInput(output: output.path, input: input.path)))
            }
        }
        return found
    }

    /// Whether both have the same name in the same folder, by whatever path.
    private static func isOnePath(_ output: String, _ input: InputFile) -> Bool {
        guard PathBytes.name(of: Array(output.utf8)) == PathBytes.name(of: input.exactPath) else { return false }
        let folders = (PathText.folder(of: output), PathBytes.folder(of: input.exactPath))
        return FileStamp(of: folders.0)?.identity == FileStamp(of: folders.1)?.identity
    }

    /// Refuses an output that is a folder and contains an input.
    private func refuseInput(inside folder: String) throws(PlanError) {
        let prefix = "\(folder)/"
        guard let input = inputs.first(inOrderNotBefore: prefix), input.path.utf8.starts(with: prefix.utf8) else {
            return
        }
        throw .overwritesInput(output: folder, input: input.path)
    }

    private func refuseFutureInputs(_ paths: [String]) throws(PlanError) {
        let taken = concurrentMap(paths, keeping: OutputInputCollision(rules)) { path, collisions in
            collisions.pattern(taking: path) != nil
        }
        guard let first = taken.firstIndex(of: true) else { return }
        var collisions = OutputInputCollision(rules)
        if let pattern = collisions.pattern(taking: paths[first]) {
            throw .wouldBecomeInput(
                output: paths[first], pattern: pattern.text, exclude: excludeLine(for: paths[first]))
        }
    }

    /// The output template as a glob that matches this run's outputs, and little else.
    private func excludeLine(for path: String) -> String {
        let globs = naming.templates.map { template in
            template.pieces.reduce(into: "") { text, piece in
                switch piece {
                case .literal(let literal): text += GlobPattern.matching(literal)
                case .field(.dir): text += "**"
                case .field: text += "*"
                }
            }
        }
        // Of a folder output, its tiles and the file beside them.
        let inside = globs.flatMap { glob -> [String] in
            let folder = glob.utf8.lastIndex(of: PathBytes.dot).map { String(glob[..<$0]) } ?? glob
            return FolderFormat.allCases.flatMap { $0.names.globs(ofFolders: folder) }
        }
        let fitting = (globs + inside).first { GlobPattern($0, in: job.folder).matches(path) }
        return fitting ?? GlobPattern.matching(PathText.shown(path, from: job.folder))
    }
}

extension [InputFile] {
    /// The first element of a sorted list whose path is not before `path`.
    fileprivate func first(inOrderNotBefore path: String) -> InputFile? {
        var range = indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if PathText.order(self[middle].path, path) < 0 {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound < endIndex ? self[range.lowerBound] : nil
    }
}
