package import Catalogs
package import JobModel

/// One input with its place in the job.
package struct PlannedFrame: Hashable, Sendable {
    /// From 1, in sorted order; `--only` and `--limit` do not change it.
    package let index: Int
    package let input: InputFile
    /// The output format's name in the catalog.
    package let format: String
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
        naming = OutputNaming(job, date: date)
        var frames: [PlannedFrame] = []
        for (offset, input) in inputs.enumerated() where selection.includes(input, in: job.folder) {
            let format = try Self.format(of: input, job, catalog)
            frames.append(PlannedFrame(index: offset + 1, input: input, format: format))
        }
        if let only = selection.only, frames.isEmpty, !inputs.isEmpty { throw .nothingMatched(patterns: [only]) }
        self.frames = Array(frames.prefix(selection.limit ?? .max))
        oddPaths = finder.oddPaths
        self.finder = finder
        self.inputs = inputs
    }

    private static func format(
        of input: InputFile, _ job: JobSpec, _ catalog: Catalog
    ) throws(PlanProblem) -> String {
        let name = OutputNaming(job, date: "").path(for: input, index: 1, measures: nil)
        let ext = PathText.split(name: PathText.name(of: name)).ext
        if let format = catalog.format(forExtension: ext), format.canWrite { return format.name }
        let known = catalog.formats.filter(\.canWrite).flatMap { $0.extensions.prefix(1) }
        throw .formatUnknown(extension: ext, input: input.path, known: known)
    }

    /// Refuses outputs that collide, that would overwrite an input, or that would be inputs of the next run.
    ///
    /// - Parameter outputs: the absolute path for each frame that will be published.
    package func check(_ outputs: [(frame: PlannedFrame, path: String)]) throws(PlanProblem) {
        try refuseCollisions(outputs)
        try refuseOverwriting(outputs.map(\.path))
        for (frame, path) in outputs {
            if PathText.name(of: path).utf8.count > 255 {
                throw .nameTooLong(output: path, input: frame.input.path)
            }
            try refuseFutureInput(path)
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
        throw .collision(output: worst.key, inputs: worst.value.map(\.frame.input.path))
    }

    private func refuseFutureInput(_ path: String) throws(PlanProblem) {
        for candidate in Set([path, realPath(path)]) {
            guard let pattern = finder.pattern(matching: candidate) else { continue }
            throw .wouldBecomeInput(output: path, pattern: pattern, exclude: excludeLine(for: path))
        }
    }

    /// The output template as a glob: what the next run would find of this one's, and little else.
    private func excludeLine(for path: String) -> String {
        let glob = job.output.pieces.reduce(into: "") { text, piece in
            switch piece {
            case .literal(let literal): text += literal
            case .field(.dir): text += "**"
            case .field: text += "*"
            }
        }
        return GlobPattern(glob, in: job.folder).matches(path) ? glob : PathText.shown(path, from: job.folder)
    }
}
