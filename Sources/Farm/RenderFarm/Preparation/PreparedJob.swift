import Catalogs
package import Coordination
package import JobModel
package import JobStorage
package import Planning
import Runs
package import SafeFiles
package import Scheduling

/// A job that may start. Its frames are found, its outputs have names, and each frame has a verdict. Some verdicts still need
/// the bytes of files.
package struct PreparedJob: Sendable {
    package let plan: JobPlan
    /// What the ledger knew of the outputs before.
    package let contents: LedgerContents
    package var freshness: Freshness
    package var targets: [FrameTarget] = []
    /// Names in files with regions that are probably misspelt.
    package var regionHints: [String] = []
    /// Frames that have ended already: missing or broken pictures, and frames that a deadline left.
    package var ended: [FrameReport] = []
    package var findings: ProbeQuery.Findings = [:]
    /// The failed frames whose pictures a probe could not read.
    var brokenFiles: [(files: FrameFiles, failure: FrameFailure)] = []
    /// The run makes everything again, perhaps in several parts.
    package var rerun: FullRerun?
    /// The plan has all frames of the job, not a selection.
    package var isWhole = true
    /// Published outputs whose inputs are gone.
    package var orphans: [OutputRecord] = []
    /// Pictures that are gone together with their disk.
    package var lost: [MissingDisks.Pictures] = []
    /// The outputs of ``lost`` pictures. They are not orphans.
    var lostOutputs: [OutputRecord] = []
    /// Published outputs whose inputs exist, but are not selected by the job any more.
    var unselected: [OutputRecord] = []

    /// The number of published outputs that exist.
    package var publishedCount: Int {
        let planned = targets.reduce(0) { count, target in
            count + target.files.outputs.count { $0.stamp != nil && freshness.record(at: $0.path) != nil }
        }
        let pictures = Set(ended.map { PathKey($0.input) })
        let ofEnded =
            pictures.isEmpty
            ? 0 : contents.records.count { pictures.contains(PathKey($0.input)) && FileSystem.exists($0.path) }
        return planned + ofEnded + orphans.count + lostOutputs.count
    }

    /// Refuses output folders in which every frame would fail, because they cannot be written. A job without work needs no such right.
    /// Frames check the folders below.
    ///
    /// - Parameter recordsOutputs: whether the run writes indexes beside the outputs. It looks after them if it renders nothing, too.
    package func refuseForbiddenFolders(recordsOutputs: Bool) throws(FileError) {
        let hasWork = targets.contains(where: \.isWork)
        for folder in OutputFolders.of(job) {
            if hasWork { try WritableFolder.refuseForbidden(folder) }
            if recordsOutputs { try Ledger.refuseForbiddenIndex(in: folder, of: job) }
        }
    }

    /// Throws if an index that a manifest asks for would replace another file, or the index of another of these jobs.
    package static func refuseIndexes(of jobs: [PreparedJob]) throws(FarmError) {
        var indexes: [IndexFile] = []
        for job in jobs {
            if let index = try IndexFile(job) { indexes.append(index) }
        }
        try IndexFile.refuseShared(indexes)
    }

    /// Moves frames that earlier runs had no time for to the end. Otherwise those behind them would never get their turn.
    mutating func putLast(_ inputs: Set<PathKey>) {
        guard !inputs.isEmpty else { return }
        let isLate = targets.map { inputs.contains(PathKey($0.files.input)) }
        targets = zip(targets, isLate).filter { !$1 }.map(\.0) + zip(targets, isLate).filter { $1 }.map(\.0)
    }

    /// Fails frames whose outputs are refused.
    package mutating func fail(_ problems: [FrameID: String]) {
        guard !problems.isEmpty else { return }
        ended += targets.compactMap { target in
            problems[target.frame.id].map { target.report(.failed(FrameFailure(.output, $0))) }
        }
        targets.removeAll { problems[$0.frame.id] != nil }
    }

    /// Treats lost pictures as removed. Their outputs become orphans.
    package mutating func abandonLost() {
        orphans = (orphans + lostOutputs).sorted { $0.path < $1.path }
        (lost, lostOutputs) = ([], [])
    }

    package var job: JobSpec { plan.job }

    /// How many frames an earlier part of the same run has made.
    package var madeBefore: Int { targets.count { $0.verdict == .current(reason: Freshness.madeBefore) } }

    /// The number of frames with work.
    var workCount: Int { targets.count(where: \.isWork) }

    var workFrames: Set<FrameID> { Set(targets.lazy.filter(\.isWork).map(\.frame.id)) }

    /// Changes of pixels by other versions of filters that outputs do not have and will not get by this run.
    package var keptUpgrades: [JobNotice] {
        var counts: [RecipeUpgrade: Int] = [:]
        for target in targets {
            for upgrade in freshness.keptUpgrades(of: target.files, target.verdict) { counts[upgrade, default: 0] += 1 }
        }
        return counts.sorted { $0.key.pixels < $1.key.pixels }.map { .outputsKeepOldPixels($0.value, $0.key) }
    }
}

