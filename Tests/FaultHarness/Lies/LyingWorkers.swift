import Foundation
import Glibc

/// Workers say of what they did, of what they offer or of what they wrote what is not so.
struct LyingWorkers: Injection {
    let faults: [Fault]
    /// What a run may end with that believes nothing.
    let codes: Set<Int32>

    func inject(into stage: Stage) throws {
        let decoys = try Decoys(stage.workspace)
        // Whoever says nothing of its own lease any more is waited for so long.
        stage.extraLines.append("timeout: 3s")
        try stage.writeManifest()
        try stage.plan(faults, chance: 0.7, limit: 6, paths: stage.lures(decoys))
        let run = try stage.start()
        stage.finish(run, stage.doneCodes.union(codes))
        stage.result.faults += stage.notes.count { $0.what == "lie" }
        stage.checkOrphans()
        stage.checkLeftovers()
        stage.checkHarm(decoys)
        try stage.makeAllAgain()
        stage.checkHarm(decoys)
    }
}

extension Stage {
    /// Exit codes of commands that refuse what they are told, and say so. 130: what was cancelled before goes on no more.
    static let refusals: Set<Int32> = [0, 1, 3, 64, 65, 66, 69, 74, 75, 130]

    /// What lies name: others' files, inputs, outputs and what the program keeps.
    func lures(_ decoys: Decoys) -> [String] {
        decoys.paths + inputs.keys.sorted().map { "\(workspace.path)/photos/\($0)" }
            + expected.keys.sorted().map { "\(workspace.outputs)/\($0)" }
            + ["\(workspace.outputs)/notes.txt", workspace.manifest, workspace.stateFolder, workspace.outputs, "/"]
    }

    /// What no lie may bring about.
    func checkHarm(_ decoys: Decoys) {
        for words in decoys.changes { blame(.others, words) }
        for (name, data) in inputs
        where FileManager.default.contents(atPath: "\(workspace.path)/photos/\(name)") != data {
            blame(.inputs, "photos/\(name) was changed or removed")
        }
        if FileManager.default.contents(atPath: "\(workspace.outputs)/notes.txt") != Data("not Penumbra's".utf8) {
            blame(.foreign, "notes.txt was changed or removed")
        }
    }

    /// What was believed of digests, times and versions is gone after that.
    func makeAllAgain() throws {
        guard result.violations.isEmpty else { return }
        try finish(start(isCalm: true, ["--force"]), doneCodes)
    }

    /// Any command of `penumbra`, with the faults that are injected.
    @discardableResult func command(_ arguments: [String], _ codes: Set<Int32> = Stage.refusals) throws -> ProgramRun {
        result.runs += 1
        let log = "\(workspace.path)/logs/run-\(result.runs)"
        try workspace.write(arguments.joined(separator: " ") + "\n", to: "logs/run-\(result.runs).command")
        let more = standing.merging(environment) { $1 }
        let process = try ChildProcess(
            programs.penumbra, arguments, environment: workspace.environment(programs, adding: more),
            output: .file(log + ".out"), errors: .file(log + ".err"))
        let run = ProgramRun(number: result.runs, process: process, log: log)
        finish(run, codes)
        return run
    }
}
