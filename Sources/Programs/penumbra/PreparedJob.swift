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
        if surveys || job.output.needsProbe { try await survey(&prepared) }
        nameOutputs(&prepared)
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
            index: 0, input: String(decoding: path, as: UTF8.self), inputBytes: path, output: nil,
            state: .failed(FrameFailure(.data, "the file's name is not UTF-8; rename it")))
    }

    private func survey(_ prepared: inout PreparedJob) async throws {
        let settings = installation.runSettings
        let loop = RunLoop(
            engine: installation.engine(), signals: signals.stream)
        let (findings, stop) = await Survey.run(
            prepared.plan, frames: prepared.plan.frames, settings: settings, loop: loop)
        if let stop {
            var summary = RunSummary()
            summary.stop = stop
            throw CommandError(ExitStatus(summary), SummaryText.describe(stop))
        }
        prepared.findings = findings
    }

    private func nameOutputs(_ prepared: inout PreparedJob) {
        let naming = prepared.plan.naming
        for frame in prepared.plan.frames {
            var probe: ProbeReceipt?
            switch prepared.findings[frame.index] {
            case .success(let found): probe = found
            case .failure(let failure):
                prepared.failed.append(
                    FrameReport(index: frame.index, input: frame.input.path, output: nil, state: .failed(failure)))
                continue
            case nil: break
            }
            let measures = probe.map {
                OutputNaming.Measures(
                    width: $0.extent.width, height: $0.extent.height, contentDigest: $0.contentDigest)
            }
            let output = naming.path(for: frame.input, index: frame.index, measures: measures)
            prepared.targets.append(JobRun.Target(frame: frame, output: output, probe: probe))
        }
    }

    private func refuseHarm(_ prepared: PreparedJob) throws {
        do {
            try prepared.plan.check(prepared.targets.map { ($0.frame, $0.output) })
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
