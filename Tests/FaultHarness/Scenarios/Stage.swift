import Foundation
import Glibc

/// A scenario could not be set up; nothing was tested.
struct StageProblem: Error, CustomStringConvertible {
    let description: String
}

/// The place where one scenario happens: a job in its workspace, and what is known of its runs.
final class Stage {
    let programs: Programs
    let references: ReferenceStore
    let variant: JobVariant
    let reference: Reference
    var workspace: Workspace
    var random: SplitMix64
    var result: ScenarioResult
    /// Lines that the manifest gets, and a filter in front of the others.
    var extraLines: [String] = []
    var filter: String?
    /// The bytes that inputs should have.
    var inputs: [String: Data]
    /// What every final path should hold in the end; all that it may hold on the way.
    var expected: [String: Data]
    var allowed: [[String: Data]]
    /// Frames that were edited by somebody, and stay.
    var edited = 0
    /// Whether outputs may be nobody's in the end, and are left as they are.
    var mayKeep = false
    /// Whether a calm run may have to go on after a failure.
    var mayFailFirst = false
    /// What all runs inherit.
    var standing: [String: String] = [:]
    /// What runs inherit while faults are injected.
    var environment: [String: String] = [:]
    /// Seconds that any run may take.
    var patience = 45.0

    let processes: ProcessTable
    private var watch: OutputWatch?

    init(
        _ programs: Programs, _ references: ReferenceStore, _ variant: JobVariant, _ workspace: Workspace,
        _ result: ScenarioResult, _ random: SplitMix64
    ) throws {
        self.programs = programs
        self.references = references
        self.variant = variant
        self.workspace = workspace
        self.result = result
        self.random = random
        self.result.variant = variant.name
        reference = try references.reference(variant, .current)
        inputs = Workspace.inputs(of: variant)
        expected = reference.files
        allowed = [reference.files]
        processes = ProcessTable(home: workspace.path)
    }

    func blame(_ check: Check, _ words: String) { result.violations.append(Violation(check: check, words: words)) }

    func writeManifest(_ generation: JobVariant.Generation = .current) throws {
        try workspace.write(
            variant.manifest(generation, out: workspace.out, filter: filter, extra: extraLines), to: "job.yaml")
    }

    func beginWatching() { watch = OutputWatch(workspace.outputs, allowed: allowed) }

    /// From now on final paths may hold these outputs, too.
    func allowNow(_ outputs: [String: Data]) {
        allowed.append(outputs)
        endWatching()
        beginWatching()
    }

    func endWatching() {
        for words in watch?.stop() ?? [] { blame(.moments, words) }
        watch = nil
    }
}

/// One run of `penumbra`, going on or ended.
struct ProgramRun {
    let number: Int
    let process: ChildProcess
    let log: String

    /// What it complained of.
    var lastWords: String {
        // A run that was killed at once has written nothing.
        let text = (try? String(contentsOfFile: log + ".err", encoding: .utf8)) ?? ""
        let output = (try? String(contentsOfFile: log + ".out", encoding: .utf8)) ?? ""
        let lines = output.split(separator: "\n").filter { line in
            [#""state":"failed""#, #""stopped":"#, #""event":"problem""#].contains { line.contains($0) }
        }
        return String((text + lines.joined(separator: "; ")).prefix(4000))
    }
}

extension Stage {
    /// Starts `penumbra run`, or another command on the manifest.
    ///
    /// - Parameters:
    ///   - isCalm: without any fault.
    ///   - wrapper: a program and its first arguments that run it.
    func start(
        isCalm: Bool = false, command name: [String] = ["run"], _ options: [String] = [], wrapper: [String] = []
    ) throws -> ProgramRun {
        result.runs += 1
        let command =
            wrapper + [programs.penumbra] + name + ["--json", "--workers", "\(variant.workers)", workspace.manifest]
            + options
        let log = "\(workspace.path)/logs/run-\(result.runs)"
        let more = standing.merging(isCalm ? [:] : environment) { $1 }
        let process = try ChildProcess(
            command[0], Array(command.dropFirst()), environment: workspace.environment(programs, adding: more),
            output: .file(log + ".out"), errors: .file(log + ".err"))
        return ProgramRun(number: result.runs, process: process, log: log)
    }

    /// Waits for the end of a run and judges its exit code.
    ///
    /// - Returns: its summary, if it came to one.
    @discardableResult func finish(_ run: ProgramRun, _ allowed: Set<Int32>) -> RunSummary? {
        guard let ending = run.process.wait(seconds: patience) else {
            blame(.inTime, "run \(run.number) did not end within \(Int(patience)) s")
            processes.killAll()
            _ = run.process.wait(seconds: 5)
            return nil
        }
        if !allowed.contains(ending.code) {
            let codes = allowed.sorted().map(String.init).joined(separator: ", ")
            blame(.exitCode, "run \(run.number) ended with \(ending), not with \(codes): \(run.lastWords)")
        }
        let summary = RunSummary(run.log + ".out")
        for input in summary?.withoutCause ?? [] { blame(.causes, "\(input) failed without a word") }
        return summary
    }

    /// Exit codes of a run to the end.
    var doneCodes: Set<Int32> { variant.hasBrokenPicture ? [0, 1] : [0] }

    /// A moment within a run, and a little after it.
    func moment(_ part: ClosedRange<Double> = 0...1.1) -> Double {
        reference.seconds * Double.random(in: part, using: &random)
    }

    /// A run without faults.
    @discardableResult func runCalmly(_ allowed: Set<Int32>? = nil) throws -> RunSummary? {
        try finish(start(isCalm: true), allowed ?? doneCodes)
    }

    /// Tells worker processes to do what a plan says.
    func plan(
        _ faults: [Fault], chance: Double, limit: Int, kinds: [String]? = nil, perTask: Int = 1, longest: Double = 0.2,
        paths: [String] = []
    ) throws {
        let plan = FaultPlan(
            worker: programs.worker, folder: workspace.faults, seed: random.next(), faults: faults, chance: chance,
            limit: limit, kinds: kinds, perTask: perTask, longest: longest, paths: paths,
            decoys: "\(workspace.path)/home")
        try workspace.write(JSONEncoder().encode(plan), to: "plan.json")
        let launcher = "\(workspace.path)/worker"
        try workspace.write("#!/bin/sh\nexec '\(programs.harness)' worker \"$@\"\n", to: "worker")
        chmod(launcher, 0o755)
        environment["PENUMBRA_WORKER"] = launcher
        environment[FaultPlan.variable] = "\(workspace.path)/plan.json"
    }

    /// What proxies and plugins did.
    var notes: [FaultBook.Note] { FaultBook(folder: workspace.faults).notes }
}