/// Finds the outputs that several jobs of one command would write.
///
/// It is unknown which job is meant. So these frames fail in each of the jobs, and all others are rendered.
package enum SharedOutputs {
    /// The problems of frames, for each job.
    ///
    /// - Parameter folder: messages show paths as they are seen from this folder.
    /// - Throws: ``FarmError`` if no frame of any job is left.
    package static func problems(of jobs: [PreparedJob], folder: String) throws(FarmError) -> [[FrameID: String]] {
        var owners: [PathKey: (job: Int, target: FrameTarget)] = [:]
        var problems = jobs.map { _ in [FrameID: String]() }
        guard jobs.count > 1 else { return problems }
        var first: (output: String, jobs: [String])?
        for (index, prepared) in jobs.enumerated() {
            for target in prepared.targets {
                for output in target.outputs {
                    guard let owner = owners[PathKey(output)] else {
                        owners[PathKey(output)] = (index, target)
                        continue
                    }
                    guard owner.job != index else { continue }
                    let (job, other) = (prepared.job, jobs[owner.job].job)
                    if first == nil { first = (output, [other.name, job.name]) }
                    problems[index][target.frame.id] =
                        problems[index][target.frame.id] ?? message(target, output, as: owner.target, of: other, folder)
                    problems[owner.job][owner.target.frame.id] =
                        problems[owner.job][owner.target.frame.id]
                        ?? message(owner.target, output, as: target, of: job, folder)
                }
            }
        }
        if let first, zip(jobs, problems).allSatisfy({ $0.targets.count == $1.count }) {
            throw FarmError(.badManifest, refusal(first.output, first.jobs))
        }
        return problems
    }

    /// Finds jobs that write to the same paths. It reads only the manifests, and looks up no inputs.
    ///
    /// - Returns: a warning for each pair of jobs whose pictures may have the same names.
    /// - Throws: ``FarmError`` if the jobs have the same inputs, too, so that all outputs are shared.
    package static func warnings(of jobs: [JobSpec], folder: String) throws(FarmError) -> [String] {
        var owners: [String: JobSpec] = [:]
        var warnings: [String] = []
        for job in jobs {
            var own: Set<String> = []
            for output in job.outputs {
                let path = path(of: output.template, job)
                guard own.insert(path).inserted else { continue }
                guard let other = owners[path] else {
                    owners[path] = job
                    continue
                }
                if inputs(of: job) == inputs(of: other) {
                    throw FarmError(.badManifest, refusal(path, [other.name, job.name]))
                }
                warnings.append(
                    "\(PathText.visible(PathText.shown(path, from: folder))): both '\(other.name)' and '\(job.name)' write there; "
                        + "'penumbra plan' with both manifests says which outputs they share")
            }
        }
        return warnings
    }

    /// The path with the job's name. The other fields stay.
    private static func path(of template: OutputTemplate, _ job: JobSpec) -> String {
        let text = template.pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .field(.job): job.name
            case .field(let field): "{\(field.written)}"
            }
        }
        return PathText.normalized(text.joined(), in: job.folder)
    }

    private static func inputs(of job: JobSpec) -> [[PathKey]] {
        [job.inputs, job.exclude].map { patterns in
            patterns.map { PathKey(PathText.normalized($0, in: job.folder)) }.sorted()
        }
    }

    private static func refusal(_ output: String, _ jobs: [String]) -> String {
        "\(PathText.visible(output)): both '\(jobs[0])' and '\(jobs[1])' would write this output\n   = \(remedy)"
    }

    private static func message(
        _ target: FrameTarget, _ output: String, as other: FrameTarget, of job: JobSpec, _ folder: String
    )
        -> String
    {
        let manifest = PathText.shown(job.manifestPath, from: folder)
        return "\(PathText.visible(target.files.input)): would be written to \(PathText.visible(output)), as would "
            + "\(PathText.visible(other.files.input)) of the job '\(job.name)' in \(manifest); \(remedy)"
    }

    private static let remedy = "give the jobs different output folders, or names with {job}"
}
