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
        stage.checkDone(run)
        stage.checkOrphans()
        stage.checkLeftovers()
        stage.checkHarm(decoys)
        // What was believed is not believed for ever.
        let next = try stage.start(isCalm: true)
        stage.finish(next, stage.doneCodes.union([0, 1]))
        stage.checkDone(next)
        try stage.makeAllAgain()
        stage.checkHarm(decoys)
    }
}

/// The same of a run that others do.
struct LyingShards: Injection {
    func inject(into stage: Stage) throws {
        let decoys = try Decoys(stage.workspace)
        stage.extraLines.append("timeout: 3s")
        try stage.writeManifest()
        let shared = "\(stage.workspace.path)/shared"
        try stage.command(["prepare", stage.workspace.manifest, "--run-dir", shared, "--shards", "2"], [0])
        try stage.plan([.lie, .madeUp, .replaceFile], chance: 0.7, limit: 6, paths: stage.lures(decoys))
        let resume = ["resume", "--run-dir", shared, "--engine", "local"]
        let shards = [1, 2].map { ["shard", "--run-dir", shared, "--index", "\($0)"] }
        let isAtEnd = stage.random.chance(0.5)
        for arguments in shards + (isAtEnd ? [resume] : []) {
            let run = try stage.command(arguments)
            if arguments == resume { stage.checkDone(run) }
            stage.checkOrphans()
            stage.checkHarm(decoys)
        }
        stage.result.faults += stage.notes.count { $0.what == "lie" }
        stage.environment = [:]
        stage.checkDone(try stage.command(resume))
        stage.checkHarm(decoys)
        stage.clearLies()
        try stage.makeAllAgain()
        stage.checkHarm(decoys)
    }
}

/// Workers lie while pictures are blurred in place, and while they are looked at and put back.
struct LyingBlur: Injection {
    func inject(into stage: Stage) throws {
        let decoys = try Decoys(stage.workspace)
        let album = try Album(stage)
        try stage.plan([.lie, .madeUp, .replaceFile], chance: 0.7, limit: 6, paths: stage.lures(decoys))
        let commands = [
            album.blur, ["is-blurred", album.folder], album.blur + ["--force"], ["unblur", album.folder],
            ["blur", "--list"],
        ]
        for arguments in [album.blur] + commands.shuffled(using: &stage.random).prefix(2) {
            try stage.command(arguments)
            stage.checkOrphans()
            stage.checkHarm(decoys)
        }
        stage.result.faults += stage.notes.count { $0.what == "lie" }
        stage.environment = [:]
        // Whatever workers said of what they made, the originals are what they were.
        try stage.command(["unblur", album.folder, "--force"])
        for name in album.sharp.keys.sorted() where album.contents(of: name) != album.sharp[name] {
            stage.blame(.originals, "album/\(name) cannot be put back")
        }
        stage.checkLeftovers()
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
        let run = try begin(arguments)
        finish(run, codes)
        return run
    }

    /// The same, going on.
    func begin(_ arguments: [String]) throws -> ProgramRun {
        result.runs += 1
        let log = "\(workspace.path)/logs/run-\(result.runs)"
        try workspace.write(arguments.joined(separator: " ") + "\n", to: "logs/run-\(result.runs).command")
        let more = standing.merging(environment) { $1 }
        let process = try ChildProcess(
            programs.penumbra, arguments, environment: workspace.environment(programs, adding: more),
            output: .file(log + ".out"), errors: .file(log + ".err"))
        return ProgramRun(number: result.runs, process: process, log: log)
    }
}
