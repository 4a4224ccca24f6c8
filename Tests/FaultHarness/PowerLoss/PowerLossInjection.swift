import Foundation
import Glibc

/// Everything is killed at once, and what was not synced is dropped.
struct PowerLoss: Injection {
    func inject(into stage: Stage) throws {
        let shim = try Shims.build("power", PackageResources.power_c, in: stage.workspace)
        // The folders have to be there for all that time.
        let roots = [stage.workspace.outputs, stage.workspace.stateFolder]
        let backups = "\(stage.workspace.path)/backups"
        for _ in 0..<Int.random(in: 1...2, using: &stage.random) {
            try Folder.create(backups)
            let log = "\(stage.workspace.path)/power.log"
            unlink(log)
            stage.environment["LD_PRELOAD"] = shim
            stage.environment["PENUMBRA_FAULTS_POWER"] = log
            // The shim writes the log in workers, too. A confined worker could not open it, and its files would count as never synced.
            stage.environment["PENUMBRA_SANDBOX"] = "off"
            stage.environment["PENUMBRA_FAULTS_BACKUPS"] = backups
            stage.environment["PENUMBRA_FAULTS_ROOTS"] = roots.joined(separator: ":")
            let baseline = PowerLog.states(below: roots)
            let run = try stage.start()
            pause(stage.moment(0...1.3))
            run.process.signal(SIGKILL)
            stage.processes.killAll()
            stage.finish(run, stage.doneCodes.union([137]))
            try drop(PowerLog(log, baseline: baseline), roots, stage)
            try FileManager.default.removeItem(atPath: backups)
        }
    }

    private func drop(_ log: PowerLog, _ roots: [String], _ stage: Stage) throws {
        // The disk's contents are played back: what happens at final paths meanwhile is not Penumbra's doing.
        stage.endWatching()
        var cut = PowerCut(log, roots: roots)
        cut.apply(&stage.random)
        stage.result.faults += 1
        try stage.workspace.write(cut.losses.joined(separator: "\n") + "\n", to: "losses-\(stage.result.runs).txt")
        checkFinalPaths(stage)
        stage.beginWatching()
    }

    /// What is at a final path now must be whole, too.
    private func checkFinalPaths(_ stage: Stage) {
        for (path, data) in Folder.outputs(stage.workspace.outputs) where path != "notes.txt" {
            guard !stage.allowed.contains(where: { $0[path] == data }) else { continue }
            stage.blame(.moments, "after the power loss \(path) has \(data.count) bytes and is neither old nor new")
        }
    }
}
