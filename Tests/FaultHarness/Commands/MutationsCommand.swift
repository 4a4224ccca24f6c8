import ArgumentParser
import Foundation
import Glibc

/// Each check has to be able to fail.
struct MutationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mutations", abstract: "Shows that every check can fail, with programs that do wrong.")

    @OptionGroup var place: LocationOptions

    func run() throws {
        let real = try Programs(penumbra: place.penumbra, worker: place.worker)
        let folder = try place.makeFolder()
        var missed = try find(Lie.honest, real, in: folder).violations.isEmpty ? 0 : 1
        say("an honest program: \(missed == 0 ? "nothing is said against it" : "ACCUSED")")
        for lie in Lie.all {
            let result = try find(lie, real, in: folder)
            if let reason = result.skipped {
                say("skipped: a program that \(lie.name): \(reason)")
                continue
            }
            let violations = result.violations
            let isFound = violations.contains { $0.check == lie.check }
            missed += isFound ? 0 : 1
            let words = violations.first { $0.check == lie.check }?.description ?? "\(violations)"
            say("\(isFound ? "found" : "MISSED"): a program that \(lie.name): \(words)")
        }
        let untried = Set(Check.allCases).subtracting(Lie.all.map(\.check))
        for check in untried { say("UNTRIED: \(check.rawValue)") }
        // A folder that stays harms nobody.
        if !place.keep { try? FileManager.default.removeItem(atPath: folder) }
        if missed > 0 || !untried.isEmpty { throw ExitCode(1) }
    }

    /// - Returns: the first scenario that finds it, or the last one.
    private func find(_ lie: Lie, _ real: Programs, in parent: String) throws -> ScenarioResult {
        let folder = "\(parent)/\(lie.name.replacing(" ", with: "-"))"
        try Folder.create(folder)
        let wrapper = "\(folder)/penumbra"
        try Data(lie.wrapper(of: real.penumbra).utf8).write(to: URL(filePath: wrapper))
        chmod(wrapper, 0o755)
        let liar = try Programs(penumbra: wrapper, worker: real.worker)
        let scenario = try ScenarioRun(liar, real: real, folder: folder, keepsAll: true)
        let variant = (lie.kind == .corruptTile ? JobVariant.tiled : JobVariant.whole).first
        func play(_ seed: UInt64) throws -> ScenarioResult {
            try scenario(seed: seed, kind: lie.kind, variant: variant, patience: lie.check == .inTime ? 4 : 45)
        }
        var result = try play(1)
        for seed in 1...lie.seeds where seed > 1 && !result.violations.contains(where: { $0.check == lie.check }) {
            result = try play(seed)
        }
        return result
    }
}
