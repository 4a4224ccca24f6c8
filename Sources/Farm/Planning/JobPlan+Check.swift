package import JobModel

extension JobPlan {
    /// Refuses a job that would overwrite an input, or whose outputs would be inputs of the next run; and of another job the
    /// frames that have unlucky names.
    ///
    /// Reads nothing but the real paths of folders, and, where an output exists, the stamps of inputs outside the
    /// selection.
    ///
    /// - Parameters:
    ///   - outputs: all that will be published. Those of inputs that were not chosen are looked at, too.
    ///   - inputStamps: one for each of ``frames``, as ``inputStamps()`` gives them.
    ///   - pictures: the paths of those that filters read.
    /// - Returns: the frames that must not be rendered, and why. The others do not wait for them.
    /// - Throws: what is wrong with the job as a whole, such as that no frame is left.
    package func check(
        _ outputs: [PlannedOutput], inputStamps: [FileStamp?], pictures: [String] = []
    ) throws(PlanProblem) -> [PlannedOutput.Owner: PlanProblem] {
        var unlucky = NameCollisions(outputs + otherOutputs)
        unlucky.refuseCollisions()
        unlucky.refuseFilesAsFolders()
        unlucky.keep(Set(outputs.map(\.owner)))
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
        try refuseFutureInputs(folders.flatMap { Self.contents(ofFolder: $0.path) })
        return unlucky.problems
    }

    /// Refuses receipts that would take the place of an input.
    private func checkReceipts(of outputs: [PlannedOutput], pictures: [String]) throws(PlanProblem) {
        for path in outputs.map({ ReceiptName.path(of: $0.path) }) {
            if let picture = pictures.first(where: { PathKey($0) == PathKey(path) }) {
                throw .overwritesPicture(output: path, picture: picture)
            }
            guard let input = inputs.first(inOrderNotBefore: path), PathKey(input.path) == PathKey(path) else {
                continue
            }
            throw .overwritesInput(output: path, input: input.path)
        }
    }

    /// Outputs that are the file of an input by another name.
    ///
    /// - Throws: where the paths lead to one place: then the job as a whole would write to its inputs.
    private func linkedToInputs(
        _ outputs: [PlannedOutput], _ inputStamps: [FileStamp?]
    ) throws(PlanProblem) -> [(PlannedOutput, PlanProblem)] {
        var existing: [FileStamp.Identity: [PlannedOutput]] = [:]
        for output in outputs {
            if let stamp = output.stamp { existing[stamp.identity, default: []].append(output) }
        }
        guard !existing.isEmpty else { return [] }
        let others = otherInputs.map { inputs[$0] }
        return try linked(existing, frames.map(\.input), inputStamps)
            + linked(existing, others, FileStamp.ofEach(others))
    }

    /// Refuses outputs in the place of pictures that filters read, or folders around them.
    private func refuseOverwriting(_ outputs: [PlannedOutput], pictures: [String]) throws(PlanProblem) {
        for picture in pictures {
            let identity = FileStamp(of: picture)?.identity
            let output = outputs.first { output in
                output.stamp.map { $0.identity == identity } ?? false || PathKey(output.path) == PathKey(picture)
                    || output.isFolder && PathNames.isBelow(picture, output.path)
            }
            if let output { throw .overwritesPicture(output: output.path, picture: picture) }
        }
    }

    private func linked(
        _ existing: [FileStamp.Identity: [PlannedOutput]], _ inputs: [InputFile], _ stamps: [FileStamp?]
    ) throws(PlanProblem) -> [(PlannedOutput, PlanProblem)] {
        var found: [(PlannedOutput, PlanProblem)] = []
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

    /// Both have one name in one folder, by whatever path.
    private static func isOnePath(_ output: String, _ input: InputFile) -> Bool {
        guard PathBytes.name(of: Array(output.utf8)) == PathBytes.name(of: input.exactPath) else { return false }
        let folders = (PathText.folder(of: output), PathBytes.folder(of: input.exactPath))
        return FileStamp(of: folders.0)?.identity == FileStamp(of: folders.1)?.identity
    }

    /// Refuses an output that is a folder and has an input in it.
    private func refuseInput(inside folder: String) throws(PlanProblem) {
        let prefix = "\(folder)/"
        guard let input = inputs.first(inOrderNotBefore: prefix), input.path.utf8.starts(with: prefix.utf8) else {
            return
        }
        throw .overwritesInput(output: folder, input: input.path)
    }

    /// What will be in an output that is a folder.
    static func contents(ofFolder path: String) -> [String] {
        let name = PathText.name(of: path)
        let tiles = ["jpg", "png", "webp"].map { "\(name)_files/0/0_0.\($0)" }
        return (["\(name).dzi"] + tiles).map { "\(path)/\($0)" }
    }

    private func refuseFutureInputs(_ paths: [String]) throws(PlanProblem) {
        let taken = concurrentMap(paths, keeping: OutputInputCollision(rules)) { path, look in
            look.pattern(taking: path) != nil
        }
        guard let first = taken.firstIndex(of: true) else { return }
        var look = OutputInputCollision(rules)
        if let pattern = look.pattern(taking: paths[first]) {
            throw .wouldBecomeInput(
                output: paths[first], pattern: pattern.text, exclude: excludeLine(for: paths[first]))
        }
    }

    /// The output template as a glob: what the next run would find of this one's, and little else.
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
        // Of what a folder holds, its tiles and the file beside them.
        let inside = globs.flatMap { glob -> [String] in
            let folder = glob.utf8.lastIndex(of: PathBytes.dot).map { String(glob[..<$0]) } ?? glob
            return ["\(folder)/*_files/**", "\(folder)/*.dzi"]
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
