package import Catalogs
package import JobModel

/// One input with its place in the job.
package struct PlannedFrame: Hashable, Sendable {
    /// The input's place in sorted order, from 1; `--only` and `--limit` do not change it.
    package let index: Int
    package let input: InputFile
    /// The outputs' formats, by their names in the catalog.
    package let formats: [String]
    /// Which of the file's pages it is, where each is a frame.
    package let pages: PageChoice

    /// Another page of the same file.
    package func page(_ number: Int) -> PlannedFrame {
        PlannedFrame(index: index, input: input, formats: formats, pages: .page(number))
    }

    /// From 0; the first one of a file that is read as a whole.
    package var page: Int {
        if case .page(let number) = pages { number } else { 0 }
    }
}

/// A job's frames in order, before any picture was opened.
package struct JobPlan: Sendable {
    package let job: JobSpec
    package let naming: OutputNaming
    package let frames: [PlannedFrame]
    /// Paths of inputs whose names are not UTF-8.
    package let oddPaths: [[UInt8]]
    /// Patterns of inputs that no file matches: perhaps a slip of the pen.
    package var unmatchedPatterns: [String] { finder.unmatched }
    private let finder: InputFinder
    private let catalog: Catalog
    /// All of the job's, whatever the selection.
    private let inputs: [InputFile]

    /// Narrows a job down for one run.
    package struct Selection: Hashable, Sendable {
        /// Only inputs that match: by their path from the manifest's folder, or by their name.
        package let only: String?
        package let limit: Int?

        package init(only: String? = nil, limit: Int? = nil) {
            self.only = only
            self.limit = limit
        }

        func includes(_ input: InputFile, in folder: String) -> Bool {
            guard let only else { return true }
            return GlobPattern(only, in: folder).matches(input.path)
                || !only.contains("/") && NamePattern(only).matches(PathText.name(of: input.path))
        }
    }

    /// Looks up the inputs and refuses what must not start.
    ///
    /// - Parameter date: for `{date}`.
    package init(_ job: JobSpec, catalog: Catalog, date: String, selection: Selection) throws(PlanProblem) {
        var finder = InputFinder(job)
        let inputs = try finder.find()
        guard !inputs.isEmpty || !finder.oddPaths.isEmpty else {
            throw finder.excludedCount > 0
                ? .allExcluded(count: finder.excludedCount) : .nothingMatched(patterns: job.inputs)
        }
        self.job = job
        let naming = OutputNaming(job, date: date)
        self.naming = naming
        var frames: [PlannedFrame] = []
        for (offset, input) in inputs.enumerated() where selection.includes(input, in: job.folder) {
            let formats = try naming.templates.map { (template) throws(PlanProblem) in
                try Self.format(of: input, template, naming, catalog)
            }
            frames.append(
                PlannedFrame(
                    index: offset + 1, input: input, formats: formats, pages: job.rendersPages ? .first : .animation))
        }
        if let only = selection.only, frames.isEmpty, !inputs.isEmpty { throw .nothingMatched(patterns: [only]) }
        self.frames = Array(frames.prefix(selection.limit ?? .max))
        oddPaths = finder.oddPaths
        self.catalog = catalog
        self.finder = finder
        self.inputs = inputs
    }

    private static func format(
        of input: InputFile, _ template: OutputTemplate, _ naming: OutputNaming, _ catalog: Catalog
    ) throws(PlanProblem) -> String {
        let name = naming.path(template, for: input, index: 1, page: 0, measures: nil)
        let ext = PathText.split(name: PathText.name(of: name)).ext
        if let format = catalog.format(forExtension: ext), format.canWrite { return format.name }
        let known = catalog.formats.filter(\.canWrite).flatMap { $0.extensions.prefix(1) }
        throw .formatUnknown(extension: ext, input: input.path, known: known)
    }

    /// The absolute paths of a frame's outputs.
    ///
    /// - Parameter measures: one for each output; nil where no name needs them.
    package func outputs(of frame: PlannedFrame, measures: [OutputNaming.Measures]?) -> [String] {
        naming.templates.enumerated().map { index, template in
            let path = naming.path(
                template, for: frame.input, index: frame.index, page: frame.page, measures: measures?[index])
            return isFolder(frame.formats[index]) ? String(path[..<(path.lastIndex(of: ".") ?? path.endIndex)]) : path
        }
    }

    private func isFolder(_ format: String) -> Bool { catalog.formats.first { $0.name == format }?.isFolder ?? false }

    /// Refuses outputs that collide, that would overwrite an input, or that would be inputs of the next run.
    ///
    /// - Parameter outputs: the absolute paths of all that will be published, each with its frame.
    package func check(_ outputs: [(frame: PlannedFrame, path: String)]) throws(PlanProblem) {
        try refuseCollisions(outputs)
        try refuseOutputsInside(Set(outputs.filter { $0.frame.formats.contains(where: isFolder) }.map(\.path)), outputs)
        try refuseOverwriting(outputs.map(\.path))
        for (frame, path) in outputs where frame.formats.contains(where: isFolder) {
            if let input = inputs.first(where: { $0.path.hasPrefix(path + "/") }) {
                throw .overwritesInput(output: path, input: input.path)
            }
        }
        for (frame, path) in outputs {
            if PathText.name(of: path).utf8.count > 255 {
                throw .nameTooLong(output: path, input: frame.input.path)
            }
            try refuseFutureInput(path)
            if frame.formats.contains(where: isFolder) {
                // What would be in it, if it is one.
                let name = PathText.name(of: path)
                let tiles = ["jpg", "png", "webp"].map { "\(name)_files/0/0_0.\($0)" }
                for inside in ["\(name).dzi"] + tiles { try refuseFutureInput("\(path)/\(inside)") }
            }
        }
    }

    /// - Parameter folders: outputs that may be folders.
    private func refuseOutputsInside(
        _ folders: Set<String>, _ outputs: [(frame: PlannedFrame, path: String)]
    ) throws(PlanProblem) {
        guard !folders.isEmpty else { return }
        for (_, path) in outputs {
            var above = PathText.folder(of: path)
            while above.count > 1 {
                if folders.contains(above) { throw .insideOutput(output: path, folder: above) }
                above = PathText.folder(of: above)
            }
        }
    }

    private func refuseOverwriting(_ paths: [String]) throws(PlanProblem) {
        var existing: [FileIdentity: String] = [:]
        for path in paths {
            if let identity = FileIdentity(of: path) { existing[identity] = path }
        }
        guard !existing.isEmpty else { return }
        for input in inputs {
            if let output = FileIdentity(of: input.path).flatMap({ existing[$0] }) {
                throw .overwritesInput(output: output, input: input.path)
            }
        }
    }

    private func refuseCollisions(_ outputs: [(frame: PlannedFrame, path: String)]) throws(PlanProblem) {
        let byPath = Dictionary(grouping: outputs, by: \.path)
        guard let worst = byPath.filter({ $0.value.count > 1 }).min(by: { $0.key < $1.key }) else { return }
        let inputs = worst.value.map(\.frame.input.path)
        throw Set(inputs).count == 1
            ? .ownCollision(output: worst.key, input: inputs[0]) : .collision(output: worst.key, inputs: inputs)
    }

    private func refuseFutureInput(_ path: String) throws(PlanProblem) {
        for candidate in Set([path, realPath(path)]) {
            guard let pattern = finder.pattern(matching: candidate) else { continue }
            throw .wouldBecomeInput(output: path, pattern: pattern, exclude: excludeLine(for: path))
        }
    }

    /// The output template as a glob: what the next run would find of this one's, and little else.
    private func excludeLine(for path: String) -> String {
        let globs = naming.templates.map { template in
            template.pieces.reduce(into: "") { text, piece in
                switch piece {
                case .literal(let literal): text += literal
                case .field(.dir): text += "**"
                case .field: text += "*"
                }
            }
        }
        // Of what a folder holds, its tiles and the file beside them.
        let inside = globs.flatMap { glob -> [String] in
            let folder = glob.lastIndex(of: ".").map { String(glob[..<$0]) } ?? glob
            return ["\(folder)/*_files/**", "\(folder)/*.dzi"]
        }
        let fitting = (globs + inside).first { GlobPattern($0, in: job.folder).matches(path) }
        return fitting ?? PathText.shown(path, from: job.folder)
    }
}
