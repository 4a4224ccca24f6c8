package import Catalogs
package import Coordination
import Engines
import Geometry
import Glibc
package import JobModel
import JobStorage
package import Manifests
package import Planning
package import Runs
import SafeFiles
package import Scheduling
import Settings
import WorkerProtocol

/// Prepares jobs: finds their frames, names the outputs, and decides which frames run. It opens pictures only if names need it.
package struct JobPreparation: Sendable {
    package var farm: Farm
    package let catalog: Catalog
    /// Messages show paths as they are seen from this folder.
    var folder: String
    let selection: JobPlan.Selection
    /// The run has a state folder of its own, besides the user's. It is temporary.
    var hasOwnState = false
    /// At most this many frames run; nil for any number.
    package var limit: Int?
    /// The limit of the first part of a run that makes everything again.
    private let firstLimit: Int?
    let list: FileList?
    private let isForced: Bool
    private let repair: RunRequest.Repair?
    /// The inputs that the run has begun, if it takes only frames that another run left; nil for other runs.
    private let begun: Set<PathKey>?
    let control: RunControl
    let deadline: Deadline?
    /// Reads a job's manifest again, with more overrides.
    private let reread: @Sendable (JobSpec, [Override]) throws -> ReadResult
    /// Entries of `inputs` may name missing files and folders.
    private let allowsMissing: Bool
    /// A job may have no inputs any more.
    package var allowsNothing: Bool
    /// Nil for the manifest of a file.
    private let front: PlanError.Front?
    /// Pictures that earlier runs found and that are gone were removed on purpose.
    private let allowsGone: Bool
    /// Pictures that earlier runs have found broken are tried like all others.
    private let triesBroken: Bool

    /// - Parameters:
    ///   - request: selects the frames, and says what may be missing.
    ///   - done: the inputs that are left out.
    ///   - begun: the inputs that the run has begun, if it is resumed.
    ///   - reread: reads a job's manifest again, with more overrides.
    /// - Throws: all problems of the request's list of files, or an empty pattern among ``RunRequest/only``.
    package init(
        _ request: RunRequest, without done: Set<PathKey> = [], begun: Set<PathKey> = [], farm: Farm, catalog: Catalog,
        control: RunControl,
        deadline: Deadline? = nil,
        reread: @escaping @Sendable (JobSpec, [Override]) throws -> ReadResult
    ) throws(FarmError) {
        try request.refuseEmptyPatterns()
        (self.farm, self.catalog, self.control, self.deadline) = (farm, catalog, control, deadline)
        (folder, limit, firstLimit, isForced) = (request.folder, request.limit, request.limit, request.isForced)
        repair = request.repair
        front =
            request.manifests.isEmpty ? .apply : request.manifests.contains { $0.text != nil } ? .submission : nil
        selection = JobPlan.Selection(
            only: request.only, from: request.folder, inputs: request.inputs.map { Set($0.map(PathKey.init)) },
            done: done)
        self.begun = request.leftOf == nil ? nil : begun
        list = try ListedFiles.list(request.filesFrom, in: request.folder, control: control)
        self.reread = reread
        allowsGone = request.allowsGone
        triesBroken = request.inputs != nil || request.triesBroken
        // In a watch the folder of the inputs may be gone for a moment only. So it allows missing inputs, but not the loss of all.
        allowsNothing = request.allowsEmpty || request.allowsGone
        allowsMissing = allowsNothing || request.isWatching
    }

    /// The state folder that messages name; nil for the user's usual one, which commands find by themselves.
    private var shownState: String? {
        let setting = farm.settings.stateFolder
        return hasOwnState || setting.origin == .standard ? nil : setting.value
    }

    /// A copy whose workers belong to a run.
    package func working(for run: RunClaim) -> JobPreparation {
        var preparation = self
        preparation.farm = farm.working(for: run)
        return preparation
    }

    /// - Parameter contents: what the ledger knows of the job's outputs.
    package func prepare(_ job: JobSpec, contents: LedgerContents) async throws -> PreparedJob {
        if let repair, repair.job != job.name {
            throw FarmError(
                .badManifest,
                "\(PathText.visible(PathText.shown(job.manifestPath, from: folder))): is the job '\(job.name)' now, and the "
                    + "damaged outputs are of the job '\(repair.job)'\n   = name the manifest of that job")
        }
        let job = try await readingPictures(of: job)
        let plan = try await planned(job, hasOutputs: !contents.records.isEmpty)
        let variants = try await variants(of: plan)
        let now = currentTime()
        let rerun = rerun(job)
        let freshness = Freshness(
            job: job, isForced: isForced, madeSince: rerun?.begin(in: contents.runs, now: now),
            damaged: repair.map { repair in
                Dictionary(repair.outputs.map { (PathKey($0.path), $0.found) }) { first, _ in first }
            },
            records: contents.records, broken: triesBroken ? [] : contents.broken,
            recipes: RecipeTable(catalog: catalog, texts: contents.recipes), stateFolder: shownState, now: now)
        var prepared = PreparedJob(plan: plan, contents: contents, freshness: freshness)
        prepared.rerun = rerun
        prepared.regionHints = variants.hints
        prepared.ended = plan.missing.map(Self.missing)
        prepared.ended += plan.unreadableFolders.filter { isWanted($0.frame, plan) }.map(Self.unreadable)
        if !allowsGone, !plan.danglingLinks.isEmpty {
            let known = Set(contents.records.map { PathKey($0.input) })
            prepared.ended += plan.lostLinks(among: known, by: selection).map(Self.leadsNowhere)
        }
        prepared.ended += plan.unwritable.map { frame, problem in
            frame.report(.failed(FrameFailure(.output, problem.message(of: frame.input.path))))
        }
        try await FrameNaming(plan: plan, variants: variants, freshness: freshness).name(&prepared, by: self)
        try await findPriorOutputs(&prepared)
        leaveOutSettled(&prepared)
        if let limit { try await narrow(&prepared, to: limit) }
        if deadline != nil { prepared.putLast(contents.tooSlow) }
        prepared.isWhole = selection == JobPlan.Selection() && limit == nil && list == nil && begun == nil
        if list == nil { findGone(&prepared) }
        return prepared
    }

    /// Finds the earlier job that published outputs which this job does not know.
    private func findPriorOutputs(_ prepared: inout PreparedJob) async throws {
        guard prepared.job.existing == .update, !isForced else { return }
        let priors = try await priorOutputs(prepared)
        guard !priors.isEmpty else { return }
        let freshness = prepared.freshness.knowing(priors)
        prepared.freshness = freshness
        prepared.targets = prepared.targets.map { target in
            guard target.files.outputs.contains(where: { priors[PathKey($0.path)] != nil }) else { return target }
            return target.decided(freshness.verdict(of: target.files))
        }
    }

    /// The outputs of other jobs at this job's paths.
    ///
    /// - Parameter findings: what was read of outputs. The others are recognised by size and time.
    func priorOutputs(
        _ prepared: PreparedJob, findings: Freshness.Findings = [:]
    ) async throws -> [PathKey: PriorOutput] {
        guard let search = prepared.contents.priorLookup else { return [:] }
        return try await Blocking.run { [targets = prepared.targets, freshness = prepared.freshness] in
            let unknown = OutputTakeover.unknown(targets, freshness)
            let rewritten = OutputTakeover.rewritten(targets, freshness)
            let replaced = try search.outputs(rewritten: rewritten, freshness, jobName: jobName)
            return try search.outputs(unknown, findings: findings, jobName: jobName).merging(replaced) { first, _ in
                first
            }
        }
    }

    /// See ``PriorLookup/JobName``.
    package func jobName(in manifest: [UInt8], path: String) -> String? {
        JobReader.read(
            bytes: manifest, path: path, realPath: path, catalog: catalog,
            shared: farm.settings.sharedParameters,
            inspect: FilterPictures.inspect
        ).job?.name
    }

    /// Finds earlier jobs of outputs by their bytes, because copies have other times.
    func freshnessByBytes(_ prepared: PreparedJob) async throws -> Freshness {
        let unknown = OutputTakeover.unknown(prepared.targets, prepared.freshness)
        let findings = try await findings(of: OutputTakeover.files(of: unknown, prepared.freshness), prepared.job)
        return prepared.freshness.knowing(try await priorOutputs(prepared, findings: findings))
    }

    /// Nil unless the run makes everything again. A `penumbra retry` does not: it repeats some frames.
    private func rerun(_ job: JobSpec) -> FullRerun? {
        guard isForced || job.existing == .overwrite, selection.inputs == nil, selection.done.isEmpty else {
            return nil
        }
        return FullRerun(only: selection.only, limit: firstLimit, list: list?.name)
    }

    /// Removes the frames that were not left: their outputs are up to date, or their pictures are still broken. The run that left
    /// the others has no record of them.
    private func leaveOutSettled(_ prepared: inout PreparedJob) {
        guard let begun else { return }
        prepared.targets.removeAll { target in
            switch target.verdict {
            // A resumed run counts the frames that it published before it was interrupted.
            case .current, .stillBroken: !begun.contains(PathKey(target.files.input))
            case .render, .compare, .kept, .refused, .tooRecent: false
            }
        }
    }

    /// Removes the frames that follow the first `limit` frames with work.
    private func narrow(_ prepared: inout PreparedJob, to limit: Int) async throws {
        var (work, index) = (0, 0)
        while index < prepared.targets.count, work < limit {
            // Some verdicts need the files' bytes. These are read in parts, because the limit may be near.
            if case .compare = prepared.targets[index].verdict {
                try await compare(&prepared, in: index..<min(index + Self.comparedAtOnce, prepared.targets.count))
            }
            if prepared.targets[index].isWork { work += 1 }
            index += 1
        }
        guard index < prepared.targets.count else { return }
        let last = prepared.targets[index - 1].frame.index
        prepared.targets.removeSubrange(index...)
        // Unreadable folders have numbers above those of all pictures. The run reports them nevertheless.
        let count = prepared.plan.inputs.count
        prepared.ended.removeAll { $0.index > last && $0.index <= count }
    }

    private static let comparedAtOnce = 256

    /// The pictures of the job's own patterns, if a list takes their place.
    ///
    /// - Throws: ``FarmError`` if they cannot be known.
    private func inputsBesideList(of job: JobSpec) throws(FarmError) -> [InputFile] {
        guard list != nil else { return [] }
        do throws(PlanError) {
            return try JobPlan.pictures(of: job, catalog: catalog)
        } catch {
            throw refusal(error, job)
        }
    }

    func variants(of plan: JobPlan) async throws -> FrameVariants {
        let variants = try FrameVariants(plan, catalog: catalog) { try reread(plan.job, $0) }
        let complete = variants.withPictures(try await pictureDigests(variants.picturePaths, plan.job))
        let resolved = try await Blocking.run {
            try complete.withRegions(
                of: plan, others: { () throws(FarmError) in try inputsBesideList(of: plan.job) }, shownFrom: folder
            ).withOwnPictures(of: plan, shownFrom: folder)
        }
        let own = resolved.ownPicturePaths
        guard !own.isEmpty else { return resolved }
        let findings = try await findings(of: own.map { DigestTask.File(path: $0) }, plan.job)
        var digests: [PathKey: String] = [:]
        for (file, facts) in findings { digests[PathKey(file.path)] = facts?.digest.description }
        return resolved.withOwnDigests(digests, of: plan, shownFrom: folder)
    }

    /// - Parameter hasOutputs: earlier runs published outputs. If there are no inputs now, they are lost, unless the request allows
    ///   it: then their outputs are orphans.
    package func planned(_ job: JobSpec, hasOutputs: Bool = false) async throws -> JobPlan {
        try await Blocking.run { try plan(job, hasOutputs: hasOutputs) }
    }

    private func plan(_ job: JobSpec, hasOutputs: Bool) throws -> JobPlan {
        let today = UTCTime(secondsSince1970: time(nil)).day
        do {
            guard let list else {
                return try JobPlan(
                    job, catalog: catalog, date: today, selection: selection, allowsMissing: allowsMissing,
                    allowsNothing: allowsNothing && hasOutputs)
            }
            return try JobPlan(job, list: list, catalog: catalog, date: today, selection: selection)
        } catch {
            let refusal = refusal(error, job)
            // An unreadable folder is not empty.
            let isUnreadable = if case .unreadableFolder = error { true } else { false }
            guard isUnreadable || hasOutputs && !allowsMissing && selection.only.isEmpty && error.isMissingInput else {
                throw refusal
            }
            throw FarmError(refusal.outcome, refusal.message, isLoss: true)
        }
    }

    private static func leadsNowhere(_ frame: PlannedFrame) -> FrameReport {
        frame.report(
            .failed(
                FrameFailure(
                    .input,
                    "\(PathText.visible(frame.input.path)): is a link whose target is gone, or not "
                        + "mounted; --allow-gone continues without it")))
    }

    /// Whether the run has to report an unreadable folder: its selection may choose pictures in it.
    private func isWanted(_ folder: PlannedFrame, _ plan: JobPlan) -> Bool {
        if let chosen = selection.inputs { return chosen.contains(PathKey(folder.input.path)) }
        return !selection.done.contains(PathKey(folder.input.path)) && plan.mayReach(folder, by: selection)
    }

    private static func unreadable(_ frame: PlannedFrame, _ folder: UnreadableFolder) -> FrameReport {
        closed(frame, folder, folder.trouble, remedy: "read it", or: ", or name it in 'exclude'")
    }

    /// - Parameter remedy: what the user has to be allowed to do.
    private static func closed(
        _ frame: PlannedFrame, _ folder: UnreadableFolder, _ reason: String, remedy: String, or other: String = ""
    ) -> FrameReport {
        let remedy =
            folder.isForbidden ? "let the user who runs the job \(remedy)" : "check its disk or its server"
        return frame.report(
            .failed(
                FrameFailure(
                    folder.isForbidden ? .permission : .input,
                    "\(PathText.visible(frame.input.path)): \(reason); \(remedy)\(other)")))
    }

    private static func missing(_ frame: PlannedFrame) -> FrameReport {
        let path = PathText.visible(frame.input.path)
        if let closed = UnreadableFolder(hiding: frame.input.exactPath) {
            return self.closed(frame, closed, "cannot be examined: \(closed.reason)", remedy: "open its folder")
        }
        let reason = FileStamp(of: frame.input) == nil ? "no such file" : "is a folder; list the files in it"
        return frame.report(.failed(FrameFailure(.input, "\(path): \(reason)")))
    }

    /// Finds published outputs of pictures that are not inputs any more.
    private func findGone(_ prepared: inout PreparedJob) {
        let records = prepared.contents.records
        guard !records.isEmpty else { return }
        let inputs = Set(prepared.plan.inputs.map { PathKey($0.path) })
        prepared.lost = MissingDisks.pictures(
            records, inputs: inputs, before: prepared.contents.knownDisks, missing: prepared.plan.missingPaths)
        // Files below the mount point of a lost disk are not the pictures that its outputs were made of.
        let lost = Set(prepared.lost.flatMap(\.records).map { PathKey($0.input) })
        if !lost.isEmpty, !allowsGone { prepared.targets.removeAll { lost.contains(PathKey($0.files.input)) } }
        let pages = pageCounts(prepared)
        let unmatched = records.filter { record in
            guard inputs.contains(PathKey(record.input)) else { return true }
            return pages[PathKey(record.input)].map { record.page >= $0 } ?? false
        }
        if prepared.isWhole, !unmatched.isEmpty { findOrphans(&prepared, among: unmatched) }
    }

    /// The number of pages of each probed input, if each page has its own outputs.
    private func pageCounts(_ prepared: PreparedJob) -> [PathKey: Int] {
        guard prepared.job.rendersPages else { return [:] }
        let counts = prepared.plan.frames.compactMap { frame -> (PathKey, Int)? in
            guard case .success(let probe) = prepared.findings[frame.id] else { return nil }
            return (PathKey(frame.input.path), probe.pages)
        }
        return Dictionary(counts) { max($0, $1) }
    }

    /// Sorts outputs of missing pictures and pages into orphans, lost outputs, and outputs of pictures that are not selected.
    private func findOrphans(_ prepared: inout PreparedJob, among unmatched: [OutputRecord]) {
        let inputs = Set(prepared.plan.inputs.map { PathKey($0.path) })
        let lost = Set(prepared.lost.flatMap(\.records).map { PathKey($0.path) })
        let outputs = prepared.targets.flatMap(\.outputs) + prepared.ended.flatMap(\.outputs)
        let planned = Set(outputs.map(PathKey.init))
        let closed = prepared.plan.unreadableFolders.map(\.frame.input.path)
        for record in unmatched.sorted(by: { $0.path < $1.path })
        // Pictures in unreadable folders may be inputs.
        where !closed.contains(where: { PathKey($0) == PathKey(record.input) || PathNames.isBelow(record.input, $0) })
            && !planned.contains(PathKey(record.path)) && FileSystem.isOutput(record.path)
        {
            if inputs.contains(PathKey(record.input)) {
                prepared.orphans.append(record)
            } else if OutputLookup.inputMayExist(at: record.input) {
                prepared.unselected.append(record)
            } else if lost.contains(PathKey(record.path)) {
                prepared.lostOutputs.append(record)
            } else {
                prepared.orphans.append(record)
            }
        }
    }

    package func refusal(_ problem: PlanError, _ job: JobSpec) -> FarmError {
        let manifest = PathText.shown(job.manifestPath, from: folder)
        return FarmError(
            problem.isMissingInput ? .missingInput : .badManifest,
            "\(manifest): error: \(front.map(problem.message(in:)) ?? problem.message)")
    }

    /// Probes frames, and adds what it finds. With a deadline it stops after half of the time, so that the rest is for rendering.
    func probe(
        _ prepared: inout PreparedJob, _ frames: [PlannedFrame],
        variants: @escaping @Sendable (PlannedFrame) -> FrameVariant?
    ) async throws {
        prepared.findings.merge(try await probes(of: frames, prepared.plan, variants: variants)) { $1 }
    }

    func probes(
        of frames: [PlannedFrame], _ plan: JobPlan,
        variants: @escaping @Sendable (PlannedFrame) -> FrameVariant?
    ) async throws -> ProbeQuery.Findings {
        guard !frames.isEmpty else { return [:] }
        let loop = RunLoop(
            engine: farm.engine(), control: control, deadline: deadline?.half(at: .now))
        let (findings, stop) = await ProbeQuery.run(
            plan, frames: frames, variants: variants, settings: farm.runSettings, loop: loop)
        if stop != .deadline { try refuse(stop) }
        return findings
    }

    /// Decides the frames whose verdict needs the bytes of files.
    package func compare(_ prepared: inout PreparedJob) async throws {
        try await compare(&prepared, in: prepared.targets.indices)
    }

    private func compare(_ prepared: inout PreparedJob, in range: Range<Int>) async throws {
        let files = prepared.targets[range].flatMap { target -> [DigestTask.File] in
            if case .compare(let files) = target.verdict { files } else { [] }
        }
        let findings = try await self.findings(of: files, prepared.job)
        for index in range {
            let target = prepared.targets[index]
            guard case .compare = target.verdict else { continue }
            prepared.targets[index] = target.decided(
                prepared.freshness.verdict(of: target.files, findings: findings))
        }
    }

    /// Probes the frames that a run would render, so that a plan can show how.
    package func probeWork(_ prepared: inout PreparedJob) async throws {
        let work = prepared.targets.filter { $0.isWork && $0.probe == nil }
        let variants = Dictionary(work.map { ($0.frame.id, $0.variant) }) { $1 }
        try await probe(&prepared, work.map(\.frame)) { variants[$0.id] ?? nil }
        var targets: [FrameTarget] = []
        for target in prepared.targets {
            switch prepared.findings[target.frame.id] {
            case .success(let probe): targets.append(target.probed(probe))
            case .failure(let failure): prepared.ended.append(target.report(.failed(failure)))
            case nil: targets.append(target)
            }
        }
        prepared.targets = targets
    }

    func findings(of files: [DigestTask.File], _ job: JobSpec) async throws -> Freshness.Findings {
        guard !files.isEmpty else { return [:] }
        let folders = await Blocking.run { FolderOutputs.read(files.map(\.path)) }
        let loop = RunLoop(engine: farm.engine(readable: folders), control: control, deadline: deadline)
        let (findings, stop) = await DigestQuery.run(
            files, job: job, settings: farm.runSettings, loop: loop)
        try refuse(stop)
        return findings
    }

    func headers(of files: [DigestTask.File], _ job: JobSpec) async throws -> HeaderQuery.Headers {
        guard !files.isEmpty else { return [:] }
        let loop = RunLoop(engine: farm.engine(), control: control, deadline: deadline)
        let (found, stop) = await HeaderQuery.run(files, job: job, settings: farm.runSettings, loop: loop)
        try refuse(stop)
        return found
    }

    private func refuse(_ stop: StopReason?) throws {
        guard let stop else { return }
        if stop == .deadline {
            throw FarmError(
                .workLeft, "the deadline is reached while files are compared, which the next run does again")
        }
        var summary = RunSummary()
        summary.stop = stop
        throw FarmError(RunOutcome(summary), stop.message())
    }
}

