package import Catalogs
package import Coordination
import Engines
import FoundationEssentials
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

/// Prepares jobs. Opens pictures only where their names ask for it.
package struct JobPreparation {
    package var installation: Farm
    package let catalog: Catalog
    /// Messages show paths as they are seen from there.
    let folder: String
    let selection: JobPlan.Selection
    /// How many frames at most there is something to do with; nil for any number.
    package var limit: Int?
    /// What it was for the first part of a run that makes everything again.
    var firstLimit: Int?
    let list: FileList?
    let isForced: Bool
    let control: RunControl
    let deadline: Deadline?
    /// Reads a job's manifest again, with more overrides.
    let reread: (JobSpec, [Override]) throws -> ReadResult
    /// Entries of `inputs` whose file or folder is not there are no reason to stop.
    package var allowsMissing = false
    /// Nor is it that nothing is left of all inputs. A watch does not say so: somebody may have moved their folder for a moment.
    package var allowsNothing = false
    /// What earlier runs found and is gone was removed.
    package var allowsGone = false

    /// - Parameters:
    ///   - folder: messages show paths as they are seen from there.
    ///   - limit: how many frames at most there is something to do with; nil for any number.
    ///   - reread: reads a job's manifest again, with more overrides.
    package init(
        installation: Farm, catalog: Catalog, folder: String, selection: JobPlan.Selection, limit: Int? = nil,
        firstLimit: Int? = nil, list: FileList?, isForced: Bool, control: RunControl, deadline: Deadline?,
        reread: @escaping (JobSpec, [Override]) throws -> ReadResult
    ) {
        self.installation = installation
        self.catalog = catalog
        self.folder = folder
        self.selection = selection
        (self.limit, self.firstLimit) = (limit, firstLimit)
        self.list = list
        self.isForced = isForced
        self.control = control
        self.deadline = deadline
        self.reread = reread
    }

    /// The same, by workers of a run.
    package func working(for directory: RunClaim) -> JobPreparation {
        var preparation = self
        preparation.installation = installation.working(for: directory)
        return preparation
    }

    /// - Parameter contents: what is known of the job's outputs.
    package func prepare(_ job: JobSpec, contents: LedgerContents) async throws -> PreparedJob {
        let job = try await readingPictures(of: job)
        let plan = try planned(job, hasOutputs: !contents.records.isEmpty)
        let variants = try await variants(of: plan)
        let now = currentTime()
        let rerun = rerun(job)
        let freshness = Freshness(
            job: job, isForced: isForced, madeSince: rerun?.begin(in: contents.runs, now: now),
            records: contents.records, broken: selection.inputs == nil ? contents.broken : [],
            recipes: RecipeTable(catalog: catalog, texts: contents.recipes), now: now)
        var prepared = PreparedJob(plan: plan, contents: contents, freshness: freshness)
        prepared.rerun = rerun
        prepared.ended = plan.missing.map(Self.missing)
        prepared.ended += plan.unreadableFolders.filter { isWanted($0.frame, plan) }.map(Self.unreadable)
        if !allowsGone, !plan.danglingLinks.isEmpty {
            let known = Set(contents.records.map { PathKey($0.input) })
            prepared.ended += plan.lostLinks(among: known, by: selection).map(Self.leadsNowhere)
        }
        prepared.ended += plan.unwritable.map { frame, problem in
            frame.report(.failed(FrameFailure(.output, problem.message(of: frame.input.path))))
        }
        let naming = FrameNaming(preparation: self, plan: plan, variants: variants, freshness: freshness)
        try await naming.name(&prepared)
        try recogniseFormerOutputs(&prepared)
        if let limit { try await narrow(&prepared, to: limit) }
        if deadline != nil { prepared.putLast(contents.tooSlow) }
        prepared.isWhole = selection == JobPlan.Selection() && limit == nil && list == nil
        if list == nil { findGone(&prepared) }
        return prepared
    }

    /// Finds out who published the outputs that the job does not know, if another job of Penumbra did.
    private func recogniseFormerOutputs(_ prepared: inout PreparedJob) throws {
        guard prepared.job.existing == .update, !isForced, let search = prepared.contents.priorLookup else { return }
        let unknown = OutputTakeover.unknown(prepared.targets, prepared.freshness)
        let formers = try search.outputs(unknown, jobName: jobName)
        guard !formers.isEmpty else { return }
        let freshness = prepared.freshness.knowing(formers)
        prepared.freshness = freshness
        prepared.targets = prepared.targets.map { target in
            guard target.files.outputs.contains(where: { formers[PathKey($0.path)] != nil }) else { return target }
            return target.decided(freshness.verdict(of: target.files))
        }
    }

    /// As ``PriorLookup/JobName``.
    package func jobName(in manifest: [UInt8], path: String) -> String? {
        JobReader.read(
            bytes: manifest, path: path, realPath: path, catalog: catalog,
            shared: installation.settings.sharedParameters,
            inspect: FilterPictures.inspect
        ).job?.name
    }

    /// The same of outputs that were copied without their times: their bytes are read.
    func formersByBytes(_ prepared: PreparedJob) async throws -> Freshness {
        guard let search = prepared.contents.priorLookup else { return prepared.freshness }
        let unknown = OutputTakeover.unknown(prepared.targets, prepared.freshness)
        let findings = try await findings(of: OutputTakeover.files(of: unknown, prepared.freshness), prepared.job)
        return prepared.freshness.knowing(try search.outputs(unknown, findings: findings, jobName: jobName))
    }

    /// Nil for a run that makes only what has changed, and for one of chosen frames that `penumbra retry` repeats.
    private func rerun(_ job: JobSpec) -> FullRerun? {
        guard isForced || job.existing == .overwrite, selection.inputs == nil, selection.done.isEmpty else {
            return nil
        }
        return FullRerun(only: selection.only, limit: firstLimit, list: list?.name)
    }

    /// Leaves out what comes behind so many frames that there is something to do with.
    private func narrow(_ prepared: inout PreparedJob, to limit: Int) async throws {
        var (work, place) = (0, 0)
        while place < prepared.targets.count, work < limit {
            // What has to be read to tell is read some at a time: the limit may be near.
            if case .compare = prepared.targets[place].verdict {
                try await compare(&prepared, in: place..<min(place + Self.comparedAtOnce, prepared.targets.count))
            }
            if prepared.targets[place].isWork { work += 1 }
            place += 1
        }
        guard place < prepared.targets.count else { return }
        let last = prepared.targets[place - 1].frame.index
        prepared.targets.removeSubrange(place...)
        // Folders that cannot be read come behind all pictures, and are the run's concern nevertheless.
        let count = prepared.plan.inputs.count
        prepared.ended.removeAll { $0.index > last && $0.index <= count }
    }

    private static let comparedAtOnce = 256

    private func variants(of plan: JobPlan) async throws -> FrameVariants {
        let variants = try FrameVariants(plan, catalog: catalog) { try reread(plan.job, $0) }
        return variants.withPictures(try await pictureDigests(variants.picturePaths, plan.job))
    }

    /// - Parameter hasOutputs: earlier runs found inputs. Without any they are lost; or, where nothing is an answer, their outputs
    ///   are the run's concern.
    package func planned(_ job: JobSpec, hasOutputs: Bool = false) throws -> JobPlan {
        let today = Date().formatted(.iso8601.year().month().day())
        do {
            guard let list else {
                return try JobPlan(
                    job, catalog: catalog, date: today, selection: selection, allowsMissing: allowsMissing,
                    allowsNothing: allowsNothing && hasOutputs)
            }
            return try JobPlan(job, list: list, catalog: catalog, date: today, selection: selection)
        } catch {
            let refusal = refusal(error, job)
            // What is in a folder that cannot be read, nobody knows: that is not empty.
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
                    "\(PathText.visible(frame.input.path)): is a link that leads nowhere now: what it led to is gone, or not "
                        + "mounted; --allow-gone goes on without it")))
    }

    /// Whether a folder that cannot be listed is the run's concern: one that does what may be in it, or that tries it again.
    private func isWanted(_ folder: PlannedFrame, _ plan: JobPlan) -> Bool {
        if let chosen = selection.inputs { return chosen.contains(PathKey(folder.input.path)) }
        return !selection.done.contains(PathKey(folder.input.path)) && plan.mayReach(folder, by: selection)
    }

    private static func unreadable(_ frame: PlannedFrame, _ folder: UnreadableFolder) -> FrameReport {
        closed(frame, folder, folder.trouble, remedy: "read it", or: ", or name it in 'exclude'")
    }

    /// - Parameter remedy: what the user has to be allowed to do.
    private static func closed(
        _ frame: PlannedFrame, _ folder: UnreadableFolder, _ trouble: String, remedy: String, or other: String = ""
    ) -> FrameReport {
        let remedy =
            folder.isForbidden ? "let the user who runs the job \(remedy)" : "look after its disk or its server"
        return frame.report(
            .failed(
                FrameFailure(
                    folder.isForbidden ? .permission : .input,
                    "\(PathText.visible(frame.input.path)): \(trouble); \(remedy)\(other)")))
    }

    private static func missing(_ frame: PlannedFrame) -> FrameReport {
        let path = PathText.visible(frame.input.path)
        if let closed = UnreadableFolder(hiding: frame.input.exactPath) {
            return self.closed(frame, closed, "cannot be looked at: \(closed.reason)", remedy: "open its folder")
        }
        let reason = FileStamp(of: frame.input) == nil ? "no such file" : "is a folder; list the files in it"
        return frame.report(.failed(FrameFailure(.input, "\(path): \(reason)")))
    }

    /// What the job published of pictures that are not its inputs now.
    private func findGone(_ prepared: inout PreparedJob) {
        let records = prepared.contents.records
        guard !records.isEmpty else { return }
        let inputs = Set(prepared.plan.inputs.map { PathKey($0.path) })
        prepared.lost = MissingDisks.pictures(
            records, inputs: inputs, before: prepared.contents.places, missing: prepared.plan.missingPaths)
        // What lies below the mount point of a lost disk is not what its outputs were made of.
        let lost = Set(prepared.lost.flatMap(\.records).map { PathKey($0.input) })
        if !lost.isEmpty, !allowsGone { prepared.targets.removeAll { lost.contains(PathKey($0.files.input)) } }
        let pages = pageCounts(prepared)
        let strange = records.filter { record in
            guard inputs.contains(PathKey(record.input)) else { return true }
            return pages[PathKey(record.input)].map { record.page >= $0 } ?? false
        }
        if prepared.isWhole, !strange.isEmpty { findOrphans(&prepared, among: strange) }
    }

    /// How many pages each input has now, of which each has outputs of its own; nothing of an input that was not looked at.
    private func pageCounts(_ prepared: PreparedJob) -> [PathKey: Int] {
        guard prepared.job.rendersPages else { return [:] }
        let counts = prepared.plan.frames.compactMap { frame -> (PathKey, Int)? in
            guard case .success(let probe) = prepared.findings[frame.id] else { return nil }
            return (PathKey(frame.input.path), probe.pages)
        }
        return Dictionary(counts) { max($0, $1) }
    }

    /// Outputs of pictures that are no inputs now, or of pages that pictures have no more, and that no other input's outputs are.
    private func findOrphans(_ prepared: inout PreparedJob, among strange: [OutputRecord]) {
        let inputs = Set(prepared.plan.inputs.map { PathKey($0.path) })
        let lost = Set(prepared.lost.flatMap(\.records).map { PathKey($0.path) })
        let outputs = prepared.targets.flatMap(\.outputs) + prepared.ended.flatMap(\.outputs)
        let planned = Set(outputs.map(PathKey.init))
        let closed = prepared.plan.unreadableFolders.map(\.frame.input.path)
        for record in strange.sorted(by: { $0.path < $1.path })
        // Whether a picture that cannot be looked at, or in a folder that cannot be read, is an input, nobody can tell.
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

    package func refusal(_ problem: PlanProblem, _ job: JobSpec) -> FarmError {
        let manifest = PathText.shown(job.manifestPath, from: folder)
        return FarmError(
            problem.isMissingInput ? .missingInput : .badManifest, "\(manifest): error: \(problem.message)")
    }

    /// Probes frames, those that there is time for: with a deadline, half of the time is for what is then rendered.
    func survey(
        _ prepared: inout PreparedJob, _ frames: [PlannedFrame],
        variants: @escaping @Sendable (PlannedFrame) -> FrameVariant?
    ) async throws {
        prepared.findings.merge(try await probes(of: frames, prepared.plan, variants: variants)) { $1 }
    }

    /// The same of frames of a plan alone.
    func probes(
        of frames: [PlannedFrame], _ plan: JobPlan,
        variants: @escaping @Sendable (PlannedFrame) -> FrameVariant? = { _ in nil }
    ) async throws -> ProbeQuery.Findings {
        guard !frames.isEmpty else { return [:] }
        let loop = RunLoop(
            engine: installation.engine(), control: control, deadline: deadline?.half(at: .now))
        let (findings, stop) = await ProbeQuery.run(
            plan, frames: frames, variants: variants, settings: installation.runSettings, loop: loop)
        if stop != .deadline { try refuse(stop) }
        return findings
    }

    /// Reads the files that have to be read to tell what is to be done, and decides.
    package func compare(_ prepared: inout PreparedJob) async throws {
        try await compare(&prepared, in: prepared.targets.indices)
    }

    private func compare(_ prepared: inout PreparedJob, in places: Range<Int>) async throws {
        let files = prepared.targets[places].flatMap { target -> [DigestTask.File] in
            if case .compare(let files) = target.verdict { files } else { [] }
        }
        let findings = try await self.findings(of: files, prepared.job)
        for place in places {
            let target = prepared.targets[place]
            guard case .compare = target.verdict else { continue }
            prepared.targets[place] = target.decided(
                prepared.freshness.verdict(of: target.files, findings: findings))
        }
    }

    /// Probes what a run would render, to show how.
    package func lookAtWork(_ prepared: inout PreparedJob) async throws {
        let work = prepared.targets.filter { $0.isWork && $0.probe == nil }
        let variants = Dictionary(work.map { ($0.frame.id, $0.variant) }) { $1 }
        try await survey(&prepared, work.map(\.frame)) { variants[$0.id] ?? nil }
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
        let loop = RunLoop(engine: installation.engine(), control: control, deadline: deadline)
        let (findings, stop) = await DigestQuery.run(
            files, job: job, settings: installation.runSettings, loop: loop)
        try refuse(stop)
        return findings
    }

    func headers(of files: [DigestTask.File], _ job: JobSpec) async throws -> HeaderQuery.Headers {
        guard !files.isEmpty else { return [:] }
        let loop = RunLoop(engine: installation.engine(), control: control, deadline: deadline)
        let (found, stop) = await HeaderQuery.run(files, job: job, settings: installation.runSettings, loop: loop)
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
        throw FarmError(RunOutcome(summary), StopWords.describe(stop))
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

    /// No more workers than there is work for: whole frames go one to a worker.
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

/// The pictures that filters read beside their input. This program looks at their files; workers read them.
package enum FilterPictures {
    package static let inspect: PictureLookup.Inspection = { path, folder in
        let whole = PathText.normalized(path, in: folder)
        return (whole, trouble(at: whole))
    }

    private static func trouble(at path: String) -> String? {
        var found = stat()
        guard stat(path, &found) == 0 else {
            return [ENOENT, ENOTDIR].contains(errno) ? "no such file" : String(cString: strerror(errno)).lowercased()
        }
        if found.st_mode & S_IFMT == S_IFDIR { return "is a folder" }
        return access(path, R_OK) == 0 ? nil : "may not be read (\(String(cString: strerror(errno)).lowercased()))"
    }
}

extension JobPreparation {
    /// The job with the digests of the pictures that its filters read: what they hold is a part of how outputs are made.
    package func readingPictures(of job: JobSpec) async throws -> JobSpec {
        let digests = try await pictureDigests(job.picturePaths, job)
        return job.mappingPictures { PictureReference(path: $0.path, digest: digests[PathKey($0.path)]) }
    }

    /// - Throws: when one of the pictures cannot be read.
    func pictureDigests(_ paths: [String], _ job: JobSpec) async throws -> [PathKey: String] {
        guard !paths.isEmpty else { return [:] }
        let findings = try await findings(of: paths.map { DigestTask.File(path: $0) }, job)
        var digests: [PathKey: String] = [:]
        for path in paths {
            guard let found = findings[DigestTask.File(path: path)] ?? nil else {
                let manifest = PathText.shown(job.manifestPath, from: folder)
                throw FarmError(
                    .missingInput,
                    "\(manifest): error: \(PathText.visible(path)): the picture, which a filter reads, cannot be read")
            }
            digests[PathKey(path)] = found.digest.description
        }
        return digests
    }
}

/// How much there is to do of a job, by the headers of some of its pictures.
package struct WorkSample {
    package let plan: JobPlan
    package let estimate: WorkEstimate
    /// Pictures whose headers were read.
    package let lookedAt: Int

    /// As many give the size of a job to some percent, and take a few seconds.
    private static let mostLooks = 256

    /// - Throws: ``FarmError`` as a run would where there is nothing to do.
    package init(of job: JobSpec, _ preparation: JobPreparation) async throws {
        plan = try preparation.planned(try await preparation.readingPictures(of: job))
        let frames = Self.sample(plan.frames)
        let settings = preparation.installation.runSettings
        let count = min(plan.frames.count, preparation.limit ?? .max)
        let findings = try await preparation.probes(of: frames, plan)
        // Broken pictures are told when the job runs.
        let probes = frames.compactMap { try? findings[$0.id]?.get() }
        lookedAt = probes.count
        estimate = WorkEstimate(
            of: probes, frames: count, policy: settings.shardPolicy(plan.job, frames: count))
    }

    /// From all over the plan: pictures of one folder are often alike.
    private static func sample(_ frames: [PlannedFrame]) -> [PlannedFrame] {
        guard frames.count > mostLooks else { return frames }
        return (0..<mostLooks).map { frames[$0 * frames.count / mostLooks] }
    }
}
