import Foundation
import Glibc
import Testing
import TestSupport

/// Processes that are stopped for real, and do not go on.
@Suite(.serialized) struct StoppedWorkerTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for name in ["a", "b", "c", "d"] { try workspace.draw("photos/\(name).png", width: 300, height: 200) }
    }

    /// What a process has started and what that has started.
    private func descendants(of process: pid_t) -> [pid_t] {
        let own = children(of: process)
        return own + own.flatMap(descendants)
    }

    @Test func `a worker that is stopped is killed with all that it started, and no byte is different`() async throws {
        try await workspace.buildPlugin(
            "forking",
            render: """
                static int forked = 0;
                if (!forked) {
                    forked = 1;
                    if (fork() == 0) { for (int i = 0; i < 256; i++) close(i); for (;;) pause(); }
                    fclose(fopen("\(workspace.path)/forked", "w"));
                }
                usleep(150000);
                copy(tile);
                """)
        // Without a sandbox, a plugin can start processes.
        let environment = [
            "PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins", "PENUMBRA_SILENCE": "5s", "PENUMBRA_WORKERS": "2",
            "PENUMBRA_SANDBOX": "off",
        ]
        try workspace.writeManifest(filters: "[forking]", more: "shard: frame")
        #expect(try await Program.run("run", "job.yaml", in: workspace, environment: environment).code == 0)
        let calm = try workspace.files(below: "out").map { try workspace.read("out/\($0)") }

        try workspace.remove("forked")
        let program = try RunningProgram(["run", "--json", "job.yaml"], in: workspace, environment: environment)
        // A worker that starts has a child, too: it opens plugins in one first.
        program.wait { workspace.exists("forked") }
        let stopped = try #require(program.workers.first { !children(of: $0).isEmpty })
        let family = [stopped] + descendants(of: stopped)
        #expect(kill(stopped, SIGSTOP) == 0)
        let result = program.finish()
        #expect(result.code == 0, "\(result.errors)\(result.output)")
        #expect(try workspace.files(below: "out").map { try workspace.read("out/\($0)") } == calm)
        #expect(family.count > 1 && family.allSatisfy { !isAlive($0) })
        let logs = try await Program.run("logs", "test", in: workspace)
        #expect(logs.output.contains("lost: the worker was silent for 5 s\n"))
    }

    @Test func `a worker that is stopped when all is done does not hold up the end`() async throws {
        try workspace.writeManifest(more: "shard: frame")
        let program = try RunningProgram(
            ["run", "job.yaml"], in: workspace, environment: ["PENUMBRA_SILENCE": "1h", "PENUMBRA_WORKERS": "1"])
        // Between its last task and its end; before that, the run would wait for the hour.
        program.wait { workspace.exists("out/d.png") }
        let workers = program.workers
        for worker in workers { kill(worker, SIGSTOP) }
        #expect(program.finish().code == 0)
        #expect(workers.allSatisfy { !isAlive($0) })
    }
}
