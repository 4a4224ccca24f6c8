import Foundation
import Glibc

/// The kernel watches only so many folders for a user, or none. `run --watch` renders what is there, or names the limit.
struct FewWatches: StagedInjection {
    private static let namespace = ["/usr/bin/unshare", "--user", "--map-root-user"]

    func prepare(_ stage: Stage) throws {
        let child = try? ChildProcess(
            Self.namespace[0], Self.namespace.dropFirst() + ["/bin/sh", "-c", Self.limit("instances", 1)],
            environment: ["PATH": "/usr/bin:/bin"], output: .file("/dev/null"), errors: .file("/dev/null"))
        guard child?.wait(seconds: 10)?.code == 0 else { throw Skip(reason: "needs user namespaces") }
    }

    func clearAway(_ stage: Stage) {}

    func inject(into stage: Stage) throws {
        let hasNone = stage.random.chance(0.4)
        let limit =
            hasNone ? Self.limit("instances", 0) : Self.limit("watches", Int.random(in: 0...8, using: &stage.random))
        let run = try stage.start(
            ["--watch"], wrapper: Self.namespace + ["/bin/sh", "-c", "\(limit); exec \"$@\"", "sh"])
        let end = Moment.now + stage.patience / 2
        while run.process.isRunning, Moment.now < end, !isDone(stage) { pause(0.01) }
        if run.process.isRunning, !isDone(stage) { stage.blame(.inTime, "'run --watch' renders nothing") }
        run.process.signal(SIGTERM)
        stage.finish(run, [0, 69, 143])
        stage.result.faults += 1
        stage.checkOrphans()
        stage.checkLeftovers()
        if run.process.ending?.code == 69, !run.lastWords.contains("fs.inotify.") {
            stage.blame(.causes, "a limit is told as: \(run.lastWords)")
        }
    }

    private func isDone(_ stage: Stage) -> Bool {
        stage.expected.allSatisfy { path, data in
            FileManager.default.contents(atPath: "\(stage.workspace.outputs)/\(path)") == data
        }
    }

    private static func limit(_ what: String, _ count: Int) -> String {
        "echo \(count) > /proc/sys/user/max_inotify_\(what)"
    }
}
