import Catalogs
import Coordination
import Dispatching
import FoundationEssentials
import Geometry
import JobModel
import Planning
import Scheduling
import Settings
import WorkerProtocol

/// A job that may start: its frames are found, its outputs named, and nothing that it would harm was seen.
struct PreparedJob {
    let plan: JobPlan
    var targets: [JobRun.Target] = []
    /// Frames that failed already: no UTF-8 name, or broken when they were probed for their names.
    var failed: [FrameReport] = []
    var findings: Survey.Findings = [:]

    var job: JobSpec { plan.job }
}

/// Prepares jobs. Opens pictures only where their names, or the user, ask for a survey.
struct JobPreparation {
    let installation: Installation
    let catalog: Catalog
    let selection: JobPlan.Selection
    let signals: Signals

    /// - Parameter surveys: whether every picture is probed, for `plan`.
    func prepare(_ job: JobSpec, surveys: Bool) async throws -> PreparedJob {
        let plan = try planned(job)
        var prepared = PreparedJob(plan: plan)
        prepared.failed = plan.oddPaths.map(Self.oddName)
        var frames = plan.frames
        if surveys || job.needsProbe {
            try await survey(&prepared, frames)
            if job.rendersPages {
                frames = frames.flatMap { pages(of: $0, prepared.findings) }
                // Pages differ in size; the first ones are known.
                try await survey(&prepared, frames.filter { $0.page > 0 })
            }
        }
        nameOutputs(&prepared, frames)
        try refuseHarm(prepared)
        return prepared
    }

    private func planned(_ job: JobSpec) throws -> JobPlan {
        let today = Date().formatted(.iso8601.year().month().day())
        do {
            return try JobPlan(job, catalog: catalog, date: today, selection: selection)
        } catch {
            throw Self.refusal(error, job)
        }
    }

    private static func oddName(_ path: [UInt8]) -> FrameReport {
        FrameReport(
            index: 0, input: String(decoding: path, as: UTF8.self), inputBytes: path, outputs: [],
            state: .failed(FrameFailure(.data, "the file's name is not UTF-8; rename it")))
    }

    /// All pages of a file that could be opened.
    private func pages(of frame: PlannedFrame, _ findings: Survey.Findings) -> [PlannedFrame] {
        guard case .success(let probe) = findings[frame.id] else { return [frame] }
        return (0..<probe.pages).map { frame.page($0) }
    }

    private func survey(_ prepared: inout PreparedJob, _ frames: [PlannedFrame]) async throws {
        guard !frames.isEmpty else { return }
        let settings = installation.runSettings
        let loop = RunLoop(
            engine: installation.engine(), signals: signals.stream)
        let (findings, stop) = await Survey.run(
            prepared.plan, frames: frames, settings: settings, loop: loop)
        if let stop {
            var summary = RunSummary()
            summary.stop = stop
            throw CommandError(ExitStatus(summary), SummaryText.describe(stop))
        }
        prepared.findings.merge(findings) { $1 }
    }

    private func nameOutputs(_ prepared: inout PreparedJob, _ frames: [PlannedFrame]) {
        for frame in frames {
            var probe: ProbeReceipt?
            switch prepared.findings[frame.id] {
            case .success(let found): probe = found
            case .failure(let failure):
                prepared.failed.append(
                    FrameReport(index: frame.index, input: frame.input.path, outputs: [], state: .failed(failure)))
                continue
            case nil: break
            }
            let outputs = prepared.plan.outputs(
                of: frame, measures: probe?.outputs.map(OutputNaming.Measures.init))
            prepared.targets.append(JobRun.Target(frame: frame, outputs: outputs, probe: probe))
        }
    }

    private func refuseHarm(_ prepared: PreparedJob) throws {
        do {
            try prepared.plan.check(
                prepared.targets.flatMap { target in target.outputs.map { (target.frame, $0) } })
        } catch {
            throw Self.refusal(error, prepared.job)
        }
    }

    private static func refusal(_ problem: PlanProblem, _ job: JobSpec) -> CommandError {
        let manifest = PathText.shown(job.manifestPath, from: currentFolder())
        return CommandError(
            problem.isMissingInput ? .missingInput : .badManifest, "\(manifest): error: \(problem.message)")
    }
}

extension OutputNaming.Measures {
    init(_ geometry: OutputGeometry) {
        self.init(
            width: geometry.extent.width, height: geometry.extent.height, contentDigest: geometry.contentDigest)
    }
}

extension Installation {
    var runSettings: RunSettings { runSettings(workers: settings.workers.value) }

    /// No more workers than there is work for: whole frames go one to a worker.
    func runSettings(for prepared: PreparedJob) -> RunSettings {
        let useful = prepared.job.shard == .frame ? max(1, prepared.targets.count) : .max
        return runSettings(workers: min(settings.workers.value, useful))
    }

    private func runSettings(workers: Int) -> RunSettings {
        RunSettings(workers: workers, memory: settings.memory.value, seed: UInt64.random(in: .min ... .max))
    }
}
