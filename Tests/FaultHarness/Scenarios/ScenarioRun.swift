import Foundation

/// Carries out scenarios, one after the other.
final class ScenarioRun {
    private let programs: Programs
    private let references: ReferenceStore
    private let folder: String
    private let keepsAll: Bool

    /// - Parameters:
    ///   - programs: those under test.
    ///   - real: those that references are made with.
    ///   - keepsAll: workspaces of scenarios that went well stay, too.
    init(_ programs: Programs, real: Programs, folder: String, keepsAll: Bool) throws {
        self.programs = programs
        self.folder = folder
        self.keepsAll = keepsAll
        try Folder.create(folder)
        references = ReferenceStore(real, folder: "\(folder)/references")
    }

    /// The folder of a scenario, which stays when something was wrong.
    func folder(of seed: UInt64, _ kind: ScenarioKind) -> String { "\(folder)/\(seed)-\(kind.rawValue)" }

    /// - Parameters:
    ///   - variant: nil for one that the seed chooses.
    ///   - patience: seconds that a run may take.
    func callAsFunction(
        seed: UInt64, kind: ScenarioKind, variant chosen: JobVariant? = nil, patience: Double = 45
    ) throws -> ScenarioResult {
        var random = SplitMix64(seed: seed ^ fingerprint(kind.rawValue))
        let variants = kind.variants
        let drawn = variants[Int.random(in: variants.indices, using: &random)]
        let path = folder(of: seed, kind)
        let begin = Moment.now
        let stage = try Stage(
            programs, references, chosen ?? drawn, Workspace(path), ScenarioResult(seed: seed, kind: kind), random)
        stage.patience = patience
        defer { stage.processes.killAll() }
        do {
            try play(kind, on: stage)
        } catch let skip as Skip {
            stage.result.skipped = skip.reason
        }
        stage.endWatching()
        stage.result.seconds = Moment.now - begin
        // Nobody needs the folder; one that stays harms nobody.
        if stage.result.violations.isEmpty, !keepsAll { try? FileManager.default.removeItem(atPath: path) }
        return stage.result
    }

    private func play(_ kind: ScenarioKind, on stage: Stage) throws {
        let injection = kind.injection
        if let staged = injection as? any StagedInjection { try staged.prepare(stage) }
        defer { if let staged = injection as? any StagedInjection { staged.clearAway(stage) } }
        try stage.prepare(kind)
        guard stage.result.violations.isEmpty else { return }
        stage.beginWatching()
        try injection.inject(into: stage)
        try stage.settle()
    }
}

/// A scenario that cannot be tried here.
struct Skip: Error {
    let reason: String
}

/// An injection that needs something before the job is set up.
protocol StagedInjection: Injection {
    func prepare(_ stage: Stage) throws
    func clearAway(_ stage: Stage)
}