/// Nanoseconds since 1970.
package func currentTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileStamp.nanoseconds(seconds: time.tv_sec, and: time.tv_nsec)
}

extension Farm {
    package var runSettings: RunSettings { runSettings(workers: settings.workers.value) }

    /// Settings with no more workers than frames, because each whole frame has one worker.
    package func runSettings(for prepared: PreparedJob) -> RunSettings {
        let useful = prepared.job.shard == .frame ? max(1, prepared.targets.count) : .max
        return runSettings(workers: min(settings.workers.value, useful))
    }

    private func runSettings(workers: Int) -> RunSettings {
        RunSettings(
            workers: workers, memory: settings.memory.value, silence: settings.silence.value,
            seed: UInt64.random(in: .min ... .max))
    }
}

/// The pictures that filters read beside their input. Only workers read them. This checks that they are readable files.
package enum FilterPictures {
    package static let inspect: PictureLookup.Inspection = { path, folder in
        let whole = PathText.normalized(path, in: folder)
        return (whole, problem(at: whole))
    }

    /// What ``problem(at:)`` says of a path that leads to nothing.
    static let missing = "no such file"

    /// Why a file cannot be used. Nil if it can.
    static func problem(at path: String) -> String? {
        var found = stat()
        guard stat(path, &found) == 0 else {
            return [ENOENT, ENOTDIR].contains(errno) ? missing : String(cString: strerror(errno)).lowercased()
        }
        if found.st_mode & S_IFMT == S_IFDIR { return "is a folder" }
        return access(path, R_OK) == 0 ? nil : "may not be read (\(String(cString: strerror(errno)).lowercased()))"
    }
}

