import Foundation
import RenderFarm

// EmbeddedFarm WORKER MANIFEST [LIMIT]: runs a manifest, and cancels the run after LIMIT failed frames.
guard (3...4).contains(CommandLine.arguments.count) else {
    print("usage: EmbeddedFarm WORKER MANIFEST [LIMIT]")
    exit(64)
}
// Workers may end at any time.
signal(SIGPIPE, SIG_IGN)
let here = FileManager.default.currentDirectoryPath
let limit = CommandLine.arguments.count == 4 ? Int(CommandLine.arguments[3]) ?? 1 : 1
let control = Farm.Control()

do {
    let farm = try Farm(worker: CommandLine.arguments[1], stateFolder: ".farm", folder: here)
    let request = Farm.Request(manifests: [Farm.Request.Manifest(path: CommandLine.arguments[2])], folder: here)
    let outcome = try await farm.run(request, control: control) { event in
        switch event {
        case .began(let job, let frames): print("\(job): \(frames) frames")
        case .progress(let job, let progress):
            print("\(job): \(progress.done) of \(progress.total)")
            if progress.failed >= limit { control.cancel() }
        case .frame(_, let frame):
            if case .failed(let reason) = frame.state { print("\(frame.input): \(reason)") }
        case .message(let message): print(message.text)
        case .ended(let job): print("\(job): ended")
        }
    }
    for run in try farm.runs().prefix(1) {
        print("\(run.name): \(run.state), \(run.published) published, \(run.failed) failed")
    }
    exit(outcome.rawValue)
} catch {
    print(error.message)
    exit(error.outcome.rawValue)
}
