import Foundation
import Glibc

/// In mid-run the folder of outputs becomes a link to the pictures, or to a folder of others. Nothing there is replaced.
struct SwappedFolder: Injection {
    func inject(into stage: Stage) throws {
        let decoys = try Decoys(stage.workspace)
        let (out, aside) = (stage.workspace.outputs, "\(stage.workspace.outputs)-aside")
        let pictures = "\(stage.workspace.path)/photos"
        let target = stage.random.chance(0.7) ? pictures : "\(decoys.home)/folder"
        // What lies behind the link is no output.
        stage.endWatching()
        let run = try stage.start()
        // A link that is there when the run begins is the user's own wish.
        while run.process.isRunning, !Folder.names(out).contains(where: Folder.isTemporary) { pause(0.002) }
        pause(stage.moment(0...0.5))
        let isInTime = run.process.isRunning
        guard rename(out, aside) == 0, symlink(target, out) == 0 else {
            throw StageProblem(description: "the folder of outputs cannot be exchanged")
        }
        // 1: a picture whose output was written before, and is not at its path now.
        stage.finish(run, stage.doneCodes.union([1, 74]))
        stage.result.faults += isInTime ? 1 : 0
        unlink(out)
        rename(aside, out)
        stage.checkOrphans()
        // A worker writes aside by path, and was late: that replaces nothing.
        for folder in [pictures, "\(decoys.home)/folder"] {
            for name in Folder.names(folder) where Folder.isTemporary(name) { unlink("\(folder)/\(name)") }
        }
        stage.checkInputs()
        stage.checkHarm(decoys)
        stage.beginWatching()
    }
}