extension JobPreparation {
    /// The job with the digests of the files that it names: pictures of filters, and profiles. They are a part of its recipes.
    package func readingPictures(of job: JobSpec) async throws -> JobSpec {
        let digests = try await pictureDigests(job.picturePaths, job)
        return job.mappingPictures { PictureReference(path: $0.path, digest: digests[PathKey($0.path)]) }
    }

    /// - Throws: ``FarmError`` if a picture cannot be read.
    func pictureDigests(_ paths: [String], _ job: JobSpec) async throws -> [PathKey: String] {
        guard !paths.isEmpty else { return [:] }
        let findings = try await findings(of: paths.map { DigestTask.File(path: $0) }, job)
        var digests: [PathKey: String] = [:]
        for path in paths {
            guard let found = findings[DigestTask.File(path: path)] ?? nil else {
                let manifest = PathText.shown(job.manifestPath, from: folder)
                throw FarmError(
                    .missingInput,
                    "\(manifest): error: \(PathText.visible(path)): the file, which the job needs, cannot be read\n"
                        + "   = name a file that this user may read")
            }
            digests[PathKey(path)] = found.digest.description
        }
        return digests
    }
}

/// An estimate of a job's work, from the headers of some of its pictures.
package struct WorkSample {
    package let plan: JobPlan
    package let estimate: WorkEstimate
    /// How many headers were read.
    package let sampled: Int

    /// This many headers give the size of a job to some percent, and take a few seconds.
    private static let largestSample = 256

    /// - Throws: ``FarmError``, as a run does, if there are no inputs.
    package init(of job: JobSpec, _ preparation: JobPreparation) async throws {
        plan = try await preparation.planned(try await preparation.readingPictures(of: job))
        let variants = try await preparation.variants(of: plan)
        let frames = Self.sample(plan.frames.filter { variants.failure(of: $0) == nil })
        let settings = preparation.farm.runSettings
        let count = min(plan.frames.count, preparation.limit ?? .max)
        let findings = try await preparation.probes(of: frames, plan) { variants[$0] }
        // The run reports broken pictures.
        let probes = frames.compactMap { try? findings[$0.id]?.get() }
        sampled = probes.count
        estimate = WorkEstimate(
            of: probes, frames: count, policy: settings.shardPolicy(plan.job, frames: count))
    }

    /// Evenly spread over the plan, because pictures of one folder are often alike.
    private static func sample(_ frames: [PlannedFrame]) -> [PlannedFrame] {
        guard frames.count > largestSample else { return frames }
        return (0..<largestSample).map { frames[$0 * frames.count / largestSample] }
    }
}

extension RunRequest {
    /// An empty pattern would stand for all below the root folder.
    package func refuseEmptyPatterns() throws(FarmError) {
        guard only.contains("") else { return }
        throw FarmError(
            .usage,
            "--only has an empty pattern\n   = write a name or a path, such as 'photos/*.jpg', or leave --only out")
    }
}
