import Foundation
import Glibc

/// A run may have only so many open files, threads or addresses, or so much memory. It does its work, or ends by itself and says which
/// limit it met.
struct Scarcity: StagedInjection {
    enum Resource: String {
        case files
        case threads
        case addresses
        /// Memory of a control group. The kernel kills a process of it that wants more.
        case bytes
    }

    let resource: Resource

    func prepare(_ stage: Stage) throws {
        guard resource != .bytes || MemoryGroup.canBeMade else { throw Skip(reason: "needs a memory control group") }
        guard resource == .threads else { return }
        guard geteuid() == 0, access("/usr/bin/setpriv", X_OK) == 0, access("/usr/bin/prlimit", X_OK) == 0 else {
            throw Skip(reason: "needs root, setpriv and prlimit")
        }
    }

    func clearAway(_ stage: Stage) {}

    func inject(into stage: Stage) throws {
        let isAsked = stage.random.chance(0.5)
        let group = resource == .bytes ? try MemoryGroup(of: stage) : nil
        defer { group?.remove() }
        let run = try stage.start(wrapper: wrapper(stage, group))
        if isAsked {
            // While it meets the limit, mostly.
            pause(stage.moment(0...0.8))
            run.process.signal(SIGTERM)
        }
        var codes = stage.doneCodes.union([69])
        if isAsked { codes.insert(143) }
        // A library ends a worker that gets no memory, and says nothing.
        if resource == .addresses { codes.insert(1) }
        // The loader finds no libraries without descriptors and addresses: no word of the program's has run.
        if resource == .files || resource == .addresses { codes.insert(127) }
        // The kernel chooses whom it kills: a worker with its picture, or the coordinator.
        if resource == .bytes { codes.formUnion([1, 137]) }
        let summary = stage.finish(run, codes)
        stage.result.faults += 1
        if resource == .addresses { checkBlame(summary, stage) }
        stage.checkOrphans()
        // A process that gets no thread any more cannot tidy up; the next run does.
        let isTidy = !run.lastWords.contains("cannot continue: ") && run.process.ending != .signaled(SIGKILL)
        if isTidy { stage.checkLeftovers() }
        let names = resource == .bytes ? ["memory"] : ["RLIMIT_"]
        if run.process.ending?.code == 69, !names.contains(where: run.lastWords.contains) {
            stage.blame(.causes, "a limit is told as: \(run.lastWords)")
        }
    }

    /// No picture is to blame for memory that nothing gets here.
    private func checkBlame(_ summary: RunSummary?, _ stage: Stage) {
        for failure in summary?.failures ?? [] {
            let words = "\(failure["cause"] ?? "") \(failure["message"] ?? "")"
            if words.contains("memory") { stage.blame(.causes, "\(failure["input"] ?? "?") is blamed: \(words)") }
        }
    }

    private func wrapper(_ stage: Stage, _ group: MemoryGroup?) -> [String] {
        func shell(_ limit: String) -> [String] { ["/bin/sh", "-c", "ulimit \(limit); exec \"$@\"", "sh"] }
        switch resource {
        case .files: return shell("-n \(Int.random(in: 12...140, using: &stage.random))")
        case .bytes: return group?.wrapper ?? []
        case .addresses: return shell("-v \(Int.random(in: 100_000...700_000, using: &stage.random))")
        case .threads:
            // A user without other processes, whom all of the workspace belongs to.
            let user = uid_t.random(in: 70_000...2_000_000, using: &stage.random)
            for path in [""] + Folder.files(stage.workspace.path) + Folder.folders(stage.workspace.path) {
                lchown("\(stage.workspace.path)/\(path)", user, user)
            }
            return [
                "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/usr/bin/prlimit",
                "--nproc=\(Int.random(in: 1...50, using: &stage.random))",
            ]
        }
    }
}
